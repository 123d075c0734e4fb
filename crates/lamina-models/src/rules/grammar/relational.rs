//! Relations that people name themselves: "the capital of Varland is Ostby", "Tern's flagship is the
//! Morwenna", "the gate code is now 4471", "Nightjar was directed by Hana Mori".
//!
//! The words of the relation are its predicate. One value holds at a time, unless the words say that
//! there are several: a plural, a list, "also", "another".

use lamina_types::layer::extraction::{Cardinality, EntityKind, Normaliser, Object, Term};

use super::nominal::american;
use crate::relation::relation;
use crate::rules::claims::Draft;
use crate::rules::clause::Subject;
use crate::rules::lexicon::{Class, Form};
use crate::rules::number;
use crate::rules::pattern::Aspect;
use crate::rules::phrase::{Nature, Referent, name_run, refer};
use crate::rules::scene::Scene;
use crate::rules::take::{Item, Value, fold_space, is_role};
use crate::rules::time::Tense;
use crate::rules::token::Kind;
use crate::rules::verb::Modal;

/// Words that the name of a relation may have.
const RELATION_WORDS_MAX: usize = 4;
/// Values that one list may have.
const VALUES_MAX: usize = 8;

/// Nouns that relate nothing: a part, an opinion, a reason.
const EMPTY: &[&str] = &[
    "aim", "answer", "aspect", "back", "beauty", "beginning", "bit", "bottom", "bulk", "bunch",
    "case", "catch", "cause", "center", "centre", "couple", "day", "downside", "edge", "end",
    "example", "explanation", "fact", "fan", "favorite", "favourite", "front", "fun", "half",
    "heart", "highlight", "hour", "idea", "issue", "joke", "key", "kind", "last", "lot", "majority",
    "matter", "meaning", "middle", "minute", "moment", "month", "morning", "most", "name", "night",
    "none", "nature", "one", "opinion", "opposite", "outcome", "pair", "part", "password", "piece",
    "point", "problem", "proof", "purpose", "question", "reason", "rest", "result", "risk",
    "secret", "sense", "shame", "side", "sort", "sound", "spirit", "start", "story", "stuff", "sum",
    "thing", "thought", "top", "trick", "trouble", "truth", "type", "version", "view", "way",
    "week", "word", "year",
];

/// What has one value at a time that need not be a name: "the default branch of the repo is trunk".
const VALUED: &[&str] = &[
    "branch", "brand", "capacity", "category", "channel", "code", "color", "colour", "currency",
    "database", "domain", "engine", "extension", "fare", "fee", "flavor", "flavour", "floor",
    "format", "frequency", "gate", "genre", "grade", "host", "interval", "language", "level",
    "limit", "mode", "model", "number", "path", "plan", "platform", "port", "protocol", "quota",
    "rate", "region", "rent", "room", "salary", "scale", "server", "setting", "size", "slug",
    "stage", "strategy", "tariff", "theme", "tier", "timeout", "zone",
];

/// Words before a relation that say that it is the present one.
const PRESENT: &[&str] = &["current", "new", "present", "acting", "incumbent", "actual", "updated"];
/// Words before a relation that say that it is not.
const NOT_PRESENT: &[&str] = &[
    "former", "previous", "old", "ex", "next", "future", "upcoming", "last", "late", "original",
    "potential", "possible", "likely", "planned", "first", "second", "third", "only", "real",
    "true", "best", "worst", "same", "other", "whole", "biggest", "hardest",
];

/// Who made something: the participle, and the relation that it states.
const MADE: &[(&str, &str)] = &[
    ("authored", "author"),
    ("built", "builder"),
    ("chaired", "chair"),
    ("coached", "coach"),
    ("composed", "composer"),
    ("created", "creator"),
    ("curated", "curator"),
    ("designed", "designer"),
    ("developed", "developer"),
    ("directed", "director"),
    ("edited", "editor"),
    ("founded", "founder"),
    ("illustrated", "illustrator"),
    ("invented", "inventor"),
    ("maintained", "maintainer"),
    ("manufactured", "manufacturer"),
    ("performed", "performer"),
    ("produced", "producer"),
    ("published", "publisher"),
    ("sponsored", "sponsor"),
    ("translated", "translator"),
    ("written", "author"),
];

