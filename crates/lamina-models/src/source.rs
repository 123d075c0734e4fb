//! What an extractor is given: the words of one event and the circumstances they were said in.

use lamina_types::content::Role;
use lamina_types::{ActorId, Micros};

/// The words of one event. Extraction is a function of this and nothing else.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The words, or the compact JSON.
    pub text: &'a str,
    /// Who says it: "I".
    pub speaker: &'a ActorId,
    /// Whom it is said to, if that is exactly one: "you".
    pub addressee: Option<&'a ActorId>,
    /// In which part of a conversation. What an assistant says is not evidence about anybody.
    pub role: Option<Role>,
    /// When: relative times start here.
    pub observed_at: Micros,
    /// The IANA zone in which "tomorrow" is meant; UTC if unknown.
    pub timezone: Option<&'a str>,
}
