//! Who is who: a table of mentions against what is known, and the laws of the registry.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use lamina_types::layer::extraction::EntityKind;
use lamina_types::{EntityId, Micros, RecordedAt};
use proptest::prelude::*;

use super::*;
use crate::derive::facts::{AssertionId, ValueKey};

fn kind(letter: &str) -> EntityKind {
    match letter {
        "person" => EntityKind::Person,
        "org" => EntityKind::Organization,
        "place" => EntityKind::Place,
        "product" => EntityKind::Product,
        "id" => EntityKind::Identifier,
        "thing" => EntityKind::Thing,
        other => panic!("{other}"),
    }
}

fn entity(n: u8) -> EntityId {
    EntityId::from_bytes([n; 16])
}

fn check_key(kind_word: &str, name: &str, expected: Expect) {
    let key = NameKey::new(name, kind(kind_word));
    expected.assert_eq(&key.map_or("nothing".to_owned(), |key| key.to_string()));
}

#[test]
fn names_are_folded_by_kind() {
    check_key("org", "The Acme Corporation", expect!["acme"]);
    check_key("org", "ACME, Inc.", expect!["acme"]);
    check_key("org", "Müller GmbH & Co. KG", expect!["muller"]);
    check_key("org", "Siemens AG", expect!["siemens"]);
    check_key("thing", "Siemens AG", expect!["siemens ag"]);
    check_key("thing", "Acme Ltd", expect!["acme"]);
    check_key("org", "Limited", expect!["limited"]);
    check_key("org", "The The", expect!["the"]);
    check_key("person", "Dr. Jane O'Neil", expect!["jane oneil"]);
    check_key("person", "Bob's", expect!["bob"]);
    check_key("person", "JOSÉ  da-Silva", expect!["jose da silva"]);
    check_key("person", "An", expect!["an"]);
    check_key("place", "Los Angeles", expect!["los angeles"]);
    check_key("id", "Jane.Doe+x@Example.com", expect!["jane.doe+x@example.com"]);
    check_key("id", "@BobM", expect!["bobm"]);
    check_key("id", "  ", expect!["nothing"]);
    check_key("person", "…", expect!["nothing"]);
}

#[test]
fn relations_are_folded() {
    let key = |text| RelationKey::new(text).map(|key| key.as_str().to_owned());
    assert_eq!(key("Wife"), key("husband"));
    assert_eq!(key("mum"), key("mother"));
    assert_ne!(key("mother"), key("father"));
    assert_ne!(key("brother"), key("sister"));
    assert_eq!(key("best  Friend").unwrap(), "best friend");
    assert_eq!(key(" - "), None);
}

/// Each line is a known entity: number, nearness, kind, names separated by `/`.
fn known(text: &str) -> Vec<Known> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let mut words = line.splitn(4, ' ');
            let id = entity(words.next().unwrap().parse().unwrap());
            let nearness = match words.next().unwrap() {
                "session" => Nearness::Session,
                "scope" => Nearness::Scope,
                "tenant" => Nearness::Tenant,
                other => panic!("{other}"),
            };
            let kind = kind(words.next().unwrap());
            let names = words.next().unwrap_or_default().split('/');
            let names = names.filter_map(|name| NameKey::new(name, kind)).collect();
            Known { id, kind, names, nearness }
        })
        .collect()
}

fn show(resolution: &Resolution) -> String {
    let number = |id: &EntityId| id.as_bytes()[0].to_string();
    match resolution {
        Resolution::Existing { id, confidence, how } => {
            format!("{} {how:?} {}", number(id), confidence.get())
        }
        Resolution::New { ambiguous } if ambiguous.is_empty() => "new".to_owned(),
        Resolution::New { ambiguous } => {
            format!("new, not {}", ambiguous.iter().map(number).collect::<Vec<_>>().join(" or "))
        }
    }
}

fn check(mention: &str, candidates: &str, expected: Expect) {
    let (kind_word, name) = mention.split_once(' ').unwrap();
    let kind = kind(kind_word);
    let mentioned = Mentioned { name: NameKey::new(name, kind).unwrap(), kind };
    expected.assert_eq(&show(&resolve(&mentioned, &known(candidates))));
}

