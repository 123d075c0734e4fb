//! The name and the summary of an episode, from the words of its events.
//!
//! Both are extractive: every word of a name and every sentence of a summary was said. Scores are
//! integers, so that the same words always give the same text. They are made when an episode is
//! read, because words live in the log only, and an erased event leaves nothing behind here.

use std::collections::{BTreeMap, BTreeSet};

/// Characters of a name.
pub const NAME_CHARS_MAX: usize = 60;
/// Characters of a summary.
pub const SUMMARY_CHARS_MAX: usize = 320;
/// Sentences of a summary.
const SENTENCES_MAX: usize = 3;
/// Words with content that make a sentence worth quoting.
const CONTENT_MIN: usize = 3;
/// Characters of an episode's words that are looked at.
pub const CHARS_READ_MAX: usize = 65_536;

/// What was said in one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said<'a> {
    /// The words.
    pub text: &'a str,
    /// The names that occur in it.
    pub names: &'a [&'a str],
}

/// A short name, as a person would title it: the phrase that says most of what was talked about. Where no phrase
/// is short enough, the name that occurs most, or the beginning of the first sentence.
pub fn name(said: &[Said<'_>]) -> Option<String> {
    let names = counted(said.iter().flat_map(|event| event.names.iter().copied()));
    let weights = Weights::of(said);
    let phrases = read(said).flat_map(split_sentences).filter(|text| !text.ends_with(['?', '？']));
    let phrases = phrases.flat_map(phrases_of).enumerate();
    let scored = phrases.filter_map(|(order, text)| Some((weights.of_title(text)?, order, text)));
    let best = scored.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    let text = match (best, names.first()) {
        (Some((_, _, phrase)), _) => capitalised(phrase),
        (None, Some((name, _))) => (*name).to_owned(),
        (None, None) => {
            let mut sentences = read(said).flat_map(split_sentences);
            capitalised(sentences.find(|text| words(text).any(is_content))?)
        }
    };
    (!text.is_empty()).then(|| cut(&text, NAME_CHARS_MAX))
}

/// How much each word of an episode counts.
struct Weights {
    frequency: BTreeMap<String, u64>,
    names: BTreeSet<String>,
}

impl Weights {
    fn of(said: &[Said<'_>]) -> Weights {
        let mut frequency: BTreeMap<String, u64> = BTreeMap::new();
        for word in read(said).flat_map(words).filter(|word| is_content(word)) {
            *frequency.entry(word.to_lowercase()).or_default() += 1;
        }
        let names = said.iter().flat_map(|event| event.names.iter());
        let names = names.flat_map(|name| words(name)).map(|word| word.to_lowercase()).collect();
        Weights { frequency, names }
    }

    /// How good a title a phrase is; `None` if it is too short, too long or says too little.
    fn of_title(&self, phrase: &str) -> Option<u64> {
        let all = words(phrase).count();
        let content: BTreeSet<String> =
            words(phrase).filter(|word| is_content(word)).map(str::to_lowercase).collect();
        let fits = phrase.chars().count() < NAME_CHARS_MAX && all <= TITLE_WORDS_MAX;
        if !fits || content.len() < TITLE_CONTENT_MIN {
            return None;
        }
        let score = score(phrase, &content, &self.frequency, &self.names);
        let first = words(phrase).next().unwrap_or_default().to_lowercase();
        let points_back = POINTING.contains(&first.as_str());
        Some(if points_back { score / 2 } else { score })
    }
}

/// Words of a title.
const TITLE_WORDS_MAX: usize = 10;
/// Words with content that a title has at least.
const TITLE_CONTENT_MIN: usize = 2;
/// Words that stand for what was said before: a title that opens with one needs another sentence.
const POINTING: &[&str] = &[
    "he", "her", "here", "his", "i", "i'd", "i'll", "i'm", "i've", "it", "it's", "its", "she",
    "that", "that's", "their", "them", "there", "there's", "these", "they", "they're", "this",
    "those", "we", "we'll", "we're", "we've", "which", "who", "you", "you're",
];
/// Words that open a sentence and add nothing to it.
const OPENERS: &[&str] = &[
    "actually",
    "ah",
    "also",
    "and",
    "anyway",
    "btw",
    "but",
    "correction",
    "edit",
    "fyi",
    "great",
    "hello",
    "hey",
    "hi",
    "hm",
    "hmm",
    "nope",
    "now",
    "oh",
    "ok",
    "okay",
    "ps",
    "right",
    "so",
    "sorry",
    "then",
    "update",
    "wait",
    "well",
    "yeah",
    "yep",
    "yes",
];
/// Words before which a clause of a longer sentence ends.
const JOINTS: &[&str] = &[
    "although", "because", "before", "but", "if", "since", "so", "unless", "until", "when",
    "where", "whereas", "which", "while", "who",
];

/// The phrases of a sentence: what stands between marks and connectives, without what only opens it.
fn phrases_of(sentence: &str) -> impl Iterator<Item = &str> {
    let marks = [',', ';', ':', '(', ')', '\u{2014}', '\u{2013}', '"', '\u{201c}', '\u{201d}'];
    let mut found = Vec::new();
    for part in parts(sentence, &marks) {
        let start = part.as_ptr() as usize - sentence.as_ptr() as usize;
        let mut from = start;
        for word in words(part) {
            let at = word.as_ptr() as usize - sentence.as_ptr() as usize;
            if at > from && JOINTS.contains(&word.to_lowercase().as_str()) {
                found.extend(sentence.get(from..at));
                from = at + word.len();
            }
        }
        found.extend(sentence.get(from..start + part.len()));
    }
    found.into_iter().map(trimmed).filter(|phrase| !phrase.is_empty())
}

/// What stands between marks; a colon or a comma inside of a number is none.
fn parts<'a>(text: &'a str, marks: &[char]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, mark) in text.match_indices(marks) {
        let end = at + mark.len();
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(end..).and_then(|text| text.chars().next());
        if !(digit(before) && digit(after)) {
            found.extend(text.get(start..at));
            start = end;
        }
    }
    found.extend(text.get(start..));
    found
}

