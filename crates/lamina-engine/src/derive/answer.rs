//! From the words of an event to its answer: everything that is decided from words is decided here,
//! before it is appended, and never again.

use std::borrow::Cow;
use std::sync::Arc;

use lamina_core::derive::episodes::topics::announces_change;
use lamina_core::read::checkout::typed::{INVALIDATED, is_telemetry};
use lamina_core::write::echo::pieces;
use lamina_core::write::injected::blank;
use lamina_core::write::standing::{self, Rule};
use lamina_env::Rng;
use lamina_models::Source;
use lamina_models::llm::{self, Candidate, Read};
use lamina_store::codec::answer::{Answer, AnswerWho, Asked, Echo};
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho};
use lamina_store::codec::models::Cost;
use lamina_store::entry::{Entry, Kind};
use lamina_store::log::NewEntry;
use lamina_types::layer::{Extraction, SourceClass};
use lamina_types::{BeliefId, Content, Directives, Micros, Modality, RecordedAt, Role, ScopePath};

use crate::admin::standing::Standing;
use crate::derive::echo::{Guard, Verdict, withhold};
use crate::derive::entities::known::{self, Acquaintance};
use crate::derive::rated;
use crate::derive::revoked::Instructions;
use crate::write::prepare::section;

/// Preceding events that an answer names: one is enough to know what it carries on.
const PRECEDED_BY_MAX: usize = 8;

/// Finds out what the words of an event say.
pub trait Extractor: Send + Sync + std::fmt::Debug {
    /// What is said. Deterministic, and without effects: it may be asked again.
    fn extract(&self, who: &ExperienceWho, what: &ExperienceWhat) -> Extracted;
}

/// What an extractor found, and what of it its words do not bear out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extracted {
    /// What is said.
    pub extraction: Extraction,
    /// Claims that failed the gate, by position.
    pub ungrounded: Vec<u16>,
}

/// The built-in extractor: deterministic, offline. What its own gate refuses is kept to be seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

impl Extractor for Rules {
    fn extract(&self, who: &ExperienceWho, what: &ExperienceWhat) -> Extracted {
        let source = source_of(who, what);
        let extraction = match &what.content {
            Content::Json { .. } => lamina_models::extract_json(&source),
            Content::Triple { .. } => lamina_models::extract_triple(&source),
            _ => lamina_models::extract(&source),
        };
        let claims = extraction.claims.iter().enumerate();
        let refused = claims.filter(|(_, claim)| lamina_models::grounded(claim, &source).is_err());
        let ungrounded = refused.filter_map(|(at, _)| u16::try_from(at).ok()).collect();
        Extracted { extraction, ungrounded }
    }
}

/// An answer to one event, before it is known whether the event turns to another topic: that takes
/// the events before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The tenant.
    pub tenant: u32,
    /// The ordinal of the scope.
    pub scope: u64,
    /// The offset of the event.
    pub event: u64,
    /// Who spoke.
    pub who: AnswerWho,
    /// What was found.
    pub answer: Answer,
    /// Its words announce that something else comes now.
    pub cue: bool,
    /// What its words take back, if they say how things are to be done.
    pub rule: Option<Rule>,
}

/// An event with spaces in the place of what a client had put into the prompt from memory: nobody said that. Places of
/// other words stay.
fn without_injected(mut what: ExperienceWhat) -> ExperienceWhat {
    if let Content::Message { text, .. } | Content::Text { text, .. } = &mut what.content
        && let Cow::Owned(own) = blank(text)
    {
        *text = own;
    }
    what
}

/// The words of an event, and the circumstances they were said in.
fn source_of<'a>(who: &'a ExperienceWho, what: &'a ExperienceWhat) -> Source<'a> {
    let role = match &what.content {
        Content::Message { role, .. } => Some(*role),
        _ => None,
    };
    Source {
        text: what.content.text(),
        speaker: &who.observed_actor.id,
        addressee: None,
        role,
        observed_at: what.context.observed_at.0,
        timezone: what.hints.timezone.as_deref(),
    }
}