#[test]
fn the_same_name_is_the_same_thing() {
    check("org Acme", "1 tenant org Acme Corp.", expect!["1 Name 10000"]);
    check("thing Acme", "1 scope org Acme Corp.", expect!["1 Name 9500"]);
    check("place Acme", "1 scope org Acme", expect!["new"]);
    check("product Acme", "1 scope org Acme", expect!["1 Name 9500"]);
    check("org Acme", "1 tenant org ACME\n2 scope org Acme Inc", expect!["2 Name 10000"]);
    check("org Acme", "1 scope org ACME\n2 scope org Acme Inc", expect!["new, not 1 or 2"]);
    check("person Al", "1 scope person Alexander Hill/Al", expect!["1 Name 10000"]);
    check("id a.b@c.de", "1 tenant id A.B@c.de\n2 tenant id ab@c.de", expect!["1 Name 10000"]);
}

#[test]
fn a_first_name_alone_is_no_evidence() {
    check("person Bob", "1 tenant person Bob", expect!["new"]);
    check("person Bob", "1 scope person Bob", expect!["1 Name 10000"]);
    check("person Bob", "1 tenant person Bob Smith", expect!["new"]);
    check("person Bob", "1 scope person Bob Smith", expect!["1 PartOfName 8000"]);
    check(
        "person Bob",
        "1 scope person Bob Smith\n2 scope person Bob Jones",
        expect!["new, not 1 or 2"],
    );
    check(
        "person Bob",
        "1 session person Bob Smith\n2 scope person Bob Jones",
        expect!["1 PartOfName 7500"],
    );
    check("person Bob", "1 scope person Bob Smith\n2 scope person Bob", expect!["2 Name 10000"]);
    check("thing Bob", "1 scope person Bob Smith", expect!["1 PartOfName 7000"]);
    check("person Bob", "1 scope thing Bob Smith", expect!["1 PartOfName 7000"]);
    check("thing Bob", "1 scope thing Bob Smith", expect!["new"]);
    check("thing Smith", "1 scope person Bob Smith", expect!["1 PartOfName 6000"]);
    check("person Bob Smith", "1 scope person Bob Jones", expect!["new"]);
    check("person Bob Smith", "1 tenant person Bob Smith", expect!["1 Name 9000"]);
}

#[test]
fn affair_of_a_known_company_is_about_it_and_of_a_person_is_not() {
    check("thing the Acme deal", "1 scope org Acme Corp", expect!["1 Affair 7000"]);
    check("thing Acme renewal", "1 tenant thing Acme", expect!["1 Affair 7000"]);
    check("thing Grace account", "1 scope person Grace", expect!["1 PartOfName 6500"]);
    check("thing Acme roadmap", "1 scope org Acme", expect!["new"]);
    check("thing deal", "1 scope org Acme", expect!["new"]);
}

#[test]
fn a_full_name_can_complete_a_part() {
    check("person Bob Smith", "1 scope person Bob", expect!["1 PartOfName 7500"]);
    check("person Bob Smith", "1 tenant person Bob", expect!["new"]);
    check("person Bob Smith", "1 scope person Bob/Bob Jones", expect!["new"]);
    check(
        "person Bob Smith",
        "1 scope person Bob\n2 session person Smith",
        expect!["new, not 1 or 2"],
    );
    check("person Smith", "1 scope person Bob Smith", expect!["1 PartOfName 7000"]);
    check("person B. Smith", "1 scope person Bob Smith", expect!["1 PartOfName 7000"]);
    check("person Bob Smith", "1 scope person B. Smith", expect!["1 PartOfName 7000"]);
    check(
        "person B. Smith",
        "1 scope person Bob Smith\n2 scope person Bea Smith",
        expect!["new, not 1 or 2"],
    );
    check("org Bob", "1 scope org Bob Smith", expect!["new"]);
}

#[test]
fn near_spellings_are_guesses() {
    check("product Kubernets", "1 tenant product Kubernetes", expect!["1 NearSpelling 7500"]);
    check("product Kubrntes", "1 tenant product Kubernetes", expect!["new"]);
    check("thing Kubernets", "1 tenant product Kubernetes", expect!["1 NearSpelling 7000"]);
    check("thing Kubernts", "1 tenant product Kubernetes", expect!["new"]);
    check("thing Kubernets", "1 scope thing Kubernetes", expect!["new"]);
    check("thing Marion", "1 scope person Marian", expect!["new"]);
    check("product Postgress", "1 tenant product Postgres", expect!["1 NearSpelling 7500"]);
    check("person Micheal Brown", "1 scope person Michael Brown", expect!["1 NearSpelling 7500"]);
    check("thing Micheal Brown", "1 scope person Michael Brown", expect!["1 NearSpelling 7000"]);
    check("thing Micheal Brown", "1 scope thing Michael Brown", expect!["1 NearSpelling 7500"]);
    check("place Iraq", "1 scope place Iran", expect!["new"]);
    check("product Boeing 747", "1 scope product Boeing 737", expect!["new"]);
    check("person Marion", "1 scope person Marian", expect!["new"]);
    check("person Jonathon Smith", "1 scope person Jonathan Smith", expect!["1 NearSpelling 7500"]);
    check("person Jonathon Smith", "1 tenant person Jonathan Smith", expect!["new"]);
    check(
        "org Microsft",
        "1 scope org Microsoft\n2 scope org Microsaft",
        expect!["new, not 1 or 2"],
    );
    check("id a.bcdef@x.de", "1 scope id a.bcdeg@x.de", expect!["new"]);
}

