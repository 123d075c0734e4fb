//! What was experienced: the closed set of content kinds and the open set of modalities.

use crate::ids::BlobId;

/// How an experience reached us. Open set: unknown values are stored verbatim (R086).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Modality(pub String);

impl Modality {
    /// The modalities that trigger structured extraction (R085).
    pub const KNOWN: &'static [&'static str] =
        &["conversation", "document", "tool_result", "observation", "feedback", "imported"];

    /// The text as submitted.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A person.
    User,
    /// An agent.
    Assistant,
    /// A tool that an agent called.
    Tool,
    /// The frame around a conversation.
    System,
}

impl Role {
    /// All roles, in wire order.
    pub const ALL: &'static [Role] = &[Role::User, Role::Assistant, Role::Tool, Role::System];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::System => "system",
        }
    }
}

/// A reference to an uploaded blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaRef {
    /// The blob.
    pub blob_id: BlobId,
}

/// The content of an experience. `data` and `triple` keep the submitted JSON text, compact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// One message of a conversation.
    Message {
        /// Who speaks.
        role: Role,
        /// What was said.
        text: String,
        /// Attached blobs.
        media: Vec<MediaRef>,
    },
    /// Plain text.
    Text {
        /// The text.
        text: String,
        /// Attached blobs.
        media: Vec<MediaRef>,
    },
    /// Any JSON value.
    Json {
        /// Compact JSON.
        data: String,
        /// Attached blobs.
        media: Vec<MediaRef>,
    },
    /// A blob, perhaps with a transcript.
    BlobRef {
        /// The blob.
        blob_id: BlobId,
        /// Its text, if the caller has one.
        transcript: Option<String>,
        /// Attached blobs.
        media: Vec<MediaRef>,
    },
    /// A stated triple.
    Triple {
        /// Compact JSON of `{subject, predicate, object}` with typed values.
        triple: String,
        /// Attached blobs.
        media: Vec<MediaRef>,
    },
}

impl Content {
    /// The name of the kind on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Content::Message { .. } => "message",
            Content::Text { .. } => "text",
            Content::Json { .. } => "json",
            Content::BlobRef { .. } => "blob_ref",
            Content::Triple { .. } => "triple",
        }
    }

    /// The attached blobs.
    pub fn media(&self) -> &[MediaRef] {
        match self {
            Content::Message { media, .. }
            | Content::Text { media, .. }
            | Content::Json { media, .. }
            | Content::BlobRef { media, .. }
            | Content::Triple { media, .. } => media,
        }
    }

    /// Every blob the content refers to, attached or referenced.
    pub fn blobs(&self) -> Vec<BlobId> {
        let own = match self {
            Content::BlobRef { blob_id, .. } => Some(*blob_id),
            _ => None,
        };
        own.into_iter().chain(self.media().iter().map(|media| media.blob_id)).collect()
    }

    /// The words, as search and extraction see them.
    pub fn text(&self) -> &str {
        match self {
            Content::Message { text, .. } | Content::Text { text, .. } => text,
            Content::Json { data, .. } => data,
            Content::BlobRef { transcript, .. } => transcript.as_deref().unwrap_or(""),
            Content::Triple { triple, .. } => triple,
        }
    }

    /// Bytes of the flattened text, with the `[role] ` prefix that a message carries.
    pub fn flattened_bytes(&self) -> usize {
        let prefix = match self {
            Content::Message { role, .. } => role.as_str().len() + "[] ".len(),
            _ => 0,
        };
        prefix + self.text().len()
    }
}
