//! Reading: filters against a slow oracle, pages, single rows, and other tenants' ids.

use super::super::testing::{START, World, all};
use super::*;
use lamina_types::AuditRow;

/// A few hundred rows with everything a filter can ask for.
fn filled() -> (World, crate::audit::AuditLog, Vec<AuditRow>) {
    let world = World::new();
    let mut log = world.open();
    let mut written = Vec::new();
    for n in 0..240usize {
        let mut row = world.row(1 + u32::from(n % 5 == 0), ["user:a", "user:b"][n % 2]);
        if n % 3 == 0 {
            row.decision = Decision::Deny;
            row.capability = "scope.write".to_owned();
        }
        if let Some(who) = &mut row.who {
            let scope = ["org:acme", "org:acme/user:x", "org:acme/user:xy", "org:b"][n % 4];
            who.scope = (n % 7 != 0).then(|| scope.parse().unwrap());
        }
        log.append(std::slice::from_ref(&row), None).unwrap();
        written.push(row);
    }
    assert!(world.segments().len() > 5);
    (world, log, written)
}

fn oracle(rows: &[AuditRow], tenant: u32, filter: &AuditFilter) -> Vec<AuditId> {
    let scope = |row: &AuditRow| row.who.as_ref().and_then(|who| who.scope.clone());
    let actor = |row: &AuditRow| row.who.as_ref().and_then(|who| who.actor.clone());
    let wanted = rows.iter().filter(|row| {
        row.tenant == tenant
            && filter.actor.is_none_or_eq(actor(row))
            && filter.capability.is_none_or_eq(Some(row.capability.clone()))
            && filter.decision.is_none_or_eq(Some(row.decision))
            && filter.scope.as_ref().is_none_or(|s| scope(row).is_some_and(|x| s.contains(&x)))
            && filter.since.is_none_or(|since| row.at >= since)
            && filter.until.is_none_or(|until| row.at < until)
    });
    wanted.map(|row| row.id).collect()
}

trait NoneOrEq<T> {
    fn is_none_or_eq(&self, other: Option<T>) -> bool;
}

impl<T: PartialEq> NoneOrEq<T> for Option<T> {
    fn is_none_or_eq(&self, other: Option<T>) -> bool {
        self.is_none() || *self == other
    }
}