/// A phrase without the words that only open it and without its marks.
fn trimmed(phrase: &str) -> &str {
    let is_mark =
        |c: char| c.is_whitespace() || matches!(c, '.' | '!' | '…' | '-' | '*' | '。' | '！');
    let mut phrase = phrase.trim_matches(is_mark);
    while let Some((first, rest)) = phrase.split_once(' ') {
        let word = first.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        if !OPENERS.contains(&word.as_str()) {
            break;
        }
        phrase = rest.trim_start_matches(is_mark);
    }
    phrase
}

/// The sentences that say most of it, in the order they were said.
pub fn summary(said: &[Said<'_>]) -> Option<String> {
    let Weights { frequency, names } = Weights::of(said);
    let mut sentences: Vec<(usize, &str, BTreeSet<String>, u64)> = read(said)
        .flat_map(split_sentences)
        .enumerate()
        .map(|(order, text)| {
            let content: BTreeSet<String> = words(text)
                .filter(|word| is_content(word))
                .map(|word| word.to_lowercase())
                .collect();
            let score = score(text, &content, &frequency, &names);
            (order, text, content, score)
        })
        .filter(|(_, _, content, _)| !content.is_empty())
        .collect();
    // "Great." says something only where nothing else does.
    if sentences.iter().any(|(_, _, content, _)| content.len() >= CONTENT_MIN) {
        sentences.retain(|(_, _, content, _)| content.len() >= CONTENT_MIN);
    }
    sentences.sort_by(|a, b| b.3.cmp(&a.3).then(a.0.cmp(&b.0)));
    let (mut chosen, mut covered, mut length): (Vec<(usize, &str)>, BTreeSet<String>, usize) =
        (Vec::new(), BTreeSet::new(), 0);
    for (order, text, content, _) in &sentences {
        let new = content.difference(&covered).count();
        // A sentence of which most was said already adds nothing.
        let repeats = new * 10 < content.len() * 4;
        let chars = text.chars().count() + 2;
        let fits = length + chars <= SUMMARY_CHARS_MAX;
        if chosen.len() < SENTENCES_MAX && !repeats && (fits || chosen.is_empty()) {
            chosen.push((*order, text));
            covered.extend(content.iter().cloned());
            length += chars;
        }
    }
    chosen.sort_unstable();
    let quoted = chosen.iter().map(|(_, text)| match text.chars().next_back() {
        Some(last) if last.is_alphanumeric() => format!("{text}."),
        _ => (*text).to_owned(),
    });
    let text = quoted.collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| cut(&text, SUMMARY_CHARS_MAX))
}

