//! Scopes and their members, from the first write to the last prune.

use lamina_core::policy::Membership;
use lamina_types::MemberRole::{Owner, Reader, Writer};
use lamina_types::capability::ScopeReadLocal;

use super::*;
use crate::admin::testing::{boot, noted, open, path, permit, permit_of, reopen, write};

fn member(actor: &str, role: MemberRole) -> (ActorId, MemberRole) {
    (actor.parse().unwrap(), role)
}

async fn part(engine: &Engine, actor: &str, scope: &str) -> Membership {
    engine.membership(1, &actor.parse().unwrap(), &path(scope)).await.unwrap()
}

async fn get(engine: &Engine, scope: &str) -> Result<ScopeRecord, Error> {
    engine.scope_get(&permit::<ScopeReadLocal>(), &path(scope)).await
}

async fn register(engine: &Engine, scope: &str, members: &[(ActorId, MemberRole)]) -> ScopeRecord {
    let members = members.to_vec();
    let policies = r#"{"audit":"full"}"#.to_owned();
    let registered =
        engine.scope_register(&permit(), &path(scope), members, policies, &noted()).await;
    registered.unwrap()
}

async fn list(engine: &Engine, prefix: Option<&str>, auto: Option<bool>) -> Vec<String> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let query =
            ScopesQuery { prefix: prefix.map(path), auto_provisioned: auto, after, limit: 2 };
        let permit = permit::<ScopeReadLocal>();
        let sight = engine.sight(boot(), &permit).await;
        let page = engine.scope_list(&permit, sight, query).await.unwrap();
        assert!(page.items.len() <= 2);
        found.extend(page.items.into_iter().map(|scope| scope.path.to_string()));
        if !page.has_more {
            return found;
        }
        after = page.next;
    }
}

#[tokio::test]
async fn r076_the_first_write_makes_its_caller_the_owner_of_an_open_scope() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    assert!(matches!(get(&engine, "user:alice").await, Err(Error::NotFound)));
    let named = Membership { personal: true, ..Membership::OPEN };
    assert_eq!(part(&engine, "user:bob", "user:alice").await, named);
    let own = Membership { role: Some(Owner), ..named };
    assert_eq!(part(&engine, "user:alice", "user:alice").await, own, "by its name alone");
    write(&engine, 1, "user:alice", "user:alice", "a").await;
    let alice = Membership { closed: false, role: Some(Owner), registered: true, personal: true };
    assert_eq!(part(&engine, "user:alice", "user:alice").await, alice);
    assert_eq!(part(&engine, "user:bob", "user:alice").await, Membership { role: None, ..alice });
    let below = Membership { registered: false, ..alice };
    assert_eq!(part(&engine, "user:alice", "user:alice/app:x").await, below);
    let record = get(&engine, "user:alice").await.unwrap();
    assert!(record.auto_provisioned);
    assert_eq!((record.members, record.events), (vec![member("user:alice", Owner)], 1));
    assert!(record.last_write.unwrap() > record.registered_at);
    let other = engine.tenant_or_register(&"acme".parse().unwrap()).await.unwrap();
    let foreign = permit_of::<ScopeReadLocal>(other, "user:alice", None);
    let foreign = engine.scope_get(&foreign, &path("user:alice")).await;
    assert!(matches!(foreign, Err(Error::NotFound)));
    engine.shutdown().await;
}

