//! The verb of a clause: auxiliaries, negation, adverbs and the main verb, read as one group.

use super::lexicon::{Class, Form};
use super::time::Tense;
use super::token::{Kind, Tokens};

/// What an auxiliary makes of its verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modal {
    None,
    Will,
    /// "going to".
    Going,
    Can,
    /// "have to", "must".
    Must,
    /// "would rather".
    Rather,
    /// "would", "might": nothing is asserted.
    Irrealis,
}

/// A verb group.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// Of the main verb; `be` for a copula and before a participle.
    pub(crate) lemma: &'static str,
    /// The token of the main verb.
    pub(crate) at: usize,
    /// The token after the group.
    pub(crate) end: usize,
    pub(crate) tense: Tense,
    pub(crate) modal: Modal,
    pub(crate) negated: bool,
    /// "no longer"; "any more" is found in the complement.
    pub(crate) ended: bool,
    pub(crate) used_to: bool,
    pub(crate) progressive: bool,
    pub(crate) perfect: bool,
    /// An adverb says that it happens again and again.
    pub(crate) habitual: bool,
    /// "only", "just": kept, because "only to kiwi" answers a denial.
    pub(crate) adverbs: usize,
}

/// Whether a finite verb stands at `at`, given where its clause begins.
pub(crate) fn is_finite(tokens: &Tokens<'_>, at: usize, start: usize) -> bool {
    let token = tokens.at(at);
    if token.kind != Kind::Word {
        return false;
    }
    if token.fold == "'s" {
        return is_contracted_verb(tokens, at);
    }
    let before = if at > start { Some(tokens.before(at)) } else { None };
    if token.is(Class::BE.or(Class::HAVE).or(Class::DO).or(Class::MODAL)) {
        let month = token.fold == "may"
            && before
                .is_some_and(|before| before.is(Class::PREPOSITION) || before.kind == Kind::Number);
        let nonfinite = token.word(&["be", "been", "being", "doing", "having", "done"]);
        return !month && !nonfinite;
    }
    let Some(verb) = token.verb else { return is_unlisted_past(tokens, at, start) };
    // A capital inside a clause is a name: "the Sold Out tour", "Mark Read".
    if token.capital && at > start {
        return false;
    }
    let noun_before = before.is_some_and(|before| {
        before
            .is(Class::DETERMINER.or(Class::POSSESSIVE).or(Class::PREPOSITION).or(Class::ADJECTIVE))
            && !before.word(&["that", "this", "all", "both", "these", "those"])
            || before.word(&["'s"])
    });
    let after = tokens.at(at + 1);
    let noun_after = after.is(Class::BE) || after.word(&["'s", "of"]) && verb.lemma != "think";
    if noun_before || noun_after && verb.forms.has(Form::THIRD) {
        return false;
    }
    if verb.forms.has(Form::PAST) && !verb.forms.has(Form::BASE) {
        return true;
    }
    if verb.forms.has(Form::THIRD) {
        return at > start || !token.capital;
    }
    // "the boiler cost 3,200 euros": past and base are one word.
    let costs = token.fold == "cost"
        && at > start
        && (after.kind == Kind::Number
            || after.word(&["$", "€", "£", "about", "around", "me", "us", "over"])
            || after.is(Class::NUMBER_WORD));
    // "my doctor put me on", "the storm cut our line".
    let puts = verb.forms.has(Form::PAST)
        && after.is(Class::DETERMINER.or(Class::PRONOUN).or(Class::POSSESSIVE))
        && before
            .is_some_and(|before| before.is(Class::OCCUPATION.or(Class::KIN)) || before.capital);
    costs || puts || verb.forms.has(Form::BASE) && has_plural_subject(tokens, at, start)
}

/// "my dad passed away", "she unveiled it": a past that no list knows, right behind somebody.
fn is_unlisted_past(tokens: &Tokens<'_>, at: usize, start: usize) -> bool {
    let token = tokens.at(at);
    let shaped = token.class == Class::NONE
        && !token.capital
        && token.fold.len() >= 5
        && token.fold.ends_with("ed")
        && !token.fold.contains('-');
    if !shaped || at == start {
        return false;
    }
    let mut back = at;
    while back > start && is_between(tokens, back - 1) {
        back -= 1;
    }
    let subject = tokens.before(back);
    back > start
        && (subject.word(&["i", "we", "you", "he", "she", "it", "they", "who"])
            || subject.is(Class::KIN)
            || subject.capital && subject.kind == Kind::Word)
}

