//! What a call takes beside the capability of its route, seen from outside. Each is taken away by a
//! policy, and the refusal names it and the tier that took it.

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Answer, envelope, string};
use crate::tokens::{Signed, Team};

const OPERATOR: &[(&str, &str)] = &[("LAMINA_AUTH_OPERATORS", "acme/user:root")];

pub(crate) fn put(caller: &mut Signed, target: &str, body: &Value) -> Answer {
    caller.send(Request::new("PUT", target).json(body))
}

pub(crate) fn tenant_denies(caller: &mut Signed, capabilities: &[&str]) {
    put(caller, "/v1/policy/tenant/acme", &json!({"deny": capabilities})).ok(200);
}

/// Which capability was missing, and which tier said so.
#[track_caller]
pub(crate) fn missing(answer: Answer, code: &str) -> (String, String) {
    let details = answer.fails(403, code)["details"].clone();
    (string(&details, "capability"), string(&details, "denied_by_tier"))
}

#[track_caller]
pub(crate) fn denied(answer: Answer, capability: &str, tier: &str) {
    assert_eq!(missing(answer, "POLICY_DENIED"), (capability.to_owned(), tier.to_owned()));
}

pub(crate) fn write(caller: &mut Signed, scope: &str, text: &str) -> String {
    string(&caller.post("/v1/experience?wait=settled", &envelope(scope, text)).ok(200), "event_id")
}

/// R159, R196, R245, R425, C50: without a role at or above a scope a write needs `scope.write.elevated`;
/// at and below the natural level it does not.
#[test]
fn r159_r245_c50_a_write_above_ones_level_takes_a_capability() {
    for preset in ["on_prem_enterprise", "cloud_shared_saas", "cloud_private"] {
        let team = Team::start_with(preset, &[("CORTEX_ENABLE_EXPERIMENTAL", "1")]);
        let mut alice = team.caller("acme", "user:alice");
        let mut bob = team.caller("acme", "user:bob");
        let level = |caller: &mut Signed, scope: &str| {
            let effective = caller.get(&format!("/v1/policy/effective?scope={scope}")).ok(200);
            effective["natural_level"].clone()
        };
        assert_eq!(level(&mut alice, "org:acme/team:a"), Value::Null, "{preset}");
        // C50: a first write works as the preset is, and makes its caller owner.
        write(&mut alice, "org:acme/team:a", "hello");
        assert_eq!(level(&mut alice, "org:acme/team:a"), "org:acme/team:a", "{preset}");
        write(&mut bob, "org:acme/team:a", "elevated, and allowed");
        tenant_denies(&mut alice, &["scope.write.elevated"]);
        for scope in ["org:acme/team:a", "org:acme/team:a/user:alice"] {
            alice.post("/v1/experience", &envelope(scope, "at and below")).ok(202);
        }
        for scope in ["org:acme", "org:acme/team:b", "org:other"] {
            let answer = alice.post("/v1/experience", &envelope(scope, "above and beside"));
            denied(answer, "scope.write.elevated", "tenant");
        }
        for scope in ["org:acme/team:a", "ws:bob"] {
            let answer = bob.post("/v1/experience", &envelope(scope, "without any role"));
            denied(answer, "scope.write.elevated", "tenant");
        }
        let bulk = json!({"items": [envelope("org:acme", "in a batch")]});
        denied(alice.post("/v1/experience/bulk", &bulk), "scope.write.elevated", "tenant");
    }
}

