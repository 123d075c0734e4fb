//! The people of the stories, and everything that the victim has before somebody acts.

use lamina_sim::client::Request;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::coverage::{disputing, recurring};
use crate::harness::{Answer, directory, envelope, string};
use crate::minting::key_file;
use crate::tokens::{Signed, Team};

/// The offices of the deployment under test.
const OFFICES: &[(&str, &str)] = &[
    ("LAMINA_AUTH_OPERATORS", "https://issuer.test=acme/user:root"),
    (
        "LAMINA_AUTH_TENANT_ADMINS",
        "https://issuer.test=acme/user:admin,https://issuer.test=acme/user:second",
    ),
    ("LAMINA_AUTH_DELEGATES", "https://issuer.test=acme/service:backend"),
    ("CORTEX_ENABLE_EXPERIMENTAL", "1"),
];

/// Words that only the victim has written, in scopes that only the victim may read. The last one is
/// the name of such a scope, and the first but one the content of a blob.
pub(super) const SECRET_WORDS: &[&str] =
    &["quillfeather", "ombredrake", "marrowlight", "vellumbyte", "plumbago"];
/// The bytes of the blob that an event of the victim refers to.
pub(super) const BLOB: &str = "vellumbyte";
/// The idempotency key of everything that the victim did with one.
pub(super) const KEY: &str = "alice-key";
/// The vocabulary of the victim's scope, and a phrase of the whole tenant.
pub(super) const WORDS: &str = "alice-words";
pub(super) const PHRASE: &str = "harvest";

/// One tenant with its offices and two ordinary users: alice, the victim, and mallory, who acts.
pub(super) struct Town {
    pub(super) team: Team,
    pub(super) root: Signed,
    pub(super) admin: Signed,
    pub(super) backend: Signed,
    pub(super) alice: Signed,
    pub(super) mallory: Signed,
    /// The id of the victim's token.
    pub(super) jti: String,
    _folder: TempDir,
}

impl Town {
    pub(super) fn start() -> Town {
        let folder = directory();
        let key = key_file(folder.path());
        let minting = [
            ("LAMINA_AUTH_MINTING_KEY", key.to_str().unwrap()),
            ("LAMINA_AUTH_MINTING_SIGNUP_TENANT", "acme"),
        ];
        let environment: Vec<(&str, &str)> = OFFICES.iter().chain(&minting).copied().collect();
        let team = Team::start_with("on_prem_enterprise", &environment);
        let claims = team.claims("acme", "user:alice");
        Town {
            root: team.caller("acme", "user:root"),
            admin: team.caller("acme", "user:admin"),
            backend: team.caller("acme", "service:backend"),
            alice: team.with(&claims),
            mallory: team.caller("acme", "user:mallory"),
            jti: claims.jti.clone(),
            team,
            _folder: folder,
        }
    }
}

/// What the victim has.
#[derive(Debug, Clone)]
pub(super) struct Things {
    /// A scope of the victim alone, one of an agent below it, a registered one with the victim as its
    /// only member, and one that is open because the victim only wrote to it first.
    pub(super) person: String,
    pub(super) agent: String,
    pub(super) closed: String,
    pub(super) open: String,
    pub(super) person_event: String,
    pub(super) agent_event: String,
    pub(super) closed_event: String,
    pub(super) open_event: String,
    /// A blob that the event in the closed scope refers to, and one that nothing refers to.
    pub(super) blob: String,
    pub(super) free_blob: String,
    pub(super) fact: String,
    pub(super) belief: String,
    pub(super) concept: String,
    pub(super) entity: String,
    pub(super) conflict: String,
    /// The records that the conflict is about.
    pub(super) sides: Vec<String>,
    pub(super) open_fact: String,
    pub(super) lifecycle: String,
    pub(super) audit: String,
    pub(super) erasure: String,
    pub(super) erasure_preview: String,
    pub(super) forget_preview: String,
    pub(super) export: String,
    /// An import that is over.
    pub(super) import: String,
    pub(super) jti: String,
}

/// The paths of the victim's scopes.
pub(super) struct Places {
    pub(super) person: &'static str,
    pub(super) agent: &'static str,
    pub(super) closed: &'static str,
    pub(super) open: &'static str,
}

/// Within one tenant.
pub(super) const OWN_PLACES: Places = Places {
    person: "user:alice",
    agent: "user:alice/agent:helper",
    closed: "ws:plumbago",
    open: "ws:alice-open",
};
/// Where the tools of agents read and write: sessions of the person and of a project that the person
/// registered, and one of a project that nobody registered.
pub(super) const TOOL_PLACES: Places = Places {
    person: "user:alice/session:alice-default",
    agent: "project:plumbago/session:plumbago-default",
    closed: "project:plumbago",
    open: "project:alice-open/session:alice-open-default",
};
/// Where tenants meet. Nobody's name makes a scope there theirs, so the victim registers the first.
pub(super) const SHARED_PLACES: Places = Places {
    person: "global:plumbago",
    agent: "global:plumbago/agent:helper",
    closed: "global:plumbago-club",
    open: "global:alice-open",
};