#[tokio::test]
async fn r301_r304_members_are_registered_and_replaced_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let members = [member("user:a", Owner), member("user:b", Writer), member("user:c", Reader)];
    let record = register(&engine, "ws:q3", &members).await;
    assert_eq!((record.auto_provisioned, record.events), (false, 0));
    assert_eq!(
        (&record.members[..], record.policies.as_str()),
        (&members[..], r#"{"audit":"full"}"#)
    );
    let again =
        engine.scope_register(&permit(), &path("ws:q3"), Vec::new(), String::new(), &noted()).await;
    assert!(matches!(again, Err(Error::ScopeExists)));
    let b = Membership { closed: true, role: Some(Writer), registered: true, personal: false };
    assert_eq!(part(&engine, "user:b", "ws:q3").await, b);
    assert_eq!(part(&engine, "user:x", "ws:q3").await, Membership { role: None, ..b });
    let set = vec![member("user:a", Reader), member("user:c", Reader), member("user:d", Owner)];
    let set = engine.scope_members_set(&permit(), &path("ws:q3"), set, &noted()).await.unwrap();
    let names = |list: &[ActorId]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&set.added), ["user:d"]);
    assert_eq!(names(&set.removed), ["user:b"]);
    assert_eq!(names(&set.changed), ["user:a"]);
    assert_eq!(set.scope.policies, r#"{"audit":"full"}"#, "kept");
    assert_eq!(part(&engine, "user:b", "ws:q3").await.role, None);
    let engine = reopen(engine, dir.path()).await;
    assert_eq!(part(&engine, "user:d", "ws:q3").await.role, Some(Owner));
    assert_eq!(get(&engine, "ws:q3").await.unwrap(), set.scope);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_registration_without_an_owner_is_the_callers() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let record = register(&engine, "ws:q3", &[member("user:root", Reader)]).await;
    assert_eq!(record.members, [member("user:root", Owner)]);
    // A scope that a write had made becomes an explicit one.
    write(&engine, 1, "user:alice", "ws:plan", "a").await;
    let record = register(&engine, "ws:plan", &[member("user:bob", Owner)]).await;
    assert_eq!((record.auto_provisioned, record.events), (false, 1));
    assert_eq!(part(&engine, "user:alice", "ws:plan").await.role, None);
    // That of a person stays theirs, whoever is named.
    write(&engine, 1, "user:eve", "user:alice", "a").await;
    assert_eq!(part(&engine, "user:eve", "user:alice").await.role, None, "not by a first write");
    let record = register(&engine, "user:alice", &[member("user:bob", Writer)]).await;
    assert_eq!(record.members, [member("user:alice", Owner), member("user:bob", Writer)]);
    assert_eq!(part(&engine, "user:alice", "user:alice").await.role, Some(Owner));
    engine.shutdown().await;
}

#[tokio::test]
async fn the_nearest_explicit_registration_decides_and_roles_are_inherited() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    register(&engine, "org:acme", &[member("user:a", Owner), member("user:b", Reader)]).await;
    write(&engine, 1, "user:b", "org:acme/user:b", "k").await;
    let below = "org:acme/user:b/app:x";
    assert_eq!(
        part(&engine, "user:b", below).await,
        Membership { closed: true, role: Some(Owner), registered: false, personal: true },
        "the strongest role at or above"
    );
    assert_eq!(part(&engine, "user:a", below).await.role, None, "a person's is the person's");
    assert_eq!(part(&engine, "user:a", "org:acme/ws:x").await.role, Some(Owner));
    assert_eq!(part(&engine, "user:b", "org:acme").await.role, Some(Reader));
    assert_eq!(part(&engine, "user:b", "org:acmes").await, Membership::OPEN);
    // An explicit registration that lists nobody opens nothing.
    let nobodys = path("org:acme/user:b");
    register(&engine, "org:acme/user:b", &[]).await;
    engine.scope_members_set(&permit(), &nobodys, Vec::new(), &noted()).await.unwrap();
    let found = part(&engine, "user:x", below).await;
    assert_eq!((found.closed, found.role), (true, None));
    engine.shutdown().await;
}

