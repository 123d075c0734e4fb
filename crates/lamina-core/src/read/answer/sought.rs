//! What a sentence must have to answer a question at all: the relation that is asked about, and a thing of the kind
//! that is asked for. A sentence that only names the same person answers nothing.

use std::collections::BTreeSet;

use super::kind::{COLOURS, NUMBERS, about_the_answer, base, is_dated};
use crate::read::words::{is_empty_word, stem, words};

/// The relation has to be met this far, on average of its words.
pub(super) const RELATION_MIN: f64 = 0.45;

/// What is asked for, where it can be told by looking whether a sentence has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thing {
    Anything,
    Age,
    Email,
    Phone,
    Address,
    Birth,
    Marriage,
    /// How many of something: its stem.
    Count(String),
    Height,
    Weight,
    Reason,
    Colour,
    Surname,
    Job,
    /// A version, a price: it has digits.
    Figure,
    Time,
}

/// What a question seeks.
#[derive(Debug, Clone)]
pub(super) struct Sought {
    pub(super) thing: Thing,
    /// The words that say how what is asked for hangs together with whom it is asked of.
    pub(super) relation: Vec<String>,
    /// That of them without which the others say nothing: `password` of a server, `wrote` of a book.
    pub(super) head: Option<String>,
    /// Whether something is so: a sentence that says nothing new may confirm it.
    pub(super) is_check: bool,
    /// The asker asks about himself.
    pub(super) is_own: bool,
    /// It is asked what would be.
    pub(super) is_unreal: bool,
}

const CHECKS: &[&str] = &[
    "am", "are", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may", "should",
    "was", "were", "will",
];
const AUXILIARY: &[&str] = &[
    "am", "are", "can", "did", "do", "does", "had", "has", "have", "is", "s", "was", "were", "will",
];
/// Words that say how a thing is counted, not which.
const COUNTED_AS: &[&str] =
    &["different", "more", "other", "new", "total", "of", "the", "my", "our", "these", "those"];
/// Words that only say that something is asked of now.
pub(super) const NOW: &[&str] = &[
    "now",
    "currently",
    "current",
    "today",
    "still",
    "nowadays",
    "exactly",
    "moment",
    "again",
    "already",
];

impl Sought {
    /// What a question seeks; these stems are its names.
    pub(super) fn of(question: &str, names: &BTreeSet<String>) -> Sought {
        let said = words(question);
        let word = |at: usize| said.get(at).map_or("", String::as_str);
        let asked = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
        // What the answer is called: `which hotel`, `what instrument does`.
        let called = said.iter().position(|word| matches!(word.as_str(), "what" | "which"));
        let called = called.map(|at| at + 1).filter(|at| !is_empty_word(word(*at)));
        let thing = Thing::of(&said);
        let belongs = |at: usize| {
            let word = word(at);
            let names_the_answer = Some(at) == called && AUXILIARY.contains(&self::next(&said, at));
            !(is_empty_word(word)
                || about_the_answer(word)
                || NOW.contains(&word)
                || names.contains(&stem(word))
                || thing.is_called(word)
                || names_the_answer)
        };
        let places: Vec<usize> = (0..said.len()).filter(|at| belongs(*at)).collect();
        let head = head(&said, &places).map(str::to_owned);
        Sought {
            relation: places.iter().map(|at| word(*at).to_owned()).collect(),
            head,
            is_check: CHECKS.contains(&word(0)),
            is_own: asked(&["i", "we"]) && names.is_empty(),
            is_unreal: asked(&["would", "if", "could", "wish", "imagine"]),
            thing,
        }
    }
}

