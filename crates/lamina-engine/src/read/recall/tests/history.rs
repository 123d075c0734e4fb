//! A history of everything at once, by a seeded sequence of draws, and the same history cut at an entry.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lamina_core::policy::Caller;
use lamina_env::Env;
use lamina_env::sim::{SimClock, SimRng};
use lamina_store::entry::{Entry, Kind};
use lamina_types::capability::{PolicyAdministerTenant, UnderstandingSynthesize};
use lamina_types::layer::Confidence;
use lamina_types::vocabulary::{Vocabulary, VocabularyKind, VocabularyTerm};
use lamina_types::{Actor, Content, EntityId, Modality, RecordId, Role, ScopeView, ValidAt};

use super::*;
use crate::Settings;
use crate::admin::VocabularyPermit;
use crate::admin::testing::{boot, noted};
use crate::derive::answer::Rules;
use crate::derive::deadlines;
use crate::derive::vocabularies::VocabularyRecord;
use crate::read::beliefs::BeliefsQuery;
use crate::read::conflicts::{ConflictsQuery, Resolve};
use crate::read::entities::{EntitiesQuery, EntityRecord};
use crate::write::BeliefToDeclare;
use crate::write::understanding::Synthesis;

pub(in crate::read) const SCOPES: [&str; 3] = ["org:a", "org:a/user:u", "org:a/user:v"];
const ACTORS: [&str; 3] = ["user:u", "user:v", "agent:helper"];
const BEGINNING: i64 = 1_700_000_000_000_000;
const MINUTE: i64 = 60_000_000;
const SEGMENT_BYTES: u64 = 8 * 1_024 * 1_024;
/// Entries of a history that are read at once.
const ENTRIES_MAX: usize = 100_000;

fn settings(dir: &Path) -> Settings {
    Settings { segment_bytes: SEGMENT_BYTES, ballast_bytes: 0, ..Settings::new(dir) }
}

/// What somebody, a deployment and a tenant have been through.
pub(in crate::read) struct History {
    pub(in crate::read) engine: Engine,
    pub(in crate::read) rng: SimRng,
    clock: Arc<SimClock>,
    /// Events that were written, with their scopes.
    said: Vec<(EventId, &'static str)>,
    cancelled: Vec<EventId>,
    written: usize,
    /// How often each thing was done.
    pub(in crate::read) done: BTreeMap<&'static str, usize>,
}

impl History {
    pub(in crate::read) fn begin(dir: &Path, seed: u64) -> History {
        let clock = Arc::new(SimClock::at(lamina_types::Micros(BEGINNING)));
        let rng = SimRng::new(seed);
        let env = Env { clock: Arc::clone(&clock) as _, rng: Arc::new(rng.fork()), ..Env::real() };
        let engine = Engine::open_deriving(settings(dir), env, Arc::new(Rules)).unwrap().0;
        let (said, cancelled, done) = (Vec::new(), Vec::new(), BTreeMap::new());
        History { engine, rng, clock, said, cancelled, written: 0, done }
    }

    fn draw(&self, below: usize) -> usize {
        self.rng.below(below as u64) as usize
    }

    fn one_of<T: Copy>(&self, all: &[T]) -> T {
        *all.get(self.draw(all.len())).expect("one of them")
    }

    /// Does something.
    pub(in crate::read) async fn step(&mut self) {
        let minutes = self.one_of(&[0, 0, 1, 1, 3, 20, 45, 60 * 24]);
        self.clock.advance(minutes * MINUTE + 1_000);
        let scope = self.one_of(&SCOPES);
        let what = match self.draw(42) {
            0..24 => self.say(scope).await,
            24..26 => self.disagree(scope).await,
            26..28 => self.cancel().await,
            28..30 => self.seal(scope).await,
            30..32 => self.synthesize(scope).await,
            32..34 => self.feedback(scope).await,
            34..37 => self.rate(scope).await,
            37..39 => self.decide(scope).await,
            39 => self.merge(scope).await,
            40 => self.declare(scope).await,
            _ => self.vocabulary().await,
        };
        *self.done.entry(what).or_default() += 1;
    }

