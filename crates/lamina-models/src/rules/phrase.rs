//! Phrases that refer: who or what a clause speaks of, resolved to an actor, a name, or somebody's
//! somebody ("my wife").

mod discourse;
mod noun;

use std::borrow::Cow;

use lamina_types::layer::extraction::{EntityKind, Term};

pub(crate) use discourse::{Discourse, Gender};
pub(crate) use noun::{is_name_token, name_run, noun_run, strip_article};

use super::lexicon::{self, Class, Kin};
use super::token::{Kind, Tokens};
use super::verb;

/// Adjectives and words between "my" and its noun that are looked at.
const MODIFIERS_MAX: usize = 4;

/// Somebody or something that a phrase refers to.
#[derive(Debug, Clone)]
pub(crate) struct Referent {
    pub(crate) term: Term,
    /// The tokens that name it: the name, or the whole of "my wife".
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) nature: Nature,
    /// How the noun is called when its owner is left away: "my report" is also the report.
    pub(crate) plain: Option<String>,
    pub(crate) gender: Gender,
    /// It was said with a pronoun: what is claimed of it is a little less sure.
    pub(crate) pronoun: bool,
    /// The owner and the attribute, for "my name", "Initech's revenue".
    pub(crate) attribute: Option<Attribute>,
}

/// A possession that may be the name of a relation: "my favourite colour", "Bob's wife".
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    pub(crate) owner: Term,
    /// Its words.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The relation, if the noun is one of kinship.
    pub(crate) kin: Option<Kin>,
    /// The person is named as well: "my wife Sara".
    pub(crate) named: bool,
    /// "my ex-wife".
    pub(crate) former: bool,
}

/// What kind of being a referent is, as far as the phrase tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    Person,
    Animal,
    /// A bare name: a person, a company, a project.
    Name,
    /// Something with an article.
    Thing,
    /// A bare word in small letters.
    Word,
}

/// Who speaks to whom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parties<'a> {
    pub(crate) speaker: &'a Term,
    pub(crate) addressee: Option<&'a Term>,
}

/// All referents of a subject: the parts of a list, or one.
pub(crate) fn referents(
    tokens: &Tokens<'_>,
    from: usize,
    to: usize,
    parties: Parties<'_>,
    discourse: &Discourse,
) -> Vec<Referent> {
    let mut to = to;
    while to > from && tokens.at(to - 1).is(Class::ADVERB) && !tokens.at(to - 1).is(Class::PRONOUN)
    {
        to -= 1;
    }
    // "after a long night I ...": a pronoun right before the verb is the whole subject.
    let last = tokens.before(to);
    let joined = to >= 2 && tokens.at(to.saturating_sub(2)).word(&["and", "&"]);
    if to > from + 1 && !joined && last.word(&["i", "we", "he", "she", "they", "you", "it"]) {
        return refer(tokens, to - 1, to, parties, discourse).into_iter().collect();
    }
    let from = after_setting(tokens, from, to);
    if let Some(one) = apposition(tokens, from, to, parties, discourse) {
        return vec![one];
    }
    let mut found = Vec::new();
    // "my brother and his wife": the first part can be meant by the second.
    let mut discourse = Cow::Borrowed(discourse);
    let mut start = from;
    for at in from..=to {
        let comma = tokens.at(at).punct(',') && !tokens.is_legal_form(at + 1);
        let cut = at == to || comma || tokens.at(at).word(&["and", "&"]);
        if cut {
            if at > start
                && let Some(referent) = refer(tokens, start, at, parties, &discourse)
            {
                if at < to {
                    discourse.to_mut().note(&referent, usize::MAX, true);
                }
                found.push(referent);
            }
            start = at + 1;
        }
    }
    apposed(tokens, from, to, found)
}

/// "The client, Vattenfall, has": one and the same, by its name.
fn apposed(tokens: &Tokens<'_>, from: usize, to: usize, found: Vec<Referent>) -> Vec<Referent> {
    let joined = (from..to).any(|at| tokens.at(at).word(&["and", "&", "or", "nor"]));
    if found.len() != 2 || joined || !tokens.before(to).punct(',') {
        return found;
    }
    let by_name = found.iter().position(|one| matches!(one.nature, Nature::Name | Nature::Person));
    let keep = by_name.unwrap_or(0);
    found.into_iter().nth(keep).into_iter().collect()
}