/// The word of a relation that carries it: of `who wrote the book` the verb, of `what is the port of the server` what
/// stands before `of`, of `what is my favourite film` the last.
fn head<'a>(said: &'a [String], relation: &[usize]) -> Option<&'a str> {
    let does = |word: &str| matches!(word, "do" | "does" | "did");
    let asks = |list: &[&str]| said.iter().position(|word| list.contains(&word.as_str()));
    // `Where does Bob's wife work`: the verb comes last.
    if asks(&["where", "when"]).is_some_and(|at| does(self::next(said, at))) {
        return relation.last().and_then(|at| said.get(*at)).map(String::as_str);
    }
    let asks = asks(&["who", "what", "which"])?;
    let after: Vec<usize> = relation.iter().copied().filter(|at| *at > asks).collect();
    let is = matches!(self::next(said, asks), "is" | "are" | "was" | "were");
    let who = said.get(asks).is_some_and(|word| word == "who");
    let of = said.iter().position(|word| word == "of");
    let before_of = after.iter().rev().find(|at| of.is_some_and(|of| **at < of));
    let head = match (who, is) {
        (true, false) => after.first(),
        (_, true) => before_of.or(after.last()),
        (false, false) => None,
    };
    head.and_then(|at| said.get(*at)).map(String::as_str)
}

fn next(said: &[String], at: usize) -> &str {
    said.get(at + 1).map_or("", String::as_str)
}

impl Thing {
    fn of(said: &[String]) -> Thing {
        let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
        let pair = |one: &str, other: &str| {
            said.windows(2).any(|pair| matches!(pair, [a, b] if a == one && b == other))
        };
        let asks = has(&["what", "which", "whats", "where"]);
        if let Some(at) = said.windows(2).position(|pair| pair == ["how", "many"]) {
            let counted = said.iter().skip(at + 2);
            let mut counted = counted.filter(|word| !COUNTED_AS.contains(&word.as_str()));
            return counted.next().map_or(Thing::Anything, |word| Thing::Count(rooted(word)));
        }
        match () {
            () if pair("how", "old") || (asks && has(&["age"])) => Thing::Age,
            () if asks && (has(&["email", "emails"]) || pair("e", "mail")) => Thing::Email,
            () if asks && has(&["phone", "telephone", "mobile"]) && is_short(said) => Thing::Phone,
            () if asks && has(&["address"]) && is_short(said) => Thing::Address,
            () if has(&["birthday"]) => Thing::Birth,
            () if said.first().is_some_and(|first| CHECKS.contains(&first.as_str()))
                && has(&["married", "divorced", "single", "engaged"]) =>
            {
                Thing::Marriage
            }
            () if pair("how", "tall") => Thing::Height,
            () if pair("how", "heavy") || (has(&["weigh", "weight"]) && has(&["how", "what"])) => {
                Thing::Weight
            }
            () if has(&["why"]) => Thing::Reason,
            () if asks && has(&["color", "colour"]) => Thing::Colour,
            () if asks && (has(&["surname"]) || pair("last", "name")) => Thing::Surname,
            () if asks && has(JOBS) => Thing::Job,
            () if asks && has(FIGURES) => Thing::Figure,
            () if has(&["when"]) => Thing::Time,
            () => Thing::Anything,
        }
    }

    /// Whether a word of the question only names the thing that is asked for.
    pub(super) fn is_called(&self, word: &str) -> bool {
        let names: &[&str] = match self {
            Thing::Age => &["old", "age"],
            Thing::Email => &["email", "emails", "mail", "e", "address"],
            Thing::Phone => &["phone", "telephone", "mobile", "number"],
            Thing::Address => &["address"],
            Thing::Birth => &["birthday"],
            Thing::Marriage => &["married", "divorced", "single", "engaged"],
            Thing::Count(counted) => return rooted(word) == *counted,
            Thing::Height => &["tall"],
            Thing::Weight => &["heavy", "weigh", "weight"],
            Thing::Colour => &["color", "colour"],
            Thing::Surname => &["surname", "last", "name"],
            Thing::Job => JOBS,
            Thing::Figure => FIGURES,
            Thing::Anything | Thing::Reason | Thing::Time => &[],
        };
        names.contains(&word)
    }

