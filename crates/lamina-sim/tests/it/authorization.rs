//! Every route, asked by everybody who may not and by one who may: no token, a bad one, one of
//! another tenant, one without the capability, one with the capability elsewhere, one that is enough.
//!
//! The routes come from the table of the contract and the requests from `coverage`, so a route that
//! is added fails here until somebody has decided who may call it. What each answers is committed in
//! `authorization.txt`; `UPDATE_EXPECT=1` writes the file anew, and a change in it is a change of
//! who may do what.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use expect_test::expect_file;
use lamina_api::routes::{Method, ROUTES, RouteSpec, RouteStatus};
use lamina_sim::client::{Client, Request, Response};
use lamina_types::capability;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::coverage::{
    Known, covered_vocabulary, declaration, disputing, erasing, importing, name, probes, recurring,
    route_of, sample, upload,
};
use crate::harness::{Answer, directory, envelope, string};
use crate::minting::key_file;
use crate::tokens::Team;

const TENANT: &str = "acme";
const CALLER: &str = "user:root";
const SCOPE: &str = "org:walk/ws:one";
const OPERATOR: &[(&str, &str)] =
    &[("LAMINA_AUTH_OPERATORS", "https://issuer.test=acme/user:root")];
/// A word that only the tenant under test has written.
const SECRET: &str = "obsidian";

/// What answers without a token, and why. Everything else refuses before it does anything.
const OPEN: &[(&str, &str)] = &[
    ("GET /v1/admin/health", "liveness; the details are for holders of admin.health (C21)"),
    ("GET /v1/admin/ready", "asked by load balancers"),
    ("GET /v1/admin/version", "asked by clients before they have a token (C21)"),
    ("GET /v1/health", "liveness"),
    ("GET /v1/ready", "asked by load balancers"),
    ("GET /v1/openapi.json", "the contract is public"),
    ("POST /v1/auth/signup", "whoever signs up has no token yet"),
    ("* /v1/code/{*rest}", "says only that there is no code plane"),
];
/// What any valid token may ask: what it is itself worth.
const ANY_TOKEN: &[&str] =
    &["GET /v1/auth/whoami", "GET /v1/policy/effective", "GET /v1/policy/deployment"];

/// The columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum As {
    Nobody,
    Forger,
    Stranger,
    Narrowed,
    Elsewhere,
    Allowed,
}

const REFUSED: &[As] = &[As::Nobody, As::Forger, As::Stranger, As::Narrowed, As::Elsewhere];

/// One route and the request that asks it.
struct Step {
    route: &'static RouteSpec,
    request: Request,
    /// The status it answers to one who may.
    status: u16,
}

/// What came back, as it stands in the committed table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    text: String,
    status: u16,
    body: String,
}

impl Outcome {
    fn of(asked: &Request, response: Response) -> Outcome {
        let answer = Answer::checked(&asked.method, &asked.target, response);
        let (status, body) = (answer.response.status, answer.response.text());
        let mut text = status.to_string();
        if status >= 400 {
            let error = answer.response.json().unwrap();
            text = format!("{text} {}", string(&error, "error_code"));
            if let Some(capability) = error["details"]["capability"].as_str() {
                let tier = string(&error["details"], "denied_by_tier");
                assert_eq!(error["details"]["decided_by_tier"], tier.as_str(), "C53: {error}");
                text = format!("{text} {capability} by {tier}");
            }
        }
        Outcome { text, status, body }
    }
}

struct Walk {
    team: Team,
    client: Client,
    known: Known,
    _folder: TempDir,
}

