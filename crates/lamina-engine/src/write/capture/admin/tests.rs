//! Scopes, policies and tenants decided ahead of the views give what deciding one by one gives.

use std::collections::BTreeMap;

use lamina_env::sim::rng::SimRng;
use lamina_store::codec::control::PolicyTarget;
use lamina_types::ActorId;
use tokio::sync::oneshot;

use super::super::tests::{World, world};
use super::*;
use crate::open::FIRST_TENANT;
use crate::write::capture::{Committed, Request};

const SCOPES: [&str; 3] = ["ws:a", "ws:b", "ws:a/user:c"];

/// How a scope stands, and who belongs to it.
type Stands = (Registration, Vec<String>);

#[derive(Debug, Default)]
struct Model {
    scopes: BTreeMap<&'static str, Stands>,
    version: u64,
    tenants: Vec<String>,
}

/// One request, and what it leaves.
fn request(world: &World, model: &mut Model, rng: &SimRng, number: u64) -> Request {
    let name = SCOPES[rng.below(3) as usize];
    let actor: ActorId = format!("user:n{number}").parse().unwrap();
    let registered = model.scopes.get(name).is_some_and(|(how, _)| *how != Registration::Removed);
    let change = match rng.below(6) {
        0 | 1 => {
            if !registered {
                let owner = vec!["user:local".to_owned()];
                model.scopes.insert(name, (Registration::Auto, owner));
            }
            let (reply, _) = oneshot::channel();
            return Request::Write { items: vec![world.item(number, name, 1)], reply };
        }
        2 => {
            model.version += 1;
            let change = PolicyChange {
                tenant: FIRST_TENANT,
                target: PolicyTarget::Tenant,
                document: None,
                who: Section::absent(),
            };
            let (reply, _) = oneshot::channel();
            return Request::Policy { change, reply };
        }
        3 => {
            let name = format!("tenant-{}", rng.below(3));
            if !model.tenants.contains(&name) {
                model.tenants.push(name.clone());
            }
            let place = model.tenants.iter().position(|known| *known == name).unwrap();
            let ordinal = FIRST_TENANT + 1 + place as u32;
            let (reply, _) = oneshot::channel();
            let key_check = world.keys.create_tenant(ordinal).unwrap().check_value();
            return Request::Tenant { name, ordinal, key_check, reply };
        }
        4 => {
            model.scopes.insert(name, (Registration::Explicit, vec![actor.to_string()]));
            ScopeChange::Set { members: vec![(actor, MemberRole::Writer)], policies: String::new() }
        }
        _ => {
            if registered {
                model.scopes.insert(name, (Registration::Removed, Vec::new()));
            }
            ScopeChange::Remove
        }
    };
    let request = ScopeRequest {
        tenant: FIRST_TENANT,
        path: name.parse().unwrap(),
        owner: "user:local".parse().unwrap(),
        change,
        who: Section::absent(),
    };
    let (reply, _) = oneshot::channel();
    Request::Scope { request: Box::new(request), reply }
}

#[test]
fn whatever_the_views_know_yet_the_outcome_is_the_same() {
    for seed in 0..300 {
        let rng = SimRng::new(seed);
        let mut world = world(1 << 20);
        let mut model = Model::default();
        let (mut group, mut late): (Vec<Request>, Vec<Committed>) = (Vec::new(), Vec::new());
        for number in 0..40 {
            group.push(request(&world, &mut model, &rng, number));
            if rng.below(3) == 0 {
                late.push(world.capture.commit(std::mem::take(&mut group)));
            }
            if rng.below(6) == 0 {
                late.drain(..).for_each(|committed| world.fold(committed));
            }
        }
        late.push(world.capture.commit(group));
        late.into_iter().for_each(|committed| world.fold(committed));
        agree(&world, &model, seed);
    }
}

fn agree(world: &World, model: &Model, seed: u64) {
    let views = &world.views;
    for (name, (how, members)) in &model.scopes {
        let ordinal = views.scope_ordinal(FIRST_TENANT, &name.parse().unwrap()).unwrap().unwrap();
        let row = views.scope_standing(FIRST_TENANT, ordinal).unwrap().unwrap();
        let count = members.len() as u64;
        assert_eq!((row.registration, row.members), (*how, count), "seed {seed}: {name}");
        for member in members {
            let actor = views.tag_actor(FIRST_TENANT, member).unwrap();
            let role = views.member_role(FIRST_TENANT, &actor, ordinal).unwrap();
            assert!(role.is_some(), "seed {seed}: {member} of {name}");
        }
    }
    assert_eq!(views.counts().scopes, model.scopes.len() as u64, "seed {seed}");
    let policy = views.policy(FIRST_TENANT, &PolicyTarget::Tenant).unwrap();
    assert_eq!(policy.map_or(0, |row| row.version), model.version, "seed {seed}");
    for (place, name) in model.tenants.iter().enumerate() {
        let ordinal = FIRST_TENANT + 1 + place as u32;
        assert_eq!(views.tenant_ordinal(name).unwrap(), Some(ordinal), "seed {seed}");
    }
    // Each policy names the one before it, also within one batch.
    let entries = world.reader.read(0, None, 1_000, 1 << 24).unwrap();
    let mut before = None;
    for entry in entries.iter().filter(|entry| entry.head.sub == control::POLICY_SET) {
        assert_eq!(entry.head.causes.first().copied(), before, "seed {seed}");
        before = Some(entry.head.offset);
    }
}
