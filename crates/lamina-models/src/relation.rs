//! The relations that extractors state, in one table: how many values hold at a time, what the value
//! is, how people say it. `docs/RELATIONS.md` is checked against it.

use lamina_types::layer::extraction::{Cardinality, EntityKind};

/// One relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relation {
    /// Its name; one that ends in `:` is followed by what is said, as in `count:seats`.
    pub predicate: &'static str,
    /// How many values hold at a time.
    pub cardinality: Cardinality,
    /// What its value is.
    pub object: ObjectKind,
    /// How people say it.
    pub said_as: &'static str,
}

/// What the value of a relation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// Somebody or something of a kind.
    Entity(EntityKind),
    /// Words.
    Text,
    /// A number, perhaps with a unit.
    Number,
    /// An amount of money.
    Money,
    /// A day, perhaps with an hour.
    Date,
}

impl ObjectKind {
    /// As the documentation names it.
    pub fn as_str(self) -> &'static str {
        match self {
            ObjectKind::Entity(_) => "entity",
            ObjectKind::Text => "text",
            ObjectKind::Number => "number",
            ObjectKind::Money => "money",
            ObjectKind::Date => "date",
        }
    }
}

const fn one(predicate: &'static str, object: ObjectKind, said_as: &'static str) -> Relation {
    Relation { predicate, cardinality: Cardinality::One, object, said_as }
}

const fn many(predicate: &'static str, object: ObjectKind, said_as: &'static str) -> Relation {
    Relation { predicate, cardinality: Cardinality::Many, object, said_as }
}

use EntityKind::{Animal, Organization, Person, Place, Product};
use ObjectKind::{Date, Entity, Money, Number, Text};

