//! A server that asks for tokens, and the issuer it believes: the ground of every test in which
//! several tenants meet.

use std::path::Path;

use anyhow::{Context, anyhow};
use lamina_auth::{Claims, Minter, trust_file};
use lamina_env::disk::write_atomic;
use lamina_env::{Clock, RealDisk, SystemClock, SystemRng};
use lamina_types::Micros;
use tempfile::TempDir;

use crate::client::{Client, Request, Response};
use crate::process::{Launch, Server};

const ISSUER: &str = "https://issuer.test";
const SECOND_US: i64 = 1_000_000;
/// Longer than any run, shorter than a token may live.
const TOKEN_LIFE_US: i64 = 20 * 3_600 * SECOND_US;
/// The log turns over within a run.
const SEGMENT_BYTES: &str = "4194304";

/// An issuer that several servers can believe: the same token is good on all of them.
#[derive(Debug)]
pub struct Issuer {
    minter: Minter,
    iat: Micros,
}

/// A running server with a data directory that goes with it.
#[derive(Debug)]
pub struct Ground {
    server: Server,
    _directory: TempDir,
}

/// Somebody with a token, on one server.
#[derive(Debug)]
pub struct Caller {
    client: Client,
    bearer: String,
}

impl Issuer {
    /// With a key of its own.
    pub fn new() -> anyhow::Result<Issuer> {
        let minter = Minter::generate(ISSUER, &SystemRng).map_err(|error| anyhow!("{error}"))?;
        let now = SystemClock::default().wall();
        Ok(Issuer { minter, iat: Micros(now.0 / SECOND_US * SECOND_US) })
    }

    /// The same token for the same words, whoever asks and whenever.
    pub fn token(&self, tenant: &str, actor: &str) -> anyhow::Result<String> {
        let claims = Claims {
            iss: ISSUER.to_owned(),
            sub: actor.parse().context("an actor")?,
            tenant: tenant.parse().context("a tenant")?,
            exp: self.iat.plus(TOKEN_LIFE_US),
            iat: self.iat,
            jti: format!("{tenant}-{}", actor.replace(':', "-")),
            deployment: None,
            caps: None,
            scopes: Vec::new(),
        };
        self.minter.mint(&claims).map_err(|error| anyhow!("{error}"))
    }
}

impl Ground {
    /// Starts the binary under `on_prem_enterprise`, believing this issuer.
    pub fn start(binary: &Path, issuer: &Issuer) -> anyhow::Result<Ground> {
        let directory = tempfile::Builder::new().prefix("lamina-ground-").tempdir()?;
        let keys = directory.path().join("keys.json");
        let minter = &issuer.minter;
        let text = trust_file(minter.iss(), std::slice::from_ref(minter.public()));
        write_atomic(&RealDisk, &keys, text.as_bytes())?;
        let keys = keys.to_str().context("a directory that is not UTF-8")?.to_owned();
        let server = Launch::new(binary, &directory.path().join("data"))
            .environment("LAMINA_PRESET", "on_prem_enterprise")
            .environment("LAMINA_TRUST", keys)
            .environment("LAMINA_AUTH_TENANT_ADMINS", "acme/user:alice,other/user:alice")
            .environment("LAMINA_STORAGE_SEGMENT_BYTES", SEGMENT_BYTES)
            .start()?;
        Ok(Ground { server, _directory: directory })
    }

    /// Somebody who calls this server with this token.
    pub fn caller(&self, token: &str) -> Caller {
        Caller { client: self.server.client(), bearer: format!("Bearer {token}") }
    }
}

impl Caller {
    /// The request with the token of this caller.
    pub fn signed(&self, request: Request) -> Request {
        request.header("Authorization", &self.bearer)
    }

    /// Sends with the token.
    pub fn send(&mut self, request: Request) -> anyhow::Result<Response> {
        let request = self.signed(request);
        self.client.send(&request)
    }

    /// Sends what [`Caller::signed`] made: for those who look at the clock around it.
    pub fn send_signed(&mut self, request: &Request) -> anyhow::Result<Response> {
        self.client.send(request)
    }

    /// For what is not one request and one answer.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends, and gives the body of an answer that must be a success.
    pub fn ok(&mut self, request: Request) -> anyhow::Result<serde_json::Value> {
        let asked = format!("{} {}", request.method, request.target);
        let response = self.send(request)?;
        if response.status >= 300 {
            anyhow::bail!("{asked}: {} {}", response.status, response.text());
        }
        if response.body.is_empty() { Ok(serde_json::Value::Null) } else { response.json() }
    }
}
