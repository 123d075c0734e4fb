//! Administration under the same faults: policies, revoked tokens, members of scopes, tenants.
//!
//! For each thing the model keeps everything it may be: one state after an answer, one more after a
//! request that was not answered. What was answered is in force at once, and after every restart.

use std::collections::{BTreeMap, BTreeSet};

use lamina_engine::admin::standing::Standing;
use lamina_engine::open::FIRST_TENANT;
use lamina_engine::write::capture::{PolicyChange, Registered, Request, ScopeChange, ScopeRequest};
use lamina_env::sim::rng::SimRng;
use lamina_store::codec::control::{PolicyTarget, Scope, ScopeSet, TokenRevoked};
use lamina_store::entry::{DEPLOYMENT, Kind, SYSTEM_SCOPE, control};
use lamina_store::log::{EraseTarget, NewEntry, Section};
use lamina_store::view::Registration;
use lamina_types::capability::NAMES;
use lamina_types::limits::REVOCATION_GRACE_US;
use lamina_types::{MemberRole, Micros, ScopePath};
use tokio::sync::oneshot;

use super::workload::{apply, salt};
use super::world::{Process, World};

const SCOPES: &[&str] = &["ws:one", "ws:two", "user:alice"];
const ACTORS: &[&str] = &["user:alice", "user:bob", "agent:planner"];
/// Whom the world writes as.
const WRITER: &str = "user:alice";
const HOUR_US: i64 = 3_600_000_000;

/// What may be so.
#[derive(Debug, Default)]
pub(super) struct Administered {
    /// By target: the documents that may be in force; absent is none.
    policies: BTreeMap<u64, BTreeSet<Option<String>>>,
    /// Tokens that are revoked for certain, and when each ends.
    revoked: BTreeMap<String, Micros>,
    /// By path: how the scope may stand.
    scopes: BTreeMap<String, BTreeSet<String>>,
    /// Tenants that are there for certain.
    tenants: BTreeMap<String, u32>,
    next: u64,
}

impl Administered {
    /// Something was written into a scope: if it may not be registered, it may be now.
    pub(super) fn touched(&mut self, scope: &str) {
        let may = self.scopes.entry(scope.to_owned()).or_insert_with(unregistered);
        if may.contains(UNREGISTERED) {
            may.insert(format!("auto {WRITER}=owner"));
        }
    }
}

const UNREGISTERED: &str = "unregistered";

fn unregistered() -> BTreeSet<String> {
    BTreeSet::from([UNREGISTERED.to_owned()])
}

fn target(number: u64) -> PolicyTarget {
    let well_formed = "well formed";
    match number {
        0 => PolicyTarget::Tenant,
        1 => PolicyTarget::Scope("org:acme".parse().expect(well_formed)),
        2 => PolicyTarget::Scope("org:acme/user:carol".parse().expect(well_formed)),
        _ => PolicyTarget::Actor("user:bob".parse().expect(well_formed)),
    }
}

/// Does one thing and says what.
pub(super) fn step(world: &mut World, choices: &SimRng) -> String {
    let done = match choices.below(8) {
        0 | 1 => policy(world, choices),
        2 => erase_policy(world, choices),
        3 | 4 => revoke(world, choices),
        5 | 6 => scope(world, choices),
        _ => tenant(world, choices),
    };
    if let Err(error) = in_force(world) {
        panic!("{done}: {error}");
    }
    done
}

fn policy(world: &mut World, choices: &SimRng) -> String {
    let number = choices.below(4);
    let name = NAMES.get(choices.below(NAMES.len() as u64) as usize).copied().unwrap_or("*");
    let document = (choices.below(5) > 0).then(|| format!("deny {name}\n"));
    let change = PolicyChange {
        tenant: FIRST_TENANT,
        target: target(number),
        document: document.clone(),
        who: sealed(choices, b"who"),
    };
    let (reply, answer) = oneshot::channel();
    let done = submit(world, Request::Policy { change, reply }, answer).is_some();
    let none = || BTreeSet::from([None]);
    let may = world.model.administered.policies.entry(number).or_insert_with(none);
    if done {
        may.clear();
    }
    may.insert(document.clone());
    format!("policy {number} = {document:?}: {}", word(done))
}