/// R082, R160: who writes what another did needs leave for it.
#[test]
fn r082_r160_writing_for_another_takes_a_capability() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    write(&mut alice, "org:acme", "hello");
    let mut other = envelope("org:acme", "somebody else did it");
    other["observed_actor"] = json!({"id": "user:bob", "type": "user"});
    let row = alice.post("/v1/experience", &other);
    let policy = row.header("x-cortex-policy").unwrap_or_default().to_owned();
    assert!(policy.contains("capability=scope.write.on_behalf_of"), "{policy}");
    row.ok(202);
    tenant_denies(&mut alice, &["scope.write.on_behalf_of"]);
    other["idempotency_key"] = json!(crate::harness::unique_key());
    denied(alice.post("/v1/experience", &other), "scope.write.on_behalf_of", "tenant");
    let bulk = json!({"items": [other]});
    denied(alice.post("/v1/experience/bulk", &bulk), "scope.write.on_behalf_of", "tenant");
    // What one did oneself is one's own, named or not.
    let mut own = envelope("org:acme", "I did it");
    own["observed_actor"] = json!({"id": "user:alice", "type": "user", "session": "s1"});
    alice.post("/v1/experience", &own).ok(202);
}

/// R084, R161: what is about another than who did it needs leave for it.
#[test]
fn r084_r161_writing_about_another_takes_a_capability() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    write(&mut alice, "org:acme", "hello");
    tenant_denies(&mut alice, &["scope.write.about_other"]);
    let mut about = envelope("org:acme", "about somebody else");
    about["subject"] = json!({"id": "user:bob", "type": "user"});
    denied(alice.post("/v1/experience", &about), "scope.write.about_other", "tenant");
    about["subject"] = json!({"id": "user:alice", "type": "user"});
    alice.post("/v1/experience", &about).ok(202);
    // Somebody else about themselves is on their behalf, and not about another.
    let mut theirs = envelope("org:acme", "theirs");
    theirs["observed_actor"] = json!({"id": "user:bob", "type": "user"});
    theirs["subject"] = json!({"id": "user:bob", "type": "user"});
    alice.post("/v1/experience", &theirs).ok(202);
}

/// R081, R158: a scope's own policy closes it to writers, and says so.
#[test]
fn r081_r158_a_scope_may_take_no_writes() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    write(&mut alice, "org:acme/ws:old", "hello");
    let frozen = json!({"deny": ["scope.write"]});
    put(&mut alice, "/v1/policy/scope?path=org:acme/ws:old", &frozen).ok(200);
    for scope in ["org:acme/ws:old", "org:acme/ws:old/user:alice"] {
        denied(alice.post("/v1/experience", &envelope(scope, "late")), "scope.write", "scope");
    }
    alice.post("/v1/experience", &envelope("org:acme/ws:new", "elsewhere")).ok(202);
    alice.get("/v1/events?scope=org:acme/ws:old").ok(200);
}

/// R097, R432: what is consolidated into another scope needs leave to write there too.
#[test]
fn r097_r432_a_second_scope_needs_leave_of_its_own() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    alice.post("/v1/scopes", &json!({"path": "ws:closed"})).ok(201);
    let mut both = envelope("user:bob", "Ada works at Initech.");
    both["directives"] = json!({"consolidate_into": "ws:closed"});
    let field = "directives.consolidate_into";
    bob.post("/v1/experience", &both).fails_at(422, "INVALID_ENVELOPE", field);
    assert_eq!(alice.get("/v1/facts?scope=ws:closed").ok(200)["items"], json!([]));
    let members = json!({"members": [
        {"actor": "user:alice", "role": "owner"}, {"actor": "user:bob", "role": "writer"},
    ]});
    put(&mut alice, "/v1/scopes/members?path=ws:closed", &members).ok(200);
    bob.post("/v1/experience?wait=settled", &both).ok(200);
    let facts = alice.get("/v1/facts?scope=ws:closed").ok(200);
    assert!(!facts["items"].as_array().unwrap().is_empty(), "{facts}");
}