/// Makes answers.
#[derive(Debug, Clone)]
pub struct Answerer {
    extractor: Arc<dyn Extractor>,
    rng: Arc<dyn Rng>,
    /// A model is asked as well, about events that are worth it.
    asks_model: bool,
    /// What is in force, for the vocabularies; without it predicates stay what they are.
    standing: Option<Arc<Standing>>,
    /// Who is known; without it no name means anybody who is called otherwise.
    acquainted: Option<Arc<Acquaintance>>,
    /// Which instructions were given; without it none is taken back.
    instructions: Option<Arc<Instructions>>,
    /// Knows what was shown; without it nothing is an echo.
    guard: Option<Arc<Guard>>,
}

/// The words of an event that a model is to be asked about.
#[derive(Debug)]
pub(crate) struct Words {
    who: ExperienceWho,
    what: ExperienceWhat,
}

impl Words {
    pub(crate) fn text(&self) -> &str {
        self.what.content.text()
    }

    pub(crate) fn scope(&self) -> &ScopePath {
        &self.what.scope
    }

    pub(crate) fn observed_at(&self) -> Micros {
        self.what.context.observed_at.0
    }
}

/// What a model can be asked about an event; `None` once its words are erased, or if it is not.
pub(crate) fn words(entry: &Entry) -> Option<Words> {
    let who = ExperienceWho::decode(entry.who.live()?).ok()?;
    let what = without_injected(ExperienceWhat::decode(entry.what.live()?).ok()?);
    wants_model(&what).then_some(Words { who, what })
}

/// An answer in the place of an earlier one.
#[derive(Debug)]
pub(crate) struct Revised {
    pub(crate) entry: NewEntry,
    /// Claims that its words bear out, and claims that they do not.
    pub(crate) grounded: u64,
    pub(crate) ungrounded: u64,
}

impl Answerer {
    /// One that asks this extractor.
    pub fn new(extractor: Arc<dyn Extractor>, rng: Arc<dyn Rng>) -> Answerer {
        Answerer {
            extractor,
            rng,
            asks_model: false,
            standing: None,
            acquainted: None,
            instructions: None,
            guard: None,
        }
    }

    /// The same, with the names that vocabularies have for predicates.
    #[must_use]
    pub fn naming(self, standing: Arc<Standing>) -> Answerer {
        Answerer { standing: Some(standing), ..self }
    }

    /// The same, with those who are known.
    #[must_use]
    pub(crate) fn knowing(self, acquainted: Arc<Acquaintance>) -> Answerer {
        Answerer { acquainted: Some(acquainted), ..self }
    }

    /// The same, with the instructions that were given.
    #[must_use]
    pub(crate) fn instructed(self, instructions: Arc<Instructions>) -> Answerer {
        Answerer { instructions: Some(instructions), ..self }
    }

    /// The same, with what was shown.
    #[must_use]
    pub(crate) fn guarding(self, guard: Arc<Guard>) -> Answerer {
        Answerer { guard: Some(guard), ..self }
    }

    /// The same; whether a model is asked as well.
    #[must_use]
    pub(crate) fn asking_model(self, asks_model: bool) -> Answerer {
        Answerer { asks_model, ..self }
    }

    /// The answer of a model together with that of the extractor, in its place.
    pub(crate) fn revised(
        &self,
        entry: &Entry,
        words: &Words,
        candidates: &[Candidate],
        model: &str,
        cost: Cost,
    ) -> Revised {
        let Words { who, what } = words;
        let base = self.extractor.extract(who, what).extraction;
        let Read { extraction, ungrounded } =
            llm::read(&source_of(who, what), base, candidates, model);
        let refused = ungrounded.len() as u64;
        let grounded = extraction.claims.len() as u64 - refused;
        let found = Extracted { extraction, ungrounded };
        // What was an echo when it was written is one, whoever reads it.
        let echoes = self.guard.as_ref().map(|guard| guard.standing(entry)).unwrap_or_default();
        let verdict = Verdict { is_all: false, echoes };
        let answer = Answer { cost: Some(cost), ..self.answer_of(entry, what, (found, verdict)) };
        let mut draft = draft_of(entry, who, what, answer);
        Revised { entry: self.entry(&mut draft), grounded, ungrounded: refused }
    }

