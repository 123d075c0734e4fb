//! Cutting a sentence into clauses.

use super::phrases::PREAMBLES;
use super::{Clause, Sentence, Subject};
use crate::rules::lexicon::{self, Class, Form};
use crate::rules::phrase::is_name_token;
use crate::rules::time;
use crate::rules::token::{Kind, Tokens};
use crate::rules::verb::{self, Modal};

/// Tokens that a subject may have.
const SUBJECT_TOKENS_MAX: usize = 10;

/// Words that open a clause about when something was: they place another, they assert nothing.
const PLACING: &[&str] =
    &["when", "where", "until", "till", "once", "as", "whenever", "before", "after", "since"];

pub(super) fn split(tokens: &Tokens<'_>, sentence: Sentence, index: usize) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    let mut at = sentence.start;
    while at < sentence.end {
        let hard = (at..sentence.end).find(|i| is_hard(tokens, *i)).unwrap_or(sentence.end);
        segment(tokens, at, hard, index, &mut clauses);
        at = hard + 1;
    }
    clauses
}

/// Marks that always separate clauses.
fn is_hard(tokens: &Tokens<'_>, at: usize) -> bool {
    let token = tokens.at(at);
    let dash =
        token.word(&["-", "\u{2013}", "\u{2014}"]) && !tokens.at(at + 1).kind.eq(&Kind::Number);
    // "three cats: Pip, Dot and Fig".
    let names = token.punct(':')
        && lexicon::kin(&tokens.before(at).fold).is_some()
        && tokens.at(at + 1).capital;
    let names = names || token.punct(':') && heads_note(tokens, at).is_some();
    token.kind == Kind::Punct
        && !names
        && (dash || token.word(&[";", ":", "(", ")", "[", "]", "*", "|"]))
}

/// "Budget for the rebrand: 40k EUR", "Falcon deadline: 3 June": where the note begins whose mark says
/// "is".
fn heads_note(tokens: &Tokens<'_>, mark: usize) -> Option<usize> {
    const NOTED: &[&str] =
        &["budget", "deadline", "owner", "status", "price", "version", "revenue"];
    let closed = |at: &usize| matches!(tokens.at(*at).kind, Kind::Punct | Kind::Newline);
    let start = (0..mark).rev().take(SUBJECT_TOKENS_MAX).find(closed).map_or(0, |at| at + 1);
    let start = start + usize::from(tokens.at(start).word(&["the", "our", "my", "new", "updated"]));
    let of = tokens.at(start).word(NOTED) && tokens.at(start + 1).word(&["for", "of"]);
    let last = tokens.before(mark).word(NOTED) && mark > start + 1 && tokens.at(start).capital;
    // "Weekly status: Mango is done" has a clause behind its mark.
    let end = (mark + 1..tokens.len().min(mark + 8)).find(closed).unwrap_or(mark + 8);
    let sound = (of || last)
        && mark > start + 1
        && first_verb(tokens, start, mark).is_none()
        && first_verb(tokens, mark + 1, end).is_none();
    sound.then_some(start)
}

fn segment(
    tokens: &Tokens<'_>,
    from: usize,
    to: usize,
    sentence: usize,
    clauses: &mut Vec<Clause>,
) {
    let mut start = opening(tokens, from, to);
    let mut opener = Opener::None;
    let mut at = start;
    if let Some(main) = fronted(tokens, start, to) {
        push(tokens, start, main, sentence, Opener::Placing, clauses);
        start = opening(tokens, main, to);
        at = start;
    }
    while at < to {
        if at > start
            && let Some(cut) = cut_at(tokens, start, at, to)
        {
            push(tokens, start, at, sentence, opener, clauses);
            opener = cut.opener;
            start = opening(tokens, cut.next, to);
            at = start.max(at + 1);
            continue;
        }
        at += 1;
    }
    push(tokens, start, to, sentence, opener, clauses);
}

/// Words that place a whole sentence when they open it.
const FRONTING: &[&str] =
    &["when", "where", "once", "until", "till", "whenever", "before", "after", "wherever"];

