//! What is spent, what may be, and what is not asked about at all.

use lamina_core::policy::Document;

use super::*;
use crate::{PolicyPermit, PolicyTarget};

#[tokio::test(flavor = "multi_thread")]
async fn one_call_is_about_one_scope() {
    let dir = tempfile::tempdir().unwrap();
    let model = Scripted::new(|items| heard(&says(german)(items), items));
    model.shut(true);
    let mut world = World::open(dir.path(), models(&model));
    for index in 0..6 {
        world.say("user:alice", &format!("Zuhause bin ich in Aa{index}.")).await;
        world.say("user:bob", &format!("Zuhause bin ich in Bb{index}.")).await;
    }
    model.shut(false);
    world.settled("user:alice").await;
    world.settled("user:bob").await;
    let asked = model.asked();
    for texts in &asked {
        let ours = texts.iter().filter(|text| text.contains("in Aa")).count();
        assert!(ours == 0 || ours == texts.len(), "{texts:?}");
        assert!(texts.len() <= 4);
    }
    // The one that was waiting for its call to begin, and then full ones.
    assert!(asked.len() <= 6, "{asked:?}");
    world.check().await;
}

/// A budget of tokens: lies about usage do not exceed it, and it is not forgotten by a restart.
#[tokio::test(flavor = "multi_thread")]
async fn budgets_are_never_exceeded() {
    let dir = tempfile::tempdir().unwrap();
    let liar = || {
        Scripted::new(|items| {
            let mut heard = heard(&says(german)(items), items);
            heard.spent = Spent::Tokens(Usage { input: u64::MAX, output: u64::MAX });
            heard
        })
    };
    let model = liar();
    let mut limited = models(&model);
    // Two calls and a bit.
    let one = limited.prices.bound(["Zuhause bin ich in Aa0."].into_iter(), 200);
    limited.batch_events = 1;
    limited.budget_scope.tokens = Some(one.tokens() * 2 + one.tokens() / 2);
    limited.budget_all.micros = Some(one.micros * 3 + one.micros / 2);
    let mut world = World::open(dir.path(), limited.clone());
    for index in 0..5 {
        world.say("user:alice", &format!("Zuhause bin ich in Aa{index}.")).await;
    }
    let report = world.until("user:alice", |report| report.waiting == 3).await;
    assert_eq!(report.total.calls, 2);
    assert!(report.total.cost.tokens() <= limited.budget_scope.tokens.unwrap());
    // Another scope has a budget of its own, until that of all is used up.
    for index in 0..3 {
        world.say("user:bob", &format!("Zuhause bin ich in Bb{index}.")).await;
    }
    let other = world.until("user:bob", |report| report.waiting == 2).await;
    assert_eq!(other.total.calls, 1);
    world.engine.shutdown().await;
    drop(world);
    // The next start knows what the last one spent.
    let again = liar();
    let world = World::open(dir.path(), Models { model: again.clone(), ..limited.clone() });
    let mut world = World { next: world.next + 1_000_000_000, ..world };
    world.say("user:carol", "Zuhause bin ich in Cc0.").await;
    world.until("user:carol", |report| report.waiting == 1).await;
    assert_eq!(again.asked().len(), 0);
    let both =
        world.cost("user:alice").await.total.cost.plus(world.cost("user:bob").await.total.cost);
    assert!(both.micros <= limited.budget_all.micros.unwrap());
    assert_eq!(world.said("user:carol").await, [""; 0]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_budget_can_pay_for_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let model = Scripted::new(|items| heard(&says(german)(items), items));
    let mut limited = models(&model);
    let small = limited.prices.bound(["Zuhause bin ich in Kiel."].into_iter(), 200);
    limited.budget_scope.tokens = Some(small.tokens() + 50);
    let mut world = World::open(dir.path(), limited);
    world.say("user:alice", &format!("I work at Acme. {}", "Und so weiter. ".repeat(20))).await;
    world.say("user:alice", "Zuhause bin ich in Kiel.").await;
    let report = world.settled("user:alice").await;
    assert_eq!((report.total.calls, report.total.gave_up), (1, 1));
    assert_eq!(world.said("user:alice").await, ["lives_in Kiel", "works_at Acme"]);
    world.check().await;
}

/// The process ends while the model is at work: what was reserved counts, and the event is taken up.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_cut_short_counts_and_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let model = Scripted::new(|items| heard(&says(german)(items), items));
    model.shut(true);
    let mut world = World::open(dir.path(), models(&model));
    world.say("user:alice", "Zuhause bin ich in Kiel.").await;
    let report = world.until("user:alice", |report| report.total.calls == 1).await;
    let reserved = report.total.cost;
    assert_eq!(report.waiting, 1);
    world.engine.shutdown().await;
    drop(world);
    let again = Scripted::new(|items| heard(&says(german)(items), items));
    let world = World::open(dir.path(), models(&again));
    let report = world.settled("user:alice").await;
    assert_eq!(world.said("user:alice").await, ["lives_in Kiel"]);
    assert_eq!(report.total.calls, 2);
    assert_eq!(report.total.cost.input_tokens, reserved.input_tokens + 100);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cancelled_is_not_asked_about() {
    let dir = tempfile::tempdir().unwrap();
    let model = Scripted::new(|items| heard(&says(german)(items), items));
    model.shut(true);
    let mut world = World::open(dir.path(), models(&model));
    world.say("user:alice", "Zuhause bin ich in Kiel.").await;
    world.until("user:alice", |report| report.total.calls == 1).await;
    let wrong = world.say("user:alice", "Zuhause bin ich in Bonn.").await;
    let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path("user:alice")));
    world.engine.cancel(&permit, wrong, &noted()).await.unwrap();
    model.shut(false);
    world.settled("user:alice").await;
    assert_eq!(model.asked(), [["Zuhause bin ich in Kiel."]]);
    world.check().await;
}

/// A policy that denies `llm.invoke` keeps the words of its scope, also of events that wait already.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_policy_keeps_is_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let model = Scripted::new(|items| heard(&says(german)(items), items));
    model.shut(true);
    let mut world = World::open(dir.path(), models(&model));
    // The first is under way and the second waits when the policy is set.
    world.say("user:alice", "Zuhause bin ich in Bonn.").await;
    for _ in 0..6_000 {
        if !model.asked().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    world.say("user:alice", "Zuhause bin ich in Trier.").await;
    let kept = Document::from_lists(&[], &["llm.invoke"]).unwrap();
    let permit = PolicyPermit::Scope(permit_of(1, "user:alice", Some(&path("user:alice"))));
    let target = PolicyTarget::Scope(path("user:alice"));
    world.engine.policy_set(&permit, target, Some(&kept), &noted()).await.unwrap();
    world.say("user:alice", "Zuhause bin ich in Mainz.").await;
    world.say("user:bob", "Zuhause bin ich in Köln.").await;
    model.shut(false);
    world.settled("user:alice").await;
    world.settled("user:bob").await;
    let asked: BTreeSet<String> = model.asked().into_iter().flatten().collect();
    assert_eq!(
        asked,
        ["Zuhause bin ich in Bonn.", "Zuhause bin ich in Köln."]
            .map(str::to_owned)
            .into_iter()
            .collect()
    );
    assert_eq!(world.cost("user:alice").await.total.gave_up, 1);
    world.check().await;
}
