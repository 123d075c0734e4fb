//! The twenty stories from end to end: their words through the built-in extractor, real episodes and the
//! fold. The bar is an F1 of 0.8 for boundaries, concepts and edges; what a reader expects stands in
//! the stories, written apart from the words that the extractor reads.

use std::collections::{BTreeMap, BTreeSet};

use lamina_core::derive::concepts::things::folded;
use lamina_types::{ConceptId, EventId, RecordedAt};

use super::*;
use crate::read::episodes::EpisodesQuery;

const STORIES: &[&str] = &[
    include_str!("../../../../../../fixtures/stories/01-renewal.txt"),
    include_str!("../../../../../../fixtures/stories/02-two-projects.txt"),
    include_str!("../../../../../../fixtures/stories/03-dependency.txt"),
    include_str!("../../../../../../fixtures/stories/04-family.txt"),
    include_str!("../../../../../../fixtures/stories/05-topic-shift.txt"),
    include_str!("../../../../../../fixtures/stories/06-hub.txt"),
    include_str!("../../../../../../fixtures/stories/07-incident.txt"),
    include_str!("../../../../../../fixtures/stories/08-one-off.txt"),
    include_str!("../../../../../../fixtures/stories/09-long-session.txt"),
    include_str!("../../../../../../fixtures/stories/10-interleaved.txt"),
    include_str!("../../../../../../fixtures/stories/11-merge.txt"),
    include_str!("../../../../../../fixtures/stories/12-split.txt"),
    include_str!("../../../../../../fixtures/stories/13-late.txt"),
    include_str!("../../../../../../fixtures/stories/14-health.txt"),
    include_str!("../../../../../../fixtures/stories/15-migration.txt"),
    include_str!("../../../../../../fixtures/stories/16-import.txt"),
    include_str!("../../../../../../fixtures/stories/17-check-ins.txt"),
    include_str!("../../../../../../fixtures/stories/18-conflict.txt"),
    include_str!("../../../../../../fixtures/stories/19-standup.txt"),
    include_str!("../../../../../../fixtures/stories/20-kinds.txt"),
];

const F1_MIN: f64 = 0.8;

#[derive(Debug)]
struct Line {
    begins: bool,
    minute: i64,
    session: String,
    actor: String,
    words: String,
}

#[derive(Debug, Default)]
struct Story {
    title: String,
    lines: Vec<Line>,
    things: BTreeSet<String>,
    concepts: Vec<BTreeSet<String>>,
    edges: BTreeSet<(String, String, String)>,
}

fn parse(text: &str) -> Story {
    let mut story = Story::default();
    let mut section = "";
    for line in text.lines() {
        match (section, line) {
            (_, "concepts:") => section = "concepts",
            (_, "edges:") => section = "edges",
            (_, "import") => {}
            ("concepts", line) => {
                story.concepts.push(line.split(" + ").map(str::to_owned).collect());
            }
            ("edges", line) => {
                let (from, rest) = line.split_once(" -").unwrap();
                let (relation, to) = rest.split_once("-> ").unwrap();
                story.edges.insert((from.to_owned(), relation.to_owned(), to.to_owned()));
            }
            (_, line) => match line.strip_prefix("# ") {
                Some(title) => title.clone_into(&mut story.title),
                None => event(line, &mut story),
            },
        }
    }
    story
}

fn event(line: &str, story: &mut Story) {
    let begins = line.starts_with('>');
    let parts: Vec<&str> = line.trim_start_matches('>').split('|').map(str::trim).collect();
    let [head, words, things, _] = parts.as_slice() else { panic!("four parts: {line}") };
    let head: Vec<&str> = head.split_whitespace().collect();
    let [day, clock, session, actor] = head.as_slice() else { panic!("a head: {line}") };
    let (hour, minute) = clock.split_once(':').unwrap();
    let number = |text: &str| text.parse::<i64>().unwrap();
    let things = things.split(',').map(|thing| thing.trim().to_owned());
    story.things.extend(things.filter(|thing| !thing.is_empty()));
    story.lines.push(Line {
        begins,
        minute: (number(day) * 24 + number(hour)) * 60 + number(minute),
        session: (*session).to_owned(),
        actor: format!("user:{actor}"),
        words: (*words).to_owned(),
    });
}

/// What the engine made of a story.
struct Told {
    begins: Vec<bool>,
    concepts: Vec<ConceptRecord>,
}

