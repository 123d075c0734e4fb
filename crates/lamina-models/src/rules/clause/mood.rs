//! Whether a clause asserts what it says. The default is that it does; these are the reasons not to
//! believe it: questions, conditions, hearsay, fiction, jokes, requests.

use super::phrases::{CONDITIONAL, CORRECTING, FROM_NOW_ON, HEARSAY, JEST, SUPPOSING, WORKING};
use super::{Clause, Sentence, Subject};
use crate::rules::lexicon::{Class, Form};
use crate::rules::token::{Kind, Tokens};
use crate::rules::verb::Modal;

/// Whether one of the phrases stands at `at`.
fn stands(tokens: &Tokens<'_>, at: usize, phrases: &[&[&str]]) -> bool {
    tokens.at(at).is(Class::MARK) && phrases.iter().any(|words| tokens.words_at(at, words))
}

/// Whether the text as a whole is not meant.
pub(super) fn is_in_jest(tokens: &Tokens<'_>) -> bool {
    (0..tokens.len()).any(|at| {
        (tokens.at(at).is(Class::MARK) || tokens.at(at).kind == Kind::Punct)
            && JEST.iter().any(|words| tokens.words_at(at, words))
            && !(tokens.at(at).fold == "/" && tokens.at(at).glued)
            && !tokens.before(at).word(&["not", "n't", "no"])
    })
}

/// Verbs of saying and of not being sure, whoever the subject is.
const UNSURE: &[&str] = &[
    "think", "guess", "suppose", "assume", "imagine", "wish", "wonder", "hope", "believe",
    "suspect", "dream", "pretend", "doubt",
];
/// Verbs by which others are quoted.
const SAYING: &[&str] =
    &["say", "tell", "mention", "claim", "believe", "think", "reckon", "swear", "insist", "hint"];
/// Verbs that quote only when a clause follows: one also writes letters and confirms dates.
const QUOTING: &[&str] =
    &["announce", "report", "suggest", "joke", "write", "confirm", "note", "add"];

/// What a story is told in.
const FICTION: &[&str] = &[
    "story", "novel", "game", "dream", "play", "movie", "film", "song", "scene", "poem", "comic",
    "episode", "musical",
];

/// Whether a sentence takes back what was said before.
pub(super) fn corrects(tokens: &Tokens<'_>, sentence: Sentence) -> bool {
    let said = (sentence.start..sentence.end).any(|at| stands(tokens, at, CORRECTING));
    let first = tokens.at(sentence.start);
    let second = (1..3).any(|step| tokens.at(sentence.start + step).fold == "actually");
    let starts = first.fold == "actually" && !sentence.asks;
    // "No, I'm actually 36".
    let refuses = first.word(&["no", "nope", "sorry", "oops", "wait"])
        && (second || (sentence.start..sentence.end).any(|at| tokens.at(at).fold == "actually"));
    said || starts || refuses
}

/// Requests that announce a statement.
const TRANSPARENT: &[&str] = &[
    "let", "do", "forget", "note", "remember", "update", "look", "listen", "guess", "see", "check",
    "mind", "know", "add", "edit",
];