    /// What there is to say about an event; `None` once its words are erased.
    pub fn draft(&self, entry: &Entry) -> Option<Draft> {
        self.draft_with(entry, None)
    }

    /// The same, with what was an echo when it was written.
    pub(crate) fn draft_with(&self, entry: &Entry, echoes: Option<Vec<Echo>>) -> Option<Draft> {
        let who = ExperienceWho::decode(entry.who.live()?).ok()?;
        let what = without_injected(ExperienceWhat::decode(entry.what.live()?).ok()?);
        let found = if wants_facts(&what) {
            self.extractor.extract(&who, &what)
        } else {
            Extracted { extraction: nothing(), ungrounded: Vec::new() }
        };
        let verdict = match (echoes, &self.guard) {
            (Some(echoes), _) => Verdict { is_all: false, echoes },
            (None, Some(guard)) => guard.verdict(entry, &who, &what, &found.extraction.nouns),
            (None, None) => Verdict::default(),
        };
        let awaits_model = self.asks_model
            && wants_model(&what)
            && !verdict.is_all
            && !self.keeps_from_models(entry.head.tenant, &what.scope);
        let answer = Answer { awaits_model, ..self.answer_of(entry, &what, (found, verdict)) };
        Some(draft_of(entry, &who, &what, answer))
    }

    /// Whether a policy in force denies that a model is shown words of a scope.
    pub(crate) fn keeps_from_models(&self, tenant: u32, scope: &ScopePath) -> bool {
        self.standing.as_ref().is_some_and(|standing| standing.keeps_from_models(tenant, scope))
    }

    /// Under which confidence a tenant wants no beliefs, if that is said.
    fn floor(&self, tenant: u32) -> Option<u16> {
        let book = self.standing.as_ref()?.policies();
        let tiers = [book.tenant(tenant), book.deployment()].into_iter().flatten();
        tiers.filter_map(|document| document.defaults.confidence_floor).next()
    }

    /// What was found, with the names that are in force for it.
    fn answer_of(
        &self,
        event: &Entry,
        what: &ExperienceWhat,
        (mut found, Verdict { echoes, .. }): (Extracted, Verdict),
    ) -> Answer {
        let echoed = withhold(&mut found.extraction, &echoes);
        let known = self.standing.as_ref().map(|known| known.vocabularies(event.head.tenant));
        let mapped = known.map(|known| known.name(&what.scope, &mut found.extraction));
        let (mapped, relations) = mapped.unwrap_or_default();
        let mut asked = asked(&what.directives, &what.modality, event.head.recorded_at);
        asked.confidence_floor = asked.confidence_floor.or_else(|| self.floor(event.head.tenant));
        asked.source = record_source(what);
        let mut answer = Answer {
            observed_at: what.context.observed_at,
            extraction: found.extraction,
            matches: Vec::new(),
            mapped,
            relations,
            ungrounded: found.ungrounded,
            shifts_topic: false,
            preceded_by: what.context.preceded_by.iter().copied().take(PRECEDED_BY_MAX).collect(),
            judged: if asked.feedback { judged(&what.content) } else { None },
            rated: if asked.feedback { rated::told(&what.content) } else { Vec::new() },
            source_class: source_class(what),
            stands: stands(what, &echoes),
            revoked: Vec::new(),
            concepts: concepts_named(&what.context.labels),
            echoes,
            echoed,
            asked,
            awaits_model: false,
            cost: None,
        };
        known::tell(&mut answer);
        answer
    }