/// R432: what is consolidated into a scope that is not there is a first write to it. The sample envelope of
/// the specification works on an empty server.
#[test]
fn r432_consolidating_into_a_new_scope_takes_what_making_it_takes() {
    let team = Team::start("on_prem_enterprise");
    let mut bob = team.caller("acme", "user:bob");
    let sample = |into: &str| {
        let mut body = envelope("org:acme/dept:eng/user:bob", "Ada works at Initech.");
        body["observed_actor"] = json!({"id": "user:bob", "type": "user", "session": "run_abc"});
        body["subject"] = json!({"id": "user:bob", "type": "user"});
        body["directives"] = json!({"extract": ["facts", "entities", "beliefs"],
            "consolidate_into": into, "confidence_floor": 0.5, "embed": "lazy"});
        body
    };
    bob.post("/v1/experience?wait=settled", &sample("ws:acme-q3-launch")).ok(200);
    let made = bob.get("/v1/scopes?path=ws:acme-q3-launch").ok(200);
    assert_eq!((&made["owner"], &made["auto_provisioned"]), (&json!("user:bob"), &json!(true)));
    let facts = bob.get("/v1/facts?scope=ws:acme-q3-launch").ok(200);
    assert!(!facts["items"].as_array().unwrap().is_empty(), "{facts}");
    let bulk = json!({"items": [sample("ws:bulk")]});
    bob.post("/v1/experience/bulk", &bulk).ok(202);
    assert_eq!(bob.get("/v1/scopes?path=ws:bulk").ok(200)["owner"], "user:bob");
    // Somebody else's scope, there or not, and a token without the right to make one.
    let field = "directives.consolidate_into";
    for into in ["user:alice", "user:alice/ws:new"] {
        bob.post("/v1/experience", &sample(into)).fails_at(422, "INVALID_ENVELOPE", field);
        bob.get(&format!("/v1/scopes?path={into}")).fails(403, "NOT_A_MEMBER");
    }
    let mut claims = team.claims("acme", "user:bob");
    let caps = ["scope.write", "scope.write.elevated", "scope.create.user"];
    claims.caps = Some(caps.map(str::to_owned).into());
    let refused = team.with(&claims).post("/v1/experience", &sample("ws:other"));
    refused.fails_at(422, "INVALID_ENVELOPE", field);
    bob.get("/v1/scopes?path=ws:other").fails(404, "NOT_FOUND");
}

/// R164: walking up and walking down take capabilities of their own.
#[test]
fn r164_walking_up_and_down_take_capabilities_of_their_own() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    write(&mut alice, "org:acme", "hello");
    write(&mut alice, "org:acme/team:a", "hello");
    let lists =
        ["events", "episodes", "facts", "beliefs", "claims", "conflicts", "cost", "entities"];
    tenant_denies(&mut alice, &["scope.read.descend"]);
    for list in lists {
        let target = format!("/v1/{list}?scope=org:acme");
        denied(alice.get(&format!("{target}&view=descend")), "scope.read.descend", "tenant");
        alice.get(&format!("{target}&view=holistic")).ok(200);
    }
    let recall = |view: &str| json!({"scope": "org:acme", "query": "hello", "view": view});
    denied(alice.post("/v1/recall", &recall("descend")), "scope.read.descend", "tenant");
    tenant_denies(&mut alice, &["scope.read.holistic"]);
    for list in lists {
        let target = format!("/v1/{list}?scope=org:acme");
        denied(alice.get(&format!("{target}&view=holistic")), "scope.read.holistic", "tenant");
        alice.get(&format!("{target}&view=descend")).ok(200);
        alice.get(&target).ok(200);
    }
    denied(alice.post("/v1/recall", &recall("holistic")), "scope.read.holistic", "tenant");
    alice.post("/v1/recall", &recall("granular")).ok(200);
    // Who owns a part of the tree closes it to walks from above: they pass it by, and say so.
    tenant_denies(&mut alice, &[]);
    let closed = json!({"deny": ["scope.read.descend"]});
    put(&mut alice, "/v1/policy/scope?path=org:acme/team:a", &closed).ok(200);
    let page = alice.get("/v1/events?scope=org:acme&view=descend").ok(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 1, "{page}");
    assert_eq!(page["scopes_traversed"][1]["denied"], true, "{page}");
    alice.get("/v1/events?scope=org:acme/team:a").ok(200);
}