    /// Whether a sentence has it. These stems are what else its record says and what is known because of it; `exact`
    /// says that the sentence has all words of the relation itself.
    pub(super) fn is_in(
        &self,
        sentence: &str,
        around: &BTreeSet<String>,
        names: &BTreeSet<String>,
        exact: bool,
    ) -> bool {
        let said = words(sentence);
        let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
        let digits = sentence.chars().filter(char::is_ascii_digit).count();
        let counts = || digits > 0 || has(NUMBERS);
        match self {
            Thing::Anything => true,
            Thing::Age => tells_age(&said),
            Thing::Email => sentence.split_whitespace().any(is_email),
            Thing::Phone => has_phone(sentence),
            Thing::Address => has(STREETS) || (digits > 0 && has(&["at", "address", "lives"])),
            Thing::Birth => has(&["born", "birthday", "birth", "birthdate"]),
            Thing::Marriage => has(MARRIAGE),
            Thing::Count(counted) => {
                let is_named = said.iter().any(|word| rooted(word) == *counted)
                    || around.contains(counted)
                    || alike(counted).iter().any(|word| around.contains(&rooted(word)));
                is_named && (counts() || has(&["a", "an", "no", "and"]))
            }
            Thing::Height => counts() && has(HEIGHTS),
            Thing::Weight => counts() && has(WEIGHTS),
            Thing::Reason => has(REASONS),
            Thing::Colour => has(COLOURS),
            Thing::Surname => has(&["surname"]) || has_surname(sentence, names),
            Thing::Job => has(WORK) || said.windows(2).any(is_called_a),
            Thing::Figure => counts(),
            // What was said of a day happened about then.
            Thing::Time => exact || counts() || is_dated(&said),
        }
    }
}

/// A question of few words: `what is Bob's phone number`, not `what did the phone call change`.
fn is_short(said: &[String]) -> bool {
    said.iter().filter(|word| !is_empty_word(word)).count() <= 5
}

fn rooted(word: &str) -> String {
    base(word).map_or_else(|| stem(word), stem)
}

/// Six digits or more with nothing between them but what is written between digits.
fn has_phone(sentence: &str) -> bool {
    let mut digits = 0;
    for c in sentence.chars() {
        match c {
            c if c.is_ascii_digit() => digits += 1,
            ' ' | '-' | '+' | '(' | ')' | '/' | '.' => {}
            _ => digits = 0,
        }
        if digits >= 6 {
            return true;
        }
    }
    false
}

/// `is a`, `as an`.
fn is_called_a(pair: &[String]) -> bool {
    matches!(pair, [verb, article] if matches!(verb.as_str(), "is" | "am" | "as" | "became" | "m")
        && matches!(article.as_str(), "a" | "an" | "the"))
}

fn is_email(piece: &str) -> bool {
    piece.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && host.trim_end_matches(['.', ',', ';', ')']).contains('.')
    })
}

/// `is nine`, `turned 40`, `6 years old`, `born in 1984`, `a five-year-old`.
fn tells_age(said: &[String]) -> bool {
    let is_number =
        |word: &str| word.bytes().all(|c| c.is_ascii_digit()) || NUMBERS.contains(&word);
    let counted = said.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| said.get(at)).map_or("", String::as_str);
        let after = self::next(said, at);
        is_number(word)
            && AGED.contains(&before)
            && (after.is_empty() || AFTER_AGE.contains(&after))
    });
    let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
    let old = has(&["old", "age", "aged", "birthday", "turned", "turns"]);
    counted
        || (old && said.iter().any(|word| is_number(word)))
        || (has(&["born", "built", "founded", "dates", "since", "made"])
            && said.iter().any(|word| word.len() == 4 && word.bytes().all(|c| c.is_ascii_digit())))
}

