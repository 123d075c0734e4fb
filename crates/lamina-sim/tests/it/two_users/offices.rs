//! What offices give and do not give: delegates, administrators, owners above, issuers.

use std::ffi::OsString;

use lamina_env::Env;
use lamina_issuer::Exit;
use lamina_sim::client::Request;
use serde_json::json;

use super::town::{Town, put, record, write};
use crate::harness::{Answer, Own, directory, envelope, ids, string};
use crate::provider::{Key, Provider, Says, key_set};
use crate::tokens::{Signed, Team};

const PERSON: &str = "user:alice";

#[track_caller]
fn is_refused(answer: &Answer, asked: &str) {
    assert_eq!(answer.response.status, 403, "{asked}: {}", answer.response.text());
}

fn delete(caller: &mut Signed, target: &str) -> Answer {
    caller.send(Request::new("DELETE", target))
}

/// A delegate reads, writes and speaks for the person; the scope stays the person's to rule and to erase.
#[test]
fn delegate_reads_and_writes_for_person_and_never_rules() {
    let mut town = Town::start();
    let (backend, alice) = (&mut town.backend, &mut town.alice);
    // Also where nobody has written yet: the person owns it all the same.
    let mut said = envelope(PERSON, "I like tea.");
    said["observed_actor"] = json!({"id": PERSON});
    let first = record(backend, &said);
    let found = alice.get(&format!("/v1/scopes?path={PERSON}")).ok(200);
    assert_eq!(found["owner"], PERSON, "{found}");
    let event = alice.get(&format!("/v1/events/{first}")).ok(200);
    assert_eq!((&event["actor"], &event["caller"]), (&json!(PERSON), &json!("service:backend")));
    let own = write(alice, PERSON, "I like cake.");
    assert_eq!(ids(&backend.get(&format!("/v1/events?scope={PERSON}")).ok(200)).len(), 2);
    let recall = json!({"scope": PERSON, "query": "What does Alice like?"});
    backend.post("/v1/recall", &recall).ok(200);
    let mut below = envelope("user:alice/agent:helper", "Alice likes pie.");
    below["observed_actor"] = json!({"id": PERSON});
    record(backend, &below);

    let members = json!({"members": [{"actor": "service:backend", "role": "owner"}]});
    let confirmed = json!({"scope": PERSON, "confirm_all": true});
    let selected = json!({"scope": PERSON, "selector": {"memory_ids": [own]}});
    for (target, body) in [
        ("/v1/erasures", &confirmed),
        ("/v1/erasures/preview", &confirmed),
        ("/v1/erasures", &selected),
        ("/v1/scopes", &json!({"path": PERSON})),
        ("/v1/scopes", &json!({"path": "user:alice/agent:helper"})),
    ] {
        is_refused(&backend.post(target, body), target);
    }
    let target = format!("/v1/scopes/members?path={PERSON}");
    is_refused(&put(backend, &target, &members), "members");
    let target = format!("/v1/policy/scope?path={PERSON}");
    is_refused(&put(backend, &target, &json!({"deny": ["scope.write"]})), "policy");
    is_refused(&delete(backend, &format!("/v1/scopes?path={PERSON}&records=keep")), "removal");
    // It is a delegate of persons, not a key to what they registered elsewhere.
    alice.post("/v1/scopes", &json!({"path": "ws:club"})).ok(201);
    is_refused(&backend.get("/v1/events?scope=ws:club"), "a closed scope");
    alice.get(&format!("/v1/events/{first}")).ok(200);
    // Another service is none, whatever it says.
    let mut other = town.team.caller("acme", "service:other");
    said["idempotency_key"] = json!("other");
    is_refused(&other.post("/v1/experience", &said), "another service");
    is_refused(&other.get(&format!("/v1/events?scope={PERSON}")), "another service");
    // Nor is the same name in another tenant.
    let mut foreign = town.team.caller("other", "service:backend");
    is_refused(&foreign.post("/v1/experience", &envelope("user:zoe", "Mine.")), "another tenant");
}

/// An administrator makes a place for a person, and does not look into it.
#[test]
fn administrator_registers_for_person_and_does_not_read() {
    let mut town = Town::start();
    let body = json!({"path": "user:xenia"});
    is_refused(&town.mallory.post("/v1/scopes", &body), "an ordinary user");
    let made = town.admin.post("/v1/scopes", &body).ok(201);
    assert_eq!(made["owner"], "user:xenia", "{made}");
    let mut xenia = town.team.caller("acme", "user:xenia");
    let id = write(&mut xenia, "user:xenia", "For my eyes only.");
    for caller in [&mut town.admin, &mut town.root, &mut town.mallory] {
        is_refused(&caller.get("/v1/events?scope=user:xenia"), "events");
        is_refused(&caller.get(&format!("/v1/events/{id}")), "one event");
        let recall = json!({"scope": "user:xenia", "query": "eyes"});
        is_refused(&caller.post("/v1/recall", &recall), "recall");
        let said = envelope("user:xenia", "I was here.");
        is_refused(&caller.post("/v1/experience", &said), "a write");
    }
    // A person rules its scope, and leaves nobody in.
    let target = "/v1/policy/scope?path=user:xenia";
    put(&mut xenia, target, &json!({"deny": ["llm.invoke"]})).ok(200);
    assert_eq!(xenia.get("/v1/scopes?path=user:xenia").ok(200)["member_count"], 1);
}