/// Ruling 10, R203: a scope that one may not read is refused alike, whether it exists or not.
#[test]
fn ruling_10_listing_a_scope_one_may_not_read_is_403_whether_it_exists_or_not() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    write(&mut alice, "org:acme/team:there", "hello");
    let mut claims = team.claims("acme", "user:bob");
    claims.scopes = vec![("scope.read.local".to_owned(), "user:bob/*".parse().unwrap())];
    let mut bob = team.with(&claims);
    let shown = |answer: Answer| {
        let mut error = answer.fails(403, "POLICY_DENIED");
        error["request_id"] = Value::Null;
        error.to_string()
    };
    for list in ["events", "episodes", "facts", "beliefs", "claims", "conflicts", "entities"] {
        let mut ask = |scope: &str| shown(bob.get(&format!("/v1/{list}?scope={scope}")));
        let (there, absent) = (ask("org:acme/team:there"), ask("org:acme/team:absent"));
        assert_eq!(there.replace("team:there", "X"), absent.replace("team:absent", "X"), "{list}");
        assert!(there.contains("scope.read.local") && there.contains("\"actor\""), "{there}");
    }
    let mut ask = |scope: &str| shown(bob.get(&format!("/v1/scopes?path={scope}")));
    assert_eq!(ask("org:acme/team:there"), ask("org:acme/team:absent"));
    bob.get("/v1/events?scope=user:bob").ok(200);
}

/// C35: an id in a scope that one may not read is refused before anything is said of it; one who may
/// read nothing is refused alike for an id that is not there.
#[test]
fn c35_ids_are_refused_before_they_are_missed() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut carol = team.caller("acme", "user:carol");
    alice.post("/v1/scopes", &json!({"path": "ws:plan"})).ok(201);
    let id = write(&mut alice, "ws:plan", "Ada works at Initech.");
    let belief = string(&alice.get("/v1/beliefs?scope=ws:plan").ok(200)["items"][0], "id");
    let absent = |prefix: &str| format!("{prefix}_01890000000070008000000000000000");
    for (target, prefix, there) in [
        ("/v1/events/", "evt", &id),
        ("/v1/lifecycle/memory-event/", "evt", &id),
        ("/v1/beliefs/", "belief", &belief),
        ("/v1/beliefs/why?belief_id=", "belief", &belief),
    ] {
        carol.get(&format!("{target}{there}")).fails(403, "NOT_A_MEMBER");
        carol.get(&format!("{target}{}", absent(prefix))).fails(404, "NOT_FOUND");
    }
    let mut claims = team.claims("acme", "user:carol");
    claims.caps = Some(["blob.read".to_owned()].into());
    let mut blind = team.with(&claims);
    for (target, prefix, there) in
        [("/v1/events/", "evt", &id), ("/v1/beliefs/", "belief", &belief)]
    {
        let mut ask = |id: &str| {
            let mut error = blind.get(&format!("{target}{id}")).fails(403, "POLICY_DENIED");
            error["request_id"] = Value::Null;
            error
        };
        assert_eq!(ask(there), ask(&absent(prefix)), "{target}");
    }
}

/// C21: the details of health are for holders of `admin.health`; that it lives, for everybody.
#[test]
fn c21_health_details_take_a_capability() {
    let team = Team::start("on_prem_enterprise");
    let mut claims = team.claims("acme", "user:bob");
    claims.caps = Some(["scope.read.local".to_owned()].into());
    let mut bob = team.with(&claims);
    let mut alice = team.caller("acme", "user:alice");
    let nobody = team.own.server.client().send(&Request::get("/v1/admin/health")).unwrap();
    let nobody = nobody.json().unwrap();
    for shown in [nobody, bob.get("/v1/admin/health").ok(200)] {
        assert_eq!(shown["status"], "healthy", "{shown}");
        assert!(shown.get("checks").is_none_or(|checks| checks == &json!({})), "{shown}");
    }
    assert!(alice.get("/v1/admin/health").ok(200)["checks"]["log"].is_object());
    denied(bob.get("/v1/admin/metrics"), "admin.health", "actor");
}

