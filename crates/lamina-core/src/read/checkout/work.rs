//! The working set: what typed events leave open. A goal, a task or an issue is open until an event closes it; a decision
//! stands until one supersedes it; of handoffs and project reports the last counts.

use lamina_types::{Micros, RecordedAt};

use super::typed::{TypedEvent, identities, sentence};
use crate::read::words::{is_empty_word, stem, words};

/// Items of one category that are shown.
const SHOWN_MAX: usize = 8;

/// What an item of the working set is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkCategory {
    /// Something that stands in the way.
    Blocker,
    /// A goal.
    Goal,
    /// A task.
    Task,
    /// A decision.
    Decision,
    /// What the last one handed over.
    Handoff,
    /// Where a project stands.
    Status,
}

impl WorkCategory {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            WorkCategory::Blocker => "blocker",
            WorkCategory::Goal => "goal",
            WorkCategory::Task => "task",
            WorkCategory::Decision => "decision",
            WorkCategory::Handoff => "handoff",
            WorkCategory::Status => "status",
        }
    }
}

/// An item of the working set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkItem {
    /// What it is.
    pub category: WorkCategory,
    /// The sentence of its last event.
    pub summary: String,
    /// When that happened.
    pub at: Micros,
    /// That event.
    pub citation: String,
}

/// A kind of thing that typed events speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// A goal.
    Goal,
    /// A task.
    Task,
    /// A decision.
    Decision,
    /// An issue.
    Issue,
    /// A handoff.
    Handoff,
    /// A project.
    Project,
}

impl Thing {
    /// The fields that say which one it is.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Thing::Goal => &["goal_id", "goalId", "id", "title", "goal"],
            Thing::Task => &["taskId", "task_id", "id", "title", "task"],
            Thing::Decision => {
                &["decision_id", "decisionId", "id", "decision", "title", "supersedes"]
            }
            Thing::Issue => &["issue_id", "issueId", "id", "issue", "title"],
            Thing::Handoff => &[],
            Thing::Project => &["project", "title"],
        }
    }
}

/// What a kind of event does to its thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The thing.
    pub thing: Thing,
    /// Its category from then on; `None` if it is over.
    pub becomes: Option<WorkCategory>,
}

/// The kinds that change the working set. The engine looks these up by their labels.
pub const KINDS: &[(&str, Change)] = &[
    ("goal.created", open(Thing::Goal, WorkCategory::Goal)),
    ("goal.updated", open(Thing::Goal, WorkCategory::Goal)),
    ("goal.completed", closed(Thing::Goal)),
    ("goal.cancelled", closed(Thing::Goal)),
    ("goal.abandoned", closed(Thing::Goal)),
    ("task.proposed", open(Thing::Task, WorkCategory::Task)),
    ("task.created", open(Thing::Task, WorkCategory::Task)),
    ("task.claimed", open(Thing::Task, WorkCategory::Task)),
    ("task.started", open(Thing::Task, WorkCategory::Task)),
    ("task.unblocked", open(Thing::Task, WorkCategory::Task)),
    ("task.blocked", open(Thing::Task, WorkCategory::Blocker)),
    ("task.completed", closed(Thing::Task)),
    ("task.cancelled", closed(Thing::Task)),
    ("decision.made", open(Thing::Decision, WorkCategory::Decision)),
    ("decision.superseded", closed(Thing::Decision)),
    ("decision.reversed", closed(Thing::Decision)),
    ("issue.diagnosed", open(Thing::Issue, WorkCategory::Blocker)),
    ("issue.resolved", closed(Thing::Issue)),
    ("handoff.created", open(Thing::Handoff, WorkCategory::Handoff)),
    ("project.status", open(Thing::Project, WorkCategory::Status)),
];

const fn open(thing: Thing, category: WorkCategory) -> Change {
    Change { thing, becomes: Some(category) }
}

const fn closed(thing: Thing) -> Change {
    Change { thing, becomes: None }
}

/// What a kind of event does to its thing, if it does anything.
pub fn change(kind: &str) -> Option<Change> {
    KINDS.iter().find(|(known, _)| *known == kind).map(|(_, change)| *change)
}

/// A typed event with what is needed to cite it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkEvent {
    /// What it says.
    pub event: TypedEvent,
    /// Who did it.
    pub author: String,
    /// When it happened.
    pub at: Micros,
    /// When it was recorded: the order of changes.
    pub recorded: RecordedAt,
    /// Its citation.
    pub citation: String,
}

/// One thing with its events so far.
#[derive(Debug)]
struct Track {
    thing: Thing,
    names: Vec<String>,
    /// The events, by place; the last decides.
    events: Vec<usize>,
}

/// The working set, and the citations of events whose statement is over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkingSet {
    /// What is open: blockers, goals, tasks, decisions, then the rest; within each the last first.
    pub items: Vec<WorkItem>,
    /// Events that a later one of the same thing took the place of.
    pub superseded: Vec<String>,
    /// Entities whose statements are over, with when that was recorded.
    pub invalidated: Vec<InvalidatedEntity>,
}

/// An entity whose earlier statements are over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidatedEntity {
    /// Its name, in lower case.
    pub name: String,
    /// When the log learned of it.
    pub recorded: RecordedAt,
}