pub(super) fn put(caller: &mut Signed, target: &str, body: &Value) -> Answer {
    caller.send(Request::new("PUT", target).json(body))
}

/// Writes an envelope, waits until everything is derived from it, and gives the id of the event.
#[track_caller]
pub(super) fn record(caller: &mut Signed, said: &Value) -> String {
    string(&caller.post("/v1/experience?wait=settled", said).ok(200), "event_id")
}

#[track_caller]
pub(super) fn write(caller: &mut Signed, scope: &str, text: &str) -> String {
    record(caller, &envelope(scope, text))
}

pub(super) fn upload(bytes: &str) -> Request {
    Request::new("POST", "/v1/blobs").header("Content-Type", "text/plain").bytes(bytes)
}

pub(super) fn phrase() -> Value {
    let meaning = json!({"valid_during": ["2026-07-01", "2026-10-01"]});
    json!({"name": PHRASE, "pattern": "the harvest", "resolves_to": meaning})
}

pub(super) fn vocabulary(scope: Option<&str>) -> Value {
    let term = json!({"id": "keeps_quillfeather", "aliases": ["stashes"], "cardinality": "many"});
    json!({"name": WORDS, "scope": scope, "predicates": [term]})
}

impl Things {
    /// Everything that the victim of one tenant has, beside the hold and the phrase of its offices.
    pub(super) fn own(town: &mut Town) -> Things {
        let things = Things::made(town, &OWN_PLACES);
        town.alice.post("/v1/vocabularies", &vocabulary(Some(&things.person))).ok(201);
        town.admin.post("/v1/temporal/phrases", &phrase()).ok(201);
        let hold = json!({"scope": things.closed, "reason": "a claim is pending"});
        put(&mut town.admin, "/v1/admin/legal-holds", &hold).ok(200);
        things
    }

    /// What the victim has at these places.
    pub(super) fn made(town: &mut Town, places: &Places) -> Things {
        let alice = &mut town.alice;
        let Places { person, agent, closed, open } = *places;
        let shared = person.starts_with("global:");
        if shared {
            alice.post("/v1/scopes", &json!({"path": person})).ok(201);
            write(alice, "user:alice", "My lamp is a marrowlight.");
        }
        alice.post("/v1/scopes", &json!({"path": closed})).ok(201);
        let person_event = fill(alice, person);
        let agent_event = write(alice, agent, "Ada keeps the marrowlight lamp.");
        let open_event = write(alice, open, "Ada works at Initech.");
        let free_blob = string(&alice.send(upload("nobody refers to me")).ok(201), "blob_id");
        let key = ("X-Cortex-Idempotency-Key", KEY);
        let blob = string(&alice.send(upload(BLOB).header(key.0, key.1)).ok(201), "blob_id");
        let mut said = envelope(closed, "The ombredrake contract is attached.");
        said["idempotency_key"] = json!(if shared { "alice-shared-key" } else { KEY });
        if !shared {
            said["content"]["media"] = json!([{"blob_id": blob}]);
        }
        let closed_event = record(alice, &said);
        let first = |alice: &mut Signed, target: &str, scope: &str| {
            let page = alice.get(&format!("{target}?scope={scope}")).ok(200);
            string(&page["items"][0], "id")
        };
        let fact = first(alice, "/v1/facts", person);
        let open_fact = first(alice, "/v1/facts", open);
        let belief = first(alice, "/v1/beliefs", person);
        let concept = first(alice, "/v1/understanding", person);
        let entity = first(alice, "/v1/entities", person);
        let rows = alice.get(&format!("/v1/lifecycle?event_id={person_event}")).ok(200);
        let lifecycle = string(&rows["items"][0], "lifecycle_id");
        let audit = string(&alice.get("/v1/audit?limit=1").ok(200)["items"][0], "id");
        let page = alice.get(&format!("/v1/conflicts?scope={person}")).ok(200);
        let conflict = string(&page["conflicts"][0], "id");
        let sides = sides(&alice.get(&format!("/v1/conflicts/{conflict}")).ok(200));
        let gone = goings(alice, person, &person_event);
        Things {
            person: person.to_owned(),
            agent: agent.to_owned(),
            closed: closed.to_owned(),
            open: open.to_owned(),
            person_event,
            agent_event,
            closed_event,
            open_event,
            blob,
            free_blob,
            fact,
            belief,
            concept,
            entity,
            conflict,
            sides,
            open_fact,
            lifecycle,
            audit,
            erasure: gone.erasure,
            erasure_preview: gone.erasure_preview,
            forget_preview: gone.forget_preview,
            export: gone.export,
            import: imported(alice, person),
            jti: town.jti.clone(),
        }
    }