/// C23, R314: what another wrote is cancelled by who looks after the scope.
#[test]
fn c23_r314_cancelling_for_others_takes_the_scopes_administrator() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let members = json!([
        {"actor": "user:alice", "role": "owner"},
        {"actor": "user:bob", "role": "writer"},
        {"actor": "user:carol", "role": "writer"},
    ]);
    alice.post("/v1/scopes", &json!({"path": "ws:plan", "members": members})).ok(201);
    let theirs = write(&mut bob, "ws:plan", "hello");
    let another = write(&mut bob, "ws:plan", "hello again");
    let cancel = |id: &str| format!("/v1/lifecycle/memory-event/{id}/cancel");
    let mut carol = team.caller("acme", "user:carol");
    let refused = missing(carol.post(&cancel(&theirs), &json!({})), "NOT_A_MEMBER");
    assert_eq!(refused, ("policy.administer.scope".to_owned(), "scope".to_owned()));
    assert!(bob.get(&format!("/v1/events/{theirs}")).ok(200)["excluded_from_recall"] != true);
    bob.post(&cancel(&theirs), &json!({})).ok(200);
    alice.post(&cancel(&another), &json!({})).ok(200);
    assert_eq!(bob.get("/v1/events?scope=ws:plan").ok(200)["items"], json!([]));
    // The capability counts in an open scope too, where no role is asked for.
    let open = write(&mut bob, "ws:open", "hello");
    tenant_denies(&mut alice, &["policy.administer.scope"]);
    denied(alice.post(&cancel(&open), &json!({})), "policy.administer.scope", "tenant");
    bob.post(&cancel(&open), &json!({})).ok(200);
}

/// R418, C09: a first write to a scope of an unknown type is 422 where custom types are not allowed.
#[test]
fn r418_a_write_to_a_scope_type_that_is_not_registered_is_422() {
    let team = Team::start_with("cloud_shared_saas", OPERATOR);
    let mut alice = team.caller("acme", "user:alice");
    for scope in ["deal:one", "org:acme/deal:one", "deal:one/user:alice"] {
        let answer = alice.post("/v1/experience", &envelope(scope, "hello"));
        let refused = answer.fails(422, "UNREGISTERED_SCOPE_TYPE");
        assert_eq!(refused["details"]["capability"], "scope.create.custom", "{refused}");
    }
    alice.post("/v1/experience", &envelope("org:acme/app:one", "hello")).ok(202);
}

/// R172, R173: a story takes `llm.invoke`, and what a recall tells of itself `diagnostics.read`.
#[test]
fn r172_r173_r254_stories_and_diagnostics_take_capabilities() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    write(&mut alice, "user:alice", "The roof was mended in May.");
    let recall = |view: &str, detail: &str| json!({"scope": "user:alice", "query": "roof", "view": view, "diagnostics": detail});
    tenant_denies(&mut alice, &["llm.invoke"]);
    denied(alice.post("/v1/recall", &recall("narrative", "none")), "llm.invoke", "tenant");
    let pack = alice.post("/v1/recall", &recall("holistic", "full")).ok(200);
    assert!(pack["diagnostics"].is_object(), "{pack}");
    tenant_denies(&mut alice, &["diagnostics.read"]);
    let answer = alice.post("/v1/recall", &recall("holistic", "summary"));
    denied(answer, "diagnostics.read", "tenant");
    denied(alice.get("/v1/admin/layers/stats"), "diagnostics.read", "tenant");
    let pack = alice.post("/v1/recall", &recall("holistic", "none")).ok(200);
    assert!(pack.get("diagnostics").is_none_or(Value::is_null), "{pack}");
}