/// Erases the words of a policy: then it is not in force, and neither is one it replaced.
fn erase_policy(world: &mut World, choices: &SimRng) -> String {
    let number = choices.below(4);
    apply(world);
    let process = world.process.as_mut().expect("the process runs");
    if process.stopped {
        // They do not know the newest one any more.
        return "no views to find a policy in".to_owned();
    }
    let Ok(Some(row)) = process.views.policy(FIRST_TENANT, &target(number)) else {
        return "no policy to erase".to_owned();
    };
    let targets = [EraseTarget { offset: row.offset, place: row.place, who: true, what: true }];
    let erased = process.capture.erase(FIRST_TENANT, &targets);
    let done = erased.is_ok();
    if let Ok(committed) = erased {
        process.committed(committed);
    }
    // Folded or not: what is committed is taken into force when the applier takes it.
    apply(world);
    let may = world.model.administered.policies.entry(number).or_default();
    if done {
        may.clear();
    }
    may.insert(None);
    format!("erase policy {number}: {}", word(done))
}

fn revoke(world: &mut World, choices: &SimRng) -> String {
    world.model.administered.next += 1;
    let token = format!("token-{}", world.model.administered.next);
    let exp = world.now().plus(choices.below(4) as i64 * HOUR_US - 2 * HOUR_US);
    let process = world.process.as_ref().expect("the process runs");
    let what = TokenRevoked { token: mac(process, &token), exp };
    let entry = NewEntry {
        kind: Kind::Control,
        sub: control::TOKEN_REVOKED,
        tenant: DEPLOYMENT,
        scope: SYSTEM_SCOPE,
        causes: Vec::new(),
        who: sealed(choices, b"who"),
        what: sealed(choices, &what.encode()),
    };
    let (reply, answer) = oneshot::channel();
    let request = Request::TakeBack { entry: Box::new(entry), reply };
    let done = submit(world, request, answer).is_some();
    if done {
        world.model.administered.revoked.insert(token.clone(), exp);
    }
    format!("revoke {token}: {}", word(done))
}

fn scope(world: &mut World, choices: &SimRng) -> String {
    let name = pick(SCOPES, choices);
    let path: ScopePath = name.parse().expect("well formed");
    let remove = choices.below(3) == 0;
    let members: Vec<_> = ACTORS
        .iter()
        .zip(MemberRole::ALL)
        .skip(choices.below(3) as usize)
        .map(|(actor, role)| (actor.parse().expect("well formed"), *role))
        .collect();
    let after = if remove { UNREGISTERED.to_owned() } else { shown("explicit", &members) };
    let change = match remove {
        true => ScopeChange::Remove,
        false => ScopeChange::Set { members, policies: String::new() },
    };
    let request = ScopeRequest {
        tenant: FIRST_TENANT,
        path,
        owner: WRITER.parse().expect("well formed"),
        change,
        who: sealed(choices, b"who"),
    };
    let (reply, answer) = oneshot::channel();
    let request = Request::Scope { request: Box::new(request), reply };
    let done = submit(world, request, answer).is_some();
    let scopes = &mut world.model.administered.scopes;
    let may = scopes.entry(name.to_owned()).or_insert_with(unregistered);
    if done {
        may.clear();
    }
    may.insert(after.clone());
    format!("scope {name} = {after}: {}", word(done))
}

fn tenant(world: &mut World, choices: &SimRng) -> String {
    let name = format!("tenant-{}", choices.below(5));
    let process = world.process.as_ref().expect("the process runs");
    let known = process.views.tenants().map(|rows| rows.last().map_or(0, |row| row.ordinal));
    let mut ordinal = known.unwrap_or(0) + 1;
    for _ in 0..3 {
        let process = world.process.as_ref().expect("the process runs");
        let Ok(key) = process.keys.create_tenant(ordinal) else {
            return format!("{name}: no key");
        };
        let (reply, answer) = oneshot::channel();
        let key_check = key.check_value();
        let request = Request::Tenant { name: name.clone(), ordinal, key_check, reply };
        match submit(world, request, answer) {
            None => return format!("{name}: not answered"),
            Some(Registered::Next(next)) => ordinal = next,
            Some(Registered::Is(ordinal)) => {
                let tenants = &mut world.model.administered.tenants;
                let before = tenants.insert(name.clone(), ordinal);
                assert!(before.is_none_or(|before| before == ordinal), "{name} was {before:?}");
                return format!("{name} is {ordinal}");
            }
        }
    }
    format!("{name}: given up")
}

/// Commits one request and applies it; the answer, if it was a good one.
fn submit<T>(
    world: &mut World,
    request: Request,
    mut answer: oneshot::Receiver<Result<T, lamina_engine::Error>>,
) -> Option<T> {
    let process = world.process.as_mut().expect("the process runs");
    let committed = process.capture.commit(vec![request]);
    process.committed(committed);
    apply(world);
    answer.try_recv().ok()?.ok()
}