impl Walk {
    fn start() -> Walk {
        let folder = directory();
        let key = key_file(folder.path());
        let minting = [
            ("LAMINA_AUTH_MINTING_KEY", key.to_str().unwrap()),
            ("LAMINA_AUTH_MINTING_SIGNUP_TENANT", "public"),
        ];
        let environment: Vec<(&str, &str)> = OPERATOR.iter().chain(&minting).copied().collect();
        let team = Team::start_with("on_prem_enterprise", &environment);
        let mut root = team.caller(TENANT, CALLER);
        let made = root.post("/v1/experience?wait=settled", &envelope(SCOPE, SECRET)).ok(200);
        let event = string(&made, "event_id");
        let rows = root.get(&format!("/v1/lifecycle?event_id={event}")).ok(200);
        let lifecycle = string(&rows["items"][0], "lifecycle_id");
        let blob = string(&root.send(upload()).ok(201), "blob_id");
        let keyed = envelope(SCOPE, SECRET);
        let key = string(&keyed, "idempotency_key");
        root.post("/v1/experience?wait=settled", &keyed).ok(200);
        let rows = root.get("/v1/audit?limit=1").ok(200);
        let audit = string(&rows["items"][0], "id");
        for said in disputing(SCOPE) {
            root.post("/v1/experience?wait=settled", &said).ok(200);
        }
        let page = root.get(&format!("/v1/conflicts?scope={SCOPE}")).ok(200);
        let conflict = string(&page["conflicts"][0], "id");
        let entity = string(&page["conflicts"][0], "subject_id");
        let belief = string(&root.post("/v1/beliefs", &declaration(SCOPE)).ok(201), "id");
        root.post("/v1/vocabularies", &covered_vocabulary()).ok(201);
        for said in recurring(SCOPE) {
            root.post("/v1/experience?wait=consolidated", &said).ok(200);
        }
        let asked = json!({"scope": SCOPE, "topics": []});
        root.post("/v1/understanding/synthesize", &asked).ok(202);
        let page = root.get(&format!("/v1/understanding?scope={SCOPE}")).ok(200);
        let concept = string(&page["items"][0], "id");
        let nothing = erasing(SCOPE);
        let erasure = string(&root.post("/v1/erasures", &nothing).ok(202), "erasure_id");
        // It is announced until it is over, and nothing else may change from here on.
        let over = format!("/v1/lifecycle?erasure_id={erasure}&events=erasure_complete");
        while root.get(&over).ok(200)["items"] == json!([]) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let shown = root.post("/v1/erasures/preview", &nothing).ok(200);
        let exported = root.post("/v1/export", &json!({"scope": SCOPE})).ok(202);
        let import = importing(SCOPE, "known");
        let import = string(&root.post("/v1/import/jsonl", &import).ok(202), "import_id");
        let known = Known {
            tenant: TENANT.to_owned(),
            caller: CALLER.to_owned(),
            scope: SCOPE.to_owned(),
            event,
            lifecycle,
            blob,
            key,
            audit,
            conflict,
            belief,
            concept,
            entity,
            erasure,
            erasure_preview: string(&shown, "preview_id"),
            export: string(&exported, "export_id"),
            import,
        };
        Walk { client: team.own.server.client(), team, known, _folder: folder }
    }

    /// Every route of the table that somebody has thought of, in its order.
    fn steps(&self) -> Vec<Step> {
        let mut requests: BTreeMap<String, (Request, u16)> = BTreeMap::new();
        for probe in probes(&self.known) {
            let route = route_of(&probe.request.method, &probe.request.target);
            requests.insert(name(route), (with_effect(probe.request), probe.status));
        }
        let stream = Request::get(&format!("/v1/lifecycle/stream?scope={SCOPE}"));
        requests.insert("GET /v1/lifecycle/stream".to_owned(), (stream, 200));
        let everything = json!({"allow": ["*"], "deny": ["forget.gdpr"]});
        let deployment = Request::new("PUT", "/v1/policy/deployment").json(&everything);
        requests.insert("PUT /v1/policy/deployment".to_owned(), (deployment, 200));
        let signup = Request::post("/v1/auth/signup", &json!({}));
        requests.insert("POST /v1/auth/signup".to_owned(), (signup, 200));
        let mint = Request::post("/v1/auth/tokens", &json!({"subject": "user:x"}));
        requests.insert("POST /v1/auth/tokens".to_owned(), (mint, 201));
        let found = ROUTES.iter().filter_map(|route| {
            let (request, status) = match route.status {
                RouteStatus::Built => requests.remove(&name(route))?,
                RouteStatus::NotImplemented => (unbuilt(route), 501),
                RouteStatus::Unavailable(code) => (unbuilt(route), code.status()),
            };
            Some(Step { route, request, status })
        });
        found.collect()
    }

