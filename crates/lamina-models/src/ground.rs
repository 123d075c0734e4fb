//! The gate: no claim without evidence. It judges a claim by the bytes it points at and by nothing
//! else, so that it can judge rules and language models alike. What it refuses may be shown, but never
//! recalled.

use std::cell::OnceCell;

use lamina_types::ValidAt;
use lamina_types::layer::extraction::{Claim, Effect, Normaliser, Object, Term};

use crate::rules::normal;
use crate::rules::observed;
use crate::source::Source;

/// Characters that a predicate may have.
pub const PREDICATE_CHARS_MAX: usize = 96;
/// Bytes that an object in words may have.
pub const OBJECT_BYTES_MAX: usize = 1_024;

/// Why a claim does not stand on its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Ungrounded {
    /// The span or the clause is empty, outside the text, or cuts a character.
    #[error("the span is not a part of the text")]
    Span,
    /// The span does not lie in its clause.
    #[error("the span is not a part of its clause")]
    Clause,
    /// The bytes do not become the object by the normaliser that is named.
    #[error("the bytes of the span do not make the object")]
    Object,
    /// Nobody of this name or relation occurs in the text.
    #[error("the text does not speak of the subject")]
    Subject,
    /// The predicate is malformed, or names what the text does not.
    #[error("the predicate does not follow from the text")]
    Predicate,
    /// No time in the text gives this bound, or the bounds are out of order.
    #[error("no time in the text gives these bounds")]
    Time,
}

/// Whether a claim stands on the bytes that it points at.
pub fn grounded(claim: &Claim, source: &Source<'_>) -> Result<(), Ungrounded> {
    Gate::new(source).grounded(claim)
}

/// The gate for the claims of one source: what is needed of the whole text is read once.
#[derive(Debug)]
pub struct Gate<'a> {
    source: &'a Source<'a>,
    /// The text with its white space folded.
    folded: OnceCell<String>,
    lower: OnceCell<String>,
    /// Every instant that a time in the text can mean.
    instants: OnceCell<Vec<ValidAt>>,
}

