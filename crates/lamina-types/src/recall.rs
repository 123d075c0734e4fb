//! A question to all layers at once, as plain values: what is asked, of which records, within which
//! bounds.

use crate::scope::{ScopePath, ScopeView};
use crate::time::{Micros, RecordedAt, ValidAt};

/// A layer of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// What happened.
    Events,
    /// What belongs together.
    Episodes,
    /// What is known.
    Facts,
    /// What is believed.
    Beliefs,
    /// What is understood.
    Understanding,
}

impl Layer {
    /// All layers, as they are derived from each other.
    pub const ALL: [Layer; 5] =
        [Layer::Events, Layer::Episodes, Layer::Facts, Layer::Beliefs, Layer::Understanding];

    /// The name of its array in a pack.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::Events => "events",
            Layer::Episodes => "episodes",
            Layer::Facts => "facts",
            Layer::Beliefs => "beliefs",
            Layer::Understanding => "understanding",
        }
    }

    /// The name of one of its records, in citations (C52).
    pub fn singular(self) -> &'static str {
        match self {
            Layer::Events => "event",
            Layer::Episodes => "episode",
            Layer::Facts => "fact",
            Layer::Beliefs => "belief",
            Layer::Understanding => "concept",
        }
    }

    /// The layer of this name.
    pub fn named(name: &str) -> Option<Layer> {
        Layer::ALL.into_iter().find(|layer| layer.as_str() == name)
    }
}

/// What a pack shows, and from how far it is gathered (C04).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackView {
    /// Events of the scope, nothing else.
    Raw,
    /// All layers of the scope, no context block.
    Granular,
    /// All layers of the scope and its ancestors, with a context block.
    Holistic,
    /// A story instead of records.
    Narrative,
    /// A graph instead of records.
    Structured,
    /// Like [`PackView::Holistic`], of the scope and everything below it.
    Descend,
}

impl PackView {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            PackView::Raw => "raw",
            PackView::Granular => "granular",
            PackView::Holistic => "holistic",
            PackView::Narrative => "narrative",
            PackView::Structured => "structured",
            PackView::Descend => "descend",
        }
    }

    /// From how far it is gathered.
    pub fn reach(self) -> ScopeView {
        match self {
            PackView::Raw | PackView::Granular | PackView::Structured => ScopeView::Local,
            PackView::Holistic | PackView::Narrative => ScopeView::Holistic,
            PackView::Descend => ScopeView::Descend,
        }
    }
}

/// What a pack keeps of what was ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackSelection {
    /// The best alone.
    Precision,
    /// What is good beside the best.
    Balanced,
    /// As much as the budgets let in.
    Recall,
}

/// Where a question stands in time (R372). where its words are from (R261).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CitationMode {
    /// Not at all in the context block.
    None,
    /// A marker after each piece.
    InlineWithMarkers,
    /// A list at the end.
    BlockAtEnd,
    /// Only in `provenance.citations`.
    StructuredOnly,
}

/// How much a pack tells about its making (R262).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Nothing.
    None,
    /// Timings and the plan.
    Summary,
    /// Also what each signal contributed, and why something was left out.
    Full,
}

/// Where a question stands in time (R372).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Temporal {
    /// The instant in the world that is asked about.
    pub as_of_valid: Option<ValidAt>,
    /// The knowledge it is asked with.
    pub as_of_recorded: Option<RecordedAt>,
    /// True, or happened, at some time in here.
    pub valid_during: Option<(ValidAt, ValidAt)>,
    /// Known at some time in here.
    pub recorded_during: Option<(RecordedAt, RecordedAt)>,
    /// A time in words.
    pub natural: Option<String>,
    /// What words such as `yesterday` are relative to.
    pub reference: Option<Micros>,
}

/// A tenant's words for a stretch of time (R376).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// What it is called.
    pub name: String,
    /// The words.
    pub pattern: String,
    /// The first instant it means.
    pub from: ValidAt,
    /// The first instant after it.
    pub to: ValidAt,
}

/// Something of a record that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Who did it.
    ObservedActor,
    /// Who wrote it.
    Caller,
    /// Whom it is about.
    Subject,
    /// How it reached us.
    Modality,
    /// Any of its labels.
    Labels,
    /// What the actor was after.
    Intent,
    /// Who speaks in a message.
    Role,
    /// How sure it is; events and episodes have none.
    Confidence,
    /// When it happened.
    ObservedAt,
    /// When it became known.
    RecordedAt,
}

