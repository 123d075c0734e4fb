//! What is said under a term of a vocabulary and loses its words is under that term all the same.

use lamina_core::policy::Permit;
use lamina_types::vocabulary::{Vocabulary, VocabularyKind, VocabularyTerm};

use super::*;
use crate::admin::VocabularyPermit;
use crate::derive::vocabularies::VocabularyRecord;

async fn set(world: &World, terms: &[&str]) {
    let terms = terms.iter().map(|term| VocabularyTerm::new((*term).to_owned())).collect();
    let now = Vocabulary {
        name: "sales".to_owned(),
        kind: VocabularyKind::Predicate,
        description: None,
        scope: None,
        predicates: terms,
        relations: Vec::new(),
        terms: Vec::new(),
    };
    let permit: Permit<PolicyAdministerTenant> = permit_of(1, "user:root", None);
    let permit = VocabularyPermit::Tenant(permit);
    let change = |_: Option<&VocabularyRecord>| Ok::<_, Error>(now);
    world.engine.vocabulary_change(&permit, ("sales", None), change, &noted()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_words_follows_its_term() {
    for erased_first in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::open(dir.path());
        set(&world, &["stage"]).await;
        world.says(TEAM, "Bob likes tea", "user:bob", None).await;
        world.says(ROOT, "I likes quilling; Acme stage won", "user:alice", None).await;
        world.says(ROOT, "Acme stage poc", "user:alice", Some(TEAM)).await;
        let count = world.believes(TEAM).await.len();
        if !erased_first {
            set(&world, &[]).await;
        }
        let id = world.begin(&asked(&[])).await.unwrap();
        assert_eq!(world.ended(id).await.outcome, Outcome::Completed);
        if erased_first {
            assert_eq!(world.believes(TEAM).await.len(), count);
            set(&world, &[]).await;
        }
        assert_eq!(world.believes(TEAM).await.len(), count - 1);
        set(&world, &["stage"]).await;
        assert_eq!(world.believes(TEAM).await.len(), count);
        world.check().await;
    }
}