    fn token(&self, step: &Step, who: As) -> Option<String> {
        let mut claims = self.team.claims(TENANT, CALLER);
        let capability = step.route.capability;
        match (who, capability) {
            (As::Nobody, _) => return None,
            (As::Forger, _) => return Some(forged(&self.team.mint(&claims))),
            (As::Stranger, _) => claims = self.team.claims("other", CALLER),
            (As::Narrowed, Some(capability)) => {
                let others = capability::NAMES.iter().filter(|name| !grants(name, capability));
                claims.caps = Some(others.map(|name| (*name).to_owned()).collect());
            }
            // Without a capability to leave out, a token that has none at all.
            (As::Narrowed, None) => claims.caps = Some(BTreeSet::new()),
            (As::Elsewhere, Some(capability)) => {
                let all = capability::NAMES.iter().filter(|name| grants(name, capability));
                let elsewhere =
                    |name: &&str| ((*name).to_owned(), "org:elsewhere/*".parse().unwrap());
                claims.scopes = all.map(elsewhere).collect();
            }
            (As::Elsewhere, None) | (As::Allowed, _) => {}
        }
        Some(self.team.mint(&claims))
    }

    /// Asks with a request id that names the cell, so that its audit row can be found.
    fn ask(&mut self, step: &Step, who: As) -> Outcome {
        let mut request = step.request.clone().header("X-Cortex-Request-ID", cell(step, who));
        if let Some(token) = self.token(step, who) {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let response = match step.route.path {
            "/v1/lifecycle/stream" => {
                let request = request.clone().header("Accept", "text/event-stream");
                match self.client.stream(&request).unwrap() {
                    Ok(stream) => stream.head().clone(),
                    Err(refused) => refused,
                }
            }
            _ => self.client.send(&request).unwrap(),
        };
        Outcome::of(&request, response)
    }

    /// Everything of the tenant that a call could have changed.
    fn state(&mut self) -> Vec<String> {
        let mut root = self.team.caller(TENANT, CALLER);
        let Known { event, blob, .. } = &self.known;
        let targets = [
            format!("/v1/events?scope={SCOPE}&view=descend&limit=1000"),
            format!("/v1/lifecycle/memory-event/{event}"),
            format!("/v1/lifecycle?scope={SCOPE}&limit=1000"),
            format!("/v1/blobs/{blob}"),
            "/v1/scopes/list?limit=1000".to_owned(),
            format!("/v1/scopes?path={SCOPE}"),
            "/v1/policy/deployment".to_owned(),
            "/v1/policy/tenant/acme".to_owned(),
            format!("/v1/policy/scope?path={SCOPE}"),
            "/v1/policy/actor/user:covered".to_owned(),
        ];
        targets.iter().map(|target| root.get(target).response.text()).collect()
    }
}

/// A policy that says nothing changes nothing, refused or not; one that denies something would show.
fn with_effect(request: Request) -> Request {
    if request.method == "PUT" && request.target.starts_with("/v1/policy/") {
        return Request::new("PUT", &request.target).json(&json!({"deny": ["forget.gdpr"]}));
    }
    request
}

fn unbuilt(route: &RouteSpec) -> Request {
    let method = match route.method {
        Method::Any => "POST",
        method => method.as_str(),
    };
    Request::new(method, &sample(route)).json(&json!({}))
}

/// Whether a capability opens what needs another one. C24: who administers a tenant may write its
/// vocabularies.
fn grants(name: &str, needed: &str) -> bool {
    name == needed || (needed, name) == ("vocabulary.write", "policy.administer.tenant")
}

/// The same token with one character of its signature changed.
fn forged(token: &str) -> String {
    let mut forged = token.to_owned();
    let other = if token[60..61] == *"A" { "B" } else { "A" };
    forged.replace_range(60..61, other);
    forged
}

fn cell(step: &Step, who: As) -> String {
    format!("{who:?}:{}", name(step.route).replace(' ', ":"))
}

/// What the rules say, whatever the table says.
fn check_rule(step: &Step, who: As, outcome: &Outcome) {
    let route = name(step.route);
    let shown = format!("{route} as {who:?}: {} {}", outcome.text, outcome.body);
    let is_open = OPEN.iter().any(|(open, _)| *open == route);
    match (who, step.route.capability) {
        (As::Allowed, _) => assert_eq!(outcome.status, step.status, "{shown}"),
        _ if is_open => assert_eq!(outcome.status, step.status, "{shown}"),
        (As::Nobody, _) => assert_eq!(outcome.text, "401 MISSING_TOKEN", "{shown}"),
        (As::Forger, _) => assert_eq!(outcome.text, "401 INVALID_TOKEN_SIGNATURE", "{shown}"),
        (As::Narrowed | As::Elsewhere, Some(capability))
            if step.route.status == RouteStatus::Built =>
        {
            let expected = format!("403 POLICY_DENIED {capability} by actor");
            assert_eq!(outcome.text, expected, "{shown}");
        }
        (As::Narrowed | As::Elsewhere, None) => {
            assert!(
                ANY_TOKEN.contains(&route.as_str()),
                "{route} needs no capability: is it open?"
            );
            assert_eq!(outcome.status, step.status, "{shown}");
        }
        (As::Narrowed | As::Elsewhere, Some(_)) => {
            assert_eq!(outcome.status, step.status, "nothing is behind it yet: {shown}");
        }
        (As::Stranger, _) => {
            assert!(!outcome.body.contains(SECRET), "{shown}");
            assert!(!outcome.body.contains(TENANT) || outcome.status >= 400, "{shown}");
        }
    }
}

#[test]
fn r154_every_route_refuses_whoever_may_not_and_changes_nothing() {
    let mut walk = Walk::start();
    let steps = walk.steps();
    let before = walk.state();
    let mut table: BTreeMap<String, Vec<Outcome>> = BTreeMap::new();
    for step in &steps {
        let row = table.entry(name(step.route)).or_default();
        for who in REFUSED {
            let outcome = walk.ask(step, *who);
            check_rule(step, *who, &outcome);
            row.push(outcome);
        }
        assert_eq!(walk.state(), before, "{} changed something", name(step.route));
    }
    check_audit(&walk, &steps, &table);
    // What is allowed changes things, the policy of the deployment most: it comes last.
    let (last, first): (Vec<&Step>, Vec<&Step>) =
        steps.iter().partition(|step| name(step.route) == "PUT /v1/policy/deployment");
    for step in allowed_order(first).into_iter().chain(last) {
        let outcome = walk.ask(step, As::Allowed);
        check_rule(step, As::Allowed, &outcome);
        table.get_mut(&name(step.route)).unwrap().push(outcome);
    }
    expect_file!["./authorization.txt"].assert_eq(&printed(&table));
}

/// Making comes before reading, and removing last: one probe may need what another made.
fn allowed_order(mut steps: Vec<&Step>) -> Vec<&Step> {
    steps.sort_by_key(|step| match (step.route.method, step.route.path) {
        (Method::Delete, _) => 2,
        (_, "/v1/scopes/members") => 1,
        _ => 0,
    });
    steps
}

/// R318: a refusal by the policy leaves a row that says what was said; a call without a valid token
/// has no caller and leaves none; a stranger's is in the stranger's own log.
fn check_audit(walk: &Walk, steps: &[Step], table: &BTreeMap<String, Vec<Outcome>>) {
    let ours = denied_rows(walk, TENANT);
    let theirs = denied_rows(walk, "other");
    for step in steps {
        for (who, outcome) in REFUSED.iter().zip(&table[&name(step.route)]) {
            let cell = cell(step, *who);
            let expected = (outcome.status == 403).then(|| outcome.text.clone());
            let is_stranger = *who == As::Stranger;
            let (here, there) = if is_stranger { (&theirs, &ours) } else { (&ours, &theirs) };
            assert_eq!(here.get(&cell), expected.as_ref(), "the audit row of {cell}");
            assert_eq!(there.get(&cell), None, "{cell} in the log of another tenant");
        }
    }
    assert!(!ours.is_empty() && !theirs.is_empty(), "there were refusals to look for");
}

/// The refusals of a tenant's audit log by request id, as the answers said them.
fn denied_rows(walk: &Walk, tenant: &str) -> BTreeMap<String, String> {
    let mut auditor = walk.team.caller(tenant, CALLER);
    let mut found = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let page = auditor.get(&format!("/v1/audit?decision=deny&limit=1000{cursor}")).ok(200);
        for row in page["items"].as_array().unwrap() {
            let (capability, tier) = (string(row, "capability"), string(row, "decided_by_tier"));
            let status = &row["response_status"];
            let text = format!("{status} POLICY_DENIED {capability} by {tier}");
            assert_eq!(row["decision"], "deny", "{row}");
            assert_eq!(row["tenant_id"], tenant, "{row}");
            found.insert(string(row, "request_id"), text);
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

fn printed(table: &BTreeMap<String, Vec<Outcome>>) -> String {
    let mut text = String::from(
        "# What each route answers to: no token | a bad token | a token of another tenant |\n\
         # one without the capability | one with the capability elsewhere | one that is enough.\n\
         # Written by `it::authorization`; UPDATE_EXPECT=1 writes it anew.\n",
    );
    let uncovered: Vec<String> =
        ROUTES.iter().map(name).filter(|route| !table.contains_key(route)).collect();
    let _ = writeln!(text, "\nuncovered: {}", uncovered.len());
    assert_eq!(uncovered, Vec::<String>::new(), "write a probe for the route in `coverage`");
    for (name, capability) in ROUTES.iter().map(|route| (name(route), route.capability)) {
        let capability = capability.unwrap_or("no capability");
        let cells: Vec<&str> = table[&name].iter().map(|outcome| outcome.text.as_str()).collect();
        let _ = write!(text, "\n{name} ({capability})\n  {}\n", cells.join("\n  "));
    }
    text
}

#[test]
fn what_is_open_is_in_the_table_and_needs_no_capability() {
    for (open, reason) in OPEN {
        let route = ROUTES.iter().find(|route| name(route) == *open);
        assert_eq!(route.unwrap_or_else(|| panic!("{open}")).capability, None, "{open}");
        assert!(!reason.is_empty());
    }
    let free: Vec<String> =
        ROUTES.iter().filter(|route| route.capability.is_none()).map(name).collect();
    for route in free {
        let known = OPEN.iter().any(|(open, _)| *open == route);
        assert!(known || ANY_TOKEN.contains(&route.as_str()), "{route}: say who may call it");
    }
}

/// A capability that the tenant's policy denies is denied by that tier, whatever the token says.
#[test]
fn a_denial_names_the_outermost_tier() {
    let team = Team::start_with("on_prem_enterprise", OPERATOR);
    let mut root = team.caller(TENANT, CALLER);
    let deny = json!({"deny": ["scope.read.local"]});
    root.send(Request::new("PUT", "/v1/policy/tenant/acme").json(&deny)).ok(200);
    let mut claims = team.claims(TENANT, CALLER);
    claims.caps = Some(BTreeSet::new());
    let mut narrowed = team.with(&claims);
    let denied: Value =
        narrowed.get(&format!("/v1/events?scope={SCOPE}")).fails(403, "POLICY_DENIED");
    assert_eq!(denied["details"]["denied_by_tier"], "tenant");
}