#[test]
fn a_possession_is_what_is_held() {
    assert_eq!(show(&resolve_possession(&[])), "new");
    assert_eq!(show(&resolve_possession(&[entity(3)])), "3 Possession 10000");
    assert_eq!(show(&resolve_possession(&[entity(3), entity(3)])), "3 Possession 10000");
    assert_eq!(show(&resolve_possession(&[entity(3), entity(2)])), "new, not 2 or 3");
}

fn at(n: u64) -> RecordedAt {
    RecordedAt(Micros(i64::try_from(n).unwrap()))
}

fn hash(n: u8) -> ValueKey {
    ValueKey([n; 16])
}

fn source(n: u64) -> AssertionId {
    AssertionId { offset: n, ordinal: 0 }
}

fn apply(registry: &mut Registry, n: u64, what: What) {
    registry.apply(&Operation { source: source(n), recorded: at(n), what });
}

const WIFE: ValueKey = ValueKey([200; 16]);

#[test]
fn a_wife_gets_a_name_and_loses_it_again() {
    let (alice, wife, sara) = (entity(1), entity(2), entity(3));
    let mut registry = Registry::default();
    apply(&mut registry, 1, What::State(Statement::Name { entity: alice, name: hash(1) }));
    let link = Statement::Link { owner: alice, relation: WIFE, entity: wife };
    apply(&mut registry, 2, What::State(link));
    apply(&mut registry, 3, What::State(Statement::Name { entity: sara, name: hash(3) }));
    for what in identify(&registry, alice, WIFE, sara, at(4)) {
        apply(&mut registry, 4, what);
    }
    assert_eq!(registry.canonical(wife, at(4)), sara);
    assert_eq!(registry.held(alice, WIFE, at(4)), [sara].into());
    assert_eq!(registry.canonical(wife, at(3)), wife, "nobody knew before");
    assert!(identify(&registry, alice, WIFE, sara, at(5)).is_empty(), "it is known already");
    apply(&mut registry, 6, What::Undo(source(4)));
    assert_eq!(registry.canonical(wife, at(6)), wife);
    assert_eq!(registry.held(alice, WIFE, at(6)), [wife].into());
    assert_eq!(registry.canonical(wife, at(5)), sara, "it was believed then");
    assert_eq!(registry.names(sara, at(6)), [hash(3)].into());
}

#[test]
fn a_second_wife_with_a_name_is_somebody_else() {
    let (alice, sara, mona) = (entity(1), entity(3), entity(4));
    let mut registry = Registry::default();
    apply(&mut registry, 1, What::State(Statement::Name { entity: sara, name: hash(3) }));
    let link = Statement::Link { owner: alice, relation: WIFE, entity: sara };
    apply(&mut registry, 2, What::State(link));
    let ways = identify(&registry, alice, WIFE, mona, at(3));
    assert_eq!(ways, [What::State(Statement::Link { owner: alice, relation: WIFE, entity: mona })]);
}

#[test]
fn a_name_can_be_given_to_another() {
    let mut registry = Registry::default();
    apply(&mut registry, 1, What::State(Statement::Name { entity: entity(1), name: hash(1) }));
    apply(&mut registry, 2, What::State(Statement::Name { entity: entity(1), name: hash(2) }));
    let separate = What::Separate { name: hash(2), from: entity(1), to: entity(2) };
    apply(&mut registry, 3, separate);
    assert_eq!(registry.named(hash(2), at(3)), [entity(2)].into());
    assert_eq!(registry.named(hash(2), at(2)), [entity(1)].into());
    apply(&mut registry, 4, What::Undo(source(3)));
    assert_eq!(registry.named(hash(2), at(4)), [entity(1)].into());
    let missing = What::Separate { name: hash(9), from: entity(1), to: entity(2) };
    apply(&mut registry, 5, missing);
    assert!(registry.named(hash(9), at(5)).is_empty(), "a name that nobody has goes to nobody");
}

