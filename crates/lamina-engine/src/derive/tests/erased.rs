//! Law 1 after erasures: whatever was said, taken back, declared, read again and erased, in any order, a
//! replay of what is left gives the rows that are there, byte by byte.

use lamina_core::policy::{Derivation, Preset, Stack};
use lamina_types::forget::{Cascade, Forget, Layers, MemoryId, Selector};

use super::*;
use crate::derive::answer::Rules;
use crate::derive::rederive::{How, ModelAnswers, Rederive};
use crate::forget::{ForgetAsked, ForgetPermit};
use crate::write::BeliefToDeclare;

const SCOPES: [&str; 3] = ["user:alice", "user:alice/project:x", "ws:team"];

/// What is said in the notation of the plain extractor.
const PLAIN: [&str; 14] = [
    "Bob =works_at Acme",
    "Bob =works_at Initech; Bob likes tea",
    "Bob =works_at Acme corrected",
    "Bob dislikes tea",
    "I =lives_in Rome; I likes jazz",
    "I =lives_in Oslo; Eve knows Bob",
    "I =lives_in Rome from=3 to=9",
    "Eve likes tea; Eve likes jazz not",
    "I likes - ends",
    "Bob likes tea ends",
    "Eve =works_at Acme; Ann =works_at Acme",
    "Ann knows Eve; Ann knows Bob; Ann likes tea",
    "nothing at all",
    "Bobby =works_at Initech",
];

/// What people say, for the built-in rules.
const SPOKEN: [&str; 12] = [
    "I live in Rome and I like jazz.",
    "I moved to Oslo last month.",
    "Maria Silva works at Acme Corp. She likes tea.",
    "Maria Sliva works at Initech now.",
    "My sister Ana lives in Bern.",
    "My sister plays the violin and works at Acme Corp.",
    "The Atlas importer depends on the billing service.",
    "The billing service needs the Atlas importer and the ledger database.",
    "I don't like tea any more.",
    "Atlas is a project of Acme Corp. Maria owns it.",
    "Anyway, let us talk about the garden: the roses need water.",
    "The roses are red and the garden has a fence.",
];

/// What is to be done, until it is taken back.
const TOLD: [&str; 8] = [
    "Please always answer in French.",
    "Stop answering in French.",
    "From now on, always answer in German. I like jazz.",
    "Please always answer in French. Never use emojis.",
    "You no longer need to answer in German.",
    "Always use bullet points in your answers.",
    "Stop using bullet points.",
    "I live in Rome and I like tea.",
];

/// A number below another, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

impl World {
    async fn redact(&self, scope: &str, events: &[EventId]) {
        let place = path(scope);
        let memory_ids = events.iter().map(|id| MemoryId::Event(*id)).collect();
        let forget = Forget {
            scope: place.clone(),
            layers: Layers::ALL,
            selector: Selector { memory_ids, ..Selector::default() },
            cascade: Cascade::RedactEvents,
        };
        let asked = ForgetAsked { forget, requested: 0, preview: None, idempotency_key: None };
        let permit = ForgetPermit::RedactEvents(permit_of(1, "user:alice", Some(&place)));
        let done = self.engine.forget(permit, asked, noted()).await.unwrap();
        assert_eq!(done.deleted.events, events.len() as u64);
    }

    pub(super) async fn declares(&self, scope: &str, subject: Option<&str>, statement: &str) {
        let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path(scope)));
        let belief = BeliefToDeclare {
            scope: path(scope),
            statement: statement.to_owned(),
            subject: subject.map(str::to_owned),
            predicate: "mood".to_owned(),
            confidence: Confidence::new(8_000),
            supports: Vec::new(),
            valid_from: Some(ValidAt(Micros(self.next))),
        };
        self.engine.declare_belief(&permit, belief, &noted()).await.unwrap();
    }

    async fn reads_again(&self, scope: &str) {
        let entry = Derivation { tenant: 1, scope: path(scope), consolidate_into: None };
        let permit = Stack::of_preset(Preset::DevLocal).permit_derive(&entry);
        let again = Rederive::Again { scope: path(scope), models: ModelAnswers::Keep };
        self.engine.rederive(&permit, &again, &How::Append(noted()), &mut |_, _| {}).await.unwrap();
    }
}