/// "After the workshop the team decided": where the subject begins behind what sets the scene.
fn after_setting(tokens: &Tokens<'_>, from: usize, to: usize) -> usize {
    let sets = tokens.at(from).word(&[
        "after",
        "before",
        "during",
        "following",
        "despite",
        "at",
        "in",
        "on",
        "with",
        "for",
    ]);
    if !sets {
        return from;
    }
    let mut at = to;
    while at > from + 2 && is_name_token(tokens, at - 1) {
        at -= 1;
    }
    if at < to {
        // The name of the setting itself: "at Acme".
        let led = tokens.before(at).is(Class::PREPOSITION.or(Class::DETERMINER));
        return if led { from } else { at };
    }
    let closed = Class::PREPOSITION.or(Class::CONJUNCTION);
    while at > from + 2 && tokens.at(at - 1).kind == Kind::Word && !tokens.at(at - 1).is(closed) {
        at -= 1;
        if tokens.at(at).is(Class::DETERMINER.or(Class::POSSESSIVE)) {
            return at;
        }
    }
    from
}

/// "Camila, my girlfriend," and "my girlfriend, Camila,": one person, by name.
fn apposition(
    tokens: &Tokens<'_>,
    from: usize,
    to: usize,
    parties: Parties<'_>,
    discourse: &Discourse,
) -> Option<Referent> {
    let (name, whose) = appositive(tokens, from, to, parties, discourse)?;
    let attribute = Attribute { named: true, ..whose.attribute.clone()? };
    let (term, start, end) = (name.term, name.start, name.end);
    Some(Referent { term, start, end, attribute: Some(attribute), ..whose })
}

/// A name and the relative it is, between commas.
pub(crate) fn appositive(
    tokens: &Tokens<'_>,
    from: usize,
    to: usize,
    parties: Parties<'_>,
    discourse: &Discourse,
) -> Option<(Referent, Referent)> {
    let comma = (from..to).find(|at| tokens.at(*at).punct(','))?;
    let end = (comma + 1..to).find(|at| tokens.at(*at).punct(','))?;
    let joined = (from..to).any(|at| tokens.at(at).word(&["and", "&"]));
    if joined || end + 1 != to {
        return None;
    }
    let one = refer(tokens, from, comma, parties, discourse)?;
    let other = of_mine(tokens, comma + 1, end, parties)
        .or_else(|| refer(tokens, comma + 1, end, parties, discourse))?;
    let is_kin = |referent: &Referent| {
        let kin = referent.attribute.as_ref().filter(|attribute| !attribute.named);
        kin.is_some_and(|attribute| attribute.kin.is_some())
    };
    let is_name = |referent: &Referent| referent.nature == Nature::Name;
    match (is_kin(&one), is_kin(&other)) {
        (true, false) if is_name(&other) => Some((other, one)),
        (false, true) if is_name(&one) => Some((one, other)),
        _ => None,
    }
}

/// "a friend of mine".
fn of_mine(tokens: &Tokens<'_>, from: usize, to: usize, parties: Parties<'_>) -> Option<Referent> {
    let end = to.checked_sub(2).filter(|end| *end > from + 1)?;
    let mine = tokens.at(end).fold == "of" && tokens.at(end + 1).word(&["mine", "ours"]);
    if !mine || !tokens.at(from).word(&["a", "an", "one"]) {
        return None;
    }
    let noun = kin_noun(tokens, from + 1, end).filter(|noun| noun + 1 == end)?;
    relative(tokens, from, from + 1, noun, end, parties.speaker.clone())
}

