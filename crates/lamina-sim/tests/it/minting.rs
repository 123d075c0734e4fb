//! Tokens made by the server itself: off by default, narrow, limited, recorded, revocable (C42, C43).

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use lamina_auth::Minter;
use lamina_env::disk::write_atomic;
use lamina_env::{Disk as _, RealDisk, SystemRng};
use lamina_sim::client::Request;
use lamina_sim::process;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::coverage::check_schema;
use crate::harness::{Answer, Api, binary, data, directory, string, unique_key};
use crate::identity::until_logged;
use crate::tokens::{Signed, Team};

const SELF: &str = "https://lamina.test";

/// A key file as `lamina-issuer init` makes it.
pub(crate) fn key_file(folder: &Path) -> PathBuf {
    let path = folder.join("minting.key");
    Minter::generate(SELF, &SystemRng).unwrap().save(&RealDisk, &path).unwrap();
    path
}

/// A server that mints, with an operator.
struct Mint {
    team: Team,
    folder: TempDir,
}

impl Mint {
    fn start(environment: &[(&str, &str)]) -> Mint {
        let folder = directory();
        let key = key_file(folder.path());
        let own = [
            ("LAMINA_AUTH_MINTING_KEY", key.to_str().unwrap()),
            ("LAMINA_AUTH_OPERATORS", "https://issuer.test=acme/user:root"),
        ];
        let all: Vec<(&str, &str)> = own.iter().chain(environment).copied().collect();
        Mint { team: Team::start_with("cloud_shared_saas", &all), folder }
    }

    fn root(&self) -> Signed {
        self.team.caller("acme", "user:root")
    }

    fn with(&self, token: &str) -> Signed {
        Signed { client: self.team.own.server.client(), token: token.to_owned() }
    }

    fn signup(&self, body: &Value) -> Answer {
        let request = Request::post("/v1/auth/signup", body);
        let response = self.team.own.server.client().send(&request).unwrap();
        Answer::checked("POST", "/v1/auth/signup", response)
    }
}

fn write(caller: &mut Signed, scope: &str) -> Answer {
    let envelope = json!({
        "scope": scope,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": "hello"},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
        "idempotency_key": unique_key(),
    });
    caller.post("/v1/experience", &envelope)
}

#[test]
fn c43_without_a_key_nothing_is_minted() {
    let mut local = Api::shared("minting");
    local.post("/v1/auth/signup", &json!({})).fails(503, "NOT_CONFIGURED");
    local.post("/v1/auth/tokens", &json!({"subject": "user:x"})).fails(503, "NOT_CONFIGURED");
    let team =
        Team::start_with("on_prem_enterprise", &[("LAMINA_AUTH_OPERATORS", "acme/user:root")]);
    let mut root = team.caller("acme", "user:root");
    root.post("/v1/auth/tokens", &json!({"subject": "user:x"})).fails(503, "NOT_CONFIGURED");
    root.post("/v1/auth/signup", &json!({})).fails(503, "NOT_CONFIGURED");
}