#[tokio::test]
async fn person_scope_role_belongs_to_the_person_and_those_they_add() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let role = async |actor: &str, scope: &str| part(&engine, actor, scope).await.role;
    // By name, before anything is there; not below what others have.
    assert_eq!(role("agent:bot", "agent:bot").await, Some(Owner));
    assert_eq!(role("agent:bot", "user:alice/agent:bot").await, None, "alice has not let it in");
    assert_eq!(role("user:alice", "user:alice/agent:bot").await, Some(Owner));
    assert_eq!(role("org:acme", "org:acme").await, None, "only persons own by name");
    register(&engine, "org:acme", &[member("user:boss", Owner), member("user:bob", Reader)]).await;
    assert_eq!(role("user:bob", "org:acme/user:bob").await, Some(Owner), "a member of it");
    assert_eq!(role("user:eve", "org:acme/user:eve").await, None, "not a member");
    assert_eq!(role("user:boss", "org:acme/user:bob").await, None, "nor from above");
    // A first write by somebody else gives nothing; the person and the agent own it.
    write(&engine, 1, "agent:bot", "user:alice/agent:bot", "a").await;
    write(&engine, 1, "user:eve", "user:alice/agent:bot/ws:x", "a").await;
    assert_eq!(role("agent:bot", "user:alice/agent:bot").await, Some(Owner));
    assert_eq!(role("user:alice", "user:alice/agent:bot/ws:x").await, Some(Owner));
    assert_eq!(role("user:bob", "user:alice/user:bob").await, None);
    assert_eq!(role("user:alice", "user:alice/user:bob").await, None, "another person's");
    // Members that she adds reach her agents too; what others registered speaks for itself.
    register(&engine, "user:alice", &[member("user:carol", Writer)]).await;
    assert_eq!(role("user:carol", "user:alice/agent:bot").await, Some(Writer));
    register(&engine, "user:alice/agent:bot", &[]).await;
    assert_eq!(role("user:carol", "user:alice/agent:bot").await, None);
    assert_eq!(role("user:alice", "user:alice/agent:bot").await, None);
    engine.shutdown().await;
}

#[tokio::test]
async fn group_scope_first_write_makes_a_writer_and_no_owner() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    for scope in ["org:acme", "org:acme/dept:eng", "ws:x/team:a"] {
        write(&engine, 1, "user:eve", scope, scope).await;
        assert_eq!(part(&engine, "user:eve", scope).await.role, Some(Writer), "{scope}");
        let record = get(&engine, scope).await.unwrap();
        assert_eq!(record.members, [member("user:eve", Writer)], "{scope}");
    }
    write(&engine, 1, "user:eve", "ws:own", "own").await;
    assert_eq!(part(&engine, "user:eve", "ws:own").await.role, Some(Owner));
    assert_eq!(part(&engine, "user:eve", "ws:own/team:b").await.role, Some(Writer));
    engine.shutdown().await;
}

#[tokio::test]
async fn r425_the_natural_level_is_the_deepest_scope_one_writes_to() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let level = async |actor: &str| {
        let level = engine.natural_level(1, &actor.parse().unwrap()).await.unwrap();
        level.map(|path| path.to_string())
    };
    assert_eq!(level("user:a").await, None);
    register(&engine, "org:acme", &[member("user:a", Owner), member("user:b", Reader)]).await;
    assert_eq!(level("user:b").await, None);
    register(&engine, "org:acme/team:z", &[member("user:a", Writer)]).await;
    register(&engine, "org:acme/team:y", &[member("user:a", Writer)]).await;
    register(&engine, "org:acme/team:x/app:w", &[member("user:a", Reader)]).await;
    assert_eq!(level("user:a").await.as_deref(), Some("org:acme/team:y"));
    engine.shutdown().await;
}

#[tokio::test]
async fn r305_a_removed_scope_is_open_keeps_its_records_and_comes_back_with_a_write() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    write(&engine, 1, "user:alice", "ws:q3", "a").await;
    register(&engine, "ws:q3", &[member("user:alice", Owner)]).await;
    let q3 = path("ws:q3");
    let forget = engine.scope_remove(&permit(), &q3, (Some(Records::Forget), None), &noted()).await;
    assert!(matches!(forget, Err(Error::ScopeHasRecords { events: 1 })), "{forget:?}");
    engine.scope_remove(&permit(), &q3, (Some(Records::Keep), None), &noted()).await.unwrap();
    assert!(matches!(get(&engine, "ws:q3").await, Err(Error::NotFound)));
    let again = engine.scope_remove(&permit(), &q3, (Some(Records::Keep), None), &noted()).await;
    assert!(matches!(again, Err(Error::NotFound)));
    assert_eq!(part(&engine, "user:alice", "ws:q3").await, Membership::OPEN);
    assert_eq!(list(&engine, None, None).await, Vec::<String>::new());
    for (restart, actor) in [(false, "user:bob"), (true, "user:carol")] {
        if restart {
            engine
                .scope_remove(&permit(), &q3, (Some(Records::Keep), None), &noted())
                .await
                .unwrap();
        }
        write(&engine, 1, actor, "ws:q3", actor).await;
        let record = get(&engine, "ws:q3").await.unwrap();
        assert_eq!(record.members, [member(actor, Owner)]);
        assert!(record.auto_provisioned);
        write(&engine, 1, "user:dave", "ws:q3", &format!("{actor} again")).await;
        assert_eq!(part(&engine, actor, "ws:q3").await.role, Some(Owner));
        assert_eq!(part(&engine, "user:dave", "ws:q3").await.role, None);
    }
    assert_eq!(get(&engine, "ws:q3").await.unwrap().events, 5);
    let empty = path("ws:empty");
    register(&engine, "ws:empty", &[]).await;
    engine.scope_remove(&permit(), &empty, (Some(Records::Forget), None), &noted()).await.unwrap();
    engine.shutdown().await;
}