/// What tokens `from..to` refer to.
pub(crate) fn refer(
    tokens: &Tokens<'_>,
    from: usize,
    to: usize,
    parties: Parties<'_>,
    discourse: &Discourse,
) -> Option<Referent> {
    let mut from = from;
    while from < to
        && (tokens.at(from).is(Class::ADVERB.or(Class::INTERJECTION))
            && !tokens.at(from).is(Class::PRONOUN.or(Class::DETERMINER))
            || tokens.at(from).kind == Kind::Punct)
    {
        from += 1;
    }
    if from >= to {
        return None;
    }
    if let Some((owner, shared, next)) = owner(tokens, from, to, parties, discourse) {
        return possession(tokens, from, next, to, owner, shared);
    }
    let first = tokens.at(from);
    // "his wife" of nobody known is nobody.
    if first.is(Class::POSSESSIVE) && first.fold != "her" || first.fold == "her" && to > from + 1 {
        return None;
    }
    if to == from + 1 && first.is(Class::PRONOUN) {
        return pronoun(tokens, from, parties, discourse);
    }
    plain(tokens, from, to, parties)
}

fn pronoun(
    tokens: &Tokens<'_>,
    at: usize,
    parties: Parties<'_>,
    discourse: &Discourse,
) -> Option<Referent> {
    let make = |term: Term, nature, gender, pronoun| Referent {
        term,
        start: at,
        end: at + 1,
        nature,
        plain: None,
        gender,
        pronoun,
        attribute: None,
    };
    match tokens.at(at).fold.as_str() {
        "i" | "we" | "me" | "us" | "myself" => {
            Some(make(parties.speaker.clone(), Nature::Person, Gender::Unknown, false))
        }
        // An agent is told what to be; that is no fact about it.
        "you" if is_agent(parties.addressee) => None,
        "you" => Some(make(parties.addressee?.clone(), Nature::Person, Gender::Unknown, false)),
        "he" | "him" => {
            discourse.person(Gender::Male).map(|found| Referent { pronoun: true, ..found.clone() })
        }
        "she" | "her" => discourse
            .person(Gender::Female)
            .map(|found| Referent { pronoun: true, ..found.clone() }),
        "it" => discourse.thing().map(|found| Referent { pronoun: true, ..found.clone() }),
        _ => None,
    }
}

fn is_agent(party: Option<&Term>) -> bool {
    matches!(party, Some(Term::Actor(actor)) if actor.kind() == "agent")
}

/// The owner that begins a phrase ("my", "Bob's", "my sister's"), whether it is a group, and what follows.
fn owner(
    tokens: &Tokens<'_>,
    from: usize,
    to: usize,
    parties: Parties<'_>,
    discourse: &Discourse,
) -> Option<(Term, bool, usize)> {
    let first = tokens.at(from);
    let mut shared = false;
    let (mut term, mut next) = if first.is(Class::POSSESSIVE) {
        shared = first.fold == "our";
        let term = match first.fold.as_str() {
            "my" | "our" => parties.speaker.clone(),
            "your" => parties.addressee?.clone(),
            "his" => discourse.person(Gender::Male)?.term.clone(),
            "her" => discourse.person(Gender::Female)?.term.clone(),
            "its" => discourse.thing()?.term.clone(),
            _ => return None,
        };
        (term, from + 1)
    } else {
        let end = name_run(tokens, from, to)?;
        if tokens.at(end).fold != "'s" || verb::is_contracted_verb(tokens, end) {
            return None;
        }
        let name = tokens.slice(from, end).to_owned();
        (Term::Named { name, kind: EntityKind::Thing }, end + 1)
    };
    // "my sister's dog": the owner is itself a possession.
    while let Some(mark) =
        (next..to.min(next + MODIFIERS_MAX)).find(|at| tokens.at(*at).fold == "'s")
    {
        if verb::is_contracted_verb(tokens, mark) {
            break;
        }
        let noun = (next..mark).find(|at| lexicon::kin(&tokens.at(*at).fold).is_some())?;
        let named = (noun + 1 < mark).then(|| name_run(tokens, noun + 1, mark)).flatten();
        term = match named {
            Some(end) => Term::Named {
                name: tokens.slice(noun + 1, end).to_owned(),
                kind: EntityKind::Person,
            },
            None => Term::Of { owner: Box::new(term), relation: tokens.at(noun).fold.clone() },
        };
        shared = false;
        next = mark + 1;
    }
    (next < to).then_some((term, shared, next))
}