/// An owner above neither sees nor rules nor erases what somebody else registered below.
#[test]
fn owner_above_does_not_reach_into_registered_scope_below() {
    let mut town = Town::start();
    let below = "org:hall/ws:alice-club";
    town.alice.post("/v1/scopes", &json!({"path": below})).ok(201);
    let owners = json!([{"actor": "user:carol", "role": "owner"},
        {"actor": "user:alice", "role": "writer"}]);
    town.admin.post("/v1/scopes", &json!({"path": "org:hall", "members": owners})).ok(201);
    let mut carol = town.team.caller("acme", "user:carol");
    let id = write(&mut town.alice, below, "The quillfeather club meets on Monday.");
    let person = write(&mut town.alice, "org:hall/user:alice", "My quillfeather.");
    let own = write(&mut carol, "org:hall", "Welcome.");
    for event in [&id, &person] {
        is_refused(&carol.get(&format!("/v1/events/{event}")), "one event");
    }
    for scope in [below, "org:hall/user:alice"] {
        is_refused(&carol.get(&format!("/v1/events?scope={scope}")), "events");
        let body = json!({"members": [{"actor": "user:carol", "role": "owner"}]});
        is_refused(&put(&mut carol, &format!("/v1/scopes/members?path={scope}"), &body), "members");
        let policy = format!("/v1/policy/scope?path={scope}");
        is_refused(&put(&mut carol, &policy, &json!({"deny": ["scope.write"]})), "policy");
        is_refused(
            &delete(&mut carol, &format!("/v1/scopes?path={scope}&records=forget")),
            "removal",
        );
        let erasure = json!({"scope": scope, "confirm_all": true});
        is_refused(&carol.post("/v1/erasures", &erasure), "erasure");
    }
    let page = carol.get("/v1/events?scope=org:hall&view=descend").ok(200);
    assert_eq!(ids(&page), [own], "{page}");
    let recall = json!({"scope": "org:hall", "query": "quillfeather club", "view": "descend"});
    let pack = carol.post("/v1/recall", &recall).ok(200);
    assert!(!pack.to_string().contains("Monday"), "{pack}");
    // Erasing what is above leaves what others registered below.
    let erased = carol.post("/v1/erasures", &json!({"scope": "org:hall", "confirm_all": true}));
    if erased.response.status == 202 {
        let erasure = string(&erased.response.json().unwrap(), "erasure_id");
        super::town::finish_erasure(&mut carol, &erasure);
    }
    for event in [&id, &person] {
        town.alice.get(&format!("/v1/events/{event}")).ok(200);
    }
    // Whoever repairs it, without reading it, is an administrator.
    let members = json!({"members": [{"actor": "user:alice", "role": "owner"},
        {"actor": "user:dave", "role": "reader"}]});
    put(&mut town.admin, &format!("/v1/scopes/members?path={below}"), &members).ok(200);
    is_refused(&town.admin.get(&format!("/v1/events/{id}")), "an administrator");
    town.team.caller("acme", "user:dave").get(&format!("/v1/events/{id}")).ok(200);
}

/// The first write to the place of a group makes a writer; registering and ruling it is for administrators.
#[test]
fn first_write_to_group_scope_makes_writer_not_owner() {
    let mut town = Town::start();
    for scope in ["org:guild", "dept:sales", "org:guild/team:red"] {
        write(&mut town.mallory, scope, "I was first.");
        let found = town.mallory.get(&format!("/v1/scopes?path={scope}")).ok(200);
        assert_ne!(found["owner"], "user:mallory", "{found}");
        let role = json!({"actor": "user:mallory", "role": "writer"});
        assert!(found["members"].as_array().unwrap().contains(&role), "{found}");
        let caller = &mut town.mallory;
        is_refused(&caller.post("/v1/scopes", &json!({"path": scope})), scope);
        let target = format!("/v1/policy/scope?path={scope}");
        is_refused(&put(caller, &target, &json!({"deny": ["scope.write"]})), scope);
        let body = json!({"members": [{"actor": "user:mallory", "role": "owner"}]});
        is_refused(&put(caller, &format!("/v1/scopes/members?path={scope}"), &body), scope);
        let body = json!({"scope": scope, "confirm_all": true});
        is_refused(&caller.post("/v1/erasures", &body), scope);
        write(&mut town.alice, scope, "I was second.");
    }
    town.admin.post("/v1/scopes", &json!({"path": "org:guild"})).ok(201);
    // The name of an actor counts for persons only.
    let mut guild = town.team.caller("acme", "org:guild");
    let body = json!({"scope": "org:guild", "confirm_all": true});
    is_refused(&guild.post("/v1/erasures", &body), "an actor with the name of a group");
}

