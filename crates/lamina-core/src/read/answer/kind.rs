//! What kind of thing a question asks for, and whether a sentence has one.

use std::collections::BTreeSet;

use crate::read::words::{is_empty_word, stem, words};

/// What kind of thing is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A day, a time.
    Time,
    /// A number of something.
    Count,
    /// Somebody.
    Person,
    /// Where something is.
    Place,
    /// Anything.
    Thing,
}

impl Kind {
    /// What a question asks for.
    pub fn of(question: &str) -> Kind {
        let words = words(question);
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        for at in 0..words.len() {
            match (word(at), word(at + 1)) {
                ("when", _) => return Kind::Time,
                ("who" | "whom" | "whose", _) => return Kind::Person,
                ("where", _) => return Kind::Place,
                ("how", next) if MEASURES.contains(&next) => return Kind::Count,
                ("what" | "which", next) if TIMES.contains(&next) => return Kind::Time,
                _ => {}
            }
        }
        Kind::Thing
    }

    /// Whether a sentence has such a thing, beside what the question already says: -1 to 1.
    pub(super) fn fits(self, sentence: &str, asked: &BTreeSet<String>) -> f64 {
        let said = words(sentence);
        let new = |word: &&String| !is_empty_word(word) && !asked.contains(&stem(word));
        if !said.iter().any(|word| new(&word)) {
            return -1.0;
        }
        let counts = || {
            let digits = sentence.chars().any(|c| c.is_ascii_digit());
            digits || said.iter().any(|word| NUMBERS.contains(&word.as_str()))
        };
        match self {
            Kind::Thing => 0.0,
            Kind::Count => {
                if counts() {
                    0.6
                } else {
                    -1.0
                }
            }
            Kind::Time => {
                if is_dated(&said) {
                    0.6
                } else if counts() {
                    0.2
                } else {
                    -0.3
                }
            }
            Kind::Person => match names(sentence, asked) {
                (_, true) => 0.6,
                (true, false) => 0.3,
                (false, false) => -0.7,
            },
            Kind::Place => {
                let placed = said.iter().any(|word| PLACED.contains(&word.as_str()));
                let (_, named) = names(sentence, asked);
                if placed || named { 0.4 } else { -0.6 }
            }
        }
    }
}

/// Whether a sentence begins with a capital that the question does not have, and whether one stands
/// within it.
fn names(sentence: &str, asked: &BTreeSet<String>) -> (bool, bool) {
    let (mut first, mut within) = (false, false);
    for (at, piece) in sentence.split_whitespace().enumerate() {
        let bare = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let capital = bare.chars().next().is_some_and(char::is_uppercase);
        let new = words(bare)
            .first()
            .is_some_and(|word| !is_empty_word(word) && !asked.contains(&stem(word)));
        if capital && new {
            if at == 0 {
                first = true;
            } else {
                within = true;
            }
        }
    }
    (first, within)
}

/// Words of a question that say what is asked for; what answers it seldom has them.
pub(super) fn about_the_answer(word: &str) -> bool {
    ABOUT.contains(&word)
}

const ABOUT: &[&str] = &[
    "amount", "big", "called", "city", "color", "colour", "cost", "costs", "country", "date",
    "day", "days", "far", "fast", "happened", "high", "hours", "job", "kind", "length", "long",
    "minutes", "month", "name", "named", "number", "often", "old", "person", "place", "price",
    "size", "tall", "time", "warm", "week", "year", "years",
];

const MEASURES: &[&str] = &[
    "big", "deep", "far", "fast", "heavy", "high", "large", "long", "many", "much", "old", "tall",
    "warm", "wide",
];

const TIMES: &[&str] = &["date", "day", "month", "time", "week", "weekday", "year"];

pub(super) const NUMBERS: &[&str] = &[
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
    "hundred",
    "thousand",
    "million",
    "dozen",
    "half",
    "twice",
    "once",
    "several",
    "none",
];

const WHEN: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mondays",
    "tuesdays",
    "wednesdays",
    "thursdays",
    "fridays",
    "saturdays",
    "sundays",
    "today",
    "tomorrow",
    "yesterday",
    "tonight",
    "ago",
    "week",
    "weekend",
    "month",
    "year",
    "morning",
    "evening",
    "noon",
    "midnight",
    "spring",
    "summer",
    "autumn",
    "winter",
    "soon",
    "daily",
    "weekly",
    "monthly",
];

/// Whether words name a time.
pub(super) fn is_dated(said: &[String]) -> bool {
    said.iter().any(|word| WHEN.contains(&word.as_str()))
}

pub(super) const COLOURS: &[&str] = &[
    "amber",
    "beige",
    "black",
    "blue",
    "bronze",
    "brown",
    "burgundy",
    "colored",
    "coloured",
    "copper",
    "cream",
    "crimson",
    "dark",
    "gold",
    "golden",
    "gray",
    "green",
    "grey",
    "indigo",
    "ivory",
    "lilac",
    "magenta",
    "maroon",
    "navy",
    "ochre",
    "olive",
    "orange",
    "painted",
    "pale",
    "pink",
    "purple",
    "red",
    "scarlet",
    "silver",
    "tan",
    "teal",
    "turquoise",
    "violet",
    "white",
    "yellow",
];