/// What may stand between a subject and its verb: adverbs, "never", "no longer".
pub(crate) fn is_between(tokens: &Tokens<'_>, at: usize) -> bool {
    let token = tokens.at(at);
    let longer = token.fold == "longer" && tokens.before(at).fold == "no"
        || token.fold == "no" && tokens.at(at + 1).fold == "longer";
    let adverb = token.is(Class::ADVERB) && !token.is(Class::DETERMINER.or(Class::PRONOUN));
    adverb || longer || token.is(Class::NEGATION)
}

/// Whether what stands before `at` can be the subject of a base form.
fn has_plural_subject(tokens: &Tokens<'_>, at: usize, start: usize) -> bool {
    let mut back = at;
    while back > start && is_between(tokens, back - 1) {
        back -= 1;
    }
    if back == start {
        return false;
    }
    let token = tokens.at(back - 1);
    if token.word(&["i", "we", "you", "they", "people", "who", "both", "everyone", "folks"]) {
        return true;
    }
    let joined = (start..back).any(|i| tokens.at(i).word(&["and", "&"]));
    let plural = token.kind == Kind::Word
        && token.fold.ends_with('s')
        && !token.fold.ends_with("ss")
        && token.verb.is_none();
    joined && (token.capital || token.is(Class::KIN))
        || plural && back - start <= 4
        || tokens.at(back - 1).is(Class::KIN) && token.word(&["parents", "kids", "children"])
}

/// Whether `'s` at `at` is "is" or "has" and not a possessive.
pub(crate) fn is_contracted_verb(tokens: &Tokens<'_>, at: usize) -> bool {
    let before = tokens.before(at);
    if before.is(Class::PRONOUN) || before.word(&["here", "where", "how", "let"]) {
        return before.fold != "let";
    }
    let (next, after) = (tokens.at(at + 1), tokens.at(at + 2));
    // "my name's Teodoro".
    if before.word(&["name", "nickname"]) && next.capital {
        return true;
    }
    let closed = Class::DETERMINER
        .or(Class::PREPOSITION)
        .or(Class::NEGATION)
        .or(Class::POSSESSIVE)
        .or(Class::DIET)
        .or(Class::STATUS);
    if next.is(closed) && !next.word(&["like", "past"]) {
        return true;
    }
    if next.word(&[
        "allergic",
        "afraid",
        "responsible",
        "married",
        "been",
        "got",
        "really",
        "now",
        "currently",
        "also",
        "still",
        "just",
        "not",
        "pregnant",
        "lactose",
    ]) {
        return true;
    }
    let ends = after.kind != Kind::Word
        || after.is(Class::CONJUNCTION.or(Class::PREPOSITION).or(Class::ADVERB));
    if next.is(Class::NATIONALITY.or(Class::RELIGION)) || next.kind == Kind::Number {
        return ends;
    }
    next.verb.is_some_and(|verb| verb.forms.has(Form::ING) || verb.forms.has(Form::PARTICIPLE))
        && !next.is(Class::OCCASION)
}

/// "is" where a mark stands for it: the group of no words before `at`.
pub(crate) fn copula(at: usize) -> Group {
    Group { lemma: "be", ..blank(at) }
}

fn blank(at: usize) -> Group {
    Group {
        lemma: "",
        at,
        end: at,
        tense: Tense::Present,
        modal: Modal::None,
        negated: false,
        ended: false,
        used_to: false,
        progressive: false,
        perfect: false,
        habitual: false,
        adverbs: 0,
    }
}

/// The verb group that begins at `at`.
pub(crate) fn group(tokens: &Tokens<'_>, at: usize, end: usize) -> Option<Group> {
    let mut group = blank(at);
    let mut at = at;
    let mut auxiliary = "";
    while at < end {
        let token = tokens.at(at);
        if is_have_got(tokens, at) {
            group.lemma = "have";
            group.at = at;
            group.end = at + 2;
            return Some(group);
        }
        if tokens.words_at(at, &["no", "longer"]) || tokens.words_at(at, &["not", "anymore"]) {
            group.ended = true;
            at += 2;
        } else if is_since_then(tokens, at) {
            at += 1;
        } else if token.is(Class::NEGATION) {
            group.negated = true;
            at += 1;
        } else if let Some(next) = auxiliary_at(tokens, at, end, &mut group, &mut auxiliary) {
            at = next;
        } else if token.is(Class::ADVERB)
            && !token.is(Class::DETERMINER)
            && !stands_as_complement(tokens, at, auxiliary)
        {
            group.habitual |= token.is(Class::HABITUAL);
            group.adverbs += 1;
            at += 1;
        } else {
            return finish(tokens, at, end, group, auxiliary);
        }
    }
    finish(tokens, end, end, group, auxiliary)
}