/// Decides for every clause of a sentence.
pub(super) fn judge(tokens: &Tokens<'_>, sentence: Sentence, clauses: &mut [Clause]) {
    let doubtful = supposes(tokens, sentence)
        || tells_a_story(tokens, sentence)
        || asks(tokens, sentence)
        || is_machine(tokens, sentence)
        || clauses.iter().any(|clause| is_only_hearsay(tokens, clause))
        // "Ann and Bob live in Rome and Oslo respectively": who lives where is not told by the order.
        || (sentence.start..sentence.end).any(|at| tokens.at(at).fold == "respectively");
    let (mut hearsay, mut material) = (false, false);
    if !sentence.asks
        && let Some((start, end)) = applying(tokens, sentence)
    {
        clauses.iter_mut().for_each(|clause| clause.asserted = false);
        if let Some(first) = clauses.first_mut() {
            first.instruction = Some((start, end));
        }
        return;
    }
    for at in 0..clauses.len() {
        let Some(clause) = clauses.get(at) else { break };
        let instruction = instruction(tokens, clause);
        hearsay |= is_hearsay(tokens, clause);
        // "Write about a man who has a dog": what hangs on a request is no more asserted than it.
        let hangs = matches!(clause.subject, Subject::Inherited | Subject::Relative)
            || tokens.before(clause.start).fold == "that" && is_order(tokens, clauses, at);
        let inherits_request =
            hangs && hangs_on(clauses, at).is_some_and(|before| !before.asserted);
        let reject = doubtful
            || hearsay
            || denies_both(tokens, sentence, clause)
            || leaves_open(tokens, clause)
            || is_overtaken(tokens, sentence, clause)
            || material
            || inherits_request
            || instruction.is_none() && is_condition(tokens, clause)
            || clause.subject != Subject::Inherited && is_inverted(tokens, clause.start)
            || clause.verb.as_ref().is_some_and(|verb| verb.modal == Modal::Irrealis);
        let question = sentence.asks
            && asks_from(tokens, sentence, clauses).is_none_or(|from| clause.start >= from);
        // "Summarize: ...": what follows is to be worked on, not to be believed.
        let request = !clause.asserted && clause.subject == Subject::None && instruction.is_none();
        material |= request
            && tokens.at(clause.end).punct(':')
            && !tokens.at(clause.start).word(TRANSPARENT);
        let Some(clause) = clauses.get_mut(at) else { break };
        if reject || question {
            clause.asserted = false;
        } else if let Some((start, end)) = instruction {
            clause.instruction = Some((start, end));
            clause.asserted = false;
            // "... when I paste some": when it applies is part of it.
            let applies = tokens
                .at(clause.end)
                .word(&["when", "whenever", "if", "unless", "before", "after", "where"]);
            let rest = clauses.get(at + 1).filter(|_| applies).map(|next| next.end);
            if let (Some(rest), Some(clause)) = (rest, clauses.get_mut(at)) {
                clause.instruction = Some((start, rest));
            }
        }
    }
}

/// The clause that the one at `at` goes on with: the last that is not put in between.
fn hangs_on(clauses: &[Clause], at: usize) -> Option<&Clause> {
    let before = clauses.get(..at)?;
    before.iter().rev().find(|clause| !clause.aside).or(before.last())
}

/// "Whenever I send a recipe, convert cups to grams": an order with the case in which it stands first.
fn applying(tokens: &Tokens<'_>, sentence: Sentence) -> Option<(usize, usize)> {
    const CASES: &[&[&str]] = &[
        &["whenever"],
        &["every", "time"],
        &["each", "time"],
        &["any", "time"],
        &["anytime"],
        &["when"],
        &["if"],
    ];
    let mut start = sentence.start;
    while tokens.at(start).word(&["and", "also", "so", "but", "ok", "please", ","]) {
        start += 1;
    }
    let case = CASES.iter().find(|words| tokens.words_at(start, words))?;
    let comma = (start..sentence.end).find(|at| tokens.at(*at).punct(','))?;
    let mut verb = comma + 1;
    let mut standing = !matches!(case, [word] if matches!(*word, "when" | "if"));
    while tokens.at(verb).word(&["please", "always", "never", "just", "then", "also", "pls"]) {
        standing |= tokens.at(verb).word(STANDING);
        verb += 1;
    }
    if tokens.at(verb).fold == "do" && tokens.at(verb + 1).is(Class::NEGATION) {
        verb += 2;
        let ever = tokens.at(verb).fold == "ever";
        standing |= ever;
        verb += usize::from(ever);
    }
    let token = tokens.at(verb);
    let base = token.verb.is_some_and(|verb| verb.forms.has(Form::BASE)) || token.fold == "be";
    // "whenever I cook, music helps" orders nothing.
    let next = tokens.at(verb + 1);
    let ordered =
        base && !token.capital && !next.is(Class::BE.or(Class::MODAL)) && verb < sentence.end;
    (standing && ordered).then(|| (start, polite_end(tokens, verb, sentence.end)))
}

/// Without the thanks and the marks that close a request.
fn polite_end(tokens: &Tokens<'_>, from: usize, end: usize) -> usize {
    let mut end = end;
    while end > from
        && (tokens.at(end - 1).word(&["please", "pls", "plz", "thanks", "thx", "ok", "okay"])
            || tokens.at(end - 1).kind == Kind::Punct)
    {
        end -= 1;
    }
    end
}

