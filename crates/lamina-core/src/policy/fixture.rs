//! Stacks written as text, so that a test is what is in force, what is asked, and the answer.
//!
//! ```text
//! preset cloud_shared_saas            the preset and its document
//! deployment +scope.* -scope.write    another document of the deployment
//! tenant -blob.*                      likewise: tenant, actor, `scope PATH`
//! member closed writer                the caller's part: open or closed, then a role
//! caller service:sync operator        who asks
//! guest user:alice@acme               who it is there, where all tenants meet
//! caps scope.write blob.read          the token's capabilities
//! limit scope.write:org:acme/*        the token's limits
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use lamina_types::{Micros, ScopePath};

use super::{Caller, Denial, Document, Grant, Guest, Membership, Preset, Stack, Tier};

/// What is in force, and who asks.
#[derive(Debug, Clone)]
pub(super) struct Fixture {
    pub(super) stack: Stack,
    pub(super) caller: Caller,
}

pub(super) fn fixture(text: &str) -> Fixture {
    let mut stack = Stack::of_preset(Preset::OnPremEnterprise);
    let actor = "user:alice".parse().unwrap();
    let mut caller = Caller::plain(actor, 1);
    let mut caps: Option<BTreeSet<String>> = None;
    let mut scopes = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (what, rest) = line.split_once(' ').unwrap();
        match what {
            "preset" => {
                let preset = rest.parse().unwrap();
                stack = Stack { preset, deployment: Arc::new(Preset::document(preset)), ..stack };
            }
            "deployment" => stack.deployment = document(rest),
            "tenant" => stack.tenant = Some(document(rest)),
            "actor" => stack.actor = Some(document(rest)),
            "scope" => {
                let (path, rules) = rest.split_once(' ').unwrap();
                stack.scopes.push((path.parse().unwrap(), document(rules)));
            }
            "member" => stack.membership = membership(rest),
            "caller" => {
                let (name, office) = rest.split_once(' ').unwrap_or((rest, ""));
                caller.actor = name.parse().unwrap();
                caller.operator = office == "operator";
                caller.administrator = office == "administrator";
                caller.delegate = office == "delegate";
            }
            "guest" => stack.guest = Some(Guest { actor: rest.parse().unwrap(), tenant: 9 }),
            "caps" => caps = Some(Grant::read_caps(rest.split(' ')).unwrap()),
            "limit" => scopes.extend(Grant::read_scopes([rest]).unwrap()),
            other => panic!("{other}"),
        }
    }
    if caps.is_some() || !scopes.is_empty() {
        let (jti, iss) = ("tok_1".to_owned(), "https://issuer.test".to_owned());
        caller.grant = Some(Arc::new(Grant { jti, iss, exp: Micros(0), caps, scopes }));
    }
    Fixture { stack, caller }
}

fn document(rules: &str) -> Arc<Document> {
    let (mut allow, mut deny) = (Vec::new(), Vec::new());
    for rule in rules.split_whitespace() {
        match rule.split_at(1) {
            ("+", pattern) => allow.push(pattern),
            ("-", pattern) => deny.push(pattern),
            _ => panic!("{rule} has no sign"),
        }
    }
    Arc::new(Document::from_lists(&allow, &deny).unwrap())
}

fn membership(text: &str) -> Membership {
    let (closed, role) = text.split_once(' ').unwrap_or((text, ""));
    Membership {
        closed: closed == "closed",
        role: (!role.is_empty()).then(|| role.parse().unwrap()),
        registered: true,
        personal: closed == "personal",
    }
}

pub(super) fn scope(text: &str) -> ScopePath {
    text.parse().unwrap()
}

pub(super) fn show(result: &Result<Tier, Denial>) -> String {
    match result {
        Ok(tier) => format!("allowed by {}", tier.as_str()),
        Err(denial) => {
            let Denial { capability, tier, preset: _, remediation, code } = denial;
            format!("{} {} {capability}: {remediation}", code.as_str(), tier.as_str())
        }
    }
}