/// "When we order in I'd rather have dosa": where the clause begins that the opening one only places.
fn fronted(tokens: &Tokens<'_>, start: usize, to: usize) -> Option<usize> {
    if !tokens.at(start).word(FRONTING) {
        return None;
    }
    let body = start + 1;
    let first = first_verb(tokens, body, to)?;
    let subject = tokens.at(body);
    let pronoun = subject.word(&["i", "we", "you", "he", "she", "they", "it"]);
    let placed = pronoun
        || subject.is(Class::POSSESSIVE.or(Class::DETERMINER)) && !subject.word(&["a", "an"])
        || subject.capital;
    if !placed || first == body || !is_subject(tokens, body, first) {
        return None;
    }
    (first + 1..to).find(|at| {
        let at = *at;
        if tokens.at(at).punct(',') {
            let next = opening(tokens, at + 1, to);
            let verb = first_verb(tokens, next, to);
            return verb.is_some_and(|verb| verb > next && is_subject(tokens, next, verb));
        }
        let mut verb = at + 1;
        while verb < to && verb::is_between(tokens, verb) {
            verb += 1;
        }
        let led = tokens.before(at).word(&["that", "what", "who", "which", "if", "and", "because"]);
        pronoun
            && !led
            && tokens.at(at).word(&["i", "we", "he", "she", "they"])
            && verb < to
            && verb::is_finite(tokens, verb, at)
    })
}

/// How a clause is joined to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opener {
    None,
    /// Its verb stands first; the subject is that of the clause before.
    Shared,
    Relative,
    /// Nothing is asserted in it.
    Placing,
}

struct Cut {
    next: usize,
    opener: Opener,
}

/// Whether a new clause begins after the connector at `at`.
fn cut_at(tokens: &Tokens<'_>, start: usize, at: usize, to: usize) -> Option<Cut> {
    let token = tokens.at(at);
    let comma = token.punct(',') && !tokens.is_legal_form(at + 1);
    if verb::is_since_then(tokens, at) {
        return None;
    }
    if !comma && !token.is(Class::CONJUNCTION) && !PLACING.contains(&token.fold.as_str()) {
        return None;
    }
    // "In March, I joined": the time belongs to what follows. "until 2018" opens no clause.
    if comma && is_time(tokens, start, at) || is_dated(tokens, at) {
        return None;
    }
    let mut next = at + 1;
    let mut word = token.fold.as_str();
    while next < to && (tokens.at(next).is(Class::CONJUNCTION) || tokens.at(next).punct(',')) {
        word = tokens.at(next).fold.as_str();
        next += 1;
    }
    if word == "," {
        word = "";
    }
    if matches!(word, "if" | "unless") {
        return Some(Cut { next: next - 1, opener: Opener::Placing });
    }
    // "..., turns out I have": what announces a clause is no part of it.
    let next = opening(tokens, next, to);
    let body = after_adverbs(tokens, next, to);
    let has_verb = first_verb(tokens, start, at).is_some()
        || tokens.at(start).verb.is_some_and(|verb| ELIDING.contains(&verb.lemma));
    let limit = (body..to).find(|i| is_boundary(tokens, *i)).unwrap_or(to);
    let verb = first_verb(tokens, body, limit);
    let opens = verb.is_some_and(|verb| verb > body && is_subject(tokens, body, verb));
    let shares = verb == Some(body) || is_bare_verb(tokens, start, body, to);
    match word {
        "who" | "which" | "that" if shares && (word != "that" || comma) => {
            Some(Cut { next, opener: Opener::Relative })
        }
        "who" | "which" | "whose" => Some(Cut { next, opener: Opener::Placing }),
        _ if tokens.at(next).fold == "whom" => Some(Cut { next, opener: Opener::Placing }),
        "that" => opens.then_some(Cut { next, opener: Opener::None }),
        _ if PLACING.contains(&word) => {
            let habit = matches!(word, "before" | "after");
            (opens && !habit).then_some(Cut { next, opener: Opener::Placing })
        }
        "and" | "or" | "&" | "nor" if !has_verb && !comma => None,
        _ if !has_verb && verb.is_some_and(|verb| are_names(tokens, start, verb)) => None,
        _ if opens => Some(Cut { next, opener: Opener::None }),
        _ if shares && has_verb => Some(Cut { next, opener: Opener::Shared }),
        // An instruction, a fragment or a denial after a comma: "so always use", ", not my sister".
        _ if has_verb && is_own_fragment(tokens, body, comma, word) => {
            Some(Cut { next, opener: Opener::None })
        }
        // A greeting or a heading before the first assertion.
        _ => None,
    }
}