/// "Tell Anna that I love pizza": the clause before the one at `at` sends somebody off with a message.
fn is_order(tokens: &Tokens<'_>, clauses: &[Clause], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| clauses.get(at));
    before.is_some_and(|before| {
        before.subject == Subject::None
            && before.verb.as_ref().is_some_and(|verb| matches!(verb.lemma, "tell" | "ask" | "say"))
            && !tokens.at(before.complement()).word(&["me", "us", "yourself"])
    })
}

/// "Can you summarise this paragraph?": what follows in the text is material, not a statement.
pub(super) fn hands_over(tokens: &Tokens<'_>, sentence: Sentence) -> bool {
    let points = |at: usize| {
        let token = tokens.at(at);
        token.word(&["this", "these", "following", "below", "text", "paragraph", "passage", "it"])
            || token.punct(':')
    };
    (sentence.start..sentence.end).filter(|at| stands(tokens, *at, WORKING)).any(|at| {
        let before = tokens.before(at);
        let asked = at == sentence.start
            || before.word(&["please", "you", "to", "me", "and", "just", "then"])
            || before.kind == Kind::Punct;
        // "Edit: the launch is on 20 March" changes what was said.
        let noted = tokens.at(at).word(&["edit"]) && tokens.at(at + 1).punct(':');
        asked && !noted && (at + 1..=sentence.end.min(at + 6)).any(points)
    })
}

/// Where the question of a sentence begins, if what stands before it is a statement.
fn asks_from(tokens: &Tokens<'_>, sentence: Sentence, clauses: &[Clause]) -> Option<usize> {
    let last = clauses.last()?;
    let comma = (sentence.start..sentence.end).rev().find(|at| tokens.at(*at).punct(','))?;
    let start = comma + 1;
    let start = start + usize::from(tokens.at(start).word(&["so", "but", "and"]));
    let tag = sentence.end - comma <= 4;
    let asks = is_inverted(tokens, start)
        || tokens.at(start).is(Class::QUESTION)
        || tokens.at(start).word(&["any", "thoughts", "right", "ok", "please"]);
    (asks && !tag && last.start >= sentence.start).then_some(start)
}

fn supposes(tokens: &Tokens<'_>, sentence: Sentence) -> bool {
    let mut at = sentence.start;
    while at < sentence.end
        && (tokens.at(at).kind == Kind::Punct
            || tokens.at(at).word(&["and", "but", "so", "well", "hmm", "or", "ok", "like", "now"]))
    {
        at += 1;
    }
    stands(tokens, at, SUPPOSING)
}

/// "In my short story the hero ...".
fn tells_a_story(tokens: &Tokens<'_>, sentence: Sentence) -> bool {
    let about = tokens.at(sentence.start).word(&["this", "the", "my", "it"])
        && (FICTION.contains(&tokens.at(sentence.start + 1).fold.as_str())
            || tokens.at(sentence.start + 1).word(&["book", "show", "series"]))
        && tokens.words_at(sentence.start + 2, &["is", "about"]);
    let figure = usize::from(tokens.at(sentence.start).word(&["the", "our", "my"]));
    let figure =
        sentence.start + figure + usize::from(tokens.at(sentence.start + figure).fold == "main");
    let about = about
        || figure > sentence.start
            && tokens.at(figure).word(&[
                "protagonist",
                "hero",
                "heroine",
                "character",
                "narrator",
                "villain",
            ]);
    if !tokens.at(sentence.start).word(&["in", "for"]) {
        return about;
    }
    let end = sentence.end.min(sentence.start + 5);
    (sentence.start + 1..end).any(|at| FICTION.contains(&tokens.at(at).fold.as_str()))
        && tokens.at(sentence.start + 1).is(Class::POSSESSIVE.or(Class::DETERMINER))
}

/// A line of a log or of a program: "ERROR: user alice is ...", "// my name is Bob".
fn is_machine(tokens: &Tokens<'_>, sentence: Sentence) -> bool {
    const LEVELS: &[&str] = &["ERROR", "WARN", "WARNING", "INFO", "DEBUG", "FATAL", "TRACE"];
    let head = sentence.end.min(sentence.start + 8);
    let logged = (sentence.start..head)
        .any(|at| tokens.at(at).capital && LEVELS.contains(&tokens.slice(at, at + 1)));
    let comment = |at: usize| {
        tokens.at(at).punct('/') && tokens.at(at + 1).punct('/') && tokens.at(at + 1).glued
    };
    logged
        || (sentence.start..sentence.end)
            .any(|at| tokens.at(at).punct('{') || tokens.at(at).punct('}') || comment(at))
}