/// All relations, in the order of the documentation.
pub const RELATIONS: &[Relation] = &[
    one("name", Text, "my name is, I'm called, call me"),
    many("alias", Text, "people call me, also known as, my nickname is"),
    one("age", Number, "I am 34, she turned 40"),
    one("birthday", Date, "my birthday is 3 May"),
    one("born_on", Date, "born on 3 May 1990"),
    one("born_in", Entity(Place), "born in"),
    one("from", Entity(Place), "I'm from, originally from, grew up in"),
    many("nationality", Text, "I'm Dutch, a German citizen"),
    one("religion", Text, "I'm Muslim"),
    one("pronouns", Text, "my pronouns are they/them"),
    many("email", Text, "my email is"),
    many("phone", Text, "my number is"),
    many("address", Text, "my address is"),
    many("website", Text, "my website is"),
    many("account", Text, "my GitHub account is"),
    one("timezone", Text, "my timezone is"),
    one("language", Text, "I prefer to be addressed in German"),
    one("height", Number, "I'm 1.80 m tall"),
    one("weight", Number, "I weigh 70 kg"),
    one(
        "lives_in",
        Entity(Place),
        "live in, moved to, relocated to; somebody is based in. A company is no place",
    ),
    one("located_in", Entity(Place), "is headquartered in, the office is in; Acme is based in"),
    one(
        "works_at",
        Entity(Organization),
        "work at, joined, employed by, moved to a company that is known as one; left and quit end it",
    ),
    one("role", Text, "I'm a nurse, works as, is the CTO of, promoted to"),
    one("reports_to", Entity(Person), "my manager is, reports to"),
    many("manages", Entity(Organization), "manage, lead, head a team"),
    many("member_of", Entity(Organization), "on the platform team, a member of"),
    many("studied_at", Entity(Organization), "studied at, graduated from"),
    one("studies", Text, "I'm studying biology"),
    many("founded", Entity(Organization), "founded, started a company called"),
    one("spouse", Entity(Person), "wife, husband, married to; divorced ends it"),
    one("partner", Entity(Person), "girlfriend, boyfriend, fiancée, dating; broke up with ends it"),
    many("child", Entity(Person), "son, daughter"),
    many("parent", Entity(Person), "mother, father"),
    many("sibling", Entity(Person), "brother, sister, twin"),
    many("relative", Entity(Person), "aunt, cousin, grandmother, brother-in-law"),
    many("friend", Entity(Person), "my friend, a friend of mine"),
    many("colleague", Entity(Person), "my coworker, a colleague"),
    many("neighbor", Entity(Person), "our neighbour"),
    many("owns", Text, "I have a sewing machine, own, bought, my car is a Volvo; sold ends it"),
    one("drives", Entity(Product), "I drive a Volvo"),
    many(
        "pet",
        Entity(Animal),
        "my dog Rex, we have a cat called Milo; \"my dog Rex died\" ends it",
    ),
    many("is_a", Text, "Rex is a beagle, Atlas is a database"),
    many("allergic_to", Text, "allergic to, an allergy to"),
    many("condition", Text, "have asthma, diagnosed with, suffer from"),
    many("medication", Text, "I take metformin, on lisinopril"),
    one("diet", Text, "I'm vegan, went keto, keep kosher"),
    many("likes", Text, "love, like, enjoy, a fan of"),
    many("dislikes", Text, "hate, can't stand, don't like"),
    one("favorite:", Text, "my favourite colour is green"),
    many("prefers", Text, "I prefer tea over coffee, I'd rather have"),
    many("fears", Text, "afraid of, scared of"),
    many("habit", Text, "I run every morning, I usually swim on Mondays"),
    many("skill", Text, "I can juggle, good at chess, fluent in Rust"),
    many("speaks", Text, "I speak Spanish"),
    many("plays", Text, "plays the violin, plays tennis"),
    many("plans", Text, "I'm going to visit Rome, planning to, we will migrate"),
    many("goal", Text, "my goal is to run a marathon, I want to learn Welsh"),
    many("visited", Entity(Place), "I went to Rome, visited"),
    many("read", Text, "I just finished reading Dune"),
    many("watched", Text, "we watched Past Lives"),
    one("deadline", Date, "the report is due on Friday, deadline for Atlas is 3 June"),
    one("scheduled_for", Date, "the launch is on 3 June, dentist appointment tomorrow"),
    many("decided", Text, "we decided to use Postgres"),
    one("status", Text, "Atlas is blocked, the Acme deal closed, on hold"),
    one("owner", Entity(Person), "Bob owns the roadmap, Carol is responsible for onboarding"),
    many("uses", Entity(Product), "we use Kubernetes, switched to Postgres"),
    one("runs_on", Entity(Product), "runs on heron-1, is hosted at Cloudmere"),
    one("version", Text, "Atlas is on v2.3, running Node 20.1"),
    one("count:", Number, "Acme has 200 seats"),
    one("price", Money, "costs $40 per seat"),
    one("budget", Money, "a budget of 20k EUR"),
    one("revenue", Money, "Initech's revenue was 12 million euros"),
    many("instruction", Text, "always answer in French, from now on call me Al"),
];

/// The relation that a predicate belongs to.
pub fn relation(predicate: &str) -> Option<&'static Relation> {
    RELATIONS.iter().find(|relation| match relation.predicate.strip_suffix(':') {
        Some(family) => {
            predicate.split_once(':').is_some_and(|(head, rest)| head == family && !rest.is_empty())
        }
        None => relation.predicate == predicate,
    })
}

/// How many values a predicate has at a time, if it is a known one.
pub fn cardinality(predicate: &str) -> Option<Cardinality> {
    relation(predicate).map(|relation| relation.cardinality)
}