    /// Decides which earlier instructions an answer ends.
    pub(crate) fn takes_back(&self, draft: &mut Draft) {
        if let Some(instructions) = &self.instructions {
            instructions.decide(draft);
        }
    }

    /// The entry of an answer. Who is meant by its names, and what it takes back, is decided last, so that
    /// it is decided in the order of the log.
    pub fn entry(&self, draft: &mut Draft) -> NewEntry {
        self.takes_back(draft);
        let Draft { tenant, scope, event, who, answer, cue: _, rule: _ } = draft;
        if let Some(acquainted) = &self.acquainted {
            acquainted.decide(*tenant, *scope, answer);
            let version = self.standing.as_ref().map_or(0, |standing| standing.scopes_version());
            answer.asked.settles = acquainted.settling(*tenant, *scope, version);
        }
        NewEntry {
            kind: Kind::Answer,
            sub: 0,
            tenant: *tenant,
            scope: *scope,
            causes: vec![*event],
            who: section(&*self.rng, &who.encode()),
            what: section(&*self.rng, &answer.encode()),
        }
    }
}

fn draft_of(event: &Entry, who: &ExperienceWho, what: &ExperienceWhat, answer: Answer) -> Draft {
    Draft {
        tenant: event.head.tenant,
        scope: event.head.scope,
        event: event.head.offset,
        who: AnswerWho {
            observed_actor: who.observed_actor.id.clone(),
            session: who.observed_actor.session.clone(),
        },
        rule: answer.stands.then(|| Rule::of(&own_words(what, &answer.echoes))),
        answer,
        cue: announces_change(what.content.text()),
    }
}

/// Unknown modalities are kept and not interpreted (R086); the caller may ask for less.
fn wants_facts(what: &ExperienceWhat) -> bool {
    let known = Modality::KNOWN.contains(&what.modality.as_str());
    let asked = what.directives.extract.as_ref();
    known
        && asked.is_none_or(|wanted| wanted.iter().any(|layer| layer == "facts"))
        && (!is_telemetry_event(&what.content) || is_invalidation(&what.content))
}

/// Whether a typed event ends what is known of an entity.
fn is_invalidation(content: &Content) -> bool {
    let Content::Json { data, .. } = content else { return false };
    lamina_models::kind_of(data).is_some_and(|kind| kind == INVALIDATED)
}

/// Whether a typed event tells of the machinery around memory, such as a checkout: that is no fact about anybody.
pub(crate) fn is_telemetry_event(content: &Content) -> bool {
    let Content::Json { data, .. } = content else { return false };
    lamina_models::kind_of(data).is_some_and(|kind| is_telemetry(&kind))
}

/// A model reads what people wrote. What an assistant or a tool says is no evidence about anybody, and
/// structure is mapped without guessing.
fn wants_model(what: &ExperienceWhat) -> bool {
    let by_people = match &what.content {
        Content::Message { role, .. } => *role == Role::User,
        Content::Text { .. } => true,
        _ => false,
    };
    let has_words = what.content.text().contains(char::is_alphabetic);
    by_people && has_words && wants_facts(what) && what.modality.as_str() != "feedback"
}

fn nothing() -> Extraction {
    Extraction { extractor: "none".to_owned(), ..Extraction::default() }
}

/// What a label begins with that names a concept.
const CONCEPT_LABEL: &str = "concept:";

