//! What the world does: writes, repeats, conflicts, cancellations, erasures, idleness, time, and in
//! `admin` what decides who may do what.

use std::collections::BTreeSet;

use lamina_engine::Error;
use lamina_engine::open::FIRST_TENANT;
use lamina_engine::write::capture::{Placed, Remains, Request};
use lamina_env::Rng;
use lamina_env::rng::draw;
use lamina_env::sim::rng::SimRng;
use lamina_store::codec::control::Cancel;
use lamina_store::entry::{Kind, control};
use lamina_store::log::{EraseTarget, NewEntry, Section};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::model::{Acknowledged, Certainty, Said};
use super::world::{Waiting, World};
use super::{admin, imports};

pub(super) const SCOPES: &[&str] =
    &["user:alice", "user:bob", "org:acme/user:carol", "org:acme", "ws:one"];

/// What people say, in a world that derives: about themselves, about others, what changes it, what takes
/// it back, and what says nothing.
pub(super) const SAID: &[&str] = &[
    "I live in Oslo.",
    "I moved to Lisbon last week.",
    "I live in Chicago. Maria works at Acme.",
    "Maria works at Initech now.",
    "Maria no longer works at Acme.",
    "Jonas is my brother and he likes chess.",
    "I am allergic to peanuts.",
    "Actually, I live in Berlin.",
    "My favorite color is green.",
    "By the way, the deadline for Heron is 2026-12-01.",
    "We decided to use PostgreSQL for the reports.",
    "Could you look at it again?",
    "Thanks, that helped a lot!",
    "",
];

pub(super) fn one<'a>(of: &[&'a str], choices: &SimRng) -> &'a str {
    of.get(choices.below(of.len() as u64) as usize).copied().unwrap_or_default()
}

/// Does one thing and says what.
pub(super) fn step(world: &mut World, choices: &SimRng) -> String {
    match choices.below(26) {
        0..=8 => writes(world, choices),
        9 => imports::step(world, choices),
        10 => repeat(world, choices),
        11 => conflict(world, choices),
        12 => cancel(world, choices),
        13 => erase(world, choices),
        14 | 15 => idle(world),
        16 => {
            let micros = choices.below(200_000_000) as i64;
            world.clock.advance(micros);
            format!("{micros} µs pass")
        }
        17 => {
            let micros = choices.below(7_200_000_000) as i64 - 3_600_000_000;
            world.clock.step_wall(micros);
            format!("the wall clock steps by {micros} µs")
        }
        18 => persist(world),
        19 if world.derives => derive(world, choices),
        20..=25 => admin::step(world, choices),
        _ => apply(world),
    }
}

/// A group of requests, single and bulk, committed together; applied now or later.
fn writes(world: &mut World, choices: &SimRng) -> String {
    let mut requests = Vec::new();
    let mut waiting = Vec::new();
    for _ in 0..1 + choices.below(5) {
        let items: Vec<(String, Said)> = (0..1 + choices.below(3) * choices.below(2))
            .map(|_| {
                let scope = one(SCOPES, choices);
                let bytes = choices.below(3_000) as usize;
                let says = if world.derives { one(SAID, choices) } else { "" };
                world.model.fresh(scope, says, bytes)
            })
            .collect();
        let prepared = items
            .iter()
            .map(|(key, said)| world.prepared(key, said, said.text.as_bytes()))
            .collect();
        let (reply, answer) = oneshot::channel();
        requests.push(Request::Write { items: prepared, reply });
        for (_, said) in &items {
            world.model.administered.touched(&said.scope);
        }
        world.model.unanswered.extend(items.iter().cloned());
        waiting.push(Waiting { items, answer });
    }
    let count: usize = waiting.iter().map(|waiting| waiting.items.len()).sum();
    let process = world.process.as_mut().expect("the process runs");
    let committed = process.capture.commit(requests);
    process.committed(committed);
    process.waiting.extend(waiting);
    settle(world);
    let outcome = if choices.below(3) == 0 { "queued".to_owned() } else { apply(world) };
    format!("{count} events; {outcome}")
}

