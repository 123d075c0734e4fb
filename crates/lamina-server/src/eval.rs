//! `lamina eval`: how well recall finds what answers a question, measured on data sets or on the
//! user's own questions.
//!
//! Every conversation is loaded into a scope of its own and asked over HTTP, with nothing set: what is
//! measured is what a client gets. A pack that is empty although there is an answer counts as nothing
//! found.

mod ask;
mod gate;
mod measure;
mod report;
mod sets;
mod stories;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use lamina_env::disk::write_atomic;
use lamina_env::{Disk, Env};

use ask::{Pack, Server};
use gate::GateReport;
use measure::{Kind, Outcome};
use report::Measured;
pub(crate) use sets::Layout;
use sets::{Conversation, Question};
use stories::StoryReport;

/// What is to be measured, and how.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Data sets by their layout.
    pub(crate) sets: Vec<(Layout, PathBuf)>,
    /// A directory of stories with answers.
    pub(crate) stories: Option<PathBuf>,
    /// A directory in the layout of FactConsolidation.
    pub(crate) factconsolidation: Option<PathBuf>,
    /// A directory in the layout of GateMem.
    pub(crate) gatemem: Option<PathBuf>,
    /// Corrections of the evidence of LoCoMo.
    pub(crate) corrections: Option<PathBuf>,
    /// A server that runs already.
    pub(crate) url: Option<String>,
    /// What it asks for.
    pub(crate) token: Option<String>,
    /// Where files with a line per question go.
    pub(crate) out: Option<PathBuf>,
    /// Conversations of each set that are looked at.
    pub(crate) conversations_max: usize,
    /// Questions are also asked of a memory that does not know.
    pub(crate) elsewhere: bool,
    /// Each half of a set is also shown by itself: what was chosen on one can be held against the other.
    pub(crate) halves: bool,
}