async fn tell(world: &mut World, story: &Story, scope: &str) -> Told {
    let mut events: Vec<EventId> = Vec::new();
    let start = (world.engine.now().0 - BEGINNING) / MINUTE + 60;
    for line in &story.lines {
        let Line { session, actor, minute, words, .. } = line;
        events.push(world.say_at(scope, session, actor, start + *minute, words).await);
    }
    world.build(scope).await;
    let mut query = EpisodesQuery {
        scope: path(scope),
        actor: None,
        recorded: RecordedAt(world.engine.now()),
        in_the_past: false,
        valid: None,
        valid_during: None,
        recorded_during: None,
        overlapping: None,
        with_chain: false,
        after: None,
        limit: 1_000,
    };
    let mut episodes = Vec::new();
    loop {
        let permit = ReadPermit::Local(permit_of(1, "user:alice", Some(&path(scope))));
        let page = world.engine.episodes(permit, query.clone()).await.unwrap();
        episodes.extend(page.items);
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    let mut seen = BTreeSet::new();
    let begins = events.iter().map(|event| {
        let of = episodes.iter().position(|episode| episode.events.contains(event));
        seen.insert(of.expect("every event is in an episode"))
    });
    let begins = begins.collect();
    let concepts = world
        .ask(|query| {
            query.scope = path(scope);
            query.limit = 1_000;
        })
        .await;
    Told { begins, concepts }
}

/// Hits, wrong ones and misses.
#[derive(Debug, Default, Clone, Copy)]
struct Score(u32, u32, u32);

impl Score {
    fn f1(self) -> f64 {
        let Score(hits, wrong, missed) = self;
        2.0 * f64::from(hits) / f64::from((2 * hits + wrong + missed).max(1))
    }

    fn add(&mut self, found: bool, expected: bool) {
        match (found, expected) {
            (true, true) => self.0 += 1,
            (true, false) => self.1 += 1,
            (false, true) => self.2 += 1,
            (false, false) => {}
        }
    }
}

/// The thing of the story that a name means: the same words, or some of them.
fn meant(story: &Story, name: &str) -> String {
    let words =
        |text: &str| -> BTreeSet<String> { text.split_whitespace().filter_map(folded).collect() };
    let found = words(name);
    let same = story.things.iter().find(|thing| words(thing) == found);
    let part = story.things.iter().find(|thing| {
        let thing = words(thing);
        found.is_subset(&thing) || thing.is_subset(&found)
    });
    same.or(part).cloned().unwrap_or_else(|| name.to_owned())
}

fn boundaries(story: &Story, told: &Told, score: &mut Score, log: &mut String) {
    // The first event of a session begins an episode whatever one does: it does not count.
    let mut sessions = BTreeSet::new();
    for (line, found) in story.lines.iter().zip(&told.begins) {
        if sessions.insert(&line.session) {
            continue;
        }
        score.add(*found, line.begins);
        if *found != line.begins {
            *log += &format!("boundary {found}: {} ({})\n", line.words, story.title);
        }
    }
}

/// A concept is found when at least half of all things in either are in both.
fn concepts(
    story: &Story,
    told: &Told,
    score: &mut Score,
    log: &mut String,
) -> BTreeMap<ConceptId, usize> {
    let mut matched = BTreeMap::new();
    for concept in &told.concepts {
        let members: BTreeSet<String> =
            concept.things.iter().map(|thing| meant(story, thing)).collect();
        let best = story.concepts.iter().position(|expected| {
            let both = expected.intersection(&members).count();
            both * 2 >= expected.union(&members).count()
        });
        let best = best.filter(|index| !matched.values().any(|taken| taken == index));
        score.add(true, best.is_some());
        match best {
            Some(index) => {
                matched.insert(concept.id, index);
            }
            None => *log += &format!("concept {:?} ({})\n", concept.things, story.title),
        }
    }
    for (index, expected) in story.concepts.iter().enumerate() {
        if !matched.values().any(|taken| *taken == index) {
            score.add(false, true);
            *log += &format!("no concept {expected:?} ({})\n", story.title);
        }
    }
    matched
}

fn relations(
    story: &Story,
    told: &Told,
    matched: &BTreeMap<ConceptId, usize>,
    score: &mut Score,
    log: &mut String,
) {
    let of = |name: &String| story.concepts.iter().position(|concept| concept.contains(name));
    // Occurring together has no direction.
    let undirected = |edge: (Option<usize>, String, Option<usize>)| match edge {
        (from, relation, to) if relation == "co_occurs_with" => {
            (from.min(to), relation, from.max(to))
        }
        other => other,
    };
    let mut expected: BTreeSet<(Option<usize>, String, Option<usize>)> = story
        .edges
        .iter()
        .map(|(from, relation, to)| undirected((of(from), relation.clone(), of(to))))
        .collect();
    let mut found = BTreeSet::new();
    for concept in &told.concepts {
        for edge in &concept.edges {
            let relation = edge.relation.as_str().unwrap().to_owned();
            let from = matched.get(&concept.id).copied();
            found.insert(undirected((from, relation, matched.get(&edge.to).copied())));
        }
    }
    for edge in found {
        let right = expected.remove(&edge);
        score.add(true, right);
        if !right {
            *log += &format!("edge {edge:?} ({})\n", story.title);
        }
    }
    for edge in expected {
        score.add(false, true);
        *log += &format!("no edge {edge:?} ({})\n", story.title);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stories_become_the_episodes_concepts_and_edges_a_reader_expects() {
    assert_eq!(STORIES.len(), 20);
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let (mut begins, mut found, mut related) =
        (Score::default(), Score::default(), Score::default());
    let mut log = String::new();
    for (number, text) in STORIES.iter().enumerate() {
        let story = parse(text);
        let told = tell(&mut world, &story, &format!("user:story{number}")).await;
        boundaries(&story, &told, &mut begins, &mut log);
        let matched = concepts(&story, &told, &mut found, &mut log);
        relations(&story, &told, &matched, &mut related, &mut log);
    }
    println!("{log}");
    for (what, score) in [("boundaries", begins), ("concepts", found), ("edges", related)] {
        println!("{what} {score:?} F1 {:.3}", score.f1());
        assert!(score.f1() >= F1_MIN, "{what}: F1 {:.3} of {score:?}\n{log}", score.f1());
    }
    world.check().await;
}
