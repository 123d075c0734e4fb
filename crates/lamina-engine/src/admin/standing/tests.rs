//! What is in force follows the log, also when its words are erased, as a fresh load would have it.

use std::path::Path;
use std::sync::Arc;

use lamina_env::sim::disk::SimDisk;
use lamina_store::codec::control::{PolicySet, PolicyTarget};
use lamina_store::entry::SYSTEM_SCOPE;
use lamina_store::kv::MemKv;
use lamina_store::log::{EraseTarget, NewEntry, Section};

use super::*;
use crate::Settings;
use crate::open::{self, FIRST_TENANT};
use crate::write::prepare::section;
use crate::write::testing::env;

#[test]
fn erased_words_are_not_in_force_now_and_not_after_a_restart() {
    let disk = Arc::new(SimDisk::new());
    let env = env(3, &disk);
    let lock = open::lock(&env, Path::new("/data")).unwrap();
    let settings = Settings { ballast_bytes: 0, ..Settings::new("/data") };
    let kv = Arc::new(MemKv::new());
    let mut parts = open::open_parts(&settings, env.clone(), kv, lock).unwrap().into_parts();
    let standing = Standing::load(&parts.views, &*parts.log.reader()).unwrap();
    let mut places = Vec::new();
    parts.keys.create_tenant(2).unwrap();
    let tenant = Tenant { name: "acme".to_owned(), key_check: None }.encode();
    let document = Some("deny llm.invoke\n".to_owned());
    let policy = PolicySet { target: PolicyTarget::Tenant, document, version: 1 }.encode();
    for (sub, tenant, what) in
        [(control::TENANT, 2, tenant), (control::POLICY_SET, FIRST_TENANT, policy)]
    {
        let entry = NewEntry {
            kind: Kind::Control,
            sub,
            tenant,
            scope: SYSTEM_SCOPE,
            causes: Vec::new(),
            who: Section::absent(),
            what: section(&*env.rng, &what),
        };
        let appended = parts.log.append(vec![entry], None).unwrap();
        standing.apply(&appended.entries);
        parts.views.apply(&appended.entries, &appended.tip).unwrap();
        places.extend(appended.entries.iter().map(|entry| (entry.head.offset, entry.place)));
    }
    assert_eq!((standing.tenant("acme"), standing.tenant_name(2)), (Some(2), Some("acme".into())));
    assert_eq!(standing.policies().len(), 1);
    let version = standing.policies().version();
    let versions =
        |standing: &Standing| [FIRST_TENANT, 2].map(|of| standing.policies().version_for(of));
    let [own, other] = versions(&standing);
    let targets: Vec<EraseTarget> = places
        .iter()
        .map(|(offset, place)| EraseTarget {
            offset: *offset,
            place: *place,
            who: false,
            what: true,
        })
        .collect();
    for appended in parts.log.erase(FIRST_TENANT, &targets, b"").unwrap() {
        standing.apply(&appended.entries);
        parts.views.apply(&appended.entries, &appended.tip).unwrap();
    }
    assert!(standing.policies().version() > version, "who watches is told");
    let [own_now, other_now] = versions(&standing);
    assert!(own_now > own && other_now == other, "whose policy it was");
    let loaded = Standing::load(&parts.views, &*parts.log.reader()).unwrap();
    for standing in [standing, loaded] {
        assert_eq!((standing.tenant("acme"), standing.tenant_name(2)), (None, None));
        assert!(standing.policies().is_empty());
        assert_eq!(standing.tenant("default"), Some(FIRST_TENANT));
    }
}
