//! What an extractor found in the words of one event.
//!
//! Everything decided from words is in here, because it is appended to the log as the event's answer
//! and the fold reads nothing else. Every claim says which bytes it stands on and by which rule they
//! became its object, so that a gate can check it without trusting the extractor.

use crate::{ActorId, ValidAt};

/// What was found in one event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extraction {
    /// Which extractor, with its version: `rules/1`.
    pub extractor: String,
    /// The language of the words, as far as it could be told: `en`.
    pub language: Option<String>,
    /// Names that occur, whether or not anything is said about them.
    pub mentions: Vec<Mention>,
    /// Common nouns, folded, each as often as it is said: what the event speaks of without a name.
    pub nouns: Vec<Mention>,
    /// How names and nouns hang together.
    pub bonds: Vec<Bond>,
    /// What is said.
    pub claims: Vec<Claim>,
    /// What the event is about, as hashes of folded words in ascending order. Decides where episodes end.
    pub topics: Vec<u32>,
}

/// Bytes of the source text, half open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteSpan {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

/// A name in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The name as it is said, without an article.
    pub name: String,
    /// What kind of thing bears it.
    pub kind: EntityKind,
    /// Where it stands.
    pub span: ByteSpan,
}

/// Two things that a sentence connects. No claim: it is not dated, and only says how they are related.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bond {
    /// The name or noun that it leads from, by where it stands.
    pub from: ByteSpan,
    /// The relation: `depends_on`, `part_of`.
    pub relation: String,
    /// The name or noun that it leads to.
    pub to: ByteSpan,
}

/// What kind of thing a name belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EntityKind {
    /// Not known.
    Thing = 0,
    /// A person.
    Person = 1,
    /// A company, a team, an institution.
    Organization = 2,
    /// A city, a country, an address.
    Place = 3,
    /// A product, a project, a tool.
    Product = 4,
    /// A meeting, a launch, an appointment.
    Occasion = 5,
    /// An animal.
    Animal = 6,
    /// An identifier: e-mail, URL, path, version, ticket.
    Identifier = 7,
}

impl EntityKind {
    /// All kinds.
    pub const ALL: &'static [EntityKind] = &[
        EntityKind::Thing,
        EntityKind::Person,
        EntityKind::Organization,
        EntityKind::Place,
        EntityKind::Product,
        EntityKind::Occasion,
        EntityKind::Animal,
        EntityKind::Identifier,
    ];
}

/// Whom or what a claim is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// Somebody the database knows by id: the speaker, the addressee.
    Actor(ActorId),
    /// Somebody or something known by name.
    Named {
        /// The name as it is said, without an article.
        name: String,
        /// What kind of thing.
        kind: EntityKind,
    },
    /// Somebody or something that is only known as another's: "my wife", "Bob's car".
    Of {
        /// Whose.
        owner: Box<Term>,
        /// In which relation: `wife`.
        relation: String,
    },
}

/// What is claimed of the subject.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// Another subject.
    Entity(Term),
    /// Words.
    Text(String),
    /// A number, in plain decimal notation, with a unit if one is said.
    Number {
        /// `200`, `1.80`.
        value: String,
        /// `kg`, `km`.
        unit: Option<String>,
    },
    /// An amount of money.
    Money {
        /// In plain decimal notation.
        amount: String,
        /// ISO 4217.
        currency: String,
    },
    /// A day (`2025-06-03`), a day of any year (`--06-03`) or a minute (`2025-06-03T15:00`), local.
    Date(String),
    /// Yes or no.
    Bool(bool),
}

/// What a claim does to what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Effect {
    /// It holds.
    Holds = 0,
    /// It held and stops holding.
    Ends = 1,
    /// It does not hold, and nobody says that it did.
    Negated = 2,
    /// It holds, and what was said before was never so.
    Corrects = 3,
}

/// How many objects a subject can have under a predicate at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cardinality {
    /// A new one ends the old one.
    One = 1,
    /// They accumulate.
    Many = 2,
}

/// How sure the extractor is, in ten-thousandths: numbers that are stored are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u16);

impl Confidence {
    /// As sure as one can be.
    pub const FULL: Confidence = Confidence(10_000);

    /// So many ten-thousandths, at most all of them.
    pub fn new(ten_thousandths: u16) -> Confidence {
        Confidence(ten_thousandths.min(10_000))
    }

    /// In ten-thousandths.
    pub fn get(self) -> u16 {
        self.0
    }

    /// Between 0 and 1.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }
}

/// By which rule the bytes of a span became the object of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Normaliser {
    /// The object is the text of the span, white space folded.
    Identity = 0,
    /// Number words and grouped digits become a number: "two hundred", "1,200", "3k".
    Number = 1,
    /// A number and a unit.
    Quantity = 2,
    /// An amount with a currency sign, name or code.
    Money = 3,
    /// A date as written.
    Date = 4,
    /// A date relative to when the event was observed: "next Friday".
    RelativeDate = 5,
    /// The span says that something ends or does not hold; the object is named in it.
    NegatedEnding = 6,
    /// A pronoun or a possessive that stands for a speaker.
    Speaker = 7,
    /// The scalar at a path of a JSON document.
    JsonPath = 8,
    /// Given by the caller as a triple.
    Given = 9,
    /// A closed list of words folded to one form: "vegetarian", "Dutch".
    Lexicon = 10,
    /// A span whose inflected words are brought to a base form: "running" in "loves running" stays, "decided to use X" gives "use X".
    Clause = 11,
}

/// One claim found in the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Whom it is about.
    pub subject: Term,
    /// The relation: `lives_in`, `count:seats`.
    pub predicate: String,
    /// What is claimed.
    pub object: Object,
    /// What it does to what is known.
    pub effect: Effect,
    /// From when, if that is said.
    pub valid_from: Option<ValidAt>,
    /// Until when (exclusive), if that is said.
    pub valid_to: Option<ValidAt>,
    /// How many objects the subject can have, if the relation or the words tell.
    pub cardinality: Option<Cardinality>,
    /// How sure the extractor is.
    pub confidence: Confidence,
    /// The bytes that the object stands on.
    pub span: ByteSpan,
    /// How they became the object.
    pub normaliser: Normaliser,
    /// The clause that says it: what a person is shown as evidence.
    pub clause: ByteSpan,
}
