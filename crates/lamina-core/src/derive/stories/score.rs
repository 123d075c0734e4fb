//! How stories are written, and how what was made of one is scored. Knows neither the rules nor the engine:
//! whoever tells a story brings what came of it as plain words.
//!
//! A line of a story is `DAY HH:MM SESSION ACTOR | words | things | claims`; `>` marks an event that a
//! reader takes for the beginning of an episode. The expected concepts and edges follow.

use std::collections::{BTreeMap, BTreeSet};

/// One event of a story, with what a reader marked in it.
#[derive(Debug)]
pub(crate) struct Line {
    /// A reader takes an episode to begin here.
    pub(crate) begins: bool,
    /// When it happened, in minutes.
    pub(crate) minute: i64,
    pub(crate) session: String,
    pub(crate) actor: String,
    pub(crate) words: String,
    /// What it is about.
    pub(crate) things: Vec<String>,
    /// Subject, predicate, object.
    pub(crate) claims: Vec<(String, String, String)>,
}

/// A story and what a reader expects.
#[derive(Debug, Default)]
pub(crate) struct Story {
    pub(crate) title: String,
    /// It is told afterwards, all at once.
    pub(crate) import: bool,
    pub(crate) lines: Vec<Line>,
    pub(crate) concepts: Vec<BTreeSet<String>>,
    /// From, relation, to: each end by one thing of its concept.
    pub(crate) edges: BTreeSet<(String, String, String)>,
}

impl Story {
    pub(crate) fn parse(text: &str) -> Story {
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
                    None => story.lines.push(Line::parse(line)),
                },
            }
        }
        story
    }
}

impl Line {
    fn parse(line: &str) -> Line {
        let begins = line.starts_with('>');
        let parts: Vec<&str> = line.trim_start_matches('>').split('|').map(str::trim).collect();
        let [head, words, things, claims] = parts.as_slice() else { panic!("four parts: {line}") };
        let head: Vec<&str> = head.split_whitespace().collect();
        let [day, clock, session, actor] = head.as_slice() else {
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
            minute: (number(day) * 24 + number(hour)) * 60 + number(minute),
            session: (*session).to_owned(),
            actor: format!("user:{actor}"),
            words: (*words).to_owned(),
            claims: claims.collect(),
            things: things.clone(),
        }
    }
}

/// What was made of a story, in the words of its things.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Whether an episode begins, for each line.
    pub(crate) begins: Vec<bool>,
    pub(crate) concepts: Vec<BTreeSet<String>>,
    /// Positions of concepts and the relation between them; `None` if one end is no concept that is held.
    pub(crate) edges: Vec<(usize, String, Option<usize>)>,
}

/// Hits, wrong ones and misses.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Score(pub(crate) u32, u32, u32);

impl Score {
    pub(crate) fn f1(self) -> f64 {
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

/// The scores of many stories, and what was wrong in each.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    pub(crate) boundaries: Score,
    pub(crate) concepts: Score,
    pub(crate) edges: Score,
    pub(crate) log: String,
}

impl Scores {
    /// Compares what was made of a story with what a reader expects.
    pub(crate) fn add(&mut self, story: &Story, told: &Told) {
        self.boundaries(story, told);
        let matched = self.concepts(story, told);
        self.edges(story, told, &matched);
    }

    fn note(&mut self, story: &Story, what: &str) {
        self.log += &format!("{what} ({})\n", story.title);
    }

    /// The first event of a session begins an episode whatever one does: it does not count.
    pub(crate) fn boundaries(&mut self, story: &Story, told: &Told) {
        let mut sessions = BTreeSet::new();
        for (line, found) in story.lines.iter().zip(&told.begins) {
            if sessions.insert(&line.session) {
                assert!(*found && line.begins, "{}: {}", story.title, line.words);
                continue;
            }
            self.boundaries.add(*found, line.begins);
            if *found != line.begins {
                self.note(story, &format!("boundary {found}: {}", line.words));
            }
        }
    }

    /// A concept is found when at least half of all things in either are in both. Gives which of the
    /// expected ones each is.
    fn concepts(&mut self, story: &Story, told: &Told) -> BTreeMap<usize, usize> {
        let mut matched = BTreeMap::new();
        for (position, members) in told.concepts.iter().enumerate() {
            let best = story.concepts.iter().position(|expected| {
                let both = expected.intersection(members).count();
                both * 2 >= expected.union(members).count()
            });
            let best = best.filter(|index| !matched.values().any(|taken| taken == index));
            self.concepts.add(true, best.is_some());
            match best {
                Some(index) => {
                    matched.insert(position, index);
                }
                None => self.note(story, &format!("concept {members:?}")),
            }
        }
        for (index, expected) in story.concepts.iter().enumerate() {
            if !matched.values().any(|taken| *taken == index) {
                self.concepts.add(false, true);
                self.note(story, &format!("no concept {expected:?}"));
            }
        }
        matched
    }

    fn edges(&mut self, story: &Story, told: &Told, matched: &BTreeMap<usize, usize>) {
        let of = |name: &String| story.concepts.iter().position(|concept| concept.contains(name));
        // Occurring together has no direction.
        let undirected = |edge: (Option<usize>, String, Option<usize>)| match edge {
            (from, relation, to) if relation == "co_occurs_with" => {
                (from.min(to), relation, from.max(to))
            }
            other => other,
        };
        let expected = story.edges.iter();
        let mut expected: BTreeSet<(Option<usize>, String, Option<usize>)> = expected
            .map(|(from, relation, to)| undirected((of(from), relation.clone(), of(to))))
            .collect();
        let found = told.edges.iter().map(|(from, relation, to)| {
            let to = to.and_then(|to| matched.get(&to).copied());
            undirected((matched.get(from).copied(), relation.clone(), to))
        });
        for edge in found.collect::<BTreeSet<_>>() {
            let right = expected.remove(&edge);
            self.edges.add(true, right);
            if !right {
                self.note(story, &format!("edge {edge:?}"));
            }
        }
        for edge in expected {
            self.edges.add(false, true);
            self.note(story, &format!("no edge {edge:?}"));
        }
    }

    /// Each of the three is at least this good.
    pub(crate) fn pass(&self, bars: [f64; 3]) {
        let all =
            [("boundaries", self.boundaries), ("concepts", self.concepts), ("edges", self.edges)];
        println!("{}", self.log);
        for ((what, score), bar) in all.into_iter().zip(bars) {
            println!("{what} {score:?} F1 {:.3}", score.f1());
            assert!(score.f1() >= bar, "{what}: F1 {:.3} of {score:?}\n{}", score.f1(), self.log);
        }
    }
}