/// What an administrator does about a whole tenant, ordinary users do not; operators cannot be shut out.
#[test]
fn tenant_is_ruled_by_administrators_and_operators_stay() {
    let mut town = Town::start();
    let tenant = "/v1/policy/tenant/acme";
    is_refused(&put(&mut town.mallory, tenant, &json!({"deny": ["blob.upload"]})), "tenant policy");
    put(&mut town.admin, tenant, &json!({"deny": ["blob.upload"]})).ok(200);
    let rest = json!({"allow": ["policy.administer.tenant"], "deny": ["*"]});
    put(&mut town.admin, tenant, &rest).ok(200);
    for actor in ["user:root", "user:admin"] {
        let target = format!("/v1/policy/actor/{actor}");
        is_refused(&put(&mut town.mallory, &target, &json!({"deny": ["*"]})), actor);
    }
    // Whatever a document takes from everybody, an operator rules, revokes and sees how the server is.
    let told = town.root.get("/v1/policy/effective").ok(200);
    for capability in [
        "policy.administer.deployment",
        "policy.administer.tenant",
        "policy.administer.scope",
        "policy.administer.actor",
        "auth.revoke",
        "admin.health",
    ] {
        assert_eq!(told["capabilities"][capability]["decision"], "allow", "{capability}: {told}");
    }
    assert!(town.root.get("/v1/admin/health").ok(200)["checks"].is_object());
    put(&mut town.root, tenant, &json!({})).ok(200);
    write(&mut town.alice, PERSON, "I am still here.");
}

/// An issuer says who is who in the tenants that it is trusted for, and nowhere else.
#[test]
fn issuer_bound_to_tenant_refuses_tokens_of_other_tenants() {
    let bound = [
        ("LAMINA_AUTH_ISSUER_TENANTS", "https://issuer.test=acme"),
        ("LAMINA_AUTH_OPERATORS", "acme/user:root"),
    ];
    let team = Team::start_with("on_prem_enterprise", &bound);
    team.caller("acme", "user:alice").get("/v1/auth/whoami").ok(200);
    let mut foreign = team.caller("other", "user:alice");
    for target in ["/v1/auth/whoami", "/v1/events?scope=user:alice"] {
        let answer = foreign.get(target).response;
        assert_eq!(answer.status, 401, "{target}: {}", answer.text());
    }
    assert_eq!(foreign.post("/v1/experience", &envelope(PERSON, "x")).response.status, 401);
}

/// `system:` is the database itself: no token is for it, and no issuer of ours makes one.
#[test]
fn system_subjects_are_refused() {
    let (issuer, key) = ("https://outside.test", Key::new("1"));
    let provider = Provider::start(Says::Json(key_set(&[&key])));
    let keys = format!("{issuer}={}", provider.url());
    let own =
        Own::start_with(&[("LAMINA_PRESET", "on_prem_enterprise"), ("LAMINA_AUTH_JWKS", &keys)]);
    let whoami = |subject: &str| {
        let token = key.token(issuer, subject);
        Signed { client: own.server.client(), token }.get("/v1/auth/whoami").response
    };
    assert_eq!(whoami("user:alice").status, 200);
    for subject in ["system:operator", "system:derive"] {
        let answer = whoami(subject);
        assert_eq!(answer.status, 401, "{subject}: {}", answer.text());
    }
    let token = key.token(issuer, "user:alice");
    let mut alice = Signed { client: own.server.client(), token };
    let mut said = envelope(PERSON, "I am the database.");
    said["observed_actor"] = json!({"id": "system:derive"});
    let forged = alice.post("/v1/experience", &said).response;
    assert!(matches!(forged.status, 403 | 422), "{}", forged.text());

    let folder = directory();
    let home = folder.path().join("issuer");
    let run = |more: &[&str]| {
        let command = ["lamina-issuer", more[0], "--dir", home.to_str().unwrap()];
        let words = command.iter().chain(&more[1..]).map(OsString::from);
        let (mut out, mut err) = (Vec::new(), Vec::new());
        lamina_issuer::run(words, &Env::real(), &mut out, &mut err)
    };
    assert_eq!(run(&["init", "--iss", "https://issuer.test"]), Exit::Fine);
    assert_eq!(run(&["mint", "--sub", "user:alice", "--tenant", "acme"]), Exit::Fine);
    assert_ne!(run(&["mint", "--sub", "system:operator", "--tenant", "acme"]), Exit::Fine);
}

/// A tenant that nobody administers can set no policy and place no hold: the operator reads so at the start.
#[test]
fn tenant_without_administrator_is_named_at_the_start() {
    let team =
        Team::start_with("on_prem_enterprise", &[("LAMINA_AUTH_TENANT_ADMINS", "acme/user:admin")]);
    for tenant in ["acme", "other"] {
        write(&mut team.caller(tenant, "user:alice"), PERSON, "I am here.");
    }
    let team = team.restart();
    let warnings = || {
        let logged = team.own.server.logged();
        let lines = logged.lines().filter(|line| line.contains("has no administrator"));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    let deadline = lamina_sim::client::Deadline::after(std::time::Duration::from_secs(30));
    while warnings().is_empty() && !deadline.passed() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let warned = warnings();
    assert!(warned.len() == 1 && warned[0].contains("other"), "{warned:?}");
}
