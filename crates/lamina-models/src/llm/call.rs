//! One question to a model over the network, and what came of it. It is asked once: when to ask again,
//! and whether that may be paid for, is decided by whoever asks.

use std::fmt;

use lamina_outbound::{Answer, Client, Endpoint, Error as Outbound, Request};

use super::Fault;
use super::candidate::{Output, output};
use super::prompt::{Item, prompt_version};
use super::wire::{Usage, Wire};

/// How a model is reached.
pub struct LlmSettings {
    /// How it is spoken to.
    pub wire: Wire,
    /// Where it is, path included: what [`Llm::url`] makes of a base URL.
    pub endpoint: Endpoint,
    /// The key, if it wants one.
    pub key: Option<String>,
    /// Calls it, with bounds on time and bytes.
    pub client: Client,
}

/// A model at the other end of the network.
pub struct Llm {
    settings: LlmSettings,
    name: String,
}

/// Without the key.
impl fmt::Debug for Llm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Llm").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for LlmSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmSettings").field("wire", &self.wire).finish_non_exhaustive()
    }
}

/// What a question took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// It never reached a model.
    Nothing,
    /// As the provider counts.
    Tokens(Usage),
    /// Nobody can say: the model may have worked on it.
    Unknown,
}

/// What went wrong, and how long the server asks to be left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trouble {
    /// What.
    pub fault: Fault,
    /// Seconds.
    pub retry_after_s: Option<u64>,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// What was said.
    pub said: Result<Output, Trouble>,
    /// What it took.
    pub spent: Spent,
}

impl Llm {
    /// A model.
    pub fn new(settings: LlmSettings) -> Llm {
        let Wire { provider, model, .. } = &settings.wire;
        let name = format!("{}:{model}/{}", provider.as_str(), prompt_version());
        Llm { settings, name }
    }

    /// What its answers are signed with: protocol, model, instructions.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address to call, under a base URL.
    pub fn url(wire: &Wire, base: &str) -> String {
        format!("{}{}", base.trim_end_matches('/'), wire.provider.path())
    }

    /// Asks about these events.
    pub async fn ask(&self, items: &[Item]) -> Heard {
        let LlmSettings { wire, endpoint, key, client } = &self.settings;
        let mut request = Request::post_json(endpoint.clone(), wire.body(items));
        for (name, value) in wire.provider.headers(key.as_deref()) {
            request = match request.header(name, &value) {
                Ok(request) => request,
                // A key that no header can hold.
                Err(_) => return Heard::trouble(Fault::Rejected, Spent::Nothing),
            };
        }
        match client.send(request).await {
            Ok(answer) => heard(wire, items, &answer),
            Err(error) => {
                let (fault, spent) = unanswered(&error);
                Heard::trouble(fault, spent)
            }
        }
    }
}

impl Heard {
    /// Nothing was heard.
    pub fn trouble(fault: Fault, spent: Spent) -> Heard {
        Heard { said: Err(Trouble { fault, retry_after_s: None }), spent }
    }
}

/// What an error of the connection is, and whether a model may have been at work.
fn unanswered(error: &Outbound) -> (Fault, Spent) {
    let fault = match error {
        Outbound::Connect(_) | Outbound::BadUrl { .. } => Fault::Unreachable,
        Outbound::Tls(_) | Outbound::Setup(_) | Outbound::BadRoots => Fault::Tls,
        Outbound::Timeout { .. } => Fault::Timeout,
        Outbound::TooLarge { .. } => Fault::TooLarge,
        _ => Fault::CutOff,
    };
    (fault, if error.is_unsent() { Spent::Nothing } else { Spent::Unknown })
}

/// Reads an answer that came whole.
fn heard(wire: &Wire, items: &[Item], answer: &Answer) -> Heard {
    let refused = match answer.status {
        200 => None,
        300..=399 => Some(Fault::Redirected),
        429 | 503 | 529 => Some(Fault::Busy),
        400 | 413 | 422 => Some(Fault::BadRequest),
        // Late, but ours or a proxy's: nobody says whether a model was at work.
        408 | 504 => return Heard::trouble(Fault::Timeout, Spent::Unknown),
        500..=599 => Some(Fault::ServerError),
        _ => Some(Fault::Rejected),
    };
    if let Some(fault) = refused {
        let retry_after_s = answer.header("retry-after").and_then(|text| text.trim().parse().ok());
        return Heard { said: Err(Trouble { fault, retry_after_s }), spent: Spent::Nothing };
    }
    let kind = answer.header("content-type").unwrap_or_default();
    if !kind.to_ascii_lowercase().contains("json") {
        return Heard::trouble(Fault::NotJson, Spent::Unknown);
    }
    let reply = wire.read(&answer.body);
    let spent = reply.usage.map_or(Spent::Unknown, Spent::Tokens);
    match reply.output.and_then(|value| output(&value, items)) {
        Ok(output) => Heard { said: Ok(output), spent },
        Err(fault) => Heard::trouble(fault, spent),
    }
}