    /// The scopes that nobody but the victim may read.
    pub(super) fn private(&self) -> [&str; 3] {
        [&self.person, &self.agent, &self.closed]
    }

    /// All scopes of the victim.
    pub(super) fn scopes(&self) -> [&str; 4] {
        [&self.person, &self.agent, &self.closed, &self.open]
    }

    /// Events in the scopes that nobody but the victim may read.
    pub(super) fn private_events(&self) -> [&str; 3] {
        [&self.person_event, &self.agent_event, &self.closed_event]
    }
}

/// Facts, beliefs, a conflict, a concept and a standing instruction, in one scope.
fn fill(alice: &mut Signed, scope: &str) -> String {
    let event = write(alice, scope, "Ada works at Quillfeather.");
    write(alice, scope, "The ombredrake key is under the doormat.");
    write(alice, scope, "We had soup. Please always give lengths in marrowlight inches.");
    for said in disputing(scope) {
        record(alice, &said);
    }
    for said in recurring(scope) {
        record(alice, &said);
    }
    alice.post("/v1/understanding/synthesize", &json!({"scope": scope, "topics": []})).ok(202);
    event
}

fn sides(conflict: &Value) -> Vec<String> {
    let all = conflict["records"].as_array();
    let all = all.unwrap_or_else(|| panic!("no sides: {conflict}"));
    all.iter().map(|side| string(side, "id")).collect()
}

/// An erasure that is over, and previews of what the victim could have removed.
struct Goings {
    erasure: String,
    erasure_preview: String,
    forget_preview: String,
    export: String,
}

fn goings(alice: &mut Signed, scope: &str, event: &str) -> Goings {
    // The state of an erasure is told in the tenant that it is of.
    let erasure = string(&erase_nothing(alice, "user:alice"), "erasure_id");
    let selector = json!({"memory_ids": [event]});
    let body = json!({"scope": scope, "selector": selector});
    let erasure_preview = alice.post("/v1/erasures/preview", &body).ok(200);
    let body = json!({"scope": scope, "selector": selector, "cascade": "redact_events"});
    let forget_preview = alice.post("/v1/forget/preview", &body).ok(200);
    let export = alice.post("/v1/export", &json!({"scope": scope})).ok(202);
    Goings {
        erasure,
        erasure_preview: string(&erasure_preview, "preview_id"),
        forget_preview: string(&forget_preview, "preview_id"),
        export: string(&export, "export_id"),
    }
}

/// An import of one line into a scope of the victim.
fn imported(alice: &mut Signed, scope: &str) -> String {
    let said = crate::harness::envelope(scope, "The marmalade is imported.");
    let begun = alice.post("/v1/import/jsonl", &json!({"scope": scope, "lines": [said]})).ok(202);
    assert_eq!(begun["accepted"], 1, "{begun}");
    string(&begun, "import_id")
}

/// An erasure of an event that is not there, carried out to its end.
fn erase_nothing(alice: &mut Signed, scope: &str) -> Value {
    let nobody = format!("evt_{}", "0".repeat(32));
    let body = json!({"scope": scope, "selector": {"memory_ids": [nobody]}});
    let begun = alice.post("/v1/erasures", &body).ok(202);
    finish_erasure(alice, &string(&begun, "erasure_id"));
    begun
}

/// Waits until an erasure is over.
pub(super) fn finish_erasure(caller: &mut Signed, erasure: &str) -> Value {
    let deadline = lamina_sim::client::Deadline::after(std::time::Duration::from_secs(60));
    loop {
        let job = caller.get(&format!("/v1/erasures/{erasure}")).ok(200);
        if job["status"] != "running" {
            return job;
        }
        assert!(!deadline.passed(), "{job}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// What the one who acts has, to act with.
#[derive(Debug, Clone)]
pub(super) struct Tools {
    pub(super) scope: String,
    pub(super) entity: String,
    pub(super) conflict: String,
    pub(super) sides: Vec<String>,
    pub(super) other_conflicts: Vec<String>,
}

impl Tools {
    pub(super) fn made(caller: &mut Signed, scope: &str) -> Tools {
        write(caller, scope, "Grace works at Initrode.");
        let dispute = |caller: &mut Signed, place: &str| {
            for said in disputing(place) {
                record(caller, &said);
            }
            let page = caller.get(&format!("/v1/conflicts?scope={place}")).ok(200);
            string(&page["conflicts"][0], "id")
        };
        let conflict = dispute(caller, scope);
        let sides = sides(&caller.get(&format!("/v1/conflicts/{conflict}")).ok(200));
        let other_conflicts = ["ws:one", "ws:two", "ws:three"]
            .map(|below| dispute(caller, &format!("{scope}/{below}")))
            .to_vec();
        let entities = caller.get(&format!("/v1/entities?scope={scope}&name=Grace")).ok(200);
        let entity = string(&entities["items"][0], "id");
        let scope = scope.to_owned();
        Tools { scope, entity, conflict, sides, other_conflicts }
    }
}