/// Notes the answers that have come; whoever was refused keeps an unanswered event, because the log
/// may have taken it before it failed.
pub(super) fn settle(world: &mut World) {
    let Some(process) = world.process.as_mut() else { return };
    let mut still = Vec::new();
    for mut waiting in std::mem::take(&mut process.waiting) {
        match waiting.answer.try_recv() {
            Ok(Ok(placed)) => {
                for ((key, said), placed) in waiting.items.into_iter().zip(placed) {
                    world.model.unanswered.remove(&key);
                    let event = Acknowledged {
                        said,
                        event: placed.event_id,
                        wal_offset: placed.wal_offset,
                        erased: Certainty::No,
                        stays: false,
                        cancelled: Certainty::No,
                    };
                    world.model.events.insert(key, event);
                }
            }
            Err(TryRecvError::Empty) => still.push(waiting),
            Ok(Err(_)) | Err(TryRecvError::Closed) => {}
        }
    }
    process.waiting = still;
}

/// The same key and body again: the same event.
fn repeat(world: &mut World, choices: &SimRng) -> String {
    let Some((key, known)) = any_keyed(world, choices) else {
        return "nothing to repeat".to_owned();
    };
    let item = world.prepared(&key, &known.said, known.said.text.as_bytes());
    let Some(answer) = submit(world, item) else { return "repeat: no answer".to_owned() };
    match answer {
        Ok(placed) => {
            let placed = placed.first().copied().expect("one item, one place");
            assert_eq!(placed.event_id, known.event, "a repeated key gives the same event");
            assert!(placed.replayed, "a repeated key is a replay");
            format!("repeat {key}")
        }
        Err(error) => format!("repeat refused: {error}"),
    }
}

/// The same key with another body: refused, whatever happens.
fn conflict(world: &mut World, choices: &SimRng) -> String {
    let Some((key, known)) = any_keyed(world, choices) else {
        return "nothing to contradict".to_owned();
    };
    let item = world.prepared(&key, &known.said, b"another body");
    match submit(world, item) {
        Some(Ok(_)) => panic!("{key} was taken with another body"),
        Some(Err(error)) => format!("conflict refused: {error}"),
        None => "conflict: no answer".to_owned(),
    }
}

/// Keys are kept for a day; the clock of a run may pass it, so only young events are repeated.
fn any(world: &World, choices: &SimRng) -> Option<(String, Acknowledged)> {
    let young: Vec<_> = world
        .model
        .events
        .iter()
        .rev()
        .take(8)
        .filter(|(_, event)| event.erased == Certainty::No)
        .collect();
    let index = choices.below(young.len() as u64) as usize;
    young.get(index).map(|(key, event)| ((*key).clone(), (*event).clone()))
}

/// An event whose caller sent a key with it: rows of imports have identities instead.
fn any_keyed(world: &World, choices: &SimRng) -> Option<(String, Acknowledged)> {
    any(world, choices).filter(|(key, _)| !world.model.imported.contains(key))
}

fn submit(
    world: &mut World,
    item: lamina_engine::write::capture::PreparedWrite,
) -> Option<Result<Vec<Placed>, Error>> {
    let (reply, mut answer) = oneshot::channel();
    let process = world.process.as_mut().expect("the process runs");
    let committed = process.capture.commit(vec![Request::Write { items: vec![item], reply }]);
    process.committed(committed);
    apply(world);
    answer.try_recv().ok()
}

fn cancel(world: &mut World, choices: &SimRng) -> String {
    let Some((key, known)) = any(world, choices) else { return "nothing to cancel".to_owned() };
    apply(world);
    let rng = SimRng::new(choices.next_u64());
    let audit_id = world.audit_id();
    let process = world.process.as_mut().expect("the process runs");
    let Ok(Some(row)) = process.views.event(FIRST_TENANT, known.event) else {
        return "cancel: no row".to_owned();
    };
    let what = Cancel { event_id: known.event, audit_id, note: String::new() };
    let entry = NewEntry {
        kind: Kind::Control,
        sub: control::CANCEL,
        tenant: FIRST_TENANT,
        scope: row.scope,
        causes: vec![row.offset],
        who: Section::absent(),
        what: Section::seal(salt(&rng), &what.encode()),
    };
    let (reply, mut answer) = oneshot::channel();
    let committed =
        process.capture.commit(vec![Request::TakeBack { entry: Box::new(entry), reply }]);
    process.committed(committed);
    apply(world);
    let done = matches!(answer.try_recv(), Ok(Ok(())));
    if let Some(event) = world.model.events.get_mut(&key) {
        event.cancelled = match event.cancelled {
            Certainty::Yes => Certainty::Yes,
            _ if done => Certainty::Yes,
            _ => Certainty::Perhaps,
        };
    }
    format!("cancel {key}: {}", if done { "done" } else { "not answered" })
}