/// The mean frequency of its words, with a bonus for names and numbers; questions count half.
fn score(
    text: &str,
    content: &BTreeSet<String>,
    frequency: &BTreeMap<String, u64>,
    names: &BTreeSet<String>,
) -> u64 {
    let weight = |word: &String| {
        let common = frequency.get(word).copied().unwrap_or(0);
        let named = u64::from(names.contains(word)) * 2;
        let numeric = u64::from(word.chars().any(|c| c.is_ascii_digit())) * 2;
        common + named + numeric
    };
    let sum: u64 = content.iter().map(weight).sum();
    // The three are for sentences of one or two words, which would win by their shortness.
    let mean = sum * 1_000 / (content.len() as u64 + 3);
    if text.ends_with('?') { mean / 2 } else { mean }
}

fn read<'a>(said: &'a [Said<'a>]) -> impl Iterator<Item = &'a str> {
    let mut left = CHARS_READ_MAX;
    said.iter().map(move |event| {
        let text = head(event.text, left);
        left = left.saturating_sub(text.chars().count());
        text
    })
}

/// Most frequent first, ties by first occurrence; counted without regard to case.
fn counted<'a>(items: impl Iterator<Item = &'a str>) -> Vec<(&'a str, u32)> {
    let mut seen: BTreeMap<String, (usize, &'a str, u32)> = BTreeMap::new();
    for (order, item) in items.enumerate() {
        seen.entry(item.to_lowercase()).or_insert((order, item, 0)).2 += 1;
    }
    let mut all: Vec<(usize, &str, u32)> = seen.into_values().collect();
    all.sort_by(|a, b| b.2.cmp(&a.2).then(a.0.cmp(&b.0)));
    all.into_iter().map(|(_, item, count)| (item, count)).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '-')
        .map(|word| word.trim_matches(['\'', '-']))
        .filter(|word| !word.is_empty())
}

/// Sentences end at a mark followed by white space, or at a line end.
fn split_sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut ended = false;
    for (at, c) in text.char_indices() {
        if c == '\n' || (ended && c.is_whitespace()) {
            sentences.extend(text.get(start..at));
            start = at;
        }
        ended = matches!(c, '.' | '!' | '?') || (ended && matches!(c, '"' | ')' | '\''));
        if matches!(c, '。' | '！' | '？') {
            let end = at + c.len_utf8();
            sentences.extend(text.get(start..end));
            start = end;
        }
    }
    sentences.extend(text.get(start..));
    sentences.into_iter().map(str::trim).filter(|sentence| !sentence.is_empty()).collect()
}

fn is_content(word: &str) -> bool {
    let sought = |word: &str| STOP_WORDS.binary_search(&word).is_ok();
    // Most words are written small: those need no copy.
    let is_stop =
        |word: &str| match word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'') {
            true => sought(word),
            false => sought(&word.to_lowercase()),
        };
    word.chars().nth(2).is_some() && !is_stop(word)
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

fn head(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// At most so many characters, cut at a word where there is one.
fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let head = head(text, chars_max - 1);
    let end = head.rfind(' ').filter(|end| *end > 0).unwrap_or(head.len());
    format!("{}…", head.get(..end).unwrap_or(head).trim_end_matches([' ', ',', ':', '.']))
}

/// Words that say nothing about what is talked about. English only: in other languages frequent
/// words win, which is worse, not wrong. Sorted.
const STOP_WORDS: &[&str] = &[
    "about", "after", "again", "all", "also", "and", "any", "anyway", "are", "aren't", "been",
    "before", "being", "but", "can", "can't", "could", "did", "didn't", "does", "doesn't", "doing",
    "don't", "each", "even", "ever", "every", "for", "from", "get", "gets", "getting", "going",
    "gonna", "got", "had", "has", "have", "haven't", "having", "hello", "her", "here", "him",
    "his", "how", "i'll", "i'm", "i've", "into", "isn't", "it's", "its", "just", "know", "let",
    "let's", "like", "make", "many", "maybe", "mine", "more", "most", "much", "must", "need",
    "not", "now", "off", "okay", "one", "only", "other", "our", "out", "over", "please", "put",
    "really", "said", "same", "say", "see", "she", "should", "since", "some", "still", "such",
    "sure", "take", "than", "thank", "thanks", "that", "that's", "the", "their", "them", "then",
    "there", "there's", "these", "they", "thing", "things", "think", "this", "those", "through",
    "too", "until", "upon", "use", "very", "want", "was", "wasn't", "we'll", "we're", "well",
    "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "won't",
    "would", "yes", "yet", "you", "you're", "your",
];

#[cfg(test)]
mod tests;
