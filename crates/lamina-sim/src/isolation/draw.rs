//! Draws requests: every built route, with things of the other tenant where things go, whole and
//! mutilated, and now and then with the caller's own.
//!
//! What is the caller's own differs from server to server, so a request names it by kind and number
//! (`‹evt:7›`) and each server has it put in by [`resolve`].

use std::collections::HashSet;

use lamina_api::routes::{Method, ROUTES};
use lamina_env::sim::rng::SimRng;
use serde_json::{Value, json};

use super::furnish::{Foreign, LISTS, QUESTIONS, SCOPES, TOLD, envelope};
use super::mask::{Mask, is_id};
use crate::client::Request;

/// An id of no tenant, for when there is nothing of a kind yet.
const ABSENT_DIGITS: &str = "01890000000070008000000000000000";

const OBSERVED: &str = "2020-05-14T10:00:00Z";

/// What is asked, before it is put into the words of one server.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) request: Request,
    pub(super) kind: Kind,
}

impl Ask {
    /// Whether asking once more changes nothing but what is counted.
    pub(super) fn repeatable(&self) -> bool {
        let Ask { request, kind } = self;
        let reads = ["/v1/recall", "/v1/answer", "/v1/compose", "/v1/forget/preview"];
        let is_read = request.method == "GET" || reads.contains(&request.target.as_str());
        *kind == Kind::Plain && is_read
    }

    /// The same question without its key, if it has one. Under a key the first answer is given again, so a
    /// deadline that falls between the two servers would part them for good; it must have passed before.
    pub(super) fn without_key(&self) -> Option<Ask> {
        let body = self.request.body.as_deref().filter(|_| self.repeatable())?;
        let mut body: Value = serde_json::from_slice(body).ok()?;
        body.as_object_mut()?.remove("idempotency_key")?;
        Some(Ask { request: Request::post(&self.request.target, &body), kind: self.kind })
    }
}

/// How an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One answer.
    Plain,
    /// One answer, after which stages still run.
    Unsettled,
    /// A stream, and a write that it has to show.
    Stream,
}

/// Draws requests from one seed.
#[derive(Debug)]
pub(super) struct Drawer<'a> {
    rng: SimRng,
    foreign: &'a Foreign,
    /// Every foreign word that was drawn: answers may repeat those.
    pub(super) used: HashSet<String>,
    number: u64,
}