impl<'a> Gate<'a> {
    /// A gate for what is claimed of this source.
    pub fn new(source: &'a Source<'a>) -> Gate<'a> {
        Gate { source, folded: OnceCell::new(), lower: OnceCell::new(), instants: OnceCell::new() }
    }

    /// Whether a claim stands on the bytes that it points at.
    pub fn grounded(&self, claim: &Claim) -> Result<(), Ungrounded> {
        let text = self.source.text;
        let words = part(text, claim.span.start, claim.span.end).ok_or(Ungrounded::Span)?;
        part(text, claim.clause.start, claim.clause.end).ok_or(Ungrounded::Span)?;
        if claim.span.start < claim.clause.start || claim.span.end > claim.clause.end {
            return Err(Ungrounded::Clause);
        }
        if matches!(claim.normaliser, Normaliser::JsonPath | Normaliser::Given) {
            return crate::structured::grounded(claim, self.source);
        }
        if !self.is_object(claim, words) {
            return Err(Ungrounded::Object);
        }
        if !self.is_spoken_of(&claim.subject) {
            return Err(Ungrounded::Subject);
        }
        if !self.is_predicate(&claim.predicate) {
            return Err(Ungrounded::Predicate);
        }
        if self.is_dated(claim) { Ok(()) } else { Err(Ungrounded::Time) }
    }

    fn folded(&self) -> &str {
        self.folded.get_or_init(|| fold(self.source.text))
    }

    fn lower(&self) -> &str {
        self.lower.get_or_init(|| self.folded().to_lowercase())
    }

    /// Whether the words become the object by the rule that the claim names.
    fn is_object(&self, claim: &Claim, words: &str) -> bool {
        let text = match &claim.object {
            Object::Entity(Term::Named { name, .. }) => Some(name),
            Object::Text(text) => Some(text),
            _ => None,
        };
        if text.is_some_and(|text| text.len() > OBJECT_BYTES_MAX) {
            return false;
        }
        match claim.normaliser {
            Normaliser::Identity => {
                text.is_some_and(|text| !text.is_empty() && *text == fold(words))
            }
            Normaliser::Number => {
                normal::number(words).is_some_and(|object| object == claim.object)
            }
            Normaliser::Quantity => {
                normal::quantity(words).is_some_and(|object| object == claim.object)
            }
            Normaliser::Money => normal::money(words).is_some_and(|object| object == claim.object),
            Normaliser::Date | Normaliser::RelativeDate => match &claim.object {
                Object::Date(date) => normal::dates(words, &observed(self.source)).contains(date),
                _ => false,
            },
            Normaliser::NegatedEnding => is_ending(claim, words, text),
            Normaliser::Speaker => match &claim.object {
                Object::Entity(term) => self.is_pronoun_for(term, words),
                _ => false,
            },
            Normaliser::Lexicon => {
                text.is_some_and(|text| *text == fold(words).to_lowercase().replace(' ', "-"))
            }
            Normaliser::Clause => text.is_some_and(|text| normal::activities(words).contains(text)),
            Normaliser::JsonPath | Normaliser::Given => false,
        }
    }

    /// Whether the words are a pronoun or a possessive that stands for the term.
    fn is_pronoun_for(&self, term: &Term, words: &str) -> bool {
        let lower = fold(words).to_lowercase();
        let first = lower.split([' ', '\'', '\u{2019}']).next().unwrap_or_default();
        match term {
            Term::Actor(actor) if actor == self.source.speaker => {
                matches!(
                    lower.as_str(),
                    "i" | "me"
                        | "we"
                        | "us"
                        | "my"
                        | "our"
                        | "myself"
                        | "ourselves"
                        | "mine"
                        | "ours"
                )
            }
            Term::Actor(actor) => {
                Some(actor) == self.source.addressee
                    && matches!(lower.as_str(), "you" | "your" | "yourself" | "yours")
            }
            Term::Of { owner, relation } => {
                let owned = match &**owner {
                    Term::Actor(actor) if actor == self.source.speaker => {
                        matches!(first, "my" | "our")
                    }
                    Term::Actor(actor) => Some(actor) == self.source.addressee && first == "your",
                    owner => self.is_spoken_of(owner),
                };
                owned && has_words(&lower, &relation.to_lowercase())
            }
            Term::Named { .. } => false,
        }
    }

    /// Whether the text speaks of a subject: a party to it, a name in it, somebody's somebody in it.
    fn is_spoken_of(&self, term: &Term) -> bool {
        match term {
            Term::Actor(actor) => {
                actor == self.source.speaker || Some(actor) == self.source.addressee
            }
            Term::Named { name, .. } => !name.is_empty() && has_words(self.folded(), name),
            Term::Of { owner, relation } => {
                !relation.is_empty()
                    && self.is_spoken_of(owner)
                    && has_words(self.lower(), &relation.to_lowercase())
            }
        }
    }

    /// A predicate is a plain word; what follows a colon is said in the text.
    fn is_predicate(&self, predicate: &str) -> bool {
        let (head, family) = predicate.split_once(':').unwrap_or((predicate, ""));
        let plain = !head.is_empty()
            && predicate.chars().count() <= PREDICATE_CHARS_MAX
            && head.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !predicate.contains(':') {
            return plain;
        }
        let said = self.lower();
        // The predicate spells what it names the American way.
        let spelled = said
            .replace("colour", "color")
            .replace("flavour", "flavor")
            .replace("theatre", "theater")
            .replace("programme", "program");
        plain && !family.is_empty() && (has_words(said, family) || has_words(&spelled, family))
    }

    /// Bounds are the time of the event or a time that the text says, and in order.
    fn is_dated(&self, claim: &Claim) -> bool {
        if claim.valid_from.is_none() && claim.valid_to.is_none() {
            return true;
        }
        if let (Some(from), Some(to)) = (claim.valid_from, claim.valid_to)
            && from >= to
        {
            return false;
        }
        let said = self
            .instants
            .get_or_init(|| normal::instants(self.source.text, &observed(self.source)));
        [claim.valid_from, claim.valid_to].into_iter().flatten().all(|bound| said.contains(&bound))
    }
}

/// A non-empty part of the text between characters.
fn part(text: &str, start: u32, end: u32) -> Option<&str> {
    text.get(start as usize..end as usize).filter(|part| !part.trim().is_empty())
}

/// Words with their white space folded.
pub(crate) fn fold(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words that say that something is over.
const ENDING: &[&str] = &[
    "unemployed",
    "jobless",
    "jobs",
    "work",
    "lost",
    "lose",
    "quit",
    "left",
    "divorced",
    "separated",
    "stopped",
    "stop",
    "no",
    "not",
    "n't",
    "anymore",
    "longer",
    "former",
    "retired",
    "fired",
    "ended",
    "over",
];

/// Whether words say that something is over, or not so. Of English.
pub(crate) fn says_ending(words: &str) -> bool {
    /// More ways than a span needs that names its object.
    const ALSO: &[&str] = &[
        "never",
        "sold",
        "cancelled",
        "canceled",
        "used",
        "gave",
        "dropped",
        "instead",
        "without",
        "neither",
        "nor",
        "cannot",
        "moved",
        "switched",
        "broke",
        "ex",
        "previously",
        "formerly",
        "until",
        "died",
        "finished",
    ];
    let lower = words.to_lowercase().replace('\u{2019}', "'");
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.any(|word| ENDING.contains(&word) || ALSO.contains(&word) || word.ends_with("n't"))
}

fn is_ending(claim: &Claim, words: &str, object: Option<&String>) -> bool {
    let lower = words.to_lowercase();
    let ends =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|word| ENDING.contains(&word));
    let named =
        object.is_some_and(|object| object.is_empty() || lower.contains(&object.to_lowercase()));
    ends && named && matches!(claim.effect, Effect::Ends | Effect::Negated)
}

/// Whether `words` occur in `text`, not inside a longer word.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + words.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests;