fn statements() -> impl Strategy<Value = Statement> {
    let id = || (1..6u8).prop_map(entity);
    let key = || (1..4u8).prop_map(hash);
    prop_oneof![
        (id(), key()).prop_map(|(entity, name)| Statement::Name { entity, name }),
        (id(), key(), id()).prop_map(|(owner, relation, entity)| Statement::Link {
            owner,
            relation,
            entity
        }),
        (id(), id()).prop_map(|(from, into)| Statement::Merge { from, into }),
    ]
}

fn operations() -> impl Strategy<Value = Vec<What>> {
    let what = prop_oneof![
        5 => statements().prop_map(What::State),
        1 => ((1..4u8).prop_map(hash), (1..6u8).prop_map(entity), (1..6u8).prop_map(entity))
            .prop_map(|(name, from, to)| What::Separate { name, from, to }),
        2 => (1..20u64).prop_map(|n| What::Undo(source(n))),
    ];
    prop::collection::vec(what, 0..20)
}

/// Every answer at an instant.
fn answers(registry: &Registry, when: RecordedAt) -> Vec<String> {
    let mut answers = Vec::new();
    for id in (1..6).map(entity) {
        answers.push(format!("{:?} {:?}", registry.canonical(id, when), registry.names(id, when)));
        for key in (1..4).map(hash) {
            answers.push(format!("{:?}", registry.held(id, key, when)));
        }
    }
    answers
}

fn mentions() -> impl Strategy<Value = (String, EntityKind)> {
    let name = prop::sample::select(vec![
        "Bob",
        "Bob Smith",
        "B. Smith",
        "Bob Jones",
        "Smith",
        "Acme",
        "Acme Inc",
        "Kubernetes",
        "Kubernets",
        "Jonathan Smith",
        "Jonathon Smith",
    ]);
    let kind = prop::sample::select(vec![
        EntityKind::Person,
        EntityKind::Organization,
        EntityKind::Product,
        EntityKind::Thing,
    ]);
    (name.prop_map(str::to_owned), kind)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_order_of_candidates_does_not_matter(
        (name, kind) in mentions(),
        candidates in prop::collection::vec((mentions(), 0..3u8), 0..6),
        turn in 0..6usize,
    ) {
        let mut known: Vec<Known> = candidates
            .into_iter()
            .enumerate()
            .map(|(index, ((name, kind), near))| Known {
                id: entity(u8::try_from(index).unwrap()),
                kind,
                names: NameKey::new(&name, kind).into_iter().collect(),
                nearness: [Nearness::Tenant, Nearness::Scope, Nearness::Session][usize::from(near)],
            })
            .collect();
        let mentioned = Mentioned { name: NameKey::new(&name, kind).unwrap(), kind };
        let before = resolve(&mentioned, &known);
        known.reverse();
        prop_assert_eq!(&resolve(&mentioned, &known), &before);
        let length = known.len().max(1);
        known.rotate_left(turn % length);
        prop_assert_eq!(resolve(&mentioned, &known), before);
    }

    /// Whatever was done before: what is undone at once was never done, and the past does not change.
    #[test]
    fn merge_then_split_is_identity(history in operations(), statement in statements()) {
        let mut registry = Registry::default();
        for (index, what) in history.iter().enumerate() {
            apply(&mut registry, u64::try_from(index).unwrap() + 1, *what);
        }
        let before = answers(&registry, at(50));
        apply(&mut registry, 100, What::State(statement));
        apply(&mut registry, 101, What::Undo(source(100)));
        prop_assert_eq!(answers(&registry, at(101)), before.clone());
        prop_assert_eq!(answers(&registry, at(50)), before);
    }

    /// The past is not changed by anything that comes later, and forwarding ends.
    #[test]
    fn history_stands(history in operations()) {
        let mut registry = Registry::default();
        let mut seen = Vec::new();
        for (index, what) in history.iter().enumerate() {
            let n = u64::try_from(index).unwrap() + 1;
            apply(&mut registry, n, *what);
            seen.push((n, answers(&registry, at(n))));
            for id in (1..6).map(entity) {
                let end = registry.canonical(id, at(n));
                prop_assert_eq!(registry.canonical(end, at(n)), end);
            }
        }
        for (n, answer) in seen {
            prop_assert_eq!(answers(&registry, at(n)), answer);
        }
    }
}

