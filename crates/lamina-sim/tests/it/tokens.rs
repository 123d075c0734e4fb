//! A server that believes an issuer of its test, and callers with tokens of that issuer.

use std::path::{Path, PathBuf};

use lamina_auth::{Claims, Minter, trust_file};
use lamina_env::{Clock, Disk, RealDisk, SystemClock, SystemRng};
use lamina_sim::client::{Client, EventStream, Request};
use lamina_sim::process::Server;
use lamina_types::Micros;
use serde_json::Value;

use crate::harness::{Answer, Own, directory, launch};

const ISSUER: &str = "https://issuer.test";
const SECOND: i64 = 1_000_000;
/// Alice administers both tenants unless a test names others; everybody else is an ordinary user.
const ADMINISTRATORS: (&str, &str) =
    ("LAMINA_AUTH_TENANT_ADMINS", "acme/user:alice,other/user:alice");

/// An issuer, and a server that believes it.
#[derive(Debug)]
pub(crate) struct Team {
    pub(crate) own: Own,
    minter: Minter,
    environment: Vec<(String, String)>,
}

impl Team {
    pub(crate) fn start(preset: &str) -> Team {
        Team::start_with(preset, &[])
    }

    pub(crate) fn start_with(preset: &str, environment: &[(&str, &str)]) -> Team {
        let directory = directory();
        let minter = Minter::generate(ISSUER, &SystemRng).unwrap();
        let keys = trust(&directory.path().join("keys.json"), &minter);
        let keys = keys.to_str().unwrap();
        let own = [("LAMINA_PRESET", preset), ("LAMINA_TRUST", keys), ADMINISTRATORS];
        let all: Vec<(&str, &str)> = own.iter().chain(environment).copied().collect();
        let server = launch(directory.path(), &all).start().unwrap();
        let environment =
            all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Team { own: Own { server, directory }, minter, environment }
    }

    /// `kill -9` and start again on the same data.
    pub(crate) fn crash(self) -> Team {
        self.again(|server| server.kill().unwrap())
    }

    /// `SIGTERM`, wait, start again on the same data.
    pub(crate) fn restart(self) -> Team {
        self.again(|server| assert!(server.stop().unwrap().success()))
    }

    /// `SIGTERM`, wait, do something with the directory, and start again with these variables too.
    pub(crate) fn restart_with(
        self,
        environment: &[(&str, &str)],
        between: impl FnOnce(&Path),
    ) -> Team {
        let Team { own: Own { server, directory }, minter, environment: known } = self;
        assert!(server.stop().unwrap().success());
        between(directory.path());
        let more =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let environment: Vec<(String, String)> = known.into_iter().chain(more).collect();
        let all: Vec<(&str, &str)> =
            environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let server = launch(directory.path(), &all).start().unwrap();
        Team { own: Own { server, directory }, minter, environment }
    }

    fn again(self, end: impl FnOnce(Server)) -> Team {
        let Team { own: Own { server, directory }, minter, environment } = self;
        end(server);
        let all: Vec<(&str, &str)> =
            environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let server = launch(directory.path(), &all).start().unwrap();
        Team { own: Own { server, directory }, minter, environment }
    }

    /// The claims of an ordinary token: an hour, everything the policy gives.
    pub(crate) fn claims(&self, tenant: &str, actor: &str) -> Claims {
        let now = SystemClock::default().wall();
        let iat = Micros(now.0 / SECOND * SECOND);
        Claims {
            iss: ISSUER.to_owned(),
            sub: actor.parse().unwrap(),
            tenant: tenant.parse().unwrap(),
            exp: iat.plus(3_600 * SECOND),
            iat,
            jti: crate::harness::unique_key(),
            deployment: None,
            caps: None,
            scopes: Vec::new(),
        }
    }

    pub(crate) fn mint(&self, claims: &Claims) -> String {
        self.minter.mint(claims).unwrap()
    }

    /// A caller with an ordinary token.
    pub(crate) fn caller(&self, tenant: &str, actor: &str) -> Signed {
        self.with(&self.claims(tenant, actor))
    }

    /// A caller with a token of these claims.
    pub(crate) fn with(&self, claims: &Claims) -> Signed {
        Signed { client: self.own.server.client(), token: self.mint(claims) }
    }
}

/// Writes the file of keys of an issuer.
pub(crate) fn trust(path: &Path, minter: &Minter) -> PathBuf {
    let text = trust_file(minter.iss(), std::slice::from_ref(minter.public()));
    lamina_env::disk::write_atomic(&RealDisk as &dyn Disk, path, text.as_bytes()).unwrap();
    path.to_owned()
}

/// A caller with a token.
#[derive(Debug)]
pub(crate) struct Signed {
    pub(crate) client: Client,
    pub(crate) token: String,
}

impl Signed {
    pub(crate) fn send(&mut self, request: Request) -> Answer {
        let bearer = format!("Bearer {}", self.token);
        let request = request.header("Authorization", &bearer);
        let response = self.client.send(&request).unwrap();
        Answer::checked(&request.method, &request.target, response)
    }

    pub(crate) fn stream(&self, request: Request) -> EventStream {
        let bearer = format!("Bearer {}", self.token);
        let request = request.header("Authorization", &bearer);
        let request = request.header("Accept", "text/event-stream");
        self.client.stream(&request).unwrap().unwrap_or_else(|refused| panic!("{}", refused.text()))
    }

    pub(crate) fn get(&mut self, target: &str) -> Answer {
        self.send(Request::get(target))
    }

    pub(crate) fn post(&mut self, target: &str, body: &Value) -> Answer {
        self.send(Request::post(target, body))
    }
}