/// A sentence that is a question by its order of words.
fn asks(tokens: &Tokens<'_>, sentence: Sentence) -> bool {
    let mut at = sentence.start;
    while at < sentence.end
        && (tokens.at(at).kind == Kind::Punct
            || tokens.at(at).is(Class::INTERJECTION) && !tokens.at(at).is(Class::QUESTION))
    {
        at += 1;
    }
    let (first, next) = (tokens.at(at), tokens.at(at + 1));
    let verb = Class::BE.or(Class::DO).or(Class::MODAL).or(Class::HAVE);
    let asked = first.is(Class::QUESTION)
        && (next.is(verb)
            || next.word(&["many", "much", "long", "often", "old", "far", "'s", "about", "come"])
            || first.word(&["who", "which", "why", "whose"]));
    asked && !next.is(Class::FIRST) || is_inverted(tokens, at)
}

/// Auxiliary before subject: "is Atlas done", "do you know", "had I known".
fn is_inverted(tokens: &Tokens<'_>, at: usize) -> bool {
    let (first, next) = (tokens.at(at), tokens.at(at + 1));
    let next = if next.is(Class::NEGATION) { tokens.at(at + 2) } else { next };
    let pronoun = next.word(&[
        "i", "you", "he", "she", "it", "we", "they", "there", "anyone", "someone", "this", "that",
    ]);
    let phrase =
        next.is(Class::DETERMINER.or(Class::POSSESSIVE)) || next.capital && next.kind == Kind::Word;
    let copula = first.word(&[
        "is", "are", "was", "were", "am", "does", "did", "do", "can", "could", "will", "would",
        "should", "may", "might", "shall",
    ]);
    let have = first.word(&["have", "has", "had"]);
    if first.word(&["may"]) && first.capital && !pronoun {
        return false;
    }
    copula && (pronoun || phrase && !first.word(&["do", "will", "can", "am", "was"]))
        || copula && first.word(&["will", "can"]) && phrase && next.is(Class::POSSESSIVE)
        || have && pronoun
}

/// "I like tea if it is strong": a clause with its condition asserts nothing.
fn is_condition(tokens: &Tokens<'_>, clause: &Clause) -> bool {
    let inside = (clause.start..clause.end).any(|at| stands(tokens, at, CONDITIONAL));
    // "I almost bought a Tesla": nearly is not.
    let nearly = clause.verb.as_ref().is_some_and(|verb| {
        tokens.before(verb.at).word(&["almost", "nearly", "barely", "hardly"]) && verb.lemma != "be"
    });
    // The token behind the clause: the connector that cut it off.
    let after = tokens.at(clause.end);
    let polite =
        tokens.at(clause.end + 1).word(&["possible", "needed", "necessary", "so", "anything"]);
    let attached = after.word(&["if", "unless"]) && !polite;
    inside || attached || nearly
}

/// "Likes neither tea nor coffee": what follows is denied, each of it.
fn denies_both(tokens: &Tokens<'_>, sentence: Sentence, clause: &Clause) -> bool {
    (sentence.start..clause.end).any(|at| tokens.at(at).fold == "neither")
}

/// "Works at Acme or Initech": of two names neither is stated.
fn leaves_open(tokens: &Tokens<'_>, clause: &Clause) -> bool {
    let named = |at: usize| tokens.slice(at, at + 1).starts_with(char::is_uppercase);
    (clause.start + 1..=clause.end)
        .any(|at| tokens.at(at).fold == "or" && named(at - 1) && named(at + 1))
}

/// "I told you I live in Rome, but I've since moved": what one said once is told only to take it back.
fn is_overtaken(tokens: &Tokens<'_>, sentence: Sentence, clause: &Clause) -> bool {
    const SAID: &[&[&str]] = &[
        &["i", "told", "you"],
        &["i", "said"],
        &["i", "mentioned"],
        &["we", "told", "you"],
        &["we", "said"],
        &["i", "wrote"],
    ];
    let at = clause.start.saturating_sub(usize::from(tokens.before(clause.start).fold == "that"));
    let said = SAID.iter().any(|words| {
        let start = at.checked_sub(words.len());
        start.is_some_and(|start| start >= sentence.start && tokens.words_at(start, words))
    });
    said && (clause.end..sentence.end).any(|at| tokens.at(at).word(&["but", "however", "except"]))
}