/// One history: says, cancels, seals, declares, erases, reads again and restarts as the dice say.
async fn history(seed: u64, extractor: fn() -> Arc<dyn Extractor>, phrases: &[&str]) {
    let mut dice = Dice(seed);
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open_with(dir.path(), extractor());
    // All scopes are there from the beginning, so that one can be consolidated into another.
    let mut there: Vec<(&str, EventId)> = Vec::new();
    for scope in SCOPES {
        there.push((scope, world.say(scope, phrases[dice.below(phrases.len())]).await));
    }
    for _ in 0..36 {
        let scope = SCOPES[dice.below(SCOPES.len())];
        match dice.below(17) {
            0 if !there.is_empty() => {
                let (scope, event) = there[dice.below(there.len())];
                world.cancel(scope, event).await;
            }
            1..=4 if !there.is_empty() => {
                let (scope, event) = there.swap_remove(dice.below(there.len()));
                world.redact(scope, &[event]).await;
            }
            5 => {
                let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path(scope)));
                world.engine.episodes_build(&permit, &path(scope), true, &noted()).await.unwrap();
            }
            6 => {
                let subject = [None, Some("Bob"), Some("Nobody Known")][dice.below(3)];
                world.declares(scope, subject, ["calm", "tired"][dice.below(2)]).await;
            }
            7 => world.reads_again(scope).await,
            8 => {
                let next = world.next;
                world.engine.shutdown().await;
                drop(world);
                world = World::open_with(dir.path(), extractor());
                world.next = next;
                world.written = 1_000 + u32::try_from(dice.below(1_000_000)).unwrap();
            }
            9 if !there.is_empty() => {
                let (_, about) = there[dice.below(there.len())];
                let (useful, into) = (dice.below(2) == 0, dice.below(2));
                let event = world.say_with(scope, "", |experience| {
                    let data = format!(r#"{{"record_id":"{about}","useful":{useful}}}"#);
                    experience.content = lamina_types::Content::Json { data, media: Vec::new() };
                    experience.modality = Modality("feedback".to_owned());
                    if into == 0 && scope != "ws:team" {
                        experience.directives.consolidate_into = Some(path("ws:team"));
                    }
                });
                let event = event.await;
                world.settle(event).await;
                there.push((scope, event));
            }
            _ => {
                let text = phrases[dice.below(phrases.len())];
                let (into, talk) = (dice.below(4), dice.below(3));
                let event = world.say_with(scope, text, |experience| {
                    if into == 0 && scope != "ws:team" {
                        experience.directives.consolidate_into = Some(path("ws:team"));
                    }
                    experience.observed_actor.session = (talk > 0).then(|| format!("s{talk}"));
                });
                let event = event.await;
                world.settle(event).await;
                there.push((scope, event));
            }
        }
    }
    for scope in SCOPES {
        world.every_id_leads_somewhere(scope).await;
    }
    // The same by a second way: opened again after everything was folded anew.
    world.check().await;
    crate::maintenance::rebuild(dir.path(), &Env::real(), 1 << 20, &mut |_, _| {}).unwrap();
    let report = crate::maintenance::check(dir.path(), &Env::real(), None, &mut |_, _| {}).unwrap();
    assert!(report.views_checked && report.findings.is_empty(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_of_what_is_left_gives_the_rows_that_are_there() {
    for seed in 1..=3 {
        history(seed, || Arc::new(Plain), &PLAIN).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_for_what_people_say() {
    for seed in 1..=2 {
        history(seed, || Arc::new(Rules), &SPOKEN).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_for_what_is_to_be_done() {
    for seed in 1..=2 {
        history(seed, || Arc::new(Rules), &TOLD).await;
    }
}