/// The names that labels give concepts, each once.
fn concepts_named(labels: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in labels.iter().filter_map(|label| label.strip_prefix(CONCEPT_LABEL)) {
        let name = name.trim();
        if !name.is_empty() && names.iter().all(|known| known != name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Whether words are to be taken at their word depends on where they come from.
fn source_class(what: &ExperienceWhat) -> SourceClass {
    let role = match &what.content {
        Content::Message { role, .. } => Some(*role),
        _ => None,
    };
    match (what.modality.as_str(), role, &what.content) {
        ("feedback", ..) => SourceClass::Feedback,
        (_, Some(Role::Assistant), _) => SourceClass::Assistant,
        ("imported", ..) => SourceClass::Imported,
        ("tool_result", ..) | (_, Some(Role::Tool), _) => SourceClass::Tool,
        (_, _, Content::Triple { .. }) => SourceClass::Said,
        ("document", ..) => SourceClass::Document,
        ("observation", ..) => SourceClass::Observed,
        _ => SourceClass::Said,
    }
}

/// Whether somebody says how things are to be done. What an assistant, a tool or a document says binds nobody, and an
/// echo says nothing once more.
fn stands(what: &ExperienceWhat, echoes: &[Echo]) -> bool {
    let by_people = match &what.content {
        Content::Message { role, .. } => *role == Role::User,
        Content::Text { .. } => true,
        _ => false,
    };
    let said = matches!(what.modality.as_str(), "conversation" | "observation");
    let text = what.content.text();
    // What takes such a thing back is found with it.
    let noted = |text: &str| standing::stands(text) || standing::revokes(text);
    by_people && said && noted(text) && {
        let mut own = own_pieces(text, echoes);
        own.any(noted)
    }
}

/// The pieces of a text that are no echo.
fn own_pieces<'a>(text: &'a str, echoes: &[Echo]) -> impl Iterator<Item = &'a str> {
    let is_echo = |start: usize| echoes.iter().any(|echo| echo.span.start as usize == start);
    pieces(text).into_iter().filter(move |piece| !is_echo(piece.start)).map(|piece| piece.text)
}

/// What somebody says and does not only repeat.
fn own_words<'a>(what: &'a ExperienceWhat, echoes: &[Echo]) -> Cow<'a, str> {
    let text = what.content.text();
    match echoes {
        [] => Cow::Borrowed(text),
        _ => Cow::Owned(own_pieces(text, echoes).collect::<Vec<_>>().join(" ")),
    }
}

/// Feedback is about a belief if it names one and says whether it came true.
fn judged(content: &Content) -> Option<(BeliefId, bool)> {
    let Content::Json { data, .. } = content else { return None };
    // Kept as compact JSON: a quotation mark inside of a string has a backslash before it, so that
    // only a key can be found like this.
    let after = |key: &str| data.split_once(&format!("\"{key}\":")).map(|(_, rest)| rest);
    let id = after("belief_id")?.strip_prefix('"')?.split('"').next()?.parse().ok()?;
    let outcome = ["came_true", "outcome", "correct"].into_iter().find_map(after)?;
    match outcome {
        yes if yes.starts_with("true") => Some((id, true)),
        no if no.starts_with("false") => Some((id, false)),
        _ => None,
    }
}

/// The source that a label of a structured record names, such as `source:crm`.
fn record_source(what: &ExperienceWhat) -> Option<String> {
    let Content::Json { .. } = what.content else { return None };
    let named = what.context.labels.iter().find_map(|label| label.strip_prefix("source:"));
    named.filter(|source| !source.trim().is_empty()).map(str::to_owned)
}

fn asked(directives: &Directives, modality: &Modality, at: RecordedAt) -> Asked {
    let lasting = |ttl: Option<&str>| ttl.and_then(|ttl| lamina_models::duration_us(ttl, at.0));
    let wanted = directives.extract.as_ref();
    let floor = directives.confidence_floor.map(|floor| (floor.clamp(0.0, 1.0) * 10_000.0) as u16);
    Asked {
        no_supersede: directives.no_supersede,
        confidence_floor: floor,
        belief_ttl: lasting(directives.ttl_for_belief_layer.as_deref()),
        event_ttl: lasting(directives.ttl_for_event_layer.as_deref()),
        consolidate_into: directives.consolidate_into.clone(),
        no_beliefs: wanted.is_some_and(|wanted| !wanted.iter().any(|layer| layer == "beliefs")),
        feedback: modality.as_str() == "feedback",
        settles: None,
        source: None,
    }
}
