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

    pub(super) fn wire(&self) -> &Wire {
        &self.settings.wire
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.settings.endpoint
    }

    pub(super) fn client(&self) -> &Client {
        &self.settings.client
    }

    /// The request with the headers of the protocol; none if the key is one that no header can hold.
    pub(super) fn with_headers(&self, request: Request) -> Option<Request> {
        let LlmSettings { wire, key, .. } = &self.settings;
        let headers = wire.provider.headers(key.as_deref());
        headers.iter().try_fold(request, |request, (name, value)| request.header(name, value).ok())
    }

    /// Asks about these events.
    pub async fn ask(&self, items: &[Item]) -> Heard {
        let LlmSettings { wire, endpoint, client, .. } = &self.settings;
        let request = Request::post_json(endpoint.clone(), wire.body(items));
        let Some(request) = self.with_headers(request) else {
            return Heard::trouble(Fault::Rejected, Spent::Nothing);
        };
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
pub(crate) fn unanswered(error: &Outbound) -> (Fault, Spent) {
    let fault = match error {
        Outbound::Connect(_) | Outbound::BadUrl { .. } => Fault::Unreachable,
        Outbound::Tls(_) | Outbound::Setup(_) | Outbound::BadRoots => Fault::Tls,
        Outbound::Timeout { .. } => Fault::Timeout,
        Outbound::TooLarge { .. } => Fault::TooLarge,
        _ => Fault::CutOff,
    };
    (fault, if error.is_unsent() { Spent::Nothing } else { Spent::Unknown })
}

/// Why an answer that came whole is none, and whether a model was at work.
pub(crate) fn refused(answer: &Answer) -> Option<(Trouble, Spent)> {
    let alone = |fault| Trouble { fault, retry_after_s: None };
    let fault = match answer.status {
        200 => {
            let kind = answer.header("content-type").unwrap_or_default();
            let json = kind.to_ascii_lowercase().contains("json");
            return (!json).then(|| (alone(Fault::NotJson), Spent::Unknown));
        }
        300..=399 => Fault::Redirected,
        429 | 503 | 529 => Fault::Busy,
        400 | 413 | 422 => Fault::BadRequest,
        // Late, but ours or a proxy's: nobody says whether a model was at work.
        408 | 504 => return Some((alone(Fault::Timeout), Spent::Unknown)),
        500..=599 => Fault::ServerError,
        _ => Fault::Rejected,
    };
    let retry_after_s = answer.header("retry-after").and_then(|text| text.trim().parse().ok());
    Some((Trouble { fault, retry_after_s }, Spent::Nothing))
}

/// Reads an answer that came whole.
fn heard(wire: &Wire, items: &[Item], answer: &Answer) -> Heard {
    if let Some((trouble, spent)) = refused(answer) {
        return Heard { said: Err(trouble), spent };
    }
    let reply = wire.read(&answer.body);
    let spent = reply.usage.map_or(Spent::Unknown, Spent::Tokens);
    match reply.output.and_then(|value| output(&value, items)) {
        Ok(output) => Heard { said: Ok(output), spent },
        Err(fault) => Heard::trouble(fault, spent),
    }
}