#[tokio::test]
async fn r306_scopes_are_listed_by_prefix_and_by_how_they_came() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    for (n, scope) in
        ["org:a/user:x", "org:b", "org:a", "org:ab", "org:a/user:y"].iter().enumerate()
    {
        write(&engine, 1, "user:x", scope, &format!("k{n}")).await;
    }
    register(&engine, "org:a/team:t", &[]).await;
    let all = ["org:a/user:x", "org:b", "org:a", "org:ab", "org:a/user:y", "org:a/team:t"];
    assert_eq!(list(&engine, None, None).await, all);
    let below = ["org:a/user:x", "org:a", "org:a/user:y", "org:a/team:t"];
    assert_eq!(list(&engine, Some("org:a"), None).await, below);
    assert_eq!(list(&engine, Some("org:a"), Some(false)).await, ["org:a/team:t"]);
    assert_eq!(list(&engine, Some("org:none"), None).await, Vec::<String>::new());
    let narrow = permit_of::<ScopeReadLocal>(1, "user:x", Some(&path("org:a")));
    for prefix in [None, Some(path("org:b"))] {
        let query = ScopesQuery { prefix, auto_provisioned: None, after: None, limit: 9 };
        let sight = engine.sight(boot(), &narrow).await;
        let refused = engine.scope_list(&narrow, sight, query).await;
        assert!(matches!(refused, Err(Error::OutsidePermit)));
    }
    engine.shutdown().await;
}

#[tokio::test]
async fn r307_a_prune_removes_what_nobody_wrote_to_and_says_so_first() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    write(&engine, 1, "user:x", "user:old", "a").await;
    register(&engine, "ws:explicit", &[]).await;
    let before = engine.now();
    write(&engine, 1, "user:x", "user:new", "b").await;
    let may = permit::<PolicyAdministerTenant>();
    let sight = engine.sight(boot(), &may).await;
    let dry = engine.scope_prune(&may, sight, before, true, &noted()).await.unwrap();
    assert_eq!((dry.total, dry.candidates.len()), (1, 1));
    assert_eq!((dry.candidates[0].path.as_str(), dry.candidates[0].events), ("user:old", 1));
    assert_eq!(list(&engine, None, None).await.len(), 3);
    let sight = engine.sight(boot(), &may).await;
    engine.scope_prune(&may, sight, before, false, &noted()).await.unwrap();
    assert_eq!(list(&engine, None, None).await, ["ws:explicit", "user:new"]);
    let sight = engine.sight(boot(), &may).await;
    let dry = engine.scope_prune(&may, sight, before, true, &noted()).await.unwrap();
    assert_eq!(dry.total, 0);
    engine.shutdown().await;
}

#[tokio::test]
async fn members_beyond_the_limit_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let members = |count| (0..count).map(|n| member(&format!("user:m{n}"), Owner)).collect();
    let (exact, over): (Vec<_>, Vec<_>) = (members(MEMBERS_MAX), members(MEMBERS_MAX + 1));
    let refused =
        engine.scope_register(&permit(), &path("ws:a"), over, String::new(), &noted()).await;
    assert!(matches!(refused, Err(Error::TooLarge { limit: "MEMBERS_MAX" })));
    assert_eq!(register(&engine, "ws:a", &exact).await.members.len(), MEMBERS_MAX);
    engine.shutdown().await;
}
