//! A walk against an oracle that reads everything and asks about every event by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_core::policy::{Caller, Document, Grant, Preset};
use lamina_types::capability::{Capability as _, PolicyAdministerScope};
use lamina_types::{MemberRole, Micros};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::PolicyTarget;
use crate::admin::PolicyPermit;
use crate::admin::testing::{noted, open, path, permit, permit_of, write};
use crate::read::{Axis, EventsQuery};

const TENANT: u32 = 1;
const SCOPES: &[&str] = &[
    "org:a",
    "org:a/team:x",
    "org:a/team:x/user:p",
    "org:a/team:x/user:q",
    "org:a/team:y",
    "org:a/team:y/user:p",
    "org:ab",
];

/// What is done to a tree of scopes before it is read.
#[derive(Debug, Clone)]
enum Step {
    Write(&'static str),
    Register(&'static str, Option<MemberRole>),
    Remove(&'static str),
    Deny(&'static str, &'static str),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let scope = || select(SCOPES);
    let role = proptest::option::of(select(MemberRole::ALL));
    let denied = select(&["scope.read.local", "scope.read.descend", "scope.read.holistic"][..]);
    let step = prop_oneof![
        6 => scope().prop_map(Step::Write),
        3 => (scope(), role).prop_map(|(scope, role)| Step::Register(scope, role)),
        1 => scope().prop_map(Step::Remove),
        1 => (scope(), denied).prop_map(|(scope, name)| Step::Deny(scope, name)),
    ];
    vec(step, 4..24)
}

/// What the token of the caller is limited to.
fn limits() -> impl Strategy<Value = Option<&'static str>> {
    proptest::option::weighted(
        0.3,
        select(
            &[
                "scope.read.local:org:a/team:x/*",
                "scope.read.descend:org:a/team:x/*",
                "scope.read.holistic:org:a/team:x/*",
            ][..],
        ),
    )
}

fn boot() -> Boot {
    let preset = Preset::OnPremEnterprise;
    Boot { preset, document: Arc::new(preset.document()) }
}

fn reader(limit: Option<&str>) -> Caller {
    let grant = limit.map(|limit| {
        Arc::new(Grant {
            jti: "tok_1".to_owned(),
            iss: "https://issuer.test".to_owned(),
            exp: Micros(0),
            caps: None,
            scopes: Grant::read_scopes([limit]).unwrap(),
        })
    });
    Caller { grant, ..Caller::plain("user:reader".parse().unwrap(), TENANT) }
}

async fn perform(engine: &Engine, steps: &[Step]) {
    for (index, step) in steps.iter().enumerate() {
        match step {
            Step::Write(scope) => {
                write(engine, TENANT, "user:writer", scope, &format!("text {index}")).await;
            }
            Step::Register(scope, role) => {
                let mut members = vec![("user:root".parse().unwrap(), MemberRole::Owner)];
                members.extend(role.map(|role| ("user:reader".parse().unwrap(), role)));
                let (permit, text) = (permit::<PolicyAdministerScope>(), String::new());
                let registered =
                    engine.scope_register(&permit, &path(scope), members, text, &noted()).await;
                assert!(matches!(registered, Ok(_) | Err(Error::ScopeExists)));
            }
            Step::Remove(scope) => {
                let keep = Some(crate::Records::Keep);
                let removed =
                    engine.scope_remove(&permit(), &path(scope), (keep, None), &noted()).await;
                assert!(matches!(removed, Ok(()) | Err(Error::NotFound)));
            }
            Step::Deny(scope, name) => {
                let document = Document::from_lists(&[], &[name]).unwrap();
                let target = PolicyTarget::Scope(path(scope));
                let permit = PolicyPermit::Scope(permit());
                engine.policy_set(&permit, target, Some(&document), &noted()).await.unwrap();
            }
        }
    }
}

fn question(scope: &str, after: Option<crate::ScanKey>, limit: usize) -> EventsQuery {
    EventsQuery {
        scope: path(scope),
        axis: Axis::Recorded,
        newest_first: false,
        observed: (None, None),
        recorded: (None, None),
        actor: None,
        modality: None,
        labels: Vec::new(),
        after,
        skip: 0,
        limit,
    }
}

/// Every event of the tenant: scope and text, in order, without asking anybody.
async fn everything(engine: &Engine) -> Vec<(ScopePath, String)> {
    let mut all = Vec::new();
    for scope in SCOPES {
        let permit = ReadPermit::Local(permit_of(TENANT, "user:root", Some(&path(scope))));
        let page = engine.events(permit, question(scope, None, 100)).await.unwrap();
        let shown = page.items.into_iter();
        all.extend(shown.map(|item| (item.wal_offset, item.experience)));
    }
    all.sort_by_key(|(offset, _)| *offset);
    all.into_iter().map(|(_, event)| (event.scope.clone(), event.content.text().into())).collect()
}

/// Whether the caller may use all of these in a scope, asked for that scope alone.
async fn may(engine: &Engine, caller: &Caller, names: &[&'static str], scope: &ScopePath) -> bool {
    let stack = engine.stack(&boot(), caller, Some(scope)).await.unwrap();
    stack.allows_all(caller, names, Some(scope)).is_ok()
}

/// Pages of two until the end; every page but the last is full.
async fn pages(
    engine: &Engine,
    caller: &Caller,
    start: &str,
    view: ScopeView,
) -> Option<(Vec<(ScopePath, String)>, Vec<Traversed>)> {
    let (mut found, mut left_out, mut after) = (Vec::new(), Vec::new(), None);
    loop {
        let permit = engine.read_permit(&boot(), caller, &path(start), view).await.unwrap().ok()?;
        let page = engine.events(permit, question(start, after, 2)).await.unwrap();
        assert_eq!(page.traversed.is_some(), view == ScopeView::Descend);
        let mut items = BTreeMap::<ScopePath, u64>::new();
        for item in &page.items {
            *items.entry(item.experience.scope.clone()).or_default() += 1;
        }
        for traversed in page.traversed.unwrap_or_default() {
            match traversed {
                Traversed::Read { scope, items: count } => {
                    assert_eq!(items.remove(&scope), Some(count));
                }
                denied => {
                    assert!(after.is_none(), "only the first page says what is left out");
                    left_out.push(denied);
                }
            }
        }
        assert!(view != ScopeView::Descend || items.is_empty());
        let short = page.items.len() < 2;
        let shown = page.items.into_iter();
        found
            .extend(shown.map(|item| {
                (item.experience.scope.clone(), item.experience.content.text().into())
            }));
        match page.next {
            None => return Some((found, left_out)),
            next => after = next,
        }
        assert!(!short, "a page that goes on is full");
    }
}

async fn agrees(engine: &Engine, caller: &Caller, start: &str, view: ScopeView) {
    let local = ScopeReadLocal::NAME;
    let start_path = path(start);
    let (needs, within): (&[&'static str], _) = match view {
        ScopeView::Local => (&[local], Vec::new()),
        ScopeView::Holistic => (&[local, ScopeReadHolistic::NAME], vec![local]),
        ScopeView::Descend => (&[local, ScopeReadDescend::NAME], vec![local, "scope.read.descend"]),
    };
    let walked = pages(engine, caller, start, view).await;
    assert_eq!(walked.is_some(), may(engine, caller, needs, &start_path).await, "{start} {view:?}");
    let Some((found, left_out)) = walked else { return };
    let mut expected = Vec::new();
    let mut denied = BTreeMap::<ScopePath, u64>::new();
    for (scope, text) in everything(engine).await {
        let reached = match view {
            ScopeView::Local => scope == start_path,
            ScopeView::Holistic => scope.contains(&start_path),
            ScopeView::Descend => start_path.contains(&scope),
        };
        if !reached {
            continue;
        }
        if scope == start_path || may(engine, caller, &within, &scope).await {
            expected.push((scope, text));
        } else if view == ScopeView::Descend {
            *denied.entry(scope).or_default() += 1;
        }
    }
    assert_eq!(found, expected, "{start} {view:?}");
    for traversed in left_out {
        let Traversed::Denied { scope, item_count, denial } = traversed else { unreachable!() };
        assert_eq!(item_count, denied.remove(&scope).unwrap_or(0), "{scope}");
        assert!(!may(engine, caller, &[denial.capability], &scope).await, "{scope}");
    }
    assert!(denied.is_empty(), "what is left out is said: {denied:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, ..Default::default() })]

    /// R072, R073, R424: pages of readable scopes, whole, and placeholders for the rest.
    #[test]
    fn a_walk_shows_what_could_be_read_one_by_one(steps in steps(), limit in limits()) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let engine = open(dir.path());
            perform(&engine, &steps).await;
            let caller = reader(limit);
            for start in ["org:a", "org:a/team:x", "org:a/team:x/user:p", "org:none"] {
                for view in [ScopeView::Local, ScopeView::Holistic, ScopeView::Descend] {
                    agrees(&engine, &caller, start, view).await;
                }
            }
            engine.shutdown().await;
        });
    }
}

#[tokio::test]
async fn a_permit_of_one_scope_does_not_reach_another() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    write(&engine, TENANT, "user:writer", "org:a/team:x", "text").await;
    for view in [ScopeView::Local, ScopeView::Holistic, ScopeView::Descend] {
        let read = engine.read_permit(&boot(), &reader(None), &path("org:a"), view).await;
        let refused =
            engine.events(read.unwrap().unwrap(), question("org:a/team:x", None, 2)).await;
        assert!(matches!(refused, Err(Error::OutsidePermit)), "{view:?}");
    }
    engine.shutdown().await;
}