/// "Ana, Ben and Carl live in Hull": three or more who share a verb, and nobody who is spoken to.
fn are_names(tokens: &Tokens<'_>, from: usize, to: usize) -> bool {
    let joint = |at: usize| tokens.at(at).word(&[",", "and", "&"]);
    let names = (from..to).filter(|at| !joint(*at)).count();
    let last = (from..to).rev().find(|at| joint(*at));
    names >= 3
        && last.is_some_and(|at| !tokens.at(at).punct(','))
        && (from..to).all(|at| joint(at) || is_name_token(tokens, at))
        && (from..to).any(|at| tokens.at(at).punct(','))
}

/// Tokens that a time at the head of a sentence may have.
const TIME_TOKENS_MAX: usize = 8;

/// Whether tokens `from..to` are a time and nothing else.
fn is_time(tokens: &Tokens<'_>, from: usize, to: usize) -> bool {
    to - from <= TIME_TOKENS_MAX
        && matches!(time::find(tokens, from, to).as_slice(), [only] if only.start == from && only.end == to)
}

/// Whether what follows is a date: "since 2019", "until March".
fn is_dated(tokens: &Tokens<'_>, at: usize) -> bool {
    let next = tokens.at(at + 1);
    tokens.at(at).word(PLACING)
        && (next.kind == Kind::Number || next.is(Class::MONTH.or(Class::WEEKDAY)))
}

/// Where the search for a verb after a connector stops.
fn is_boundary(tokens: &Tokens<'_>, at: usize) -> bool {
    let token = tokens.at(at);
    token.punct(',')
        || token.word(&["but", "because", "so", "if", "while", "although", "who", "which"])
}

/// Fragments that stand for themselves after a comma.
fn is_own_fragment(tokens: &Tokens<'_>, at: usize, comma: bool, word: &str) -> bool {
    let token = tokens.at(at);
    let instructs =
        tokens.before(at).word(&["always", "never"]) || token.word(&["always", "never"]);
    if instructs && token.verb.is_some_and(|verb| verb.forms.has(Form::BASE)) {
        return true;
    }
    let joined = comma || matches!(word, "and" | "but" | "so");
    let on = token.word(&["on", "based", "born", "originally", "only", "not"]) && joined && comma;
    let origin = token.fold == "from" && tokens.before(at).fold == "originally" && comma;
    on || origin || token.word(&["allergic", "married"]) && joined
}

/// Verbs that are nothing else, so that whatever follows is their object.
const TRANSITIVE: &[&str] = &[
    "love", "hate", "like", "prefer", "enjoy", "dislike", "take", "eat", "own", "teach", "speak",
    "write", "read", "collect", "grow", "wear", "avoid", "need", "want", "have", "adore", "detest",
    "manage",
];

/// A base form that goes on with a plain present: "I am tall and weigh 79 kg".
fn is_bare_verb(tokens: &Tokens<'_>, start: usize, at: usize, to: usize) -> bool {
    let token = tokens.at(at);
    let Some(verb) = token.verb else { return false };
    // "love hiking, hate running".
    let eliding = |at: usize| {
        let token = tokens.at(at);
        token.verb.is_some_and(|verb| ELIDING.contains(&verb.lemma) && verb.forms.has(Form::BASE))
    };
    if eliding(start) && eliding(at) {
        return true;
    }
    if !verb.forms.has(Form::BASE) || token.capital || verb.forms.has(Form::THIRD) {
        return false;
    }
    let Some(first) = first_verb(tokens, start, at) else { return false };
    let plain = verb::group(tokens, first, at).is_some_and(|group| {
        matches!(group.modal, Modal::None)
            && !group.used_to
            && !matches!(
                group.lemma,
                "want" | "plan" | "decide" | "hope" | "need" | "try" | "intend" | "aim" | "agree"
            )
    });
    // Inside "to cook and bake" the verbs share their "to".
    let infinitive =
        (first..at).any(|i| tokens.at(i).fold == "to" && tokens.at(i + 1).verb.is_some());
    let subject = first > start && !tokens.before(first).word(&["he", "she", "it"]);
    let next = tokens.at(at + 1);
    let goes_on = at + 1 < to
        && (next.is(Class::DETERMINER
            .or(Class::PREPOSITION)
            .or(Class::POSSESSIVE)
            .or(Class::NATIONALITY)
            .or(Class::LANGUAGE)
            .or(Class::PLAYABLE)
            .or(Class::NUMBER_WORD)
            .or(Class::ADVERB)
            .or(Class::MEDICINE))
            || next.kind == Kind::Number
            || next.capital
            || TRANSITIVE.contains(&verb.lemma))
        || at + 1 == to && verb.lemma == "commute";
    plain && subject && !infinitive && goes_on && !next.is(Class::CONJUNCTION)
}