/// Makers of works: a work employs nobody, and whoever made it did so for good.
const MAKERS: &[&str] = &[
    "architect", "author", "composer", "creator", "designer", "founder", "illustrator", "inventor",
    "librettist", "narrator", "painter", "performer", "playwright", "poet", "publisher", "sculptor",
    "singer", "sponsor", "translator", "winner", "writer",
];

/// Whether a word names the maker of a work.
pub(super) fn is_maker(word: &str) -> bool {
    MAKERS.contains(&word)
}

/// What the clause states by a relation of its own words.
pub(super) fn related(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Vec<Draft>> {
    let verb = scene.clause.verb.as_ref()?;
    if verb.lemma != "be" || verb.modal != Modal::None || verb.progressive || verb.ended {
        return None;
    }
    made(scene, subjects, verb.end).or_else(|| {
        let spoken = of_something(scene)
            .or_else(|| belonging_to(scene, subjects))
            .or_else(|| compound(scene, subjects))?;
        stated(scene, &spoken, verb.end)
    })
}

/// A relation, and whose it is.
pub(super) struct Spoken {
    owner: Term,
    /// The words of the relation.
    start: usize,
    end: usize,
    /// The owner is the speaker: only what is plainly a relation counts.
    is_own: bool,
    is_one_of_many: bool,
}

/// "the capital of Varland".
fn of_something(scene: &Scene<'_>) -> Option<Spoken> {
    let Subject::Said(from, to) = scene.clause.subject else { return None };
    let tokens = scene.tokens;
    let joint = (from..to).find(|at| tokens.at(*at).fold == "of")?;
    let first = tokens.at(from);
    if first.is(Class::POSSESSIVE) || (joint + 1..to).any(|at| tokens.at(at).kind == Kind::Punct) {
        return None;
    }
    let article = first.word(&["the", "a", "an", "another", "one"]);
    let start = from + usize::from(article);
    let owner = refer(tokens, joint + 1, to, scene.parties, scene.discourse)?;
    let is_definite = owner.nature == Nature::Name
        || tokens.at(joint + 1).is(Class::DETERMINER.or(Class::POSSESSIVE))
        || tokens.at(joint + 1).capital;
    let is_time = scene.time_at(joint + 1).is_some();
    (is_definite && !is_time && !owner.pronoun && start < joint).then(|| Spoken {
        owner: super::subject_term(&owner, "owner"),
        start,
        end: joint,
        is_own: false,
        is_one_of_many: first.word(&["a", "an", "another", "one"]),
    })
}

/// "Tern's flagship", "my accountant".
fn belonging_to(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Spoken> {
    let [subject] = subjects else { return None };
    let attribute = subject.attribute.as_ref()?;
    let tokens = scene.tokens;
    let is_whole = attribute.end == subject.end && !attribute.named && attribute.kin.is_none();
    is_whole.then(|| Spoken {
        owner: attribute.owner.clone(),
        start: attribute.start,
        end: attribute.end,
        is_own: attribute.owner == *scene.parties.speaker,
        is_one_of_many: tokens.at(attribute.start).word(&["other", "second"]),
    })
}

/// "the gate code": the last word is what is said of the words before it.
fn compound(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Spoken> {
    let [subject] = subjects else { return None };
    let tokens = scene.tokens;
    let last = subject.end.checked_sub(1).filter(|last| *last > subject.start)?;
    let valued = tokens.at(last).word(VALUED) && matches!(subject.term, Term::Named { .. });
    let plain = (subject.start..last).all(|at| tokens.at(at).kind == Kind::Word);
    let name = tokens.slice(subject.start, last).to_owned();
    let adjective = tokens.at(subject.start).word(NOT_PRESENT)
        || tokens.at(subject.start).word(PRESENT)
        || tokens.at(subject.start).is(Class::ADJECTIVE);
    (valued && plain && !adjective && !subject.pronoun).then_some(Spoken {
        owner: Term::Named { name, kind: EntityKind::Thing },
        start: last,
        end: last + 1,
        is_own: false,
        is_one_of_many: false,
    })
}

/// What the relation is called; `None` if its words relate nothing.
fn predicate(scene: &Scene<'_>, spoken: &Spoken) -> Option<String> {
    let tokens = scene.tokens;
    let mut start = spoken.start;
    while start + 1 < spoken.end && tokens.at(start).word(PRESENT) {
        start += 1;
    }
    let closed = Class::PREPOSITION
        .or(Class::CONJUNCTION)
        .or(Class::PRONOUN)
        .or(Class::DETERMINER)
        .or(Class::POSSESSIVE)
        .or(Class::QUESTION)
        .or(Class::NUMBER_WORD);
    let sound = (start..spoken.end).all(|at| {
        let token = tokens.at(at);
        token.kind == Kind::Word
            && !token.is(closed)
            && !token.word(NOT_PRESENT)
            && token.fold.chars().all(|c| c.is_alphabetic() || c == '-')
    });
    let head = tokens.before(spoken.end);
    let doing = head.verb.is_some_and(|verb| verb.forms.has(Form::ING));
    let length = spoken.end.saturating_sub(start);
    if !sound || doing || head.word(EMPTY) || length == 0 || length > RELATION_WORDS_MAX {
        return None;
    }
    let words = american(&fold_space(tokens.slice(start, spoken.end)).to_lowercase());
    let predicate = words.replace([' ', '-'], "_");
    let ascii = predicate.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    (ascii && relation(&predicate).is_none()).then_some(predicate)
}

/// The drafts of "the R of S is O".
fn stated(scene: &Scene<'_>, spoken: &Spoken, at: usize) -> Option<Vec<Draft>> {
    let predicate = predicate(scene, spoken)?;
    let tokens = scene.tokens;
    let head = tokens.before(spoken.end);
    let valued = head.word(VALUED);
    let role = is_role(tokens, spoken.start, spoken.end);
    if spoken.is_own && !valued && !role {
        return None;
    }
    let at = scene.skip(at);
    let values = names(scene, at)
        .filter(|_| !head.is(Class::TEAM))
        .or_else(|| valued.then(|| value(scene, at)).flatten().map(|item| vec![item]))?;
    let past = scene.clause.verb.as_ref().is_some_and(|verb| verb.tense == Tense::Past);
    let aspect = match past && is_maker(&head.fold) {
        true => Aspect::Fact,
        false => Aspect::State,
    };
    let plural = head.fold.ends_with('s') && !head.fold.ends_with("ss");
    let many = plural || values.len() > 1 || spoken.is_one_of_many || adds(scene);
    Some(drafts(&spoken.owner, &predicate, &values, aspect, many))
}

/// "Nightjar was directed by Hana Mori".
fn made(scene: &Scene<'_>, subjects: &[Referent], at: usize) -> Option<Vec<Draft>> {
    let tokens = scene.tokens;
    let at = scene.skip(at);
    let (_, predicate) = MADE.iter().find(|(word, _)| tokens.at(at).fold == *word)?;
    let by = scene.skip(at + 1);
    let [subject] = subjects else { return None };
    let is_work = matches!(subject.term, Term::Named { .. }) && !subject.pronoun;
    if tokens.at(by).fold != "by" || !is_work {
        return None;
    }
    let makers = names(scene, by + 1)?;
    let many = makers.len() > 1;
    Some(drafts(&subject.term, predicate, &makers, Aspect::Fact, many))
}

fn drafts(
    owner: &Term,
    predicate: &str,
    values: &[Item],
    aspect: Aspect,
    many: bool,
) -> Vec<Draft> {
    let cardinality = if many { Cardinality::Many } else { Cardinality::One };
    let one = |item: &Item| {
        let mut draft = Draft::new(owner.clone(), predicate, item, aspect);
        if let (Value::Text(name), Normaliser::Identity) = (&item.value, item.normaliser)
            && name.starts_with(char::is_uppercase)
        {
            let name = name.clone();
            draft.object = Object::Entity(Term::Named { name, kind: EntityKind::Thing });
        }
        draft.cardinality = Some(cardinality);
        draft
    };
    values.iter().map(one).collect()
}

/// Names at `at`, joined by commas and "and".
fn names(scene: &Scene<'_>, at: usize) -> Option<Vec<Item>> {
    let tokens = scene.tokens;
    let mut found = Vec::new();
    let mut at = at + usize::from(tokens.at(at).fold == "the");
    while found.len() < VALUES_MAX {
        let end = name_run(tokens, at, scene.before_time(at))?;
        let described = Class::NATIONALITY.or(Class::RELIGION).or(Class::DIET).or(Class::STATUS);
        if end == at + 1 && tokens.at(at).is(described) {
            return None;
        }
        found.push(Item::text(scene, at, end));
        let joint = tokens.at(end);
        let comma = joint.punct(',') && tokens.at(end + 1).word(&["and", "&"]);
        let next = end + 1 + usize::from(comma);
        let goes_on = comma || joint.word(&["and", "&"]) || joint.punct(',');
        if goes_on && name_run(tokens, next, scene.before_time(next)).is_some() {
            at = next;
            continue;
        }
        // "Halden Bank accounts": the name is only a part of what is said.
        let closes = end >= scene.end()
            || joint.kind == Kind::Punct
            || joint.is(Class::CONJUNCTION.or(Class::PREPOSITION).or(Class::ADVERB))
            || scene.time_at(end).is_some();
        return closes.then_some(found);
    }
    None
}

/// A number, an amount, an identifier or one plain word.
fn value(scene: &Scene<'_>, at: usize) -> Option<Item> {
    let tokens = scene.tokens;
    if let Some((amount, currency, end)) = number::money(tokens, at) {
        let value = Value::Money { amount, currency: currency.to_owned() };
        return Some(Item::of(value, at, end, Normaliser::Money));
    }
    let at = at + usize::from(tokens.at(at).fold == "the");
    let token = tokens.at(at);
    let next = scene.skip(at + 1);
    let closes = next >= scene.end()
        || matches!(tokens.at(next).kind, Kind::Punct | Kind::Newline)
        || tokens.at(next).is(Class::CONJUNCTION);
    let closed = Class::PREPOSITION
        .or(Class::DETERMINER)
        .or(Class::PRONOUN)
        .or(Class::NEGATION)
        .or(Class::STATUS)
        .or(Class::PETTY);
    let word = token.kind == Kind::Word
        && !token.is(closed)
        && !token.fold.ends_with("ed")
        && token.verb.is_none_or(|verb| !verb.forms.has(Form::ING))
        && !token.word(&["fine", "good", "bad", "ok", "okay", "high", "low", "wrong", "right"]);
    let told = word || matches!(token.kind, Kind::Number | Kind::Quote);
    (told && closes && at < scene.end()).then(|| Item::text(scene, at, at + 1))
}

/// Whether the clause puts a value beside others.
fn adds(scene: &Scene<'_>) -> bool {
    let tokens = scene.tokens;
    (scene.clause.start..scene.end()).any(|at| {
        tokens.at(at).word(&["also", "another", "additionally", "too", "additional"])
            || tokens.words_at(at, &["as", "well"])
    }) || tokens.before(scene.clause.start).fold == "also"
}
