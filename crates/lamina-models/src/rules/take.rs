//! Taking values out of a clause: names, noun phrases, activities, numbers, dates. Each value keeps
//! the tokens it stands on and the rule by which they became it.

mod names;
mod phrases;
mod activity;
mod kinds;
mod measures;

use lamina_types::layer::extraction::{Normaliser, Object, Term};

use super::lexicon::Class;
use super::phrase::{Referent, is_name_token};
use super::scene::Scene;
use super::token::Kind;
use crate::relation::{ObjectKind, relation};

pub(crate) use activity::{activity, base_form};
pub(crate) use kinds::is_role;
pub(crate) use measures::local_date;
pub(crate) use phrases::trim;

/// Items that one list may have.
const ITEMS_MAX: usize = 12;

macro_rules! takes {
    ($($variant:ident = $name:literal,)*) => {
        /// What kind of value is taken.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Take { $($variant,)* }

        impl Take {
            /// The kind as the tables name it.
            pub(crate) fn named(name: &str) -> Option<Take> {
                match name { $($name => Some(Take::$variant),)* _ => None }
            }
        }
    };
}

takes! {
    Person = "person",
    Place = "place",
    Org = "org",
    Firm = "firm",
    Name = "name",
    Tool = "tool",
    Title = "title",
    Noun = "noun",
    The = "the",
    Owned = "owned",
    Had = "had",
    Activity = "activity",
    Gerund = "gerund",
    Liked = "liked",
    Preferred = "preferred",
    Role = "role",
    Kind = "kind",
    Team = "team",
    School = "school",
    Pet = "pet",
    Count = "count",
    Age = "age",
    Height = "height",
    Quantity = "quantity",
    Money = "money",
    Date = "date",
    Due = "due",
    Birthday = "birthday",
    Version = "version",
    Release = "release",
    Email = "email",
    Phone = "phone",
    Url = "url",
    Word = "word",
    Rest = "rest",
    Language = "language",
    Nationality = "nationality",
    Religion = "religion",
    Diet = "diet",
    Condition = "condition",
    Medicine = "medicine",
    Playable = "playable",
    Status = "status",
    Skill = "skill",
    Occasion = "occasion",
    Employer = "employer",
    Sold = "sold",
    Bought = "bought",
    Visited = "visited",
    Stay = "stay",
    Goal = "goal",
    Known = "known",
    Allergen = "allergen",
    Software = "software",
    Numeral = "numeral",
    Host = "host",
    Nothing = "nothing",
}

impl Take {
    /// Whether it takes a time, which others skip.
    pub(crate) fn is_time(self) -> bool {
        matches!(self, Take::Date | Take::Due | Take::Birthday)
    }
}

/// A value in the text.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) value: Value,
    /// Its tokens.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) normaliser: Normaliser,
    /// What goes into the predicate: `seats` of `count:seats`.
    pub(crate) family: Option<String>,
    /// Whom it refers to, if it is one.
    pub(crate) referent: Option<Box<Referent>>,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Term(Term),
    Number { value: String, unit: Option<String> },
    Money { amount: String, currency: String },
    Date(String),
}

impl Item {
    pub(crate) fn text(scene: &Scene<'_>, start: usize, end: usize) -> Item {
        let text = fold_space(scene.tokens.slice(start, end));
        Item::of(Value::Text(text), start, end, Normaliser::Identity)
    }

    pub(crate) fn of(value: Value, start: usize, end: usize, normaliser: Normaliser) -> Item {
        Item { value, start, end, normaliser, family: None, referent: None }
    }

    /// The object of a predicate that this value is.
    pub(crate) fn object(&self, predicate: &str) -> Object {
        let kind = relation(predicate).map(|relation| relation.object);
        match (&self.value, kind) {
            (Value::Text(text), Some(ObjectKind::Entity(kind))) => {
                Object::Entity(Term::Named { name: text.clone(), kind })
            }
            (Value::Text(text), _) => Object::Text(text.clone()),
            (Value::Term(term), Some(ObjectKind::Entity(kind))) => {
                Object::Entity(with_kind(term.clone(), kind))
            }
            (Value::Term(Term::Named { name, .. }), _) => Object::Text(name.clone()),
            (Value::Term(term), _) => Object::Entity(term.clone()),
            (Value::Number { value, unit }, _) => {
                Object::Number { value: value.clone(), unit: unit.clone() }
            }
            (Value::Money { amount, currency }, _) => {
                Object::Money { amount: amount.clone(), currency: currency.clone() }
            }
            (Value::Date(date), _) => Object::Date(date.clone()),
        }
    }

    /// The subject that this value is.
    pub(crate) fn term(&self) -> Option<Term> {
        match &self.value {
            Value::Term(term) => Some(term.clone()),
            Value::Text(name) => Some(Term::Named {
                name: name.clone(),
                kind: lamina_types::layer::extraction::EntityKind::Thing,
            }),
            _ => None,
        }
    }
}

fn with_kind(term: Term, kind: lamina_types::layer::extraction::EntityKind) -> Term {
    match term {
        Term::Named { name, .. } => Term::Named { name, kind },
        other => other,
    }
}

/// White space folded to single spaces.
pub(crate) fn fold_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Takes values of a kind at `at`: them and the token after.
pub(crate) fn take(kind: Take, scene: &Scene<'_>, at: usize) -> Option<(Vec<Item>, usize)> {
    if kind == Take::Nothing {
        // "we have nothing": the row ends here.
        let next = scene.skip(at);
        let ends = next >= scene.end() || scene.tokens.at(next).kind == Kind::Punct;
        return ends.then_some((Vec::new(), next));
    }
    if at >= scene.end() {
        return None;
    }
    match kind {
        Take::Person
        | Take::Org
        | Take::Name
        | Take::Tool
        | Take::Software
        | Take::Noun
        | Take::Liked
        | Take::Owned
        | Take::Had
        | Take::Condition
        | Take::Medicine
        | Take::Playable
        | Take::Language
        | Take::Count
        | Take::Release
        | Take::Skill
        | Take::Team
        | Take::Visited
        | Take::The => list(kind, scene, at),
        _ => single(kind, scene, at).map(|(item, next)| (vec![item], next)),
    }
}