/// The first finite verb in `from..to`.
fn first_verb(tokens: &Tokens<'_>, from: usize, to: usize) -> Option<usize> {
    (from..to).find(|at| verb::is_finite(tokens, *at, from))
}

/// Whether tokens `from..to` can be a subject.
fn is_subject(tokens: &Tokens<'_>, from: usize, to: usize) -> bool {
    if to <= from || to - from > SUBJECT_TOKENS_MAX {
        return false;
    }
    (from..to).all(|at| {
        let token = tokens.at(at);
        !matches!(token.kind, Kind::Punct | Kind::Newline | Kind::Quote)
            || token.word(&[",", ".", "'"])
    }) && !tokens.at(from).word(&["to", "of", "than"])
}

fn after_adverbs(tokens: &Tokens<'_>, from: usize, to: usize) -> usize {
    let mut at = from;
    while at < to
        && tokens.at(at).is(Class::ADVERB.or(Class::INTERJECTION))
        && !tokens.at(at).is(Class::DETERMINER.or(Class::PRONOUN))
    {
        at += 1;
    }
    at
}

/// Where the clause proper begins: behind greetings, interjections and announcements.
fn opening(tokens: &Tokens<'_>, from: usize, to: usize) -> usize {
    let mut at = from;
    loop {
        let before = at;
        let announced = tokens.at(at).is(Class::MARK);
        for words in PREAMBLES.iter().filter(|_| announced) {
            if at + words.len() < to && tokens.words_at(at, words) {
                let after = at + words.len();
                let that = tokens.at(after).word(&["that"]) || tokens.at(after).punct(',');
                let plain = words.len() > 1
                    || that
                    || tokens.at(after).is(Class::FIRST.or(Class::POSSESSIVE))
                    || *words == ["also"];
                if plain {
                    at = after + usize::from(that);
                }
            }
        }
        while at < to && is_filler(tokens, at, to) {
            at += 1;
        }
        if at == before {
            return at;
        }
    }
}

/// Words that may be skipped at the start of a clause.
fn is_filler(tokens: &Tokens<'_>, at: usize, to: usize) -> bool {
    let token = tokens.at(at);
    if token.kind == Kind::Punct {
        return !token.word(&["$", "€", "£", "¥", "₹"]);
    }
    if token.kind == Kind::Quote {
        return false;
    }
    let next = tokens.at(at + 1);
    let comma_next = next.punct(',') || at + 1 >= to;
    let spoken = token.is(Class::INTERJECTION)
        && !token.is(Class::DETERMINER)
        && (comma_next
            || next.is(Class::INTERJECTION.or(Class::FIRST).or(Class::POSSESSIVE))
            || token.word(&[
                "hi", "hello", "hey", "please", "pls", "ok", "okay", "oh", "yes", "yeah", "well",
                "btw", "fyi", "no", "thanks", "lol", "haha", "sorry",
            ]));
    let vocative =
        token.capital && comma_next && tokens.before(at).word(&["hi", "hello", "hey", "dear"]);
    let adverb = token.word(&[
        "and",
        "but",
        "so",
        "actually",
        "anyway",
        "then",
        "honestly",
        "basically",
        "finally",
        "meanwhile",
        "correction",
        "plus",
        "because",
        "personally",
        "unfortunately",
        "fortunately",
        "luckily",
        "sadly",
    ]) && at + 1 < to;
    spoken || vocative || adverb || token.word(&["no"]) && next.is(Class::FIRST)
}