const PLACED: &[&str] =
    &["in", "at", "to", "from", "near", "next", "on", "behind", "under", "above", "street"];

/// Verbs whose forms have no stem in common, each with the form that they are looked up by.
pub(super) fn base(word: &str) -> Option<&'static str> {
    FORMS.iter().find(|(_, forms)| forms.contains(&word)).map(|(base, _)| *base)
}

/// Whether two stems say the same relation, from one side or the other.
pub(in crate::read) fn is_alike(one: &str, other: &str) -> bool {
    RELATIONS.iter().any(|words| {
        let has = |asked: &str| words.iter().any(|word| stem(word) == asked);
        has(one) && has(other)
    })
}

const RELATIONS: &[&[&str]] = &[
    &["boss", "manager", "supervisor", "reports", "report"],
    &["cost", "charge", "price", "worth", "pay"],
    &["host", "hosted", "runs", "running", "deployed"],
    &["lead", "manage", "manager", "run", "head"],
    &["responsible", "own", "owner", "owned"],
    &["mend", "repair", "fix", "maintain"],
    &["husband", "wife", "spouse", "married", "marry", "partner"],
    &["lives", "live", "moved", "resides", "based", "settled", "located"],
    &["work", "works", "employed", "teaches", "joined", "hired", "start"],
    &["live", "flat", "home", "house"],
    &["prod", "production"],
    &["ref", "reference"],
    &["dev", "development"],
    &["app", "application"],
    &["dept", "department"],
    &["repo", "repository"],
    &["number", "no", "phone"],
    &["engineer", "mechanic", "technician"],
    &["become", "be"],
    &["supply", "come", "buy"],
    &["rent", "let", "lease"],
    &["eat", "diet", "vegetarian", "vegan"],
];

/// The words that a phrase of change says without having them: who takes over the night shift runs it.
pub(super) fn implied(said: &[String]) -> impl Iterator<Item = &'static str> {
    CHANGES
        .iter()
        .filter(|(phrase, _)| {
            said.windows(2).any(|pair| {
                matches!(pair, [one, other] if phrase.iter().any(|(first, second)| one == first && other == second))
            })
        })
        .flat_map(|(_, implied)| implied.iter().copied())
}

/// Pairs of words that are a change.
type ChangePhrases = &'static [(&'static str, &'static str)];

const CHANGES: &[(ChangePhrases, &[&str])] = &[
    (
        &[("takes", "over"), ("took", "over"), ("taking", "over"), ("take", "over")],
        &["run", "own", "lead", "manage", "head", "responsible", "owner"],
    ),
    (
        &[("moved", "to"), ("moves", "to"), ("switched", "to"), ("went", "to")],
        &["take", "have", "use", "live"],
    ),
    (&[("goes", "up"), ("went", "up"), ("raised", "to"), ("up", "to")], &["cost", "pay", "price"]),
    (&[("is", "live"), ("is", "out"), ("went", "live")], &["release", "version"]),
    (&[("runs", "on"), ("run", "on"), ("is", "on")], &["host"]),
];

const FORMS: &[(&str, &[&str])] = &[
    ("break", &["broke", "broken"]),
    ("bring", &["brought"]),
    ("build", &["built"]),
    ("buy", &["bought"]),
    ("catch", &["caught"]),
    ("choose", &["chose", "chosen"]),
    ("come", &["came", "comes"]),
    ("drink", &["drank", "drunk"]),
    ("drive", &["drove", "driven"]),
    ("eat", &["ate", "eaten"]),
    ("feel", &["felt"]),
    ("find", &["found"]),
    ("fly", &["flew", "flown", "flight", "flights"]),
    ("forget", &["forgot", "forgotten"]),
    ("give", &["gave", "given"]),
    ("grow", &["grew", "grown"]),
    ("hear", &["heard"]),
    ("hold", &["held"]),
    ("keep", &["kept"]),
    ("know", &["knew", "known"]),
    ("leave", &["left", "leaves", "leaving"]),
    ("lend", &["lent"]),
    ("lose", &["lost", "losing"]),
    ("meet", &["met"]),
    ("pay", &["paid"]),
    ("read", &["reads"]),
    ("ride", &["rode", "ridden"]),
    ("run", &["ran", "running"]),
    ("see", &["saw", "seen"]),
    ("sell", &["sold"]),
    ("send", &["sent"]),
    ("sing", &["sang", "sung"]),
    ("sleep", &["slept"]),
    ("speak", &["spoke", "spoken"]),
    ("spend", &["spent"]),
    ("steal", &["stole", "stolen"]),
    ("swim", &["swam", "swum", "swimming"]),
    ("take", &["took", "taken"]),
    ("teach", &["taught", "teacher"]),
    ("think", &["thought"]),
    ("wear", &["wore", "worn"]),
    ("win", &["won"]),
    ("write", &["wrote", "written"]),
];