/// What somebody has: "my best friend Duarte", "my wife", "Initech's revenue".
fn possession(
    tokens: &Tokens<'_>,
    from: usize,
    noun_from: usize,
    to: usize,
    owner: Term,
    shared: bool,
) -> Option<Referent> {
    let stops = |at: &usize| {
        let token = tokens.at(*at);
        token.is(Class::PREPOSITION) || matches!(token.kind, Kind::Punct | Kind::Quote)
    };
    let end = (noun_from..to).find(stops).unwrap_or(to);
    if end <= noun_from {
        return None;
    }
    match kin_noun(tokens, noun_from, end) {
        Some(at) => relative(tokens, from, noun_from, at, to, owner),
        None => belonging(tokens, noun_from, end, owner, shared),
    }
}

/// Where the word of kinship stands that a phrase is about.
fn kin_noun(tokens: &Tokens<'_>, from: usize, end: usize) -> Option<usize> {
    (from..end.min(from + MODIFIERS_MAX + 1)).find(|at| {
        // "dog food", "sister company": the last noun decides.
        let next = tokens.at(*at + 1);
        let goes_on = *at + 1 < end
            && next.kind == Kind::Word
            && !next.capital
            && !next.is(Class::ADVERB
                .or(Class::CONJUNCTION)
                .or(Class::DETERMINER)
                .or(Class::PRONOUN)
                .or(Class::NEGATION)
                .or(Class::BE)
                .or(Class::HAVE)
                .or(Class::MODAL)
                .or(Class::WEEKDAY));
        // "my business partner" is no partner of that kind.
        let trade = tokens.at(*at).fold == "partner"
            && *at > from
            && !tokens.before(*at).is(Class::ADJECTIVE.or(Class::ADVERB));
        lexicon::kin(without_ex(&tokens.at(*at).fold)).is_some() && !goes_on && !trade
    })
}

fn without_ex(fold: &str) -> &str {
    fold.strip_prefix("ex-").unwrap_or(fold)
}

/// Somebody's somebody, by name if one is said.
fn relative(
    tokens: &Tokens<'_>,
    from: usize,
    noun_from: usize,
    at: usize,
    to: usize,
    owner: Term,
) -> Option<Referent> {
    let noun = without_ex(&tokens.at(at).fold);
    let kin = lexicon::kin(noun)?;
    let name_end = name_run(tokens, at + 1, to);
    let first = tokens.at(noun_from);
    let former = first.word(&["ex", "former"]) || first.fold.starts_with("ex-");
    let (nature, kind) = match kin {
        Kin::Pet => (Nature::Animal, EntityKind::Animal),
        _ => (Nature::Person, EntityKind::Person),
    };
    let (term, start, end) = match name_end {
        Some(end) => {
            (Term::Named { name: tokens.slice(at + 1, end).to_owned(), kind }, at + 1, end)
        }
        None => {
            let owner = Box::new(owner.clone());
            // An ex-wife is somebody else than the wife.
            let relation = if former { format!("ex-{noun}") } else { noun.to_owned() };
            (Term::Of { owner, relation }, from, at + 1)
        }
    };
    let named = name_end.is_some();
    let attribute =
        Attribute { owner, start: noun_from, end: at + 1, kin: Some(kin), named, former };
    Some(Referent {
        term,
        start,
        end,
        nature,
        plain: None,
        gender: Gender::of_kin(noun),
        pronoun: false,
        attribute: Some(attribute),
    })
}