/// What was answered is in force now, whatever became of the views.
fn in_force(world: &World) -> Result<(), String> {
    let Some(process) = &world.process else { return Ok(()) };
    let model = &world.model.administered;
    holds(process, &process.standing, model)
}

fn holds(process: &Process, standing: &Standing, model: &Administered) -> Result<(), String> {
    for (token, exp) in &model.revoked {
        let over = exp.plus(REVOCATION_GRACE_US) <= process.capture.recorded_last().0;
        if standing.revoked(&mac(process, token)).is_none() && !over {
            return Err(format!("{token} was revoked and is accepted"));
        }
    }
    for (number, may) in &model.policies {
        let policies = standing.policies();
        let found = policies.get(FIRST_TENANT, &target(*number));
        let found = found.map(|record| record.document.to_string());
        if !may.contains(&found) {
            return Err(format!("policy {number} is {found:?} and may be {may:?}"));
        }
    }
    for (name, ordinal) in &model.tenants {
        if standing.tenant(name) != Some(*ordinal) {
            return Err(format!("{name} is {:?}, not {ordinal}", standing.tenant(name)));
        }
    }
    Ok(())
}

/// What must hold after every start; what was uncertain is known from here on.
pub(super) fn after_open(world: &mut World) -> Result<(), String> {
    let process = world.process.as_ref().ok_or("the process does not run")?;
    let model = &mut world.model.administered;
    holds(process, &process.standing, model)?;
    let policies = process.standing.policies();
    for (number, may) in &mut model.policies {
        let found = policies.get(FIRST_TENANT, &target(*number));
        *may = BTreeSet::from([found.map(|record| record.document.to_string())]);
    }
    for (path, may) in &mut model.scopes {
        let found = standing_of(process, path)?;
        if !may.contains(&found) {
            return Err(format!("{path} is {found} and may be {may:?}"));
        }
        *may = BTreeSet::from([found]);
    }
    Ok(())
}

/// How a scope stands, by the views and the words that the log has for it.
fn standing_of(process: &Process, path: &str) -> Result<String, String> {
    let said = |error: &dyn std::error::Error| format!("{path}: {error}");
    let scope: ScopePath = path.parse().expect("well formed");
    let views = &process.views;
    let ordinal = views.scope_ordinal(FIRST_TENANT, &scope).map_err(|error| said(&error))?;
    let Some(ordinal) = ordinal else { return Ok(UNREGISTERED.to_owned()) };
    let row = views.scope_standing(FIRST_TENANT, ordinal).map_err(|error| said(&error))?;
    let row = row.ok_or_else(|| format!("{path} is registered and does not stand"))?;
    let how = match row.registration {
        Registration::Auto => "auto",
        Registration::Explicit => "explicit",
        Registration::Removed => return Ok(UNREGISTERED.to_owned()),
        Registration::Erased => return Err(format!("{path} was erased by nobody")),
    };
    let entry = process.reader.entry(row.offset, row.place).map_err(|error| said(&error))?;
    let bytes = entry.what.live().ok_or_else(|| format!("{path} has no words"))?;
    let members = match entry.head.sub {
        control::SCOPE => {
            let scope = Scope::decode(bytes).map_err(|error| said(&error))?;
            vec![(scope.owner, MemberRole::Owner)]
        }
        _ => ScopeSet::decode(bytes).map_err(|error| said(&error))?.members,
    };
    for (actor, role) in &members {
        let tag = views.tag_actor(FIRST_TENANT, actor.as_str()).map_err(|error| said(&error))?;
        let found = views.member_role(FIRST_TENANT, &tag, ordinal);
        if found.map_err(|error| said(&error))? != Some(*role) {
            return Err(format!("{path}: {actor} is not {role}"));
        }
    }
    Ok(shown(how, &members))
}

fn shown(how: &str, members: &[(lamina_types::ActorId, MemberRole)]) -> String {
    let members: Vec<String> =
        members.iter().map(|(actor, role)| format!("{actor}={role}")).collect();
    format!("{how} {}", members.join(","))
}

fn mac(process: &Process, token: &str) -> [u8; 32] {
    let keyed = process.keys.tenant(DEPLOYMENT).expect("the deployment has a key");
    keyed.mac("token", &[token.as_bytes()])
}

fn sealed(choices: &SimRng, words: &[u8]) -> Section {
    Section::seal(salt(&SimRng::new(choices.next_u64())), words)
}

fn pick<'a>(from: &[&'a str], choices: &SimRng) -> &'a str {
    from.get(choices.below(from.len() as u64) as usize).copied().unwrap_or("ws:one")
}

fn word(done: bool) -> &'static str {
    if done { "done" } else { "not answered" }
}