/// Words of relations that have many values at a time, whatever they relate.
const MANY: &[&str] = &[
    "affiliated",
    "alias",
    "alternative",
    "also",
    "another",
    "attend",
    "attended",
    "block",
    "blocked",
    "cause",
    "caused",
    "child",
    "children",
    "colleague",
    "compatible",
    "complement",
    "connected",
    "contain",
    "contradict",
    "depend",
    "derived",
    "equivalent",
    "follow",
    "friend",
    "instance",
    "interested",
    "involve",
    "involved",
    "item",
    "kind",
    "know",
    "label",
    "like",
    "linked",
    "member",
    "mention",
    "mentioned",
    "met",
    "near",
    "need",
    "other",
    "own",
    "part",
    "participated",
    "peer",
    "people",
    "play",
    "prefer",
    "reference",
    "referenced",
    "related",
    "require",
    "required",
    "sibling",
    "similar",
    "skill",
    "staff",
    "support",
    "tag",
    "tagged",
    "topic",
    "use",
    "used",
    "visited",
    "with",
];
/// Verbs in the third person that have one object at a time.
const SINGLE_VERBS: &[&str] = &[
    "belongs", "costs", "ends", "equals", "expires", "has", "is", "lives", "ranks", "reports",
    "resides", "runs", "sits", "stands", "starts", "was", "weighs",
];
/// Nouns that look like plurals.
const SINGULAR: &[&str] = &["basis", "gas", "lens", "news", "series", "species", "canvas", "bias"];

/// How many values at a time a relation has that is in no table, by its words: one, unless they are a plural, a
/// verb of which one may do several things, or a word for one among others.
pub fn invented_cardinality(predicate: &str) -> Cardinality {
    let words: Vec<&str> = predicate.split(['_', '.', ':', '-']).collect();
    let is_plural = |word: &str| {
        word.len() > 3
            && word.ends_with('s')
            && !["ss", "us", "is"].iter().any(|tail| word.ends_with(tail))
            && !SINGULAR.contains(&word)
    };
    let does = words.first().is_some_and(|word| is_plural(word) && !SINGLE_VERBS.contains(word));
    let counted = words.last().is_some_and(|word| matches!(*word, "count" | "total" | "id"));
    let several = words.last().is_some_and(|word| is_plural(word) && !SINGLE_VERBS.contains(word));
    let many = words.iter().any(|word| MANY.contains(word));
    match (does || several || many) && !counted {
        true => Cardinality::Many,
        false => Cardinality::One,
    }
}

/// Predicates that name what somebody has, rather than say what somebody does. Sorted.
const NOUNS: &[&str] = &[
    "account",
    "address",
    "age",
    "alias",
    "birthday",
    "budget",
    "child",
    "colleague",
    "condition",
    "deadline",
    "diet",
    "email",
    "friend",
    "goal",
    "habit",
    "height",
    "instruction",
    "language",
    "medication",
    "name",
    "nationality",
    "neighbor",
    "owner",
    "parent",
    "partner",
    "pet",
    "phone",
    "price",
    "pronouns",
    "relative",
    "religion",
    "revenue",
    "role",
    "sibling",
    "skill",
    "spouse",
    "status",
    "timezone",
    "version",
    "website",
    "weight",
];
/// Predicates that want a verb before them.
const STATES: &[(&str, &str)] = &[
    ("allergic_to", "is"),
    ("born_in", "was"),
    ("born_on", "was"),
    ("from", "is"),
    ("located_in", "is"),
    ("member_of", "is a"),
    ("scheduled_for", "is"),
];

/// A claim as a sentence: the words that a person would read, without a full stop. Predicates that are not known are
/// taken for verbs.
pub fn sentence(subject: &str, predicate: &str, object: &str) -> String {
    let words = predicate.replace('_', " ");
    if let Some((family, of)) = words.split_once(':').filter(|(_, of)| !of.is_empty()) {
        return match family {
            "count" => format!("{subject} has {object} {of}"),
            _ => format!("{subject}'s {family} {of} is {object}"),
        };
    }
    if NOUNS.binary_search(&predicate).is_ok() {
        return format!("{subject}'s {words} is {object}");
    }
    match STATES.iter().find(|(known, _)| *known == predicate) {
        Some((_, verb)) => format!("{subject} {verb} {words} {object}"),
        None => format!("{subject} {words} {object}"),
    }
}

#[cfg(test)]
mod tests;