    async fn write(&mut self, scope: &'static str, with: impl FnOnce(&mut Experience)) -> EventId {
        self.written += 1;
        let actor = self.one_of(&ACTORS);
        let mut write = written(&self.engine, actor, scope, &format!("key {}", self.written));
        let session = self.one_of(&[None, Some("one"), Some("two")]);
        write.experience.observed_actor =
            Actor { id: actor.parse().unwrap(), session: session.map(str::to_owned) };
        with(&mut write.experience);
        let permit = permit_of::<ScopeWrite>(1, actor, Some(&path(scope)));
        let id = self.engine.experience(&permit, write).await.unwrap().event_id;
        self.said.push((id, scope));
        // Otherwise what comes next comes before its answer, if it can.
        if self.draw(3) > 0 {
            settle(&self.engine, id).await;
        }
        id
    }

    async fn say(&mut self, scope: &'static str) -> &'static str {
        let text = self.one_of(SAID).to_owned();
        let (how, ago) = (self.draw(5), self.one_of(&[0, 0, 0, 1, 30 * 24 * 60]));
        let now = self.engine.now();
        self.write(scope, |experience| {
            experience.context.observed_at = ValidAt(now.plus(-ago * MINUTE));
            let media = Vec::new();
            experience.content = match how {
                0 => Content::Message { role: Role::User, text, media },
                1 => Content::Message { role: Role::Assistant, text, media },
                _ => Content::Text { text, media },
            };
            if how < 3 {
                experience.modality = Modality("conversation".to_owned());
            }
            experience.directives.no_supersede = how == 4;
        })
        .await;
        "said"
    }

    /// Somebody says something of so many days ago.
    pub(in crate::read) async fn tell(
        &mut self,
        scope: &'static str,
        text: &str,
        days: i64,
    ) -> EventId {
        let observed = ValidAt(self.engine.now().plus(-days * 24 * 60 * MINUTE));
        let id = self.write(scope, |experience| {
            experience.observed_actor.id = "user:u".parse().unwrap();
            experience.context.observed_at = observed;
            experience.content = Content::Text { text: text.to_owned(), media: Vec::new() };
        });
        let id = id.await;
        settle(&self.engine, id).await;
        self.clock.advance(MINUTE);
        id
    }

    /// Somebody writes a typed event.
    pub(in crate::read) async fn type_event(
        &mut self,
        scope: &'static str,
        kind: &str,
        payload: &str,
    ) -> EventId {
        let id = self.write(scope, |experience| {
            experience.observed_actor.id = "agent:helper".parse().unwrap();
            experience.context.labels = vec![format!("type:{kind}")];
            let data = format!(r#"{{"type":"{kind}","payload":{payload}}}"#);
            experience.content = Content::Json { data, media: Vec::new() };
        });
        let id = id.await;
        settle(&self.engine, id).await;
        self.clock.advance(MINUTE);
        id
    }

    /// `user:u` writes anything, also for others.
    pub(in crate::read) async fn put(
        &mut self,
        scope: &'static str,
        with: impl FnOnce(&mut Experience),
    ) -> EventId {
        self.written += 1;
        let mut write = written(&self.engine, "user:u", scope, &format!("key {}", self.written));
        with(&mut write.experience);
        let permit = permit_of::<ScopeWrite>(1, "user:u", Some(&path(scope)));
        let id = self.engine.experience(&permit, write).await.unwrap().event_id;
        self.said.push((id, scope));
        settle(&self.engine, id).await;
        self.clock.advance(MINUTE);
        id
    }

    /// Two things of one instant that cannot both be.
    async fn disagree(&mut self, scope: &'static str) -> &'static str {
        let (one, other) = self.one_of(&[
            ("I live in Rome.", "I live in Lima."),
            ("Maria works at Northwind.", "Maria works at Contoso."),
            ("Jonas lives in Oslo.", "Jonas lives in Lima."),
        ]);
        let at = ValidAt(self.engine.now());
        for text in [one, other] {
            self.write(scope, |experience| {
                experience.observed_actor.id = "user:u".parse().unwrap();
                experience.context.observed_at = at;
                experience.content = Content::Text { text: text.to_owned(), media: Vec::new() };
            })
            .await;
        }
        "disagreed"
    }

    async fn cancel(&mut self) -> &'static str {
        if self.said.is_empty() {
            return "nothing to cancel";
        }
        let (id, scope) = self.said.swap_remove(self.draw(self.said.len()));
        cancel(&self.engine, id, scope).await;
        self.cancelled.push(id);
        "cancelled"
    }

    async fn seal(&mut self, scope: &'static str) -> &'static str {
        let permit = permit_of::<ScopeWrite>(1, "user:u", Some(&path(scope)));
        self.engine.episodes_build(&permit, &path(scope), true, &noted()).await.unwrap();
        "sealed"
    }

    async fn synthesize(&mut self, scope: &'static str) -> &'static str {
        let asked = Synthesis {
            scope: path(scope),
            topics: Vec::new(),
            force: self.draw(2) == 0,
            idempotency_key: None,
        };
        let permit = permit_of::<UnderstandingSynthesize>(1, "user:u", Some(&path(scope)));
        match self.engine.synthesize(&permit, asked, &noted()).await {
            Ok(_) => "synthesized",
            Err(_) => "not synthesized",
        }
    }

    async fn feedback(&mut self, scope: &'static str) -> &'static str {
        let query = BeliefsQuery {
            scope: path(scope),
            about: None,
            predicate: None,
            stance: None,
            min_confidence: 0.0,
            recorded: RecordedAt(self.engine.now()),
            recorded_during: None,
            valid: None,
            valid_during: None,
            lapsed_by: None,
            deprecated: false,
            after: None,
            limit: 1_000,
        };
        let beliefs = self.engine.beliefs(reader(scope), query).await.unwrap().items;
        if beliefs.is_empty() {
            return "no belief to judge";
        }
        let id = beliefs.get(self.draw(beliefs.len())).unwrap().id;
        let data = format!(r#"{{"belief_id":"{id}","came_true":{}}}"#, self.draw(2) == 0);
        self.write(scope, |experience| {
            experience.modality = Modality("feedback".to_owned());
            experience.content = Content::Json { data, media: Vec::new() };
        })
        .await;
        "judged"
    }

    async fn rate(&mut self, scope: &'static str) -> &'static str {
        if self.said.is_empty() {
            return "nothing to rate";
        }
        let (id, _) = *self.said.get(self.draw(self.said.len())).unwrap();
        let data = format!(r#"{{"event_id":"{id}","useful":{}}}"#, self.draw(3) > 0);
        self.write(scope, |experience| {
            experience.modality = Modality("feedback".to_owned());
            experience.content = Content::Json { data, media: Vec::new() };
        })
        .await;
        "rated"
    }

    async fn decide(&mut self, scope: &'static str) -> &'static str {
        let query = ConflictsQuery {
            scope: path(scope),
            open_only: true,
            recorded: None,
            before: None,
            limit: 10,
        };
        let open = self.engine.conflicts(reader(scope), query).await.unwrap().items;
        let Some(first) = open.first() else { return "nothing to decide" };
        let sides: Vec<RecordId> = first.fact.claims().iter().map(|claim| claim.id).collect();
        let winner = sides.get(self.draw(sides.len())).copied();
        let resolve = match (self.draw(3), winner) {
            (0, _) | (_, None) => Resolve::Dismiss,
            (_, Some(winner)) => Resolve::Pick { winner },
        };
        let permit = permit_of::<ScopeWrite>(1, "user:u", Some(&path(scope)));
        match self.engine.conflict_resolve(&permit, first.id, resolve, &noted()).await {
            Ok(_) => "decided",
            Err(_) => "not decided",
        }
    }

    async fn merge(&mut self, scope: &'static str) -> &'static str {
        let query = EntitiesQuery { scope: path(scope), called: None, after: None, limit: 50 };
        let all = self.engine.entities(reader(scope), query).await.unwrap().items;
        if all.len() < 2 {
            return "nobody to merge";
        }
        let permit = permit_of::<PolicyAdministerTenant>(1, "user:root", None);
        let of = |at: usize| all.get(at).unwrap();
        let (one, other) = (of(self.draw(all.len())), of(self.draw(all.len())));
        let merged = all.iter().flat_map(|one| one.merged.iter().copied()).next();
        if let Some(merged) = merged.filter(|_| self.draw(2) == 0) {
            self.engine.entity_split(&permit, merged, &noted()).await.unwrap();
            return "split";
        }
        match self.engine.entity_merge(&permit, one.id, other.id, &noted()).await {
            Ok(_) => "merged",
            Err(_) => "not merged",
        }
    }

    /// Two that are called like this are one; gives the one that is merged.
    pub(in crate::read) async fn merge_two(&self, scope: &str, from: &str, into: &str) -> EntityId {
        let query = EntitiesQuery { scope: path(scope), called: None, after: None, limit: 50 };
        let all = self.engine.entities(reader(scope), query).await.unwrap().items;
        let called = |name: &str| {
            let is_it = |one: &&EntityRecord| one.names.iter().any(|(known, _)| known == name);
            all.iter().find(is_it).expect("somebody is called so").id
        };
        let (from, into) = (called(from), called(into));
        let permit = permit_of::<PolicyAdministerTenant>(1, "user:root", None);
        self.engine.entity_merge(&permit, from, into, &noted()).await.unwrap();
        from
    }

    /// They are two again.
    pub(in crate::read) async fn split(&self, merged: EntityId) {
        let permit = permit_of::<PolicyAdministerTenant>(1, "user:root", None);
        self.engine.entity_split(&permit, merged, &noted()).await.unwrap();
    }

    async fn declare(&mut self, scope: &'static str) -> &'static str {
        let permit = permit_of::<ScopeWrite>(1, "user:u", Some(&path(scope)));
        let belief = BeliefToDeclare {
            scope: path(scope),
            statement: self.one_of(&["The roof will hold", "Acme renews in March"]).to_owned(),
            subject: self.one_of(&[None, Some("Acme")]).map(str::to_owned),
            predicate: "asserts".to_owned(),
            confidence: Confidence::new(8_000),
            supports: Vec::new(),
            valid_from: None,
        };
        self.engine.declare_belief(&permit, belief, &noted()).await.unwrap();
        "declared"
    }

    async fn vocabulary(&mut self) -> &'static str {
        let permit = permit_of::<PolicyAdministerTenant>(1, "user:root", None);
        let named = self.one_of(&["resides_in", "home"]);
        let term = VocabularyTerm {
            aliases: vec!["lives_in".to_owned()],
            ..VocabularyTerm::new(named.to_owned())
        };
        let vocabulary = Vocabulary {
            name: "places".to_owned(),
            kind: VocabularyKind::Predicate,
            description: None,
            scope: None,
            predicates: vec![term],
            relations: Vec::new(),
            terms: Vec::new(),
        };
        let change = |_: Option<&VocabularyRecord>| Ok::<_, Error>(vocabulary);
        let permit = VocabularyPermit::Tenant(permit);
        let (at, noted) = (("places", None), noted());
        self.engine.vocabulary_change(&permit, at, change, &noted).await.unwrap();
        "named"
    }

    /// Waits for everything that was written, and gives the whole log.
    pub(in crate::read) async fn end(&mut self) -> Vec<Entry> {
        for (id, _) in &self.said {
            settle(&self.engine, *id).await;
        }
        self.clock.advance(60 * MINUTE);
        found_all(&self.engine).await;
        let reader = &self.engine.inner.reader;
        reader.read(0, None, ENTRIES_MAX, usize::MAX).unwrap()
    }

    /// The same history, as far as the log tells it that ends before an entry. What was taken back
    /// later is taken back here too: it is as if it had never been said, at every time.
    #[expect(clippy::disallowed_methods, reason = "cuts a real directory, as nothing else would")]
    pub(in crate::read) async fn cut(&self, from: &Path, to: &Path, before: &Entry) -> Engine {
        for name in ["log", "keys"] {
            fs::create_dir(to.join(name)).unwrap();
        }
        fs::copy(from.join("FORMAT"), to.join("FORMAT")).unwrap();
        for file in fs::read_dir(from.join("keys")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), to.join("keys").join(file.file_name())).unwrap();
        }
        let files: Vec<_> =
            fs::read_dir(from.join("log")).unwrap().map(|file| file.unwrap().path()).collect();
        let [file] = files.as_slice() else { panic!("one segment: {files:?}") };
        let mut bytes = fs::read(file).unwrap();
        let position = usize::try_from(before.place.0).expect("in the first segment");
        bytes.truncate(position);
        fs::write(to.join("log").join(file.file_name().unwrap()), bytes).unwrap();
        let clock = Arc::new(SimClock::at(self.engine.now()));
        let env = Env { clock: clock as _, ..Env::real() };
        let engine = Engine::open_deriving(settings(to), env, Arc::new(Rules)).unwrap().0;
        for id in &self.cancelled {
            let row = self.engine.inner.views.event(1, *id).unwrap().unwrap();
            if row.offset < before.head.offset {
                let scope = engine.event_scope(1, *id).await.unwrap();
                cancel(&engine, *id, &scope.to_string()).await;
            }
        }
        found_all(&engine).await;
        engine
    }
}

async fn cancel(engine: &Engine, id: EventId, scope: &str) {
    let permit = permit_of::<ScopeWrite>(1, "user:root", Some(&path(scope)));
    engine.cancel(&permit, id, &noted()).await.unwrap();
}

/// Waits until everything has happened that is due, as it does in a database that nobody writes to, and until the index
/// has everything: how something is found is not what is compared.
async fn found_all(engine: &Engine) {
    let now = RecordedAt(engine.now());
    let due = || deadlines::next(&engine.inner.views).unwrap().is_some_and(|next| next <= now);
    for _ in 0..1_200 {
        engine.inner.caught_up().await;
        if !due() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!due());
    let search = engine.inner.search.as_ref().unwrap();
    let until = engine.inner.shared.applied.offset();
    search.reached(until, Duration::from_secs(120)).await;
    assert!(search.found.offset() >= until);
}

fn reader(scope: &str) -> ReadPermit {
    ReadPermit::Local(permit_of(1, "user:u", Some(&path(scope))))
}

/// Leave to read a scope in a view.
pub(in crate::read) async fn may(engine: &Engine, scope: &str, view: PackView) -> MayRecall {
    let view = match view {
        PackView::Holistic => ScopeView::Holistic,
        PackView::Descend => ScopeView::Descend,
        _ => ScopeView::Local,
    };
    let caller = Caller::local("user:u".parse().unwrap(), 1);
    let reach = engine.read_permit(&boot(), &caller, &path(scope), view).await.unwrap().unwrap();
    let concepts = permit_of::<UnderstandingRead>(1, "user:u", Some(&path(scope)));
    MayRecall {
        reach: Arc::new(reach),
        concepts: Some(concepts),
        standing: StandingOffices::everybody(),
    }
}

/// The entries that a log can end before: the first of each batch, once there is anything to recall.
pub(in crate::read) fn ends(log: &[Entry]) -> Vec<usize> {
    let first = log.iter().position(|entry| entry.head.kind == Kind::Experience);
    let first = first.unwrap_or(log.len());
    let begins = |at: &usize| match (log.get(at - 1), log.get(*at)) {
        (Some(one), Some(next)) => one.head.batch != next.head.batch,
        _ => false,
    };
    (first + 1..log.len()).filter(begins).collect()
}
