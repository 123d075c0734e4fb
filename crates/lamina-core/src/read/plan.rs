//! What kind of question it is, and what that asks of a recall. Rules only: the same words always get
//! the same plan, and the trail names it.

use crate::read::words::words;

/// How a question is gone about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plan {
    /// Nothing in particular is asked for: the latest.
    Recent,
    /// One thing is asked for.
    Lookup,
    /// A time is asked for.
    When,
    /// How something became what it is.
    History,
    /// All of several things.
    Listing,
    /// In which order things happened.
    Ordering,
    /// An overview.
    Summary,
    /// Something is to be made or decided, in the way the asker likes it.
    Advice,
    /// Whether something is so at all.
    Check,
}

impl Plan {
    /// The name in the trail.
    pub fn as_str(self) -> &'static str {
        match self {
            Plan::Recent => "RECENT",
            Plan::Lookup => "DIRECT_LOOKUP_RECHECK",
            Plan::When => "TEMPORAL_LOOKUP",
            Plan::History => "HISTORY",
            Plan::Listing => "MULTI_RECORD",
            Plan::Ordering => "EVENT_ORDER",
            Plan::Summary => "SUMMARY",
            Plan::Advice => "STANDING_ADVICE",
            Plan::Check => "CONTRADICTION_CHECK",
        }
    }

    /// The type of the question, as clients name it.
    pub fn question_type(self) -> &'static str {
        match self {
            Plan::Recent => "browse",
            Plan::Lookup => "single-record",
            Plan::When => "temporal-reasoning",
            Plan::History => "knowledge-update",
            Plan::Listing => "multi-session",
            Plan::Ordering => "event-ordering",
            Plan::Summary => "summarization",
            Plan::Advice => "preference",
            Plan::Check => "contradiction",
        }
    }

    /// What was replaced is part of the answer.
    pub fn wants_history(self) -> bool {
        matches!(self, Plan::History | Plan::Ordering | Plan::Check)
    }

    /// One record does not answer it: near repetitions make room for others.
    pub fn wants_variety(self) -> bool {
        matches!(self, Plan::Listing | Plan::Ordering | Plan::Summary | Plan::Check)
    }
}

/// Phrases that give a question away, the strongest plan first. Words stand whole and in order; a phrase
/// that starts with `^` stands at the beginning.
const SIGNS: &[(Plan, &[&str])] = &[
    (
        Plan::Ordering,
        &[
            "in what order",
            "in which order",
            "what order",
            "which order",
            "order in which",
            "chronological",
            "sequence of",
            "walk me through the order",
            "timeline of",
        ],
    ),
    (
        Plan::Summary,
        &[
            "^summarize",
            "^summarise",
            "summary of",
            "^give me an overview",
            "overview of",
            "^recap",
            "^sum up",
            "^describe the evolution",
            "comprehensive summary",
            "can you summarize",
            "can you summarise",
        ],
    ),
    (
        Plan::History,
        &[
            "used to",
            "previously",
            "formerly",
            "originally",
            "history of",
            "how has",
            "how have",
            "how did it change",
            "changed over",
            "has changed",
            "at first",
            "in the past",
            "evolve",
            "evolved",
            "before that",
            "over time",
            "former",
            "no longer",
        ],
    ),
    (
        Plan::Listing,
        &[
            "how many",
            "how much in total",
            "in total",
            "altogether",
            "^list",
            "which of",
            "what are all",
            "what kinds of",
            "what types of",
            "what are the",
            "name all",
            "what activities",
            "what events",
            "both",
            "each of",
            "all the",
            "how often",
            "combined",
        ],
    ),
    (
        Plan::When,
        &[
            "^when",
            "what date",
            "which date",
            "what day",
            "which day",
            "what year",
            "which year",
            "what month",
            "which month",
            "what time",
            "how long",
            "how many days",
            "how many weeks",
            "how many months",
            "how many years",
            "since when",
            "until when",
            "how recently",
        ],
    ),
    (
        Plan::Check,
        &[
            "^have i ever",
            "^did i ever",
            "^have i",
            "^have we",
            "^is it true",
            "^am i",
            "did i say",
            "have i worked",
        ],
    ),
    (
        Plan::Advice,
        &[
            "recommend",
            "suggest",
            "suggestion",
            "suggestions",
            "advice",
            "advise",
            "should i",
            "could you help",
            "can you help",
            "help me",
            "^write",
            "^draft",
            "^create",
            "^make",
            "^plan",
            "what would i like",
            "would i enjoy",
            "would i prefer",
            "best way",
            "how should",
            "how would you",
            "how do i",
            "how can i",
            "could you show",
            "can you show",
            "^show me",
            "ideas for",
            "tips",
        ],
    ),
];

/// How a question is gone about.
pub fn plan(question: &str) -> Plan {
    let said = words(question);
    if said.is_empty() {
        return Plan::Recent;
    }
    // A count of days is a matter of time, not of a list.
    let counted = ["days", "weeks", "months", "years", "hours", "minutes"];
    let counts_time = said.windows(3).any(|three| {
        matches!(three, [how, many, unit] if how == "how" && many == "many" && counted.contains(&unit.as_str()))
    });
    let signs = SIGNS.iter().filter(|(plan, _)| *plan != Plan::Listing || !counts_time);
    let found = signs
        .filter(|(_, phrases)| phrases.iter().any(|phrase| stands(&said, phrase)))
        .map(|(plan, _)| *plan)
        .next();
    found.unwrap_or(Plan::Lookup)
}

/// Auxiliaries of how things are...
const NOW: &[&str] = &["is", "are", "am", "do", "does", "have", "has", "s"];
/// ...and of how they were, or might be.
const NOT_NOW: &[&str] =
    &["did", "was", "were", "had", "would", "could", "can", "should", "will", "might", "shall"];
/// What asks for one value.
const VALUES: &[&str] = &[
    "how many",
    "how much",
    "how long",
    "how often",
    "how old",
    "how far",
    "what is",
    "what are",
    "what s",
    "which",
    "who is",
    "when is",
    "where is",
    "where are",
    "where do",
    "where does",
    "percentage",
    "number of",
];

/// Whether a question asks for a value as it is now: of several statements of it the last one holds.
/// Decided by the first auxiliary of the question.
pub fn asks_for_present(question: &str) -> bool {
    let said = words(&question.replace(['\'', '\u{2019}'], " "));
    let stands_in = |word: &&String, list: &[&str]| list.contains(&word.as_str());
    let first = said.iter().find(|word| stands_in(word, NOW) || stands_in(word, NOT_NOW));
    first.is_some_and(|word| stands_in(&word, NOW))
        && VALUES.iter().any(|phrase| stands(&said, phrase))
}

/// Whether a question asks for how things were: what ended since may be the answer.
pub fn asks_of_past(question: &str) -> bool {
    const PAST: &[&str] =
        &["did", "was", "were", "had", "former", "formerly", "previous", "previously", "ex"];
    const BEFORE: &[&str] = &["before", "earlier", "ago", "back"];
    let said = words(question);
    let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
    has(PAST) || said.last().is_some_and(|last| BEFORE.contains(&last.as_str()))
}

fn stands(said: &[String], phrase: &str) -> bool {
    let (anchored, phrase) = match phrase.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, phrase),
    };
    let wanted: Vec<&str> = phrase.split(' ').collect();
    let is_here = |window: &[String]| window.iter().zip(&wanted).all(|(one, other)| one == other);
    match anchored {
        true => said.get(..wanted.len()).is_some_and(is_here),
        false => said.windows(wanted.len()).any(is_here),
    }
}

#[cfg(test)]
mod tests;