/// "I've got a cold" is having, not getting.
fn is_have_got(tokens: &Tokens<'_>, at: usize) -> bool {
    let next = tokens.at(at + 2);
    let passive =
        next.verb.is_some_and(|verb| verb.forms.has(Form::PARTICIPLE)) && !next.is(Class::OCCASION);
    tokens.at(at).word(&["have", "has", "'ve", "'s"])
        && tokens.at(at + 1).fold == "got"
        && next.fold != "to"
        && !passive
}

/// "here" and "there" are where somebody is, not how.
fn stands_as_complement(tokens: &Tokens<'_>, at: usize, auxiliary: &str) -> bool {
    auxiliary == "be"
        && tokens.at(at).word(&[
            "today",
            "tomorrow",
            "tonight",
            "yesterday",
            "here",
            "there",
            "over",
            "about",
            "around",
            "half",
            "well",
            "rather",
        ])
        || auxiliary == "have" && tokens.at(at).word(&["half", "about", "over", "around"])
}

/// Participles before which `'s` is "has"; before all others it is "is".
const HAS: &[&str] =
    &["been", "got", "had", "worked", "lived", "moved", "left", "joined", "started", "become"];

/// Takes an auxiliary at `at`, if one is there and is not the main verb.
fn auxiliary_at(
    tokens: &Tokens<'_>,
    at: usize,
    end: usize,
    group: &mut Group,
    auxiliary: &mut &'static str,
) -> Option<usize> {
    let token = tokens.at(at);
    let next = verb_after(tokens, at + 1, end);
    let forms = tokens.at(next).verb.map(|verb| verb.forms);
    let has = |form: Form| forms.is_some_and(|forms| forms.has(form));
    let participle = has(Form::PARTICIPLE) || tokens.at(next).word(&["been"]);
    match token.fold.as_str() {
        "'s" if tokens.at(next).word(HAS) => {
            group.perfect = true;
            *auxiliary = "have";
        }
        "'d" if participle && !has(Form::BASE) && tokens.at(at + 1).fold != "rather" => {
            group.perfect = true;
            group.tense = Tense::Past;
            *auxiliary = "have";
        }
        "was" | "were" => {
            group.tense = Tense::Past;
            *auxiliary = "be";
        }
        "am" | "is" | "are" | "'m" | "'re" | "'s" | "be" | "being" => *auxiliary = "be",
        "been" => {
            *auxiliary = "be";
            group.perfect = true;
        }
        "have" | "has" | "had" | "'ve" if participle && *auxiliary != "be" => {
            group.perfect = true;
            if token.fold == "had" {
                group.tense = Tense::Past;
            }
            *auxiliary = "have";
        }
        "do" | "does" | "did" if has(Form::BASE) || tokens.at(at + 1).is(Class::NEGATION) => {
            if token.fold == "did" {
                group.tense = Tense::Past;
            }
            *auxiliary = "do";
        }
        _ => return modal_at(tokens, at, group, auxiliary),
    }
    Some(at + 1)
}

/// Takes a modal at `at`: "will", "can", "going to", "used to", "would rather".
fn modal_at(
    tokens: &Tokens<'_>,
    at: usize,
    group: &mut Group,
    auxiliary: &mut &'static str,
) -> Option<usize> {
    let (next, after) = (tokens.at(at + 1), tokens.at(at + 2));
    let infinitive = next.fold == "to";
    match tokens.at(at).fold.as_str() {
        "'d" | "would" if next.fold == "rather" => {
            group.modal = Modal::Rather;
            return Some(at + 2);
        }
        "will" | "'ll" | "shall" => {
            group.modal = Modal::Will;
            group.tense = Tense::Future;
        }
        "gonna" => {
            group.modal = Modal::Going;
            group.tense = Tense::Future;
        }
        "can" => group.modal = Modal::Can,
        "must" => group.modal = Modal::Must,
        "would" | "could" | "may" | "might" | "should" | "'d" => group.modal = Modal::Irrealis,
        "have" | "has" | "need" | "needs" if infinitive && !after.is(Class::DETERMINER) => {
            group.modal = Modal::Must;
            return Some(at + 2);
        }
        "going" if infinitive && matches!(*auxiliary, "be" | "") => {
            let base = after.verb.is_some_and(|verb| verb.forms.has(Form::BASE));
            if !base && after.fold != "be" {
                return None;
            }
            group.modal = Modal::Going;
            group.tense = Tense::Future;
            *auxiliary = "";
            return Some(at + 2);
        }
        "used" if infinitive && *auxiliary != "be" => {
            group.used_to = true;
            group.tense = Tense::Past;
            return Some(at + 2);
        }
        _ => return None,
    }
    Some(at + 1)
}