#[test]
fn words_tell_what_bears_a_name() {
    assert_eq!(kind_of_name("Dr. Jane O'Neil"), Some(EntityKind::Person));
    assert_eq!(kind_of_name("Acme Corp."), Some(EntityKind::Organization));
    assert_eq!(kind_of_name("bob@acme.com"), Some(EntityKind::Identifier));
    assert_eq!(kind_of_name("https://acme.com"), Some(EntityKind::Identifier));
    for name in ["Acme", "Corp", "the limited", "mr", "Bob @ Acme", "@bob", "a@b", "", "miss it"] {
        assert_eq!(kind_of_name(name), None, "{name}");
    }
    assert_eq!(kind_of_subject("works_at"), Some(EntityKind::Person));
    assert_eq!(kind_of_subject("status"), None);
    assert_eq!(names_by("alias", EntityKind::Person), Some((EntityKind::Person, 9_500)));
    assert_eq!(names_by("email", EntityKind::Thing), Some((EntityKind::Identifier, 10_000)));
    assert_eq!(names_by("likes", EntityKind::Person), None);
}

/// Those who are called by one name: made and found as the fold does it, in one scope or everywhere.
#[derive(Debug, Default)]
struct Called {
    bearers: Vec<(EntityId, EntityKind, Option<u8>)>,
}

impl Called {
    /// Somebody says the name of this kind of thing, in a scope.
    fn say(&mut self, kind: EntityKind, scope: u8, is_full: bool) -> EntityId {
        let seen: Vec<(usize, Bearer)> = self
            .bearers
            .iter()
            .enumerate()
            .filter(|(_, (_, _, at))| at.is_none_or(|at| at == scope))
            .map(|(index, (id, kind, at))| {
                (index, Bearer { id: *id, kind: *kind, here: at.is_some() })
            })
            .collect();
        let bearers: Vec<Bearer> = seen.iter().map(|(_, bearer)| *bearer).collect();
        let personal = matches!(kind, EntityKind::Person | EntityKind::Animal | EntityKind::Thing);
        let own = (personal && !is_full).then_some(scope);
        match meant(kind, &bearers) {
            Some(at) => {
                let known = &mut self.bearers[seen[at].0];
                if known.1 == EntityKind::Thing {
                    known.1 = kind;
                }
                if own.is_none() {
                    known.2 = None;
                }
                known.0
            }
            None => {
                let id = entity(u8::try_from(self.bearers.len()).unwrap() + 1);
                self.bearers.insert(0, (id, kind, own));
                id
            }
        }
    }
}

fn kinds() -> impl Strategy<Value = EntityKind> {
    prop::sample::select(EntityKind::ALL.to_vec())
        .prop_filter("no address", |kind| *kind != EntityKind::Identifier)
}