/// R176: vocabularies are read and changed by who may.
#[test]
fn r176_c24_vocabularies_take_capabilities() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let made = json!({"name": "sales", "terms": [{"id": "x"}]});
    tenant_denies(&mut alice, &["vocabulary.read"]);
    alice.post("/v1/vocabularies", &made).ok(201);
    denied(alice.get("/v1/vocabularies"), "vocabulary.read", "tenant");
    denied(alice.get("/v1/vocabularies/sales"), "vocabulary.read", "tenant");
    // C24: either of two grants the change.
    let with = |caps: &[&str]| {
        let mut claims = team.claims("acme", "user:alice");
        claims.caps = Some(caps.iter().map(|cap| (*cap).to_owned()).collect());
        team.with(&claims)
    };
    let body = json!({"terms": [{"id": "y"}]});
    for caps in
        [&["vocabulary.write", "policy.administer.tenant"][..], &["policy.administer.tenant"][..]]
    {
        put(&mut with(caps), "/v1/vocabularies/sales", &body).ok(200);
    }
    // One of the whole tenant is for its administrators.
    let answer = put(&mut with(&["vocabulary.write"]), "/v1/vocabularies/sales", &body);
    denied(answer, "policy.administer.tenant", "actor");
    let mut bob = team.caller("acme", "user:bob");
    let answer = put(&mut bob, "/v1/vocabularies/sales", &body);
    denied(answer, "policy.administer.tenant", "deployment");
    let answer = put(&mut with(&["vocabulary.read"]), "/v1/vocabularies/sales", &body);
    denied(answer, "vocabulary.write", "actor");
}

/// R174: other actors' rows take `audit.read.cross_actor`.
#[test]
fn r174_rows_of_others_take_a_capability() {
    let team = Team::start("cloud_shared_saas");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    write(&mut alice, "user:alice", "hello");
    let theirs = string(&alice.get("/v1/audit?limit=1").ok(200)["items"][0], "id");
    for _ in 0..3 {
        write(&mut bob, "user:bob", "hello");
    }
    let rows = bob.get("/v1/audit?limit=100").ok(200);
    let rows = rows["items"].as_array().unwrap();
    assert!(rows.len() >= 3 && rows.iter().all(|row| row["actor"] == "user:bob"), "{rows:?}");
    denied(bob.get("/v1/audit?actor=user:alice"), "audit.read.cross_actor", "deployment");
    bob.get(&format!("/v1/audit/{theirs}")).fails(404, "NOT_FOUND");
    let verify = json!({"audit_id": theirs, "body": "{}"});
    bob.post("/v1/audit/verify", &verify).fails(404, "NOT_FOUND");
}

/// R174: what the chain says of itself to who sees only their own rows does not count the others'.
#[test]
fn the_chain_counts_only_rows_that_may_be_seen() {
    let team = Team::start("cloud_shared_saas");
    let mut bob = team.caller("acme", "user:bob");
    bob.get("/v1/audit?limit=1").ok(200);
    let mut told = || {
        let chain = bob.get("/v1/audit/chain").ok(200);
        let verified = bob.post("/v1/audit/chain/verify", &json!({})).ok(200);
        assert_eq!(verified["valid"], true, "{verified}");
        let number = |of: &Value| of["length"].as_u64().unwrap();
        (number(&chain), number(&verified), string(&chain, "head_hash"))
    };
    let (before, _, _) = told();
    let mut alice = team.caller("acme", "user:alice");
    for _ in 0..20 {
        write(&mut alice, "user:alice", "hello");
    }
    let (after, verified, head) = told();
    // Between the two questions the caller has asked twice, and the second asks after the first.
    assert_eq!((after - before, verified), (2, after + 1));
    let mut alice_told = alice.get("/v1/audit/chain").ok(200);
    assert_ne!(alice_told["head_hash"], json!(head), "each has the head of their own rows");
    alice_told = alice.get("/v1/audit/chain?actor=user:alice").ok(200);
    assert!(alice_told["length"].as_u64().unwrap() >= 20);
    denied(alice.get("/v1/audit/chain?actor=user:bob"), "audit.read.cross_actor", "deployment");
}
