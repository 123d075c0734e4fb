//! Twenty short stories, written by hand with the episodes, concepts and edges a reader would expect,
//! run through windows and concepts as the fold would run them. The bar is an F1 of 0.8 for each.
//!
//! A line of a story is `DAY HH:MM SESSION ACTOR | words | things | claims`; `>` marks an event that a
//! reader takes for the beginning of an episode. The expected concepts and edges follow.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::{ConceptId, EntityId, EpisodeId, EventId, FactId, Micros, RecordedAt, ValidAt};

use super::concepts::{Concept, Digest, Fact, Item, Memory, Relation, Standing, absorb, edges};
use super::episodes::topics::announces_change;
use super::episodes::{Action, Arrival, Arriving, Input, Limits, Thread, Topics, Windows};

const STORIES: &[&str] = &[
    include_str!("../../../../fixtures/stories/01-renewal.txt"),
    include_str!("../../../../fixtures/stories/02-two-projects.txt"),
    include_str!("../../../../fixtures/stories/03-dependency.txt"),
    include_str!("../../../../fixtures/stories/04-family.txt"),
    include_str!("../../../../fixtures/stories/05-topic-shift.txt"),
    include_str!("../../../../fixtures/stories/06-hub.txt"),
    include_str!("../../../../fixtures/stories/07-incident.txt"),
    include_str!("../../../../fixtures/stories/08-one-off.txt"),
    include_str!("../../../../fixtures/stories/09-long-session.txt"),
    include_str!("../../../../fixtures/stories/10-interleaved.txt"),
    include_str!("../../../../fixtures/stories/11-merge.txt"),
    include_str!("../../../../fixtures/stories/12-split.txt"),
    include_str!("../../../../fixtures/stories/13-late.txt"),
    include_str!("../../../../fixtures/stories/14-health.txt"),
    include_str!("../../../../fixtures/stories/15-migration.txt"),
    include_str!("../../../../fixtures/stories/16-import.txt"),
    include_str!("../../../../fixtures/stories/17-check-ins.txt"),
    include_str!("../../../../fixtures/stories/18-conflict.txt"),
    include_str!("../../../../fixtures/stories/19-standup.txt"),
    include_str!("../../../../fixtures/stories/20-kinds.txt"),
];

const MINUTE: i64 = 60_000_000;
const F1_MIN: f64 = 0.8;

#[derive(Debug)]
struct Line {
    begins: bool,
    observed: i64,
    session: String,
    words: String,
    things: Vec<String>,
    claims: Vec<(String, String, String)>,
}

#[derive(Debug, Default)]
struct Story {
    title: String,
    import: bool,
    lines: Vec<Line>,
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
            (_, "import") => story.import = true,
            ("concepts", line) => {
                story.concepts.push(line.split(" + ").map(str::to_owned).collect());
            }
            ("edges", line) => {
                let (from, rest) = line.split_once(" -").expect("an edge names its beginning");
                let (relation, to) = rest.split_once("-> ").expect("an edge names its end");
                story.edges.insert((from.to_owned(), relation.to_owned(), to.to_owned()));
            }
            (_, line) => match line.strip_prefix("# ") {
                Some(title) => title.clone_into(&mut story.title),
                None => story.lines.push(event(line)),
            },
        }
    }
    story
}