impl WorkingSet {
    /// Whether a typed event speaks of an entity whose statements are over.
    pub fn is_invalidated(&self, event: &TypedEvent, recorded: RecordedAt) -> bool {
        self.invalidated.iter().any(|entity| {
            let mut values = event.fields.iter().map(|(_, value)| value);
            recorded < entity.recorded && values.any(|value| value.to_lowercase() == entity.name)
        })
    }
}

/// Folds typed events, in any order.
pub fn fold(events: Vec<WorkEvent>) -> WorkingSet {
    fold_without(events, Vec::new())
}

/// Folds typed events, in any order, without the things whose statements are over.
pub fn fold_without(mut events: Vec<WorkEvent>, invalidated: Vec<InvalidatedEntity>) -> WorkingSet {
    events.sort_by(|one, other| {
        one.recorded.cmp(&other.recorded).then_with(|| one.citation.cmp(&other.citation))
    });
    events.dedup_by(|one, other| one.citation == other.citation);
    let mut tracks: Vec<Track> = Vec::new();
    for (place, event) in events.iter().enumerate() {
        let Some(change) = change(&event.event.kind) else { continue };
        let names = identities(&event.event);
        let is_it = |track: &&mut Track| {
            let same = track.names.iter().any(|name| names.contains(name));
            track.thing == change.thing && (same || change.thing == Thing::Handoff)
        };
        match tracks.iter_mut().find(is_it) {
            Some(track) => {
                track.events.push(place);
                track.names.extend(names);
                track.names.sort_unstable();
                track.names.dedup();
            }
            None => tracks.push(Track { thing: change.thing, names, events: vec![place] }),
        }
    }
    let mut set = WorkingSet { invalidated, ..WorkingSet::default() };
    for track in &tracks {
        let Some((last, earlier)) = track.events.split_last() else { continue };
        set.superseded
            .extend(earlier.iter().filter_map(|at| Some(events.get(*at)?.citation.clone())));
        let Some(event) = events.get(*last) else { continue };
        match set.is_invalidated(&event.event, event.recorded) {
            true => set.superseded.push(event.citation.clone()),
            false => set.items.extend(item(event, earlier, &events)),
        }
    }
    set.items.sort_by(|one, other| {
        let order = one.category.cmp(&other.category).then_with(|| other.at.cmp(&one.at));
        order.then_with(|| one.citation.cmp(&other.citation))
    });
    let mut of_category = (None, 0);
    set.items.retain(|item| {
        let count = if of_category.0 == Some(item.category) { of_category.1 + 1 } else { 1 };
        of_category = (Some(item.category), count);
        count <= SHOWN_MAX
    });
    set.superseded.sort_unstable();
    set
}

/// The item that the last event of a thing leaves. One that names only an id is told with the title of an earlier.
fn item(last: &WorkEvent, earlier: &[usize], events: &[WorkEvent]) -> Option<WorkItem> {
    let category = change(&last.event.kind)?.becomes?;
    let mut told = last.event.clone();
    let earlier = || earlier.iter().rev().filter_map(|at| events.get(*at));
    for key in ["title", "goal", "task", "issue"] {
        let known = earlier().find_map(|event| event.event.first_of(&[key]));
        if told.first_of(&[key]).is_none()
            && let Some(known) = known
        {
            told.fields.push((key.to_owned(), known.to_owned()));
        }
    }
    Some(WorkItem {
        category,
        summary: sentence(&told, &last.author),
        at: last.at,
        citation: last.citation.clone(),
    })
}

/// Words by which somebody asks where the work stands.
const ASKS: &[&str] = &[
    "blocked",
    "blocker",
    "blockers",
    "blocking",
    "current",
    "decided",
    "decision",
    "decisions",
    "direction",
    "done",
    "goal",
    "goals",
    "handoff",
    "latest",
    "next",
    "open",
    "plan",
    "plans",
    "priorities",
    "priority",
    "progress",
    "project",
    "recent",
    "roadmap",
    "state",
    "status",
    "step",
    "steps",
    "task",
    "tasks",
    "todo",
    "todos",
    "work",
    "working",
    "actions",
];
/// Of these one at least: `current` alone asks for anything.
const ASKS_FOR_ITEMS: &[&str] = &[
    "blocked",
    "blocker",
    "blockers",
    "decided",
    "decision",
    "decisions",
    "goal",
    "goals",
    "handoff",
    "plan",
    "progress",
    "roadmap",
    "status",
    "steps",
    "task",
    "tasks",
    "todo",
    "todos",
    "work",
    "working",
    "actions",
];

/// Whether a question asks where the work stands, and not for anything in particular.
pub fn asks_for_work(query: &str) -> bool {
    let said: Vec<String> = words(query).into_iter().filter(|word| !is_empty_word(word)).collect();
    let among = |list: &[&str], word: &str| {
        list.iter().any(|known| *known == word || stem(known) == stem(word))
    };
    let about = said.iter().filter(|word| among(ASKS, word)).count();
    about * 10 >= said.len() * 7 && said.iter().any(|word| among(ASKS_FOR_ITEMS, word))
}