/// Erases one or more events: as if they had never been written, or so that what was made of them stays in some
/// scopes without its words; their keys are free at once or refused for a day.
fn erase(world: &mut World, choices: &SimRng) -> String {
    apply(world);
    let mut chosen = Vec::new();
    for _ in 0..1 + choices.below(3) {
        if let Some((key, known)) = any(world, choices)
            && !chosen.iter().any(|(other, _)| *other == key)
        {
            chosen.push((key, known));
        }
    }
    let mut remains = Remains { refuse_keys: choices.below(2) == 0, ..Remains::default() };
    let process = world.process.as_mut().expect("the process runs");
    let (mut targets, mut staying) = (Vec::new(), BTreeSet::new());
    for (_, known) in &chosen {
        if let Ok(Some(row)) = process.views.event(FIRST_TENANT, known.event)
            && !row.is_erased()
        {
            match choices.below(4) {
                0 => drop(remains.stays.insert(row.offset, vec![row.scope])),
                1 => drop(remains.stays.insert(row.offset, vec![row.scope + 1])),
                _ => {}
            }
            if remains.stays.contains_key(&row.offset) {
                staying.insert(known.event);
            }
            targets.push(EraseTarget {
                offset: row.offset,
                place: row.place,
                who: true,
                what: true,
            });
        }
    }
    if targets.len() != chosen.len() || targets.is_empty() {
        return "nothing to erase".to_owned();
    }
    targets.sort_by_key(|target| target.offset);
    let refused = remains.refuse_keys;
    let (reply, mut answer) = oneshot::channel();
    let erase = Request::Erase { tenant: FIRST_TENANT, targets, remains, reply };
    let committed = process.capture.commit(vec![erase]);
    process.committed(committed);
    apply(world);
    let done = matches!(answer.try_recv(), Ok(Ok(())));
    for (key, known) in &chosen {
        if let Some(event) = world.model.events.get_mut(key) {
            event.erased = if done { Certainty::Yes } else { Certainty::Perhaps };
            event.stays = staying.contains(&event.event);
        }
        if done && refused && !world.model.imported.contains(key) {
            let item = world.prepared(key, &known.said, known.said.text.as_bytes());
            let again = submit(world, item);
            // Without the views nobody knows of it.
            let knows = world.process.as_ref().is_some_and(|process| !process.stopped);
            assert!(
                !(knows && matches!(again, Some(Ok(_)))),
                "{key} was erased, and is taken again"
            );
        }
    }
    let keys: Vec<&str> = chosen.iter().map(|(key, _)| key.as_str()).collect();
    format!("erase {}: {}", keys.join(" "), if done { "done" } else { "failed" })
}

fn idle(world: &mut World) -> String {
    let process = world.process.as_mut().expect("the process runs");
    match process.capture.idle() {
        Ok(committed) => {
            process.committed(committed);
            "idle".to_owned()
        }
        Err(error) => format!("idle: {error}"),
    }
}

/// Derives from some of what waits; applied now or later. Now and then only time is noted.
fn derive(world: &mut World, choices: &SimRng) -> String {
    let now = world.now();
    let process = world.process.as_mut().expect("the process runs");
    let done = match choices.below(4) {
        0 => process.tick(now).map(|due| format!("tick: {due}")),
        _ => process.derive(1 + choices.below(40) as usize).map(|count| format!("{count} answers")),
    };
    let outcome = if choices.below(3) == 0 { "queued".to_owned() } else { apply(world) };
    format!("{}; {outcome}", done.unwrap_or_else(|error| error))
}

fn persist(world: &mut World) -> String {
    let process = world.process.as_mut().expect("the process runs");
    match process.views.persist() {
        Ok(()) => "views persisted".to_owned(),
        Err(error) => format!("views not persisted: {error}"),
    }
}

pub(super) fn apply(world: &mut World) -> String {
    let outcome = fold(world);
    settle(world);
    outcome
}

fn fold(world: &mut World) -> String {
    let process = world.process.as_mut().expect("the process runs");
    if process.stopped {
        // As in the engine: after a failed fold nothing more is folded, durable writes are answered.
        for committed in std::mem::take(&mut process.queue) {
            process.applier.answers_only(committed).give();
        }
        return "views stopped".to_owned();
    }
    match process.apply_all() {
        Ok(()) => "applied".to_owned(),
        Err(error) => {
            process.stopped = true;
            format!("not applied: {error}")
        }
    }
}

pub(super) fn salt(rng: &dyn Rng) -> [u8; 32] {
    let mut salt = draw::<32>(rng);
    salt[0] |= 1;
    salt
}