/// A name of the question with another name beside it.
fn has_surname(sentence: &str, names: &BTreeSet<String>) -> bool {
    let pieces: Vec<&str> = sentence.split_whitespace().collect();
    pieces.windows(2).any(|pair| {
        let [one, other] = pair else { return false };
        let capital = other.chars().next().is_some_and(char::is_uppercase);
        // `Carla Mendes`, not `Carla, Mendes` and not `Carla's Mendes`.
        let is_named = one.chars().all(char::is_alphanumeric)
            && words(one).first().is_some_and(|word| names.contains(&stem(word)));
        capital && is_named
    })
}

/// What is counted among it: a daughter is a child. The other way round it does not hold.
fn alike(counted: &str) -> &'static [&'static str] {
    const PEOPLE: &[&str] = &["people", "person", "employees", "staff", "members", "colleagues"];
    const GROUPS: &[(&str, &[&str])] = &[
        ("child", &["child", "kids", "sons", "daughters", "son", "daughter"]),
        ("children", &["child", "kids", "sons", "daughters", "son", "daughter"]),
        ("kids", &["child", "children", "sons", "daughters", "son", "daughter"]),
        ("people", PEOPLE),
        ("employees", PEOPLE),
        ("siblings", &["brothers", "sisters", "brother", "sister"]),
        ("pets", &["cats", "dogs", "cat", "dog", "rabbits", "hamsters", "parrot", "fish"]),
    ];
    let group = GROUPS.iter().find(|(head, _)| rooted(head) == counted);
    group.map(|(_, among)| *among).unwrap_or_default()
}

const JOBS: &[&str] = &["job", "profession", "occupation", "career"];
const WORK: &[&str] = &[
    "career",
    "employed",
    "hired",
    "job",
    "joined",
    "leads",
    "manages",
    "occupation",
    "profession",
    "runs",
    "started",
    "teaches",
    "work",
    "worked",
    "working",
    "works",
];
const FIGURES: &[&str] =
    &["version", "price", "cost", "temperature", "size", "length", "duration", "speed"];
const AGED: &[&str] =
    &["is", "am", "are", "was", "m", "i", "turned", "turns", "turning", "aged", "age", "he", "she"];
const AFTER_AGE: &[&str] =
    &["and", "but", "years", "year", "now", "already", "months", "weeks", "today", "this", "old"];
const STREETS: &[&str] = &[
    "address",
    "avenue",
    "boulevard",
    "calle",
    "drive",
    "lane",
    "platz",
    "road",
    "rue",
    "square",
    "street",
    "strasse",
    "via",
    "way",
];
const MARRIAGE: &[&str] = &[
    "bachelor",
    "bride",
    "divorce",
    "divorced",
    "engaged",
    "fiance",
    "groom",
    "husband",
    "marriage",
    "married",
    "marries",
    "marry",
    "partner",
    "separated",
    "single",
    "spouse",
    "unmarried",
    "wedding",
    "widow",
    "widowed",
    "widower",
    "wife",
];
const HEIGHTS: &[&str] = &[
    "centimetres",
    "centimeters",
    "cm",
    "feet",
    "foot",
    "ft",
    "high",
    "inch",
    "inches",
    "m",
    "meter",
    "meters",
    "metre",
    "metres",
    "tall",
];
const WEIGHTS: &[&str] = &[
    "g",
    "gram",
    "grams",
    "kg",
    "kilo",
    "kilograms",
    "kilos",
    "lb",
    "lbs",
    "ounces",
    "pounds",
    "stone",
    "tonnes",
    "tons",
    "weigh",
    "weighed",
    "weighs",
    "weight",
];
const REASONS: &[&str] = &[
    "as",
    "because",
    "cause",
    "caused",
    "due",
    "for",
    "hence",
    "reason",
    "since",
    "so",
    "thanks",
    "to",
    "too",
    "wanted",
    "after",
    "but",
    "therefore",
];