fn event(line: &str) -> Line {
    let begins = line.starts_with('>');
    let parts: Vec<&str> = line.trim_start_matches('>').split('|').map(str::trim).collect();
    let [head, words, things, claims] = parts.as_slice() else { panic!("four parts: {line}") };
    let head: Vec<&str> = head.split_whitespace().collect();
    let [day, clock, session, _actor] = head.as_slice() else {
        panic!("day time session actor: {line}")
    };
    let (hour, minute) = clock.split_once(':').expect("a time of day");
    let number = |text: &str| text.parse::<i64>().expect("a number");
    let things: Vec<String> =
        things.split(',').map(|t| t.trim().to_owned()).filter(|t| !t.is_empty()).collect();
    let claims = claims.split(';').map(str::trim).filter(|claim| !claim.is_empty());
    let claims = claims.map(|claim| {
        // Names may have several words: the predicate is the first word behind the longest name.
        let subject =
            things.iter().filter(|t| claim.starts_with(t.as_str())).max_by_key(|t| t.len());
        let subject = subject.unwrap_or_else(|| panic!("a claim is about a thing: {claim}"));
        let rest = claim[subject.len()..].trim();
        let (predicate, object) = rest.split_once(' ').expect("a predicate and an object");
        (subject.clone(), predicate.to_owned(), object.to_owned())
    });
    Line {
        begins,
        observed: ((number(day) * 24 + number(hour)) * 60 + number(minute)) * MINUTE,
        session: (*session).to_owned(),
        words: (*words).to_owned(),
        claims: claims.collect(),
        things: things.clone(),
    }
}

fn hashed(text: &str) -> [u8; 16] {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let mut id = [0; 16];
    id[..8].copy_from_slice(&hash.to_be_bytes());
    id
}

/// What an extractor makes of words: folded, without endings and without the words everybody uses.
fn topics(words: &str) -> Vec<u32> {
    const COMMON: &[&str] = &[
        "the", "and", "for", "with", "that", "this", "are", "was", "were", "has", "have", "had",
        "not", "but", "you", "your", "his", "her", "its", "our", "their", "they", "she", "from",
        "into", "since", "how", "what", "which", "who", "when", "does", "did", "can", "will",
        "shall", "all", "any", "one", "two", "too", "now", "yes", "let", "get", "out", "off",
    ];
    let folded = words.to_lowercase();
    let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 2);
    let stems = words.filter(|word| !COMMON.contains(word)).map(|word| {
        let cut = ["ing", "ed", "es", "s"].iter().find_map(|end| word.strip_suffix(end));
        cut.filter(|stem| stem.len() > 2).unwrap_or(word)
    });
    let hashes = stems.map(|stem| {
        let id = hashed(stem);
        u32::from_be_bytes([id[0], id[1], id[2], id[3]])
    });
    hashes.collect::<BTreeSet<u32>>().into_iter().collect()
}

struct Told {
    begins: Vec<bool>,
    graph: Memory,
    names: BTreeMap<Item, String>,
}

fn numbered(n: usize) -> [u8; 16] {
    let mut id = [0; 16];
    id[8..].copy_from_slice(&(n as u64).to_be_bytes());
    id
}

/// Runs a story as live: verdicts first, then windows, then a digest of each sealed episode.
fn tell(story: &Story) -> Told {
    let mut windows = Windows::new(Limits::default());
    let mut extractor: BTreeMap<&str, (Topics, i64)> = BTreeMap::new();
    let mut told = Told { begins: Vec::new(), graph: Memory::default(), names: BTreeMap::new() };
    let mut episodes: BTreeMap<EpisodeId, Vec<usize>> = BTreeMap::new();
    let mut sealed = Vec::new();
    let mut recorded = 0;
    for (n, line) in story.lines.iter().enumerate() {
        recorded = if story.import { recorded + 1 } else { line.observed.max(recorded + 1) };
        let topics = topics(&line.words);
        let (window, last) = extractor.entry(&line.session).or_default();
        let cue = announces_change(&line.words);
        let pause_us = line.observed - *last;
        let shift = window.shift(Arriving { topics: &topics, cue, pause_us });
        window.push(&topics, shift);
        *last = line.observed;
        let actions = windows.on(Input::Arrive(Arrival {
            event: EventId::from_bytes(numbered(n)),
            thread: Thread { scope: 1, session: Some(hashed(&line.session)) },
            recorded: RecordedAt(Micros(recorded)),
            observed: ValidAt(Micros(line.observed)),
            shift,
            ends: false,
            continues: None,
            fresh: EpisodeId::from_bytes(numbered(n)),
        }));
        told.begins.push(actions.iter().any(|a| matches!(a, Action::Opened { .. })));
        for action in actions {
            match action {
                Action::Joined { episode, .. } => episodes.entry(episode).or_default().push(n),
                Action::Sealed { episode, at } => sealed.push((episode, at)),
                Action::Opened { .. } | Action::Closed { .. } => {}
            }
        }
    }
    for action in windows.on(Input::Tick { now: RecordedAt(Micros(i64::MAX)) }) {
        if let Action::Sealed { episode, at } = action {
            sealed.push((episode, at));
        }
    }
    assert_eq!(sealed.len(), episodes.len(), "{}: every episode is sealed", story.title);
    let mut minted = 0;
    for (episode, at) in sealed {
        let lines: Vec<(usize, &Line)> =
            episodes[&episode].iter().map(|n| (*n, &story.lines[*n])).collect();
        let digest = digest(&mut told.names, (episode, at), &lines);
        let mut mint = || {
            minted += 1;
            ConceptId::from_bytes(numbered(minted))
        };
        absorb(&mut told.graph, &digest, &mut mint);
    }
    told
}