impl<'a> Drawer<'a> {
    pub(super) fn new(seed: u64, foreign: &'a Foreign) -> Drawer<'a> {
        Drawer { rng: SimRng::new(seed), foreign, used: HashSet::new(), number: 0 }
    }

    /// The next request.
    pub(super) fn draw(&mut self) -> Ask {
        self.number += 1;
        let (request, kind) = match self.rng.below(1_000) {
            0..=349 => (self.read(), Kind::Plain),
            350..=549 => (self.derived(), Kind::Plain),
            550..=699 => (self.list(), Kind::Plain),
            700..=839 => (self.write(), Kind::Plain),
            840..=869 => (self.cancel(), Kind::Unsettled),
            870..=939 => (self.administer(), Kind::Plain),
            940..=989 => (self.anything(), Kind::Plain),
            990..=994 => (self.audit_chain(), Kind::Plain),
            _ => (self.stream(), Kind::Stream),
        };
        let id = match self.rng.below(10) {
            0 => self.id("req"),
            _ => format!("a-{}", self.number),
        };
        Ask { request: request.header("X-Cortex-Request-ID", id), kind }
    }

    fn below(&self, bound: u64) -> u64 {
        self.rng.below(bound)
    }

    fn one<'b>(&self, of: &'b [&'b str]) -> &'b str {
        let at = usize::try_from(self.below(of.len() as u64)).unwrap_or_default();
        of.get(at).copied().unwrap_or_default()
    }

    fn any(&self, of: &[String]) -> String {
        let at = usize::try_from(self.below(of.len() as u64)).unwrap_or_default();
        of.get(at).cloned().unwrap_or_else(|| "none".to_owned())
    }

    /// An id of this kind: the other tenant's most of the time.
    fn id(&mut self, kind: &str) -> String {
        let whole = self.any(self.foreign.ids.get(kind).map(Vec::as_slice).unwrap_or_default());
        let drawn = match self.below(10) {
            0 | 1 if kind != "req" => return format!("‹{kind}:{}›", self.below(1 << 20)),
            2 => whole.get(..whole.len() - 1 - self.below(30) as usize).unwrap_or("x").to_owned(),
            3 => {
                let kinds =
                    ["evt", "lce", "blob", "audit", "batch", "job", "imp", "fact", "ent", "x"];
                let other = self.one(&kinds);
                format!("{other}_{}", whole.rsplit_once('_').map_or("", |(_, digits)| digits))
            }
            4 => self.flipped(&whole),
            5 => whole.to_ascii_uppercase(),
            _ => whole,
        };
        if is_id(&drawn) {
            self.used.insert(drawn.clone());
        }
        drawn
    }

    /// One digit changed, but none of those that say which minute it was: the two servers do the same
    /// a moment apart, and an id from in between would be before one and after the other.
    fn flipped(&self, id: &str) -> String {
        let Some((kind, digits)) = id.rsplit_once('_') else { return id.to_owned() };
        let at = match self.below(2) {
            0 => self.below(4),
            _ => 13 + self.below(19),
        };
        let flip = |(index, digit): (usize, char)| match (index as u64 == at, digit) {
            (true, '0') => '1',
            (true, _) => '0',
            (false, digit) => digit,
        };
        format!("{kind}_{}", digits.chars().enumerate().map(flip).collect::<String>())
    }

    fn key(&self) -> String {
        let key = self.any(&self.foreign.keys);
        match self.below(6) {
            0 => format!("own-{}", self.below(50)),
            1 => format!("{key}x"),
            _ => key,
        }
    }

    fn label(&self) -> String {
        match self.below(4) {
            0 => "red".to_owned(),
            _ => self.any(&self.foreign.labels),
        }
    }

    fn cursor(&mut self) -> String {
        let cursor = self.any(&self.foreign.cursors);
        let drawn = match self.below(6) {
            0 => format!("‹cursor:{}›", self.below(1 << 20)),
            1 => cursor.get(..cursor.len() / 2).unwrap_or_default().to_owned(),
            2 => self.below(2_000).to_string(),
            3 => self.id("audit"),
            _ => cursor,
        };
        if is_id(&drawn) {
            self.used.insert(drawn.clone());
        }
        drawn
    }

    fn scope(&self) -> &'static str {
        let at = usize::try_from(self.below(SCOPES.len() as u64)).unwrap_or_default();
        SCOPES.get(at).copied().unwrap_or("org:same")
    }

    fn read(&mut self) -> Request {
        let target = match self.below(12) {
            0..=2 => format!("/v1/events/{}", self.id("evt")),
            3 => format!("/v1/blobs/{}", self.id("blob")),
            4 => format!("/v1/lifecycle/event/{}", self.id("lce")),
            5 => format!("/v1/lifecycle/memory-event/{}", self.id("evt")),
            6 => format!("/v1/audit/{}", self.id("audit")),
            7 => format!("/v1/experience/by-idempotency-key/{}", self.key()),
            8 => format!("/v1/experience/status?event_id={}", self.id("evt")),
            9 => format!("/v1/experience/status?idempotency_key={}", self.key()),
            10 => {
                let body = json!({"audit_id": self.id("audit"), "body": "{}"});
                return Request::post("/v1/audit/verify", &body);
            }
            _ => return self.small(),
        };
        let method = if self.below(20) == 0 { "HEAD" } else { "GET" };
        Request::new(method, &target)
    }

    /// What is made of events, what is asked of it, and how it is forgotten.
    fn derived(&mut self) -> Request {
        let get = |target: String| Request::get(&target);
        match self.below(26) {
            0 => get(format!("/v1/beliefs/{}", self.id("belief"))),
            1 => get(format!("/v1/beliefs/why?belief_id={}", self.id("belief"))),
            2 => get(format!("/v1/beliefs/history?belief_id={}", self.id("belief"))),
            3 => get(format!("/v1/understanding/{}", self.id("concept"))),
            4 => get(format!("/v1/understanding/{}/related", self.id("concept"))),
            5 => get(format!("/v1/concepts/{}/history", self.id("concept"))),
            6 => get(format!("/v1/conflicts/{}", self.id("bare"))),
            7 => {
                let action = json!({"action": "pick", "winner": self.id("bare"), "reason": "x"});
                Request::post(&format!("/v1/conflicts/{}/resolve", self.id("bare")), &action)
            }
            8 => {
                let into = json!({"into": self.id("ent")});
                Request::post(&format!("/v1/entities/{}/merge", self.id("ent")), &into)
            }
            9 => Request::post(&format!("/v1/entities/{}/split", self.id("ent")), &json!({})),
            10 => get(format!("/v1/facts?scope={TOLD}&subject={}", self.id("ent"))),
            11 => get(format!("/v1/facts/timeline?scope={TOLD}&subject={}", self.id("ent"))),
            12 => get(format!("/v1/erasures/{}", self.id("erasure"))),
            13 => get(format!("/v1/erasures/{}/manifest", self.id("erasure"))),
            14 => get(format!("/v1/erasures/preview/{}/manifest", self.id("ervw"))),
            15 => Request::new("POST", &format!("/v1/erasures/{}/cancel", self.id("erasure"))),
            16 => get(format!("/v1/vocabularies/{}", self.name("words"))),
            17 => Request::new("DELETE", &format!("/v1/temporal/phrases/{}", self.name("phrase"))),
            18 => get(format!("/v1/lifecycle?job_id={}", self.id("job"))),
            19 => get(format!("/v1/lifecycle?erasure_id={}", self.id("erasure"))),
            20 => self.forget(),
            21 => self.operated(),
            _ => self.asked(),
        }
    }

    fn name(&self, kind: &str) -> String {
        format!("{kind}-{}", self.one(&["other", "acme", "nobody"]))
    }

    /// A question, in words of the other tenant or of a pack of it.
    fn asked(&mut self) -> Request {
        let question = self.one(QUESTIONS);
        let scope = self.one(&[TOLD, "org:same/ws:one", "org:same"]).to_owned();
        let mut body = json!({"scope": scope, "query": question, "diagnostics": "full"});
        match self.below(9) {
            0 => set(&mut body, "filters", json!({"metadata": {"labels": [self.label()]}})),
            1 => set(&mut body, "temporal", json!({"natural": "the days of other"})),
            2 => set(
                &mut body,
                "view",
                json!(self.one(&["descend", "raw", "granular", "structured"])),
            ),
            3 => set(&mut body, "idempotency_key", json!(self.key())),
            4 | 5 => {
                let body =
                    json!({"scope": scope, "question": question, "use_pack_id": self.id("pack")});
                return Request::post("/v1/answer", &body);
            }
            6 => {
                let body = json!({"scope": scope, "brief": question});
                return Request::post("/v1/compose", &body);
            }
            7 => {
                return Request::post("/v1/answer", &json!({"scope": scope, "question": question}));
            }
            _ => {}
        }
        Request::post("/v1/recall", &body)
    }

    /// Forgets by ids and previews of the other tenant.
    fn forget(&mut self) -> Request {
        let kind = self.one(&["evt", "fact", "belief", "ep", "concept"]).to_owned();
        let mut body = json!({"scope": TOLD, "selector": {"memory_ids": [self.id(&kind)]}});
        let target = match self.below(6) {
            0 => {
                set(&mut body, "from_preview_id", json!(self.id("fpvw")));
                "/v1/forget"
            }
            1 => {
                set(&mut body, "from_preview_id", json!(self.id("ervw")));
                "/v1/erasures"
            }
            2 => "/v1/erasures/preview",
            3 => {
                set(&mut body, "selector", json!({"about_entity": self.id("ent")}));
                "/v1/forget/preview"
            }
            _ => "/v1/forget/preview",
        };
        Request::post(target, &body)
    }

    /// Numbers that operators look at, and lists of the whole tenant.
    fn operated(&mut self) -> Request {
        let event = self.id("evt");
        let chunks = format!("/v1/admin/events/{event}/chunks");
        Request::get(self.one(&[
            "/v1/admin/layers/stats",
            "/v1/admin/retention",
            "/v1/admin/retention/policies?scope=org:same",
            "/v1/admin/wal",
            "/v1/admin/legal-holds",
            "/v1/vocabularies",
            "/v1/temporal/phrases",
            "/v1/cost?scope=org:same",
            "/v1/derivation/status?scope=org:same/ws:told",
            "/v1/understanding/coverage?scope=org:same/ws:told",
            &chunks,
        ]))
    }

    fn small(&self) -> Request {
        let scope = self.scope();
        Request::get(&match self.below(9) {
            0 => "/v1/auth/whoami".to_owned(),
            1 => format!("/v1/policy/effective?scope={scope}"),
            2 => format!("/v1/policy/scope?path={scope}"),
            3 => "/v1/policy/tenant/other".to_owned(),
            4 => "/v1/policy/tenant/acme".to_owned(),
            5 => format!("/v1/policy/actor/{}", self.one(&["user:alice", "user:bob"])),
            6 => format!("/v1/scopes?path={}", self.one(&["ws:closed", scope, "ws:none"])),
            7 => self.one(&["/v1/ready", "/v1/admin/version", "/v1/policy/deployment"]).to_owned(),
            _ => self.one(&["/v1/admin/metrics", "/v1/admin/metrics?format=json"]).to_owned(),
        })
    }

    fn list(&mut self) -> Request {
        // Records that one entry made again come in the order of their ids: which of them a short page has is chance.
        let list = self.one(LISTS);
        let list = match ["/v1/facts", "/v1/beliefs", "/v1/episodes"]
            .iter()
            .any(|of| list.starts_with(of))
        {
            true => list.replace("limit=2", "limit=50"),
            false => list.to_owned(),
        };
        let more = match self.below(11) {
            0..=3 => format!("cursor={}", self.cursor()),
            4 => format!("labels={}", self.label()),
            5 => format!("event_id={}", self.id("evt")),
            6 => format!("batch_id={}", self.id("batch")),
            7 => format!("since_lifecycle_id={}", self.id("lce")),
            8 => {
                let kind = self.one(&["job", "import", "export", "erasure"]).to_owned();
                let prefix = match kind.as_str() {
                    "import" => "imp",
                    "export" => "exp",
                    whole => whole,
                };
                format!("{kind}_id={prefix}_{ABSENT_DIGITS}")
            }
            9 => format!("actor={}", self.one(&["user:alice", "user:bob", "service:x"])),
            _ => "limit=50".to_owned(),
        };
        Request::get(&format!("{list}&{more}"))
    }

    fn write(&mut self) -> Request {
        if self.below(4) == 0 {
            // The same bytes as the other tenant has, and others.
            let bytes = self.one(&["same bytes", "other bytes", "other", "fresh"]).to_owned();
            let upload = Request::new("POST", "/v1/blobs").header("Content-Type", "text/plain");
            return upload.bytes(bytes);
        }
        let key = match self.below(3) {
            0 => self.key(),
            _ => format!("own-{}", self.number),
        };
        let mut body = envelope(self.scope(), self.below(20), &key);
        let (place, value) = match self.below(6) {
            0 => ("/context", json!({"observed_at": OBSERVED, "preceded_by": [self.id("evt")]})),
            1 => ("/content", json!({"kind": "blob_ref", "blob_id": self.id("blob")})),
            2 => ("/context", json!({"observed_at": OBSERVED, "labels": [self.label()]})),
            3 => ("/modality", json!(self.one(&["document", "event", "nothing"]))),
            _ => ("/scope", json!(self.scope())),
        };
        if let Some(part) = body.pointer_mut(place) {
            *part = value;
        }
        if self.below(8) == 0 {
            let body = json!({"items": [body], "idempotency_key": self.key()});
            return Request::post("/v1/experience/bulk?wait=settled", &body);
        }
        Request::post("/v1/experience?wait=settled", &body)
    }

    fn cancel(&mut self) -> Request {
        let id = self.id("evt");
        Request::post(&format!("/v1/lifecycle/memory-event/{id}/cancel"), &json!({}))
    }

    fn administer(&mut self) -> Request {
        let path = format!("org:same/ws:a{}", self.below(6));
        let members = json!([{"actor": "user:alice", "role": "owner"}]);
        let deny = json!({"deny": [self.one(&["forget.gdpr", "llm.invoke"])]});
        let put = |target: &str, body: &Value| Request::new("PUT", target).json(body);
        match self.below(12) {
            0 | 1 => Request::post("/v1/scopes", &json!({"path": path, "members": members})),
            2 => put(&format!("/v1/scopes/members?path={path}"), &json!({"members": members})),
            3 => Request::new("DELETE", &format!("/v1/scopes?path={path}")),
            4 => put(&format!("/v1/policy/scope?path={path}"), &deny),
            5 => put("/v1/policy/actor/user:bob", &deny),
            6 => put("/v1/policy/tenant/other", &deny),
            7 => put("/v1/policy/tenant/acme", &deny),
            8 => Request::post("/v1/auth/revoke", &json!({"jti": "other-user-alice"})),
            9 => Request::post("/v1/scopes/prune", &json!({"older_than": "P90D", "dry_run": true})),
            10 => Request::new("POST", self.one(&["/v1/admin/flush-views", "/v1/admin/compact"])),
            _ => Request::new("DELETE", &format!("/v1/blobs/{}", self.id("blob"))),
        }
    }

    /// Any route of the table, built or not, with any method: whatever is in the path is foreign.
    fn anything(&mut self) -> Request {
        let at = usize::try_from(self.below(ROUTES.len() as u64)).unwrap_or_default();
        let Some(route) = ROUTES.get(at) else { return Request::get("/v1/ready") };
        let hash = self.any(&self.foreign.hashes);
        let parts = route.path.split('/').map(|part| match part {
            "{tenant_id}" => "other".to_owned(),
            "{actor_id}" => "user:alice".to_owned(),
            "{scope_path}" => "org:same".to_owned(),
            "{blob_id}" => self.id("blob"),
            "{audit_id}" => self.id("audit"),
            "{belief_id}" => self.id("belief"),
            "{concept_id}" => self.id("concept"),
            "{entity_id}" => self.id("ent"),
            "{conflict_id}" => self.id("bare"),
            "{erasure_id}" => self.id("erasure"),
            "{preview_id}" => self.id("ervw"),
            "{name}" => self.name("words"),
            "{key}" => hash.clone(),
            part if part.starts_with('{') => self.id("evt"),
            part => part.to_owned(),
        });
        let target = parts.collect::<Vec<_>>().join("/");
        self.used.insert(hash);
        let is_stream = target.ends_with("/stream");
        let method = match (self.below(3), route.method) {
            (0, _) | (_, Method::Any) => self.one(&["GET", "POST", "PUT", "PATCH", "DELETE"]),
            (_, method) => method.as_str(),
        };
        // Read by `stream`, and an upload of nothing in particular by `write`.
        let method = if is_stream { "DELETE" } else { method };
        match method {
            "GET" | "DELETE" => Request::new(method, &target),
            _ => Request::new(method, &target).json(&json!({"id": self.id("evt")})),
        }
    }

    fn audit_chain(&self) -> Request {
        match self.below(8) {
            0 => Request::post("/v1/audit/chain/verify", &json!({})),
            1 => Request::get("/v1/audit/chain?actor=user:alice"),
            _ => Request::get("/v1/audit/chain"),
        }
    }

    fn stream(&mut self) -> Request {
        let scope = format!("org:same/ws:s{}", self.below(8));
        let id = self.id("lce");
        let target = format!("/v1/lifecycle/stream?scope={scope}");
        match self.below(3) {
            0 => Request::get(&format!("{target}&since_lifecycle_id={id}")),
            1 => Request::get(&target).header("Last-Event-ID", id),
            _ => Request::get(&target),
        }
    }
}

fn set(body: &mut Value, name: &str, value: Value) {
    if let Some(members) = body.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

/// The request in the words of one server.
pub(super) fn resolve(request: &Request, mask: &Mask) -> Request {
    let mut own = request.clone();
    own.target = put_in(&request.target, mask);
    own.body = request.body.as_ref().map(|body| match std::str::from_utf8(body) {
        Ok(text) => put_in(text, mask).into_bytes(),
        Err(_) => body.clone(),
    });
    for (_, value) in &mut own.headers {
        if let Ok(text) = std::str::from_utf8(value) {
            *value = put_in(text, mask).into_bytes();
        }
    }
    own
}

fn put_in(text: &str, mask: &Mask) -> String {
    let mut parts = text.split('‹');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('›').unwrap_or((part, ""));
        let (kind, number) = name.split_once(':').unwrap_or((name, "0"));
        let known = mask.own(kind);
        let at = number.parse::<usize>().unwrap_or_default() % known.len().max(1);
        match known.get(at) {
            Some(word) => all.push_str(word),
            None => all.push_str(&format!("{kind}_{ABSENT_DIGITS}")),
        }
        all.push_str(rest);
    }
    all
}