/// A list: items joined by "and", or by commas if an "and" follows.
fn list(kind: Take, scene: &Scene<'_>, at: usize) -> Option<(Vec<Item>, usize)> {
    let tokens = scene.tokens;
    let (first, mut next) = single(kind, scene, at)?;
    let mut items = vec![first];
    let mut pending = Vec::new();
    next = after_purpose(kind, scene, next);
    while items.len() + pending.len() < ITEMS_MAX && next < scene.end() {
        let comma = tokens.at(next).punct(',');
        let last = tokens.at(next).word(&["and", "or", "&", "plus", "nor"])
            || comma && tokens.at(next + 1).word(&["and", "or", "&", "especially", "particularly"]);
        let well = tokens.words_at(next, &["as", "well", "as"]);
        if !comma && !last && !well {
            break;
        }
        let from = next + 1 + usize::from(comma && last) + 2 * usize::from(well);
        let from = if tokens.at(from).word(&["also", "especially", "particularly", "even", "maybe"])
        {
            from + 1
        } else {
            from
        };
        let denied = tokens.at(from).fold == "not";
        if denied || from >= scene.end() {
            break;
        }
        let Some((item, end)) = single(kind, scene, from) else { break };
        // "Nadia is responsible for hiring and Viktor for onboarding": the verb is left out.
        if kind == Take::The && tokens.at(end).fold == "for" && tokens.at(item.start).capital {
            break;
        }
        pending.push(item);
        next = after_purpose(kind, scene, end);
        if last || well {
            items.append(&mut pending);
        }
    }
    Some((items, next))
}

/// "Terraform for infra and Grafana for dashboards": the list of tools goes on behind what one is for.
fn after_purpose(kind: Take, scene: &Scene<'_>, at: usize) -> usize {
    let tokens = scene.tokens;
    if kind != Take::Tool || tokens.at(at).fold != "for" {
        return at;
    }
    let joint = (at + 2..scene.end().min(at + 6))
        .find(|at| tokens.at(*at).punct(',') || tokens.at(*at).fold == "and");
    let goes_on = |joint: &usize| {
        let next = joint + 1 + usize::from(tokens.at(joint + 1).fold == "and");
        is_name_token(tokens, next) || tokens.at(next).is(Class::TOOL)
    };
    joint.filter(goes_on).unwrap_or(at)
}

fn single(kind: Take, scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    match kind {
        Take::Person => names::person(scene, at),
        Take::Place => names::place(scene, at),
        Take::Org => names::organization(scene, at),
        Take::Name => names::name(scene, at),
        Take::Tool => names::tool(scene, at),
        Take::Software => names::software(scene, at),
        Take::Title => names::title(scene, at),
        Take::Noun => phrases::noun(scene, at),
        Take::The => phrases::the(scene, at),
        Take::Owned => phrases::owned(scene, at),
        Take::Had => phrases::had(scene, at),
        Take::Activity => activity::activity(scene, at),
        Take::Gerund => activity::gerund(scene, at),
        Take::Liked => phrases::liked(scene, at),
        Take::Preferred => activity::preferred(scene, at),
        Take::Skill => phrases::skill(scene, at),
        Take::Rest => activity::rest(scene, at),
        Take::Occasion => phrases::occasion(scene, at),
        Take::Employer => names::employer(scene, at),
        Take::Firm => names::firm(scene, at),
        Take::Sold => phrases::sold(scene, at),
        Take::Bought => phrases::bought(scene, at),
        Take::Visited => names::visited(scene, at),
        Take::Stay => activity::stay(scene, at),
        Take::Goal => activity::goal(scene, at),
        Take::Known => names::known_place(scene, at),
        Take::Allergen => kinds::allergen(scene, at),
        Take::Role => kinds::role(scene, at),
        Take::Kind => kinds::kind(scene, at),
        Take::Team => kinds::team(scene, at),
        Take::School => kinds::school(scene, at),
        Take::Pet => kinds::pet(scene, at),
        Take::Count => measures::count(scene, at),
        Take::Age => measures::age(scene, at),
        Take::Height => measures::height(scene, at),
        Take::Quantity => measures::quantity(scene, at),
        Take::Money => measures::money(scene, at),
        Take::Date | Take::Due => measures::date(scene, at),
        Take::Birthday => measures::birthday(scene, at),
        Take::Version => measures::version(scene, at),
        Take::Release => measures::release(scene, at),
        Take::Email => measures::of_kind(scene, at, Kind::Email),
        Take::Url => measures::of_kind(scene, at, Kind::Url),
        Take::Phone => measures::phone(scene, at),
        Take::Word => kinds::word(scene, at),
        Take::Language => kinds::classed(scene, at, Class::LANGUAGE),
        Take::Nationality => kinds::alone(scene, at, Class::NATIONALITY),
        Take::Religion => kinds::alone(scene, at, Class::RELIGION),
        Take::Diet => kinds::diet(scene, at),
        Take::Condition => kinds::condition(scene, at),
        Take::Medicine => kinds::medicine(scene, at),
        Take::Playable => kinds::classed(scene, at, Class::PLAYABLE),
        Take::Status => kinds::status(scene, at),
        Take::Numeral => measures::numeral(scene, at),
        Take::Host => names::host(scene, at),
        Take::Nothing => None,
    }
}