/// One letter put in, left out, replaced or swapped with its neighbour.
fn slipped(word: &str, at: usize, letter: char, how: u8) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = 1 + at % (letters.len() - 1);
    match how {
        0 => letters.insert(at, letter),
        1 => drop(letters.remove(at)),
        2 => letters[at] = letter,
        _ if at + 1 < letters.len() => letters.swap(at, at + 1),
        _ => letters.push(letter),
    }
    letters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Whatever is said of one name in one scope, in whatever order: as long as nothing says that there
    /// are two, there is one.
    #[test]
    fn one_name_of_one_sort_is_one_entity(
        said in prop::collection::vec(any::<bool>(), 1..8),
        kind in kinds(),
        is_full: bool,
    ) {
        let mut called = Called::default();
        let ids: BTreeSet<EntityId> = said
            .iter()
            .map(|known| if *known { kind } else { EntityKind::Thing })
            .map(|kind| called.say(kind, 1, is_full))
            .collect();
        prop_assert_eq!(ids.len(), 1);
    }

    /// Two that are certainly of different sorts are never one, and a first name of another scope is
    /// nobody that is known here.
    #[test]
    fn what_is_certainly_two_stays_two(
        said in prop::collection::vec((kinds(), 1..3u8), 1..12),
        is_full: bool,
    ) {
        let mut called = Called::default();
        let mut all: Vec<(EntityKind, u8, EntityId)> = Vec::new();
        for (kind, scope) in said {
            all.push((kind, scope, called.say(kind, scope, is_full)));
        }
        for (one, here, id) in &all {
            for (other, there, same) in &all {
                if id != same {
                    continue;
                }
                let specific = ![*one, *other].contains(&EntityKind::Thing);
                prop_assert!(!specific || is_same_sort(*one, *other));
                let people = [*one, *other].iter().all(|kind| *kind == EntityKind::Person);
                prop_assert!(!people || is_full || here == there, "two people, one first name");
            }
        }
    }

    /// Every name that is one slip away is found by a key, as comparing all names would find it.
    #[test]
    fn a_slip_is_found_by_a_key(
        first in "[a-z]{5,12}",
        second in prop::option::of("[a-z]{1,10}"),
        at: usize,
        letter in prop::char::range('a', 'z'),
        how in 0..4u8,
    ) {
        let name = |first: &str| {
            let text = [Some(first), second.as_deref()].into_iter().flatten();
            NameKey::new(&text.collect::<Vec<_>>().join(" "), EntityKind::Place)
        };
        let (Some(known), Some(said)) = (name(&first), name(&slipped(&first, at, letter, how)))
        else {
            return Ok(());
        };
        let known_as = Known {
            id: entity(1),
            kind: EntityKind::Place,
            names: vec![known.clone()],
            nearness: Nearness::Tenant,
        };
        let mentioned = Mentioned { name: said.clone(), kind: EntityKind::Place };
        if let Resolution::Existing { how: How::NearSpelling, confidence, .. } =
            resolve(&mentioned, &[known_as])
            && confidence.get() >= 7_500
        {
            let keys: BTreeSet<String> = near_keys(&known).into_iter().collect();
            prop_assert!(near_keys(&said).iter().any(|key| keys.contains(key)), "{known} {said}");
        }
    }

    /// A short name is nobody's other spelling, and what is guessed is never certain nor hopeless.
    #[test]
    fn guesses_are_guesses(one in "[a-d]{1,4}", other in "[a-d]{1,4}", kind in kinds()) {
        let (Some(name), Some(known)) = (NameKey::new(&one, kind), NameKey::new(&other, kind))
        else {
            return Ok(());
        };
        prop_assert!(near_keys(&name).is_empty());
        let known =
            Known { id: entity(1), kind, names: vec![known], nearness: Nearness::Scope };
        match resolve(&Mentioned { name, kind }, &[known]) {
            Resolution::Existing { how: How::Name, .. } | Resolution::New { .. } => {}
            other => prop_assert!(false, "{other:?}"),
        }
    }

    /// Whatever is known of a scope: two full names with one first name are never one person.
    #[test]
    fn a_first_name_never_makes_one_of_two(
        names in prop::collection::btree_set("(Bob|Ann) (Smith|Jones|Miller|Brown)", 2..6),
        asked in 0..8usize,
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let known: Vec<Known> = names
            .iter()
            .enumerate()
            .map(|(index, name)| Known {
                id: entity(u8::try_from(index).unwrap()),
                kind: EntityKind::Person,
                names: NameKey::new(name, EntityKind::Person).into_iter().collect(),
                nearness: Nearness::Scope,
            })
            .collect();
        let name = &names[asked % names.len()];
        let first = name.split(' ').next().unwrap();
        let mentioned = Mentioned {
            name: NameKey::new(first, EntityKind::Person).unwrap(),
            kind: EntityKind::Person,
        };
        let of_that_name = names.iter().filter(|name| name.starts_with(first)).count();
        match resolve(&mentioned, &known) {
            Resolution::Existing { .. } => prop_assert_eq!(of_that_name, 1),
            Resolution::New { ambiguous } => prop_assert_eq!(ambiguous.len(), of_that_name),
        }
    }
}

/// Members of one merged entity share names; separating them again parts them.
#[test]
fn merged_entities_share_their_names() {
    let mut registry = Registry::default();
    apply(&mut registry, 1, What::State(Statement::Name { entity: entity(1), name: hash(1) }));
    apply(&mut registry, 2, What::State(Statement::Name { entity: entity(2), name: hash(2) }));
    let merge = Statement::Merge { from: entity(2), into: entity(1) };
    apply(&mut registry, 3, What::State(merge));
    let both: BTreeSet<ValueKey> = [hash(1), hash(2)].into();
    assert_eq!(registry.names(entity(1), at(3)), both);
    assert_eq!(registry.names(entity(2), at(3)), both);
    apply(&mut registry, 4, What::Undo(source(3)));
    assert_eq!(registry.names(entity(2), at(4)), [hash(2)].into());
}