fn digest(
    names: &mut BTreeMap<Item, String>,
    (episode, at): (EpisodeId, RecordedAt),
    lines: &[(usize, &Line)],
) -> Digest {
    let mut item = |name: &str| {
        let item = Item::Entity(EntityId::from_bytes(hashed(name)));
        names.insert(item, name.to_owned());
        item
    };
    let things: BTreeSet<&String> = lines.iter().flat_map(|(_, line)| &line.things).collect();
    let mut facts = Vec::new();
    for (n, line) in lines {
        for (ordinal, (subject, predicate, object)) in line.claims.iter().enumerate() {
            facts.push(Fact {
                fact: FactId::from_bytes(numbered(n * 100 + ordinal)),
                subject: item(subject),
                relation: Relation::of_predicate(predicate),
                object: things.contains(object).then(|| item(object)),
            });
        }
    }
    let began = ValidAt(Micros(lines[0].1.observed));
    let things: Vec<Item> = things.iter().map(|name| item(name)).collect();
    Digest::new((episode, at, began), things, facts)
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

/// The first event of a session begins an episode whatever one does: it does not count.
fn boundaries(story: &Story, told: &Told, score: &mut Score, log: &mut String) {
    let mut sessions = BTreeSet::new();
    for (line, found) in story.lines.iter().zip(&told.begins) {
        if sessions.insert(&line.session) {
            assert!(*found && line.begins, "{}: {}", story.title, line.words);
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
    for concept in held(told) {
        let members: BTreeSet<String> =
            concept.members.iter().map(|item| told.names[item].clone()).collect();
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
            None => *log += &format!("concept {members:?} ({})\n", story.title),
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

fn held(told: &Told) -> impl Iterator<Item = &Concept> {
    told.graph.concepts().filter(|concept| concept.standing == Standing::Held)
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
    for concept in held(told) {
        for edge in edges(&told.graph, concept) {
            let relation = edge.relation.as_str().expect("no custom relations here").to_owned();
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

#[test]
fn episodes_concepts_and_edges_are_those_a_reader_expects() {
    assert_eq!(STORIES.len(), 20);
    let (mut begins, mut found, mut related) =
        (Score::default(), Score::default(), Score::default());
    let mut log = String::new();
    for text in STORIES {
        let story = parse(text);
        let told = tell(&story);
        boundaries(&story, &told, &mut begins, &mut log);
        let matched = concepts(&story, &told, &mut found, &mut log);
        relations(&story, &told, &matched, &mut related, &mut log);
    }
    for (what, score) in [("boundaries", begins), ("concepts", found), ("edges", related)] {
        println!("{what} {score:?} F1 {:.3}", score.f1());
        assert!(score.f1() >= F1_MIN, "{what}: F1 {:.3} of {score:?}\n{log}", score.f1());
        assert!(score.0 >= 6, "{what}: so few hits prove nothing: {score:?}");
    }
    println!("{log}");
}

#[test]
fn telling_a_story_twice_gives_the_same() {
    for text in STORIES {
        let story = parse(text);
        let (one, other) = (tell(&story), tell(&story));
        assert_eq!((one.begins, one.graph), (other.begins, other.graph), "{}", story.title);
    }
}