impl Field {
    /// All of them.
    pub const ALL: [Field; 10] = [
        Field::ObservedActor,
        Field::Caller,
        Field::Subject,
        Field::Modality,
        Field::Labels,
        Field::Intent,
        Field::Role,
        Field::Confidence,
        Field::ObservedAt,
        Field::RecordedAt,
    ];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Field::ObservedActor => "observed_actor",
            Field::Caller => "caller",
            Field::Subject => "subject",
            Field::Modality => "modality",
            Field::Labels => "labels",
            Field::Intent => "intent",
            Field::Role => "role",
            Field::Confidence => "confidence",
            Field::ObservedAt => "observed_at",
            Field::RecordedAt => "recorded_at",
        }
    }

    /// Whether its values are numbers or times, which have an order.
    pub fn is_ordered(self) -> bool {
        matches!(self, Field::Confidence | Field::ObservedAt | Field::RecordedAt)
    }
}

/// What is asked of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// It is one of these.
    In(Vec<String>),
    /// It is none of these.
    NotIn(Vec<String>),
    /// It is at least this; times are microseconds.
    AtLeast(f64),
    /// It is more than this.
    Above(f64),
    /// It is at most this.
    AtMost(f64),
    /// It is less than this.
    Below(f64),
}

impl Test {
    /// The name of the operator on the wire.
    pub fn as_str(&self) -> &'static str {
        match self {
            Test::In(_) => "in",
            Test::NotIn(_) => "not_in",
            Test::AtLeast(_) => "gte",
            Test::Above(_) => "gt",
            Test::AtMost(_) => "lte",
            Test::Below(_) => "lt",
        }
    }
}

/// Which records may be in a pack at all (R259).
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// Those that pass each; of none, every record.
    All(Vec<Filter>),
    /// Those that pass any.
    Any(Vec<Filter>),
    /// Those that do not pass.
    Not(Box<Filter>),
    /// Those of which this is true.
    Is(Field, Test),
}

impl Default for Filter {
    fn default() -> Filter {
        Filter::All(Vec::new())
    }
}

impl Filter {
    /// Whether every record passes.
    pub fn is_open(&self) -> bool {
        matches!(self, Filter::All(parts) if parts.iter().all(Filter::is_open))
    }

    /// The tests in it, as `field.operator`, in the order they were written.
    pub fn names(&self) -> Vec<String> {
        match self {
            Filter::All(parts) | Filter::Any(parts) => {
                parts.iter().flat_map(Filter::names).collect()
            }
            Filter::Not(inner) => inner.names(),
            Filter::Is(field, test) => vec![format!("{}.{}", field.as_str(), test.as_str())],
        }
    }
}

/// Whose standing instructions a pack has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StandingChoice {
    /// Those of the owners of the scope, and of the one who recalls.
    #[default]
    Owners,
    /// Those of the one who recalls.
    Own,
    /// None.
    None,
}

/// Another way to ask a question: in other words, or in another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The words.
    pub text: String,
    /// Their language, as a BCP 47 tag.
    pub language: Option<String>,
}

/// A recall, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// The scope.
    pub scope: ScopePath,
    /// What is shown, and from how far.
    pub view: PackView,
    /// The question; empty asks for the latest.
    pub query: String,
    /// Other ways to ask it.
    pub variants: Vec<Variant>,
    /// The language of the question, as a BCP 47 tag, if the caller knows it.
    pub language: Option<String>,
    /// Only these layers; empty is all that the view shows.
    pub include: Vec<Layer>,
    /// Ids and numbers only.
    pub exclude_content: bool,
    /// Where it stands in time.
    pub temporal: Temporal,
    /// Which records may be in it.
    pub filter: Filter,
    /// Whose instructions stand.
    pub standing: StandingChoice,
    /// Tokens of all records together.
    pub tokens_max: Option<u64>,
    /// Records of each layer, in the order of [`Layer::ALL`], where it was said.
    pub layer_limits: [Option<usize>; 5],
    /// How it says where its words are from.
    pub citation_mode: CitationMode,
    /// How much it tells about its making.
    pub detail: Detail,
    /// As events, while it is made.
    pub stream: bool,
    /// The caller's key: the same pack again within its life.
    pub idempotency_key: Option<String>,
    /// Relevance below this is nothing.
    pub floor: Option<f64>,
    /// What is kept of what was ranked, if it was said.
    pub selection: Option<PackSelection>,
}

impl Recall {
    /// What is kept: where nobody says how much a pack may hold, what is good beside the best.
    pub fn selection(&self) -> PackSelection {
        let is_sized = self.tokens_max.is_some() || self.layer_limits.iter().any(Option::is_some);
        let usual = if is_sized { PackSelection::Recall } else { PackSelection::Balanced };
        self.selection.unwrap_or(usual)
    }

    /// Whether a layer is asked for.
    pub fn wants(&self, layer: Layer) -> bool {
        let shown = self.view != PackView::Raw || layer == Layer::Events;
        shown && (self.include.is_empty() || self.include.contains(&layer))
    }
}