fn push(
    tokens: &Tokens<'_>,
    start: usize,
    end: usize,
    sentence: usize,
    opener: Opener,
    clauses: &mut Vec<Clause>,
) {
    if start >= end {
        return;
    }
    let body = after_adverbs(tokens, start, end);
    let mut clause = Clause {
        start,
        end,
        sentence,
        subject: Subject::None,
        verb: None,
        asserted: opener != Opener::Placing,
        aside: opener == Opener::Placing,
        corrects: false,
        instruction: None,
    };
    let verb = match opener {
        Opener::Shared | Opener::Relative => Some(body),
        _ => first_verb(tokens, start, end),
    };
    match (opener, verb) {
        (Opener::Shared, Some(_)) => {
            clause.subject = Subject::Inherited;
            clause.verb = verb::group(tokens, start, end);
        }
        (Opener::Relative, Some(at)) => {
            clause.subject = Subject::Relative;
            clause.verb = verb::group(tokens, at, end);
        }
        (_, Some(at)) if at > body && is_subject(tokens, body, at) && !orders(tokens, body) => {
            let mut first = at;
            while first > body + 1 && verb::is_between(tokens, first - 1) {
                first -= 1;
            }
            clause.subject = Subject::Said(body, first);
            clause.verb = verb::group(tokens, first, end);
        }
        (_, found) => elided(tokens, body, end, found, &mut clause),
    }
    let mark = (body..end).find(|at| tokens.at(*at).punct(':'));
    if let Some(mark) =
        mark.filter(|mark| clause.verb.is_none() && heads_note(tokens, *mark).is_some())
    {
        clause.subject = Subject::Said(body, mark);
        clause.verb = Some(verb::copula(mark + 1));
    }
    clauses.push(clause);
}

/// "Show me the tickets that are blocked": a verb with its object, and no subject before it.
fn orders(tokens: &Tokens<'_>, at: usize) -> bool {
    let (token, next) = (tokens.at(at), tokens.at(at + 1));
    let base = token.verb.is_some_and(|verb| verb.forms.has(Form::BASE));
    let object = next.is(Class::POSSESSIVE)
        || next.word(&["me", "us", "him", "them", "it", "the", "a", "an", "this", "these", "all"]);
    base && object && (!token.is(Class::OCCASION) || next.word(&["me", "us", "him", "them"]))
}

/// Verbs that people begin with when they speak of themselves and leave out the "I".
const ELIDING: &[&str] = &[
    "love", "like", "hate", "prefer", "enjoy", "adore", "need", "want", "live", "own", "speak",
    "dislike",
];

/// A clause that begins with its verb: a speaker left out, or a request.
fn elided(tokens: &Tokens<'_>, body: usize, end: usize, found: Option<usize>, clause: &mut Clause) {
    let token = tokens.at(body);
    let first = verb::group(tokens, body, end);
    let Some(forms) = token.verb.map(|verb| verb.forms) else {
        let auxiliary = token
            .word(&["am", "was", "'m", "been", "had", "have", "did", "do", "can", "will", "used"]);
        if auxiliary && found.is_none_or(|found| found == body) {
            clause.subject = Subject::Elided;
            clause.verb = first;
        }
        return;
    };
    let next = tokens.at(body + 1);
    let past = forms.has(Form::PAST)
        && (!forms.has(Form::BASE)
            || token.fold == "quit"
            || token.fold == "read" && (next.capital || next.kind == Kind::Quote));
    let negative = token.is(Class::DO) && next.is(Class::NEGATION);
    let main = first.as_ref().map_or("", |group| group.lemma);
    let stative = ELIDING.contains(&main) && (forms.has(Form::BASE) || negative);
    let works = main == "work" && next.word(&["at", "for", "as"]);
    let ing = forms.has(Form::ING)
        && found.is_none()
        && token.word(&[
            "moving",
            "planning",
            "starting",
            "joining",
            "leaving",
            "flying",
            "visiting",
            "traveling",
            "travelling",
            "meeting",
            "going",
            "working",
            "living",
            "studying",
            "thinking",
            "using",
            "switching",
            "dating",
            "running",
        ]);
    let got = token.word(&["got", "had", "did", "has"]);
    let has = token.word(&["have"]) && !next.is(Class::DETERMINER)
        || token.fold == "have" && next.word(&["been"]);
    if past || stative || works || ing || got || has {
        clause.subject = Subject::Elided;
        clause.verb = first.map(|mut group| {
            group.progressive |= ing;
            group
        });
    } else if tokens.at(body + 1).fold == "me"
        && (token.fold == "call" && tokens.at(body + 2).capital
            || (body..end).any(|at| {
                let token = tokens.at(at);
                let digits = token.fold.bytes().filter(u8::is_ascii_digit).count();
                token.kind == Kind::Email || token.kind == Kind::Number && digits >= 3
            }))
    {
        // The one request that says who somebody is.
        clause.subject = Subject::Elided;
        clause.verb = first;
    } else if forms.has(Form::BASE) {
        // A request; the mood decides whether it stands.
        clause.asserted = false;
        clause.verb = first;
    }
}