/// The first token from `at` that is neither adverb nor negation.
fn verb_after(tokens: &Tokens<'_>, at: usize, end: usize) -> usize {
    let mut at = at;
    while at < end
        && (tokens.at(at).is(Class::ADVERB.or(Class::NEGATION))
            && !tokens.at(at).is(Class::DETERMINER)
            || is_since_then(tokens, at))
    {
        at += 1;
    }
    at
}

/// "I've since moved": the "since" that says that something came later.
pub(crate) fn is_since_then(tokens: &Tokens<'_>, at: usize) -> bool {
    let next = tokens.at(at + 1).verb;
    tokens.at(at).fold == "since"
        && tokens.before(at).is(Class::HAVE)
        && next.is_some_and(|verb| verb.forms.has(Form::PARTICIPLE))
}

/// Closes the group with the main verb at `at`, or with the copula.
fn finish(
    tokens: &Tokens<'_>,
    at: usize,
    end: usize,
    mut group: Group,
    auxiliary: &'static str,
) -> Option<Group> {
    let verb = if at < end { tokens.at(at).verb } else { None };
    group.at = at;
    group.end = at;
    // After "be" only "-ing" makes a verb; a participle is a state ("is blocked", "was born").
    let main = verb.filter(|verb| match auxiliary {
        "be" => verb.forms.has(Form::ING),
        "have" => verb.forms.has(Form::PARTICIPLE),
        _ => true,
    });
    // After "be" a word that is also a noun or a state is a complement.
    match main {
        Some(verb)
            if !(auxiliary == "be"
                && tokens.at(at).is(Class::OCCASION)
                && !has_object(tokens, at + 1, end)) =>
        {
            group.lemma = verb.lemma;
            group.end = at + 1;
            group.progressive = auxiliary == "be";
            let past = verb.forms.has(Form::PAST) && !verb.forms.has(Form::BASE);
            let ambiguous = verb.forms.has(Form::PAST) && auxiliary.is_empty();
            if auxiliary.is_empty()
                && group.modal == Modal::None
                && !group.used_to
                && (past || ambiguous && is_past_by_subject(tokens, at))
            {
                group.tense = Tense::Past;
            }
            Some(group)
        }
        _ if auxiliary == "be" => {
            group.lemma = "be";
            Some(group)
        }
        _ if tokens.at(at).is(Class::HAVE) && at < end => {
            group.lemma = "have";
            group.end = at + 1;
            Some(group)
        }
        _ if auxiliary == "have" => {
            group.lemma = "have";
            Some(group)
        }
        _ if matches!(auxiliary, "do") => {
            group.lemma = "do";
            Some(group)
        }
        // A verb that no row can know: it has an object of its own all the same.
        None if auxiliary.is_empty() && at < end && is_unlisted_past(tokens, at, 0) => {
            group.end = at + 1;
            group.tense = Tense::Past;
            Some(group)
        }
        _ => None,
    }
}

/// "I'm meeting Sarah" does something, "it's a meeting" is something.
fn has_object(tokens: &Tokens<'_>, at: usize, end: usize) -> bool {
    let token = tokens.at(at);
    at < end
        && (token.capital || token.is(Class::PRONOUN.or(Class::DETERMINER).or(Class::POSSESSIVE)))
}

/// "I read Dune yesterday", "she quit": base and past look alike.
fn is_past_by_subject(tokens: &Tokens<'_>, at: usize) -> bool {
    let third = tokens.before(at);
    third.word(&["he", "she", "it"])
        || third.is(Class::OCCUPATION.or(Class::KIN)) && !third.fold.ends_with('s')
        || third.capital && third.fold != "i"
        || tokens.at(at).fold == "quit"
        || tokens.at(at).fold == "read"
            && !tokens.at(at + 1).is(Class::PREPOSITION.or(Class::ADVERB))
}
