//! One call to a model over the network, and what came of it. It is asked once: when to ask again is
//! decided by whoever asks.

use std::fmt;

use lamina_outbound::{Client, Endpoint, Request};

use super::wire::EmbedWire;
use crate::llm::call::{refused, unanswered};
use crate::llm::{Fault, Trouble};

/// How a model is reached.
pub struct RemoteSettings {
    /// How it is spoken to.
    pub wire: EmbedWire,
    /// Where it is, path included.
    pub endpoint: Endpoint,
    /// The key, if it wants one.
    pub key: Option<String>,
    /// Calls it about texts that are stored.
    pub client: Client,
    /// Calls it about questions, for which somebody waits.
    pub hurried: Client,
}

/// A model at the other end of the network.
pub struct RemoteEmbedder(RemoteSettings);

/// Without the key.
impl fmt::Debug for RemoteEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteEmbedder").field("wire", &self.0.wire).finish_non_exhaustive()
    }
}

impl fmt::Debug for RemoteSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSettings").field("wire", &self.wire).finish_non_exhaustive()
    }
}

/// Who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speed {
    /// Nobody: these are stored.
    Patient,
    /// Somebody who asks a question.
    Hurried,
}

impl RemoteEmbedder {
    /// A model.
    pub fn new(settings: RemoteSettings) -> RemoteEmbedder {
        RemoteEmbedder(settings)
    }

    /// How it is spoken to.
    pub fn wire(&self) -> &EmbedWire {
        &self.0.wire
    }

    /// The same server, asked for another model.
    pub fn with_wire(&self, wire: EmbedWire) -> RemoteEmbedder {
        let RemoteSettings { endpoint, key, client, hurried, .. } = &self.0;
        RemoteEmbedder(RemoteSettings {
            wire,
            endpoint: endpoint.clone(),
            key: key.clone(),
            client: client.clone(),
            hurried: hurried.clone(),
        })
    }

    /// A vector for each text.
    pub async fn ask(&self, texts: &[&str], speed: Speed) -> Result<Vec<Vec<f32>>, Trouble> {
        let RemoteSettings { wire, endpoint, key, client, hurried } = &self.0;
        let alone = |fault: Fault| Trouble { fault, retry_after_s: None };
        let (client, prefix) = match speed {
            Speed::Patient => (client, &wire.text_prefix),
            Speed::Hurried => (hurried, &wire.question_prefix),
        };
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let mut request = Request::post_json(endpoint.clone(), wire.body(&texts));
        if let Some(key) = key {
            let with_key = request.header("authorization", &format!("Bearer {key}"));
            request = with_key.map_err(|_| alone(Fault::Rejected))?;
        }
        let answer = client.send(request).await.map_err(|error| alone(unanswered(&error).0))?;
        match refused(&answer) {
            Some((trouble, _)) => Err(trouble),
            None => wire.read(&answer.body, texts.len()).map_err(alone),
        }
    }
}