/// Measures, and gives the tables.
pub(crate) async fn run(
    plan: &Plan,
    env: &Env,
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<String> {
    let mut sets = Vec::new();
    for (layout, path) in &plan.sets {
        let mut set = layout.read(&*env.disk, path, plan.corrections.as_deref())?;
        set.truncate(plan.conversations_max);
        sets.push((*layout, set));
    }
    let server = match &plan.url {
        Some(url) => Server::at(url, plan.token.clone(), env.clone())?,
        None => Server::start(env.clone())?,
    };
    let mut tables = all(plan, &server, &sets, env, progress).await?;
    for report in answers(plan, &server, env, progress).await? {
        if let Some(dir) = &plan.out {
            write(&*env.disk, dir, &report.name, &report.lines())?;
        }
        tables.push(report.table());
    }
    if let Some(path) = &plan.gatemem {
        let report = gates(plan, &server, (env, path), progress).await?;
        if let Some(dir) = &plan.out {
            write(&*env.disk, dir, "gatemem", &report.lines())?;
        }
        tables.push(report.table());
    }
    Ok(tables.join("\n"))
}

/// Plays the episodes of GateMem.
async fn gates(
    plan: &Plan,
    server: &Server,
    (env, path): (&Env, &Path),
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<GateReport> {
    let episodes = sets::gatemem::read(&*env.disk, path);
    let episodes = episodes.with_context(|| format!("{} cannot be measured", path.display()))?;
    let mut report = GateReport::default();
    for (number, episode) in episodes.iter().take(plan.conversations_max).enumerate() {
        progress(&format!("gatemem: playing {} of {}", number + 1, episodes.len()));
        let played = report.add(server, number, episode).await;
        played.with_context(|| format!("episode {}", episode.name))?;
    }
    Ok(report)
}

async fn all(
    plan: &Plan,
    server: &Server,
    sets: &[(Layout, Vec<Conversation>)],
    env: &Env,
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<Vec<String>> {
    let mut tables = Vec::new();
    for (layout, set) in sets {
        let outcomes = ask_set(plan, server, *layout, set, progress).await?;
        let measured = Measured {
            name: layout.as_str().to_owned(),
            conversations: set.len(),
            records: set.iter().map(|conversation| conversation.records.len()).sum(),
            outcomes,
        };
        if let Some(dir) = &plan.out {
            write(&*env.disk, dir, &measured.name, &measured.lines())?;
        }
        tables.push(measured.table());
        if plan.halves {
            tables.extend(halves(measured, set).iter().map(Measured::table));
        }
    }
    Ok(tables)
}

/// Tells stories and asks what they answer.
async fn answers(
    plan: &Plan,
    server: &Server,
    env: &Env,
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<Vec<StoryReport>> {
    let read = |path: &Option<PathBuf>, read: StoryReader| match path {
        Some(path) => {
            read(&*env.disk, path).with_context(|| format!("{} cannot be measured", path.display()))
        }
        None => Ok(Vec::new()),
    };
    let sets = [
        ("stories", read(&plan.stories, sets::stories::read)?),
        ("factconsolidation", read(&plan.factconsolidation, sets::stories::read_consolidation)?),
    ];
    let mut reports = Vec::new();
    for (name, stories) in sets {
        if stories.is_empty() {
            continue;
        }
        let mut report = StoryReport { name: name.to_owned(), ..StoryReport::default() };
        for story in stories.iter().take(plan.conversations_max) {
            progress(&format!("{name}: asking {}", story.name));
            report.add(server, story).await.with_context(|| format!("story {}", story.name))?;
        }
        reports.push(report);
    }
    Ok(reports)
}

/// Reads a directory of stories.
type StoryReader = fn(&dyn Disk, &Path) -> anyhow::Result<Vec<sets::stories::Story>>;

/// The first, third, ... conversations of a set, and the others.
fn halves(measured: Measured, set: &[Conversation]) -> [Measured; 2] {
    let Measured { name, outcomes, .. } = measured;
    let half = |which: usize, called: &str| Measured {
        name: format!("{name}, {called} half"),
        conversations: set.iter().skip(which).step_by(2).count(),
        records: set.iter().skip(which).step_by(2).map(|one| one.records.len()).sum(),
        outcomes: Vec::new(),
    };
    let mut halves = [half(0, "first"), half(1, "second")];
    let places: HashMap<&str, usize> =
        set.iter().enumerate().map(|(at, one)| (one.name.as_str(), at)).collect();
    for outcome in outcomes {
        let place = places.get(outcome.conversation.as_str()).copied().unwrap_or(0);
        if let Some(half) = halves.get_mut(place % 2) {
            half.outcomes.push(outcome);
        }
    }
    halves
}

async fn ask_set(
    plan: &Plan,
    server: &Server,
    layout: Layout,
    set: &[Conversation],
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<Vec<Outcome>> {
    let scope = |number: usize| format!("ws:eval_{}_{number}", layout.as_str());
    let mut units: Vec<HashMap<String, String>> = Vec::new();
    for (number, conversation) in set.iter().enumerate() {
        progress(&format!("{}: writing {} of {}", layout.as_str(), number + 1, set.len()));
        let ids = server.load(&scope(number), &conversation.records).await;
        let ids = ids.with_context(|| format!("conversation {}", conversation.name))?;
        let named = conversation.records.iter().map(|record| record.unit.clone());
        units.push(ids.into_iter().zip(named).collect());
    }
    let mut outcomes = Vec::new();
    for (number, conversation) in set.iter().enumerate() {
        progress(&format!("{}: asking {} of {}", layout.as_str(), number + 1, set.len()));
        let other = (number + 1) % set.len();
        for question in &conversation.questions {
            let answerable = !question.evidence.is_empty();
            let pack = server.ask(&scope(number), question).await?;
            let kind = if answerable { Kind::Answerable } else { Kind::Unanswerable };
            outcomes.push(outcome(conversation, kind, question, pack, units.get(number)));
            if plan.elsewhere && other != number && answerable {
                let pack = server.ask(&scope(other), question).await?;
                let known = units.get(other);
                outcomes.push(outcome(conversation, Kind::Elsewhere, question, pack, known));
            }
        }
    }
    Ok(outcomes)
}

fn outcome(
    conversation: &Conversation,
    kind: Kind,
    question: &Question,
    pack: Pack,
    units: Option<&HashMap<String, String>>,
) -> Outcome {
    let mut seen = BTreeSet::new();
    let named = |event: &String| units.and_then(|units| units.get(event)).unwrap_or(event).clone();
    let found = pack.events.iter().map(named).filter(|unit| seen.insert(unit.clone())).collect();
    Outcome {
        conversation: conversation.name.clone(),
        kind,
        question: question.clone(),
        found,
        tokens: pack.tokens,
        micros: pack.micros,
        why_not: pack.why_not,
    }
}

fn write(disk: &dyn Disk, dir: &Path, name: &str, lines: &str) -> anyhow::Result<()> {
    disk.create_dir_all(dir)?;
    let path = dir.join(format!("{name}.jsonl"));
    write_atomic(disk, &path, lines.as_bytes())
        .with_context(|| format!("{} cannot be written", path.display()))
}