/// "Jane lives in Oslo, I was told": a clause that says nothing else is about the rest of its sentence.
fn is_only_hearsay(tokens: &Tokens<'_>, clause: &Clause) -> bool {
    let whole = |words: &&[&str]| {
        clause.start + words.len() == clause.end && tokens.words_at(clause.start, words)
    };
    tokens.at(clause.start).is(Class::MARK) && HEARSAY.iter().any(whole)
}

fn is_hearsay(tokens: &Tokens<'_>, clause: &Clause) -> bool {
    let marked = (clause.start.saturating_sub(1)..clause.end).any(|at| {
        tokens.at(at).is(Class::MARK)
            && HEARSAY
                .iter()
                .any(|words| at + words.len() <= clause.end + 1 && tokens.words_at(at, words))
    });
    if marked {
        return true;
    }
    let Some(verb) = &clause.verb else { return false };
    let Subject::Said(from, to) = clause.subject else { return false };
    let first = (from..to).all(|at| tokens.at(at).is(Class::FIRST.or(Class::ADVERB)));
    if UNSURE.contains(&verb.lemma) {
        // "hope to move" is a goal, "imagine that" is not.
        return tokens.at(verb.end).fold != "to";
    }
    // "The email reads: ...".
    let reads = tokens.at(clause.end).punct(':')
        && matches!(verb.lemma, "read" | "write" | "reply" | "answer" | "go" | "text" | "message");
    let quotes = reads || QUOTING.contains(&verb.lemma) && tokens.at(clause.end).fold == "that";
    !first
        && (quotes || SAYING.contains(&verb.lemma) && !tokens.at(verb.end).is(Class::PREPOSITION))
}

/// Words by which an instruction says that it stands.
const STANDING: &[&str] = &["always", "never", "ever"];
/// Tokens of the longest of the phrases that say it too.
const FROM_NOW_ON_TOKENS: usize = 3;

/// The tokens of a standing instruction: an imperative that says it is meant for good.
fn instruction(tokens: &Tokens<'_>, clause: &Clause) -> Option<(usize, usize)> {
    let mut at = clause.start;
    let mut standing = false;
    // What was skipped before the clause may say it: "From now on, keep ...".
    let before = clause.start.saturating_sub(FROM_NOW_ON_TOKENS + 1);
    for near in (before..clause.end).filter(|near| tokens.at(*near).is(Class::MARK)) {
        let Some(words) = FROM_NOW_ON.iter().find(|words| tokens.words_at(near, words)) else {
            continue;
        };
        standing |= near >= clause.start || near + words.len() + 1 >= clause.start;
        at += if near == clause.start { words.len() } else { 0 };
    }
    while at < clause.end
        && (tokens.at(at).punct(',') || tokens.at(at).word(&["please", "pls", "just", "and", "so"]))
    {
        at += 1;
    }
    let first = at;
    let mut verb = at;
    while tokens.at(verb).word(&["always", "never", "please", "also", "only"]) {
        standing |= STANDING.contains(&tokens.at(verb).fold.as_str());
        verb += 1;
    }
    if tokens.at(verb).word(&["do"]) && tokens.at(verb + 1).is(Class::NEGATION) {
        verb += 2;
        if tokens.at(verb).word(&["ever"]) {
            standing = true;
            verb += 1;
        }
    }
    let answers = tokens.at(verb).word(&[
        "answer", "reply", "respond", "write", "use", "keep", "format", "address", "call", "avoid",
        "stop", "include", "speak", "talk",
    ]) && (clause.start..clause.end).any(|at| {
        tokens.at(at).fold == "your"
            && tokens.at(at + 1).word(&[
                "answers",
                "replies",
                "responses",
                "messages",
                "summaries",
                "explanations",
            ])
    });
    let unknown =
        tokens.at(verb).kind == Kind::Word && tokens.at(verb).class == Class::NONE && verb > first;
    let base = tokens.at(verb).verb.map_or(unknown, |verb| verb.forms.has(Form::BASE))
        || tokens.at(verb).fold == "be";
    if !(standing || answers)
        || !base
        || verb >= clause.end
        || tokens.at(verb).capital && verb > first
    {
        return None;
    }
    let end = polite_end(tokens, verb, clause.end);
    let first = if tokens.at(first).word(&["please"]) { first + 1 } else { first };
    Some((first, end))
}