/// Something that somebody has.
fn belonging(
    tokens: &Tokens<'_>,
    start: usize,
    end: usize,
    owner: Term,
    shared: bool,
) -> Option<Referent> {
    let make = |term, start, nature, plain, attribute| Referent {
        term,
        start,
        end,
        nature,
        plain,
        gender: Gender::Unknown,
        pronoun: false,
        attribute,
    };
    // "our company Lumenta": the name says more than the noun.
    let named = (start + 1..end).find(|at| is_name_token(tokens, *at));
    if let Some(at) = named
        && !tokens.at(start).capital
        && name_run(tokens, at, end) == Some(end)
    {
        let term = Term::Named { name: tokens.slice(at, end).to_owned(), kind: EntityKind::Thing };
        return Some(make(term, at, Nature::Name, None, None));
    }
    let text = tokens.slice(start, end).to_owned();
    // A group's thing is known by its own name.
    let term = if shared {
        Term::Named { name: text.clone(), kind: EntityKind::Thing }
    } else {
        Term::Of { owner: Box::new(owner.clone()), relation: text.to_lowercase() }
    };
    let attribute = Attribute { owner, start, end, kin: None, named: false, former: false };
    Some(make(term, start, Nature::Thing, Some(text), Some(attribute)))
}

/// A name, or a noun with or without an article.
fn plain(tokens: &Tokens<'_>, from: usize, to: usize, parties: Parties<'_>) -> Option<Referent> {
    let article =
        tokens.at(from).word(&["a", "an", "the", "this", "that", "these", "those", "some"]);
    if tokens.at(from).is(Class::DETERMINER) && !article {
        return None;
    }
    let start = from + usize::from(article);
    let make = |term, start, end, nature| Referent {
        term,
        start,
        end,
        nature,
        plain: None,
        gender: Gender::Unknown,
        pronoun: false,
        attribute: None,
    };
    if let Some(end) = name_run(tokens, start, to) {
        let (start, end) = without_project(tokens, start, end, to);
        let rest = (end..to)
            .find(|at| tokens.at(*at).is(Class::PREPOSITION) || tokens.at(*at).kind == Kind::Punct)
            .unwrap_or(to);
        let goes_on = rest > end
            && !tokens.at(end).word(&["project", "'s"])
            && !tokens.at(end).is(Class::ADVERB.or(Class::PRONOUN));
        let end = if goes_on { rest } else { end };
        let nature = if goes_on || article { Nature::Thing } else { Nature::Name };
        let term =
            Term::Named { name: tokens.slice(start, end).to_owned(), kind: EntityKind::Thing };
        return Some(make(term, start, end, nature));
    }
    let end = noun_run(tokens, start, to);
    if end <= start || (start..end).all(|at| tokens.at(at).kind == Kind::Number) {
        return None;
    }
    let first = tokens.at(start);
    // "two are vegetarian": some two.
    if end == start + 1 && first.is(Class::NUMBER_WORD) {
        return None;
    }
    if !article
        && end == start + 1
        && first.is(Class::KIN)
        && matches!(lexicon::kin(&first.fold), Some(Kin::Parent | Kin::Relative))
    {
        let term =
            Term::Of { owner: Box::new(parties.speaker.clone()), relation: first.fold.clone() };
        return Some(make(term, start, end, Nature::Person));
    }
    let (start, end) = without_project(tokens, start, end, to);
    let term = Term::Named { name: tokens.slice(start, end).to_owned(), kind: EntityKind::Thing };
    Some(make(term, start, end, if article { Nature::Thing } else { Nature::Word }))
}

/// "Project Heron" and "the Fjord project" are called Heron and Fjord.
fn without_project(tokens: &Tokens<'_>, start: usize, end: usize, to: usize) -> (usize, usize) {
    let named =
        |from: usize, to: usize| (from..to).all(|at| is_name_token(tokens, at)) && to > from;
    if tokens.at(start).fold == "project" && named(start + 1, end) {
        return (start + 1, end);
    }
    if end > start + 1 && tokens.at(end - 1).fold == "project" && named(start, end - 1) && end == to
    {
        return (start, end - 1);
    }
    (start, end)
}

/// The speaker, where no word stands for it.
pub(crate) fn speaker(parties: Parties<'_>, at: usize) -> Referent {
    Referent {
        term: parties.speaker.clone(),
        start: at,
        end: at,
        nature: Nature::Person,
        plain: None,
        gender: Gender::Unknown,
        pronoun: false,
        attribute: None,
    }
}