#[test]
fn every_filter_agrees_with_the_oracle() {
    let (_world, log, written) = filled();
    let actors = [None, Some("user:a".parse().unwrap()), Some("user:zzz".parse().unwrap())];
    let capabilities = [None, Some("scope.write".to_owned())];
    let decisions = [None, Some(Decision::Allow), Some(Decision::Deny)];
    let scopes =
        [None, Some("org:acme".parse().unwrap()), Some("org:acme/user:x".parse().unwrap())];
    let times =
        [(None, None), (Some(written[100].at), None), (Some(written[31].at), Some(written[77].at))];
    for actor in &actors {
        for capability in &capabilities {
            for decision in decisions {
                for scope in &scopes {
                    for (since, until) in times {
                        let filter = AuditFilter {
                            actor: actor.clone(),
                            capability: capability.clone(),
                            decision,
                            scope: scope.clone(),
                            since,
                            until,
                            words: Vec::new(),
                        };
                        let (rows, _) = all(&log.reader(), 1, &filter, 7);
                        let ids: Vec<AuditId> = rows.iter().map(|row| row.row.id).collect();
                        assert_eq!(ids, oracle(&written, 1, &filter), "{filter:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn pages_are_full_and_end() {
    let (_world, log, written) = filled();
    let all_of = oracle(&written, 1, &AuditFilter::default()).len();
    let (rows, pages) = all(&log.reader(), 1, &AuditFilter::default(), 10);
    assert_eq!((rows.len(), pages), (all_of, all_of.div_ceil(10)));
    let past = log.reader().query(1, &AuditFilter::default(), Some(1), 10).unwrap();
    assert!(past.items.is_empty() && past.next.is_none());
}

#[test]
fn every_row_is_found_by_its_id_and_by_its_tenant_only() {
    let (world, log, written) = filled();
    for reader in [log.reader(), world.fork().open().reader()] {
        for row in &written {
            let found = reader.row(row.tenant, row.id).unwrap().unwrap();
            assert_eq!(&found.row, row);
            assert_eq!(reader.row(3 - row.tenant, row.id).unwrap(), None, "another tenant's");
        }
        for at in [Micros(0), START, START.plus(90_000), START.plus(9_000_000_000)] {
            assert_eq!(reader.row(1, AuditId::mint(at, [1; 8])).unwrap(), None);
        }
        assert_eq!(reader.row(1, AuditId::from_bytes([0; 16])).unwrap(), None);
        assert_eq!(reader.row(1, AuditId::from_bytes([0xFF; 16])).unwrap(), None);
    }
}

#[test]
fn of_many_ids_those_that_are_there_are_known() {
    let (world, log, written) = filled();
    let (reader, absent) = (log.reader(), world.row(1, "user:a").id);
    for wanted in [0..1, 7..9, 0..240, 230..240] {
        let rows = &written[wanted];
        let ids: HashSet<AuditId> = rows.iter().map(|row| row.id).chain([absent]).collect();
        for tenant in [1, 2, 3] {
            let of_tenant = rows.iter().filter(|row| row.tenant == tenant);
            let expected: HashSet<AuditId> = of_tenant.map(|row| row.id).collect();
            assert_eq!(reader.known(tenant, &ids).unwrap(), expected);
        }
    }
}

#[test]
fn a_row_that_was_written_long_after_its_id_was_made_is_found() {
    let (world, mut log, _) = filled();
    let mut late = world.row(1, "user:a");
    late.id = AuditId::mint(START.plus(5_000), [7; 8]);
    log.append(std::slice::from_ref(&late), None).unwrap();
    world.fill(&mut log, 60);
    assert_eq!(log.reader().row(1, late.id).unwrap().unwrap().row, late);
}

#[test]
fn the_chain_of_an_actor_counts_its_rows() {
    let (_world, log, written) = filled();
    let actor: ActorId = "user:a".parse().unwrap();
    let filter = AuditFilter { actor: Some(actor.clone()), ..AuditFilter::default() };
    let (rows, _) = all(&log.reader(), 1, &filter, 100);
    let chain = log.reader().chain_of(1, &actor).unwrap();
    assert_eq!(chain.length, oracle(&written, 1, &filter).len() as u64);
    assert_eq!(chain.head, rows.last().unwrap().seal);
    let nobody = log.reader().chain_of(1, &"user:nobody".parse().unwrap()).unwrap();
    assert_eq!(nobody, Chain { head: [0; 32], length: 0 });
}

#[test]
fn r394_rows_are_found_by_their_words() {
    let (_world, log, written) = filled();
    let found = |text: &str| {
        let words = super::super::words_of(text).collect();
        let (rows, _) = all(&log.reader(), 1, &AuditFilter { words, ..AuditFilter::default() }, 7);
        rows.iter().map(|row| row.row.id).collect::<Vec<_>>()
    };
    let with = |filter: AuditFilter| oracle(&written, 1, &filter);
    let denied = AuditFilter { decision: Some(Decision::Deny), ..AuditFilter::default() };
    assert_eq!(found("scope.write"), with(denied.clone()));
    assert_eq!(found("DENY"), with(denied.clone()));
    let scope = Some("org:acme".parse().unwrap());
    assert_eq!(found("denial"), [], "another word");
    assert_eq!(found("den org"), {
        let scoped = |row: &&AuditRow| row.who.as_ref().is_some_and(|who| who.scope.is_some());
        let mine = written.iter().filter(|row| row.tenant == 1 && row.decision == Decision::Deny);
        mine.filter(scoped).map(|row| row.id).collect::<Vec<_>>()
    });
    assert_eq!(found("write org:acme"), with(AuditFilter { scope, ..denied }));
    assert_eq!(found("user:a nothing"), []);
    assert_eq!(found("").len(), with(AuditFilter::default()).len());
}