/// From nothing to a write, and to the end of the token.
#[test]
fn c43_sign_up_write_and_revoke() {
    let mint = Mint::start(&[("LAMINA_AUTH_MINTING_SIGNUP_TENANT", "public")]);
    let answer =
        mint.signup(&json!({"source": "cli", "display_name": "Ada", "email": "ada@example.com"}));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let signed_up = answer.ok(200);
    check_schema("signed_up", &signed_up);
    let (scope, user) = (string(&signed_up, "scope"), string(&signed_up, "user_id"));
    let mut caller = mint.with(&string(&signed_up, "token"));
    let me = caller.get("/v1/auth/whoami").ok(200);
    assert_eq!((&me["caller"], &me["tenant_id"]), (&json!(user), &json!("public")));
    assert_eq!(me["token"]["jti"], signed_up["jti"]);
    assert_eq!(me["token"]["iss"], SELF);
    write(&mut caller, &scope).ok(202);
    write(&mut caller, &format!("{scope}/ws:notes")).ok(202);
    let events = caller.get(&format!("/v1/events?scope={scope}&view=descend")).ok(200);
    assert_eq!(events["items"].as_array().unwrap().len(), 2);

    // Nothing beyond its own scope, also not its neighbour's.
    let other = mint.signup(&json!({})).ok(200);
    assert_ne!(other["user_id"], signed_up["user_id"]);
    let theirs = string(&other, "scope");
    write(&mut mint.with(&string(&other, "token")), &theirs).ok(202);
    caller.get(&format!("/v1/events?scope={theirs}")).fails(403, "NOT_A_MEMBER");
    write(&mut caller, &theirs).fails(403, "NOT_A_MEMBER");
    write(&mut caller, "org:public").fails(403, "POLICY_DENIED");
    caller.get("/v1/lifecycle").fails(403, "POLICY_DENIED");
    caller.post("/v1/auth/tokens", &json!({"subject": user})).fails(403, "POLICY_DENIED");

    // The row says who came, and nothing that lets anybody in.
    let rows = caller.get("/v1/audit?limit=100").ok(200);
    let text = rows.to_string();
    let row = rows["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["endpoint"] == "POST /v1/auth/signup");
    let row = row.unwrap_or_else(|| panic!("{text}"));
    assert_eq!((&row["actor"], &row["capability"]), (&json!(user), &json!("auth.mint")));
    for secret in [string(&signed_up, "token"), "ada@example.com".to_owned(), "Ada".to_owned()] {
        assert!(!text.contains(&secret) && !mint.team.own.server.logged().contains(&secret));
    }

    let revoked = caller.post("/v1/auth/revoke", &json!({"jti": signed_up["jti"]}));
    assert_eq!(revoked.response.status, 204);
    caller.get("/v1/auth/whoami").fails(401, "REVOKED_TOKEN");
    let team = mint.team.crash();
    let mut again = Signed { client: team.own.server.client(), token: caller.token };
    again.get("/v1/auth/whoami").fails(401, "REVOKED_TOKEN");
}

#[test]
fn c43_signing_up_is_closed_unless_a_tenant_is_named_and_limited_by_address() {
    let mint = Mint::start(&[]);
    let error = mint.signup(&json!({})).fails(403, "POLICY_DENIED");
    assert_eq!(error["details"]["denied_by_tier"], "deployment");
    let mint = Mint::start(&[
        ("LAMINA_AUTH_MINTING_SIGNUP_TENANT", "public"),
        ("LAMINA_AUTH_MINTING_SIGNUP_RATE", "2/h"),
        ("LAMINA_AUTH_MINTING_SIGNUP_TTL_S", "600"),
    ]);
    mint.signup(&json!({"nickname": "x"})).fails(422, "INVALID_BODY");
    for _ in 0..2 {
        let token = string(&mint.signup(&json!({})).ok(200), "token");
        let lives: i64 = mint
            .with(&token)
            .get("/v1/auth/whoami")
            .header("x-cortex-token-expires-in")
            .unwrap()
            .parse()
            .unwrap();
        assert!((1..=600).contains(&lives), "{lives}");
    }
    let refused = mint.signup(&json!({}));
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((3_000..=3_600).contains(&wait), "{wait}");
    refused.fails(429, "RATE_LIMITED");
}

/// C42: how long a newcomer's token lives is configured; nobody else's gets longer by it.
#[test]
fn c42_a_newcomers_token_may_live_for_a_week() {
    let mint = Mint::start(&[
        ("LAMINA_AUTH_MINTING_SIGNUP_TENANT", "public"),
        ("LAMINA_AUTH_MINTING_SIGNUP_TTL_S", "604800"),
        ("LAMINA_AUTH_MINTING_TTL_S_MAX", "2592000"),
    ]);
    let token = string(&mint.signup(&json!({})).ok(200), "token");
    let answer = mint.with(&token).get("/v1/auth/whoami");
    let lives: i64 = answer.header("x-cortex-token-expires-in").unwrap().parse().unwrap();
    assert!((604_000..=604_800).contains(&lives), "{lives}");
    answer.ok(200);
    let week = json!({"subject": "user:x", "ttl_seconds": 604_800});
    mint.root().post("/v1/auth/tokens", &week).fails(422, "INVALID_BODY");
    let mut claims = mint.team.claims("acme", "user:alice");
    claims.exp = claims.iat.plus(86_400 * 1_000_000);
    mint.team.with(&claims).get("/v1/auth/whoami").ok(200);
}

/// `SIGHUP` reads the key to mint with again. A broken one changes nothing, a new one ends the tokens of
/// the old.
#[test]
fn sighup_reads_the_key_to_mint_with_again() {
    let mint = Mint::start(&[("LAMINA_AUTH_MINTING_SIGNUP_TENANT", "public")]);
    let server = &mint.team.own.server;
    let key = mint.folder.path().join("minting.key");
    let signed_up = || string(&mint.signup(&json!({})).ok(200), "token");
    let ask = |token: &str| mint.with(token).get("/v1/auth/whoami");
    let old = signed_up();
    write_atomic(&RealDisk, &key, b"no key").unwrap();
    server.hang_up().unwrap();
    until_logged(server, "the keys of issuers were not changed", 1);
    ask(&old).ok(200);
    ask(&signed_up()).ok(200);
    mint.team.caller("acme", "user:alice").get("/v1/auth/whoami").ok(200);
    RealDisk.remove(&key).unwrap();
    key_file(mint.folder.path());
    server.hang_up().unwrap();
    until_logged(server, "the keys of issuers were read again", 1);
    ask(&signed_up()).ok(200);
    ask(&old).fails(401, "INVALID_TOKEN_SIGNATURE");
    mint.team.caller("acme", "user:alice").get("/v1/auth/whoami").ok(200);
    let metrics = mint.root().get("/v1/admin/metrics");
    let text = metrics.response.text();
    for outcome in ["ok", "failed"] {
        let line = format!("lamina_reloads_total{{what=\"keys\",outcome=\"{outcome}\"}} 1");
        assert!(text.contains(&line), "{text}");
    }
}

#[test]
fn c43_operators_mint_for_others() {
    let mint = Mint::start(&[]);
    let body = json!({"subject": "agent:helper", "ttl_seconds": 600, "caps": ["scope.write", "scope.write.elevated", "scope.create.team"],
                      "scopes": ["scope.write:org:acme/team:x"]});
    mint.team
        .caller("acme", "user:alice")
        .post("/v1/auth/tokens", &body)
        .fails(403, "POLICY_DENIED");
    let answer = mint.root().post("/v1/auth/tokens", &body);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert!(answer.header("x-cortex-policy").unwrap().contains("auth.mint"));
    let minted = answer.ok(201);
    check_schema("minted_token", &minted);
    let mut helper = mint.with(&string(&minted, "token"));
    let me = helper.get("/v1/auth/whoami").ok(200);
    assert_eq!((&me["caller"], &me["tenant_id"]), (&json!("agent:helper"), &json!("acme")));
    assert_eq!(
        me["effective_capabilities"],
        json!(["scope.create.team", "scope.write", "scope.write.elevated"])
    );
    write(&mut helper, "org:acme/team:x").ok(202);
    write(&mut helper, "org:acme/team:y").fails(403, "POLICY_DENIED");
    // It can be taken back by its id.
    let revoked = mint.root().post("/v1/auth/revoke", &json!({"jti": minted["jti"]}));
    assert_eq!(revoked.response.status, 204);
    helper.get("/v1/auth/whoami").fails(401, "REVOKED_TOKEN");
    // A service lives longer, if the operator lets it; nobody lives for ever.
    for (subject, ttl, most) in [("user:a", 86_401, 86_400), ("service:s", 86_401, 86_400)] {
        let body = json!({"subject": subject, "ttl_seconds": ttl});
        let error = mint.root().post("/v1/auth/tokens", &body).fails(422, "INVALID_BODY");
        assert!(
            error["details"]["reason"].as_str().unwrap().contains(&most.to_string()),
            "{error}"
        );
    }
    let rows = mint.root().get("/v1/audit?limit=100").ok(200).to_string();
    assert!(rows.contains("POST /v1/auth/tokens"), "{rows}");
    assert!(
        !rows.contains(&string(&minted, "token"))
            && !mint.team.own.server.logged().contains(&string(&minted, "token"))
    );
}

/// Whatever is asked for, the new token can do nothing that the old one cannot.
#[test]
fn c43_nothing_is_minted_wider_than_the_caller() {
    let mint = Mint::start(&[]);
    let mut claims = mint.team.claims("acme", "user:root");
    let caps = [
        "auth.mint",
        "scope.write",
        "scope.write.elevated",
        "scope.read.local",
        "scope.create.team",
        "audit.read",
    ];
    claims.caps = Some(caps.map(str::to_owned).into());
    claims.scopes = vec![("scope.write".to_owned(), "org:acme/team:x".parse().unwrap())];
    let mut narrow = mint.team.with(&claims);
    let token = |answer: Answer| mint.with(&string(&answer.ok(201), "token"));
    let can = |caller: &mut Signed| {
        caller.get("/v1/auth/whoami").ok(200)["effective_capabilities"].clone()
    };

    // Asked for nothing in particular it is what the caller has, without the right to mint.
    let mut all = token(narrow.post("/v1/auth/tokens", &json!({"subject": "user:root"})));
    assert_eq!(
        can(&mut all),
        json!([
            "audit.read",
            "scope.create.team",
            "scope.read.local",
            "scope.write",
            "scope.write.elevated"
        ])
    );
    write(&mut all, "org:acme/team:x").ok(202);
    write(&mut all, "org:acme/team:y").fails(403, "POLICY_DENIED");
    all.post("/v1/auth/tokens", &json!({"subject": "user:root"})).fails(403, "POLICY_DENIED");

    for (wish, capability) in [
        (json!({"caps": ["forget.gdpr"]}), "forget.gdpr"),
        (json!({"caps": ["policy.administer.deployment"]}), "policy.administer.deployment"),
        (json!({"caps": ["auth.mint"]}), "auth.mint"),
        (json!({"scopes": ["scope.write:org:acme"]}), "scope.write"),
        (json!({"scopes": ["scope.write:org:acme/team:xy"]}), "scope.write"),
        (json!({"scope": "org:other"}), "scope.write"),
    ] {
        let mut body = wish.clone();
        body["subject"] = json!("user:mallory");
        let error = narrow.post("/v1/auth/tokens", &body).fails(403, "POLICY_DENIED");
        assert_eq!(error["details"]["capability"], capability, "{wish}");
    }
    for wish in [
        json!({"caps": ["scope.*"]}),
        json!({"caps": ["no.such"]}),
        json!({"scopes": ["scope.write"]}),
        json!({"scopes": ["scope.write:nonsense"]}),
        json!({"scopes": ["forget.gdpr:org:acme"], "caps": ["scope.write"]}),
        json!({"ttl_seconds": 0}),
        json!({"subject": "system:derive"}),
        json!({"subject": "nobody"}),
    ] {
        let mut body = json!({"subject": "user:mallory"});
        for (name, value) in wish.as_object().unwrap() {
            body[name] = value.clone();
        }
        narrow.post("/v1/auth/tokens", &body).fails(422, "INVALID_BODY");
    }
    // Nobody prolongs its own token.
    claims.exp = claims.iat.plus(300_000_000);
    let mut short = mint.team.with(&claims);
    let mut own = token(
        short.post("/v1/auth/tokens", &json!({"subject": "user:root", "ttl_seconds": 86_400})),
    );
    let lives: i64 =
        own.get("/v1/auth/whoami").header("x-cortex-token-expires-in").unwrap().parse().unwrap();
    assert!(lives <= 300, "{lives}");
}

#[test]
fn c43_a_key_that_cannot_be_used_stops_the_start() {
    let folder = directory();
    let home = data(folder.path());
    let key = key_file(folder.path());
    let serve = |preset: &str, environment: &[(&str, &str)]| {
        let all = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--data",
            home.to_str().unwrap(),
            "--preset",
            preset,
        ];
        let output = process::run_with(&binary(), &all, environment).unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!text.contains("k4.secret"), "{text}");
        (output.status.code(), text)
    };
    let path = key.to_str().unwrap();
    let (code, text) = serve("dev_local", &[("LAMINA_AUTH_MINTING_KEY", path)]);
    assert!(code == Some(64) && text.contains("knows no tokens"), "{text}");
    let (code, text) = serve("cloud_private", &[("LAMINA_AUTH_MINTING_SIGNUP_TENANT", "public")]);
    assert!(code == Some(64) && text.contains("`auth.minting.key` is not"), "{text}");
    let (code, text) = serve("cloud_private", &[("LAMINA_AUTH_MINTING_KEY", "/nowhere")]);
    assert!(code == Some(64) && text.contains("/nowhere"), "{text}");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    let (code, text) = serve("cloud_private", &[("LAMINA_AUTH_MINTING_KEY", path)]);
    assert!(code == Some(64) && text.contains("chmod 600"), "{text}");
}
