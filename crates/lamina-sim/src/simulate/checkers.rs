//! What must hold after every start, whatever happened before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lamina_engine::import::alone::remembered;
use lamina_engine::open::{FIRST_TENANT, catch_up, views};
use lamina_store::codec::control::Cancel;
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho};
use lamina_store::entry::{Entry, Kind, SectionState, control};
use lamina_store::kv::{Direction, Kv, MemKv, Space};
use lamina_store::log::LogError;
use lamina_store::log::check::{CheckOptions, check};
use lamina_types::{EventId, Stage};

use super::admin;
use super::model::{Acknowledged, Certainty, Said};
use super::world::{Process, World};

/// Every experience in the log, by key.
type Found = BTreeMap<String, Vec<(EventId, u64, Option<Said>)>>;

/// Checks everything that must hold whenever the process has opened the directory.
pub(super) fn after_open(world: &mut World) -> Result<(), String> {
    let process = world.process.as_ref().ok_or("the process does not run")?;
    let entries = read_all(process)?;
    increasing(&entries)?;
    audited(process, &entries)?;
    let found = experiences(&entries)?;
    adopt(world, &found);
    acknowledged(world, &found)?;
    let process = world.process.as_ref().ok_or("the process does not run")?;
    views_equal_replay(process)?;
    rows(world)?;
    identities(world)?;
    admin::after_open(world)?;
    if world.derives {
        derive_all(world)?;
        let process = world.process.as_ref().ok_or("the process does not run")?;
        views_equal_replay(process)?;
    }
    staged(world)?;
    words_are_gone(world)
}

/// Derives from everything that waits.
fn derive_all(world: &mut World) -> Result<(), String> {
    let now = world.now();
    let process = world.process.as_mut().ok_or("the process does not run")?;
    process.tick(now)?;
    process.apply_all()?;
    while process.stages.in_flight() > 0 {
        let before = process.stages.in_flight();
        process.derive(64)?;
        process.apply_all()?;
        process.stages.tick().map_err(|error| format!("stages: {error}"))?;
        if process.stages.in_flight() == before
            && process.derive.as_ref().is_none_or(|d| d.waiting() == 0)
        {
            return Err(format!("{before} events are in flight and nothing waits to be derived"));
        }
    }
    Ok(())
}

/// Checks what must hold once nothing more will happen.
pub(super) fn at_the_end(world: &mut World) -> Result<(), String> {
    world.close()?;
    let options = CheckOptions { public_key: None, checkpoint: None };
    let report = check(&*world.disk, &world.data(), options, &mut |_| {});
    let report = report.map_err(|error| format!("check: {error}"))?;
    if report.findings.is_empty() { Ok(()) } else { Err(format!("check: {:?}", report.findings)) }
}

fn read_all(process: &Process) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        let from = entries.len() as u64;
        let more = process
            .reader
            .read(from, None, 1_000, 1 << 20)
            .map_err(|error| format!("reading the log: {error}"))?;
        if more.is_empty() {
            return Ok(entries);
        }
        entries.extend(more);
    }
}

/// Whatever the log took has its row, also if the process died before the row was written.
fn audited(process: &Process, entries: &[Entry]) -> Result<(), String> {
    let failed = |error: LogError| format!("reading the audit log: {error}");
    let rows = process.audit.ids(FIRST_TENANT).map_err(failed)?;
    let once: BTreeSet<_> = rows.iter().copied().collect();
    if once.len() != rows.len() {
        return Err("a row is in the audit log twice".to_owned());
    }
    for (number, entry) in entries.iter().enumerate() {
        let id = match (entry.head.kind, entry.head.sub) {
            (Kind::Experience, _) => {
                let who = entry.who.live().map(ExperienceWho::decode).transpose();
                who.map_err(|error| error.to_string())?.map(|who| who.audit_id)
            }
            (Kind::Control, control::CANCEL) => {
                let what = entry.what.live().map(Cancel::decode).transpose();
                what.map_err(|error| error.to_string())?.map(|what| what.audit_id)
            }
            _ => None,
        };
        let Some(id) = id else { continue };
        // Looking one up goes another way than reading all; a few are enough to show it.
        let found = number % 16 > 0 || process.audit.has(FIRST_TENANT, id).map_err(failed)?;
        if !once.contains(&id) || !found {
            return Err(format!("entry {} has no row {id}", entry.head.offset));
        }
    }
    match process.audit.first_broken(FIRST_TENANT).map_err(failed)? {
        None => Ok(()),
        Some(index) => Err(format!("row {index} of the audit log does not hold")),
    }
}

fn increasing(entries: &[Entry]) -> Result<(), String> {
    for (index, pair) in entries.windows(2).enumerate() {
        let [before, after] = pair else { continue };
        if after.head.recorded_at <= before.head.recorded_at {
            return Err(format!("recorded_at does not increase after entry {index}"));
        }
    }
    match entries.iter().enumerate().find(|(index, entry)| entry.head.offset != *index as u64) {
        Some((index, _)) => Err(format!("offset {index} is not dense")),
        None => Ok(()),
    }
}

fn experiences(entries: &[Entry]) -> Result<Found, String> {
    let mut found = Found::new();
    for entry in entries.iter().filter(|entry| entry.head.kind == Kind::Experience) {
        let (id, seq) = (entry.head.event_id(), entry.head.tenant_seq);
        match &entry.what {
            SectionState::Live(bytes) => {
                let what =
                    ExperienceWhat::decode(bytes).map_err(|error| format!("{id}: {error}"))?;
                let said =
                    Said { scope: what.scope.to_string(), text: what.content.text().to_owned() };
                found.entry(what.idempotency_key).or_default().push((id, seq, Some(said)));
            }
            SectionState::Erased => {
                found.entry(format!("erased {id}")).or_default().push((id, seq, None))
            }
            SectionState::Absent => return Err(format!("{id} has no words and was not erased")),
        }
    }
    Ok(found)
}

/// What was never answered may be there: then it is there whole, and stays.
fn adopt(world: &mut World, found: &Found) {
    let unanswered = std::mem::take(&mut world.model.unanswered);
    for (key, said) in unanswered {
        match found.get(&key).map(Vec::as_slice) {
            Some([(event, wal_offset, Some(stored))]) if *stored == said => {
                let event = Acknowledged {
                    said,
                    event: *event,
                    wal_offset: *wal_offset,
                    erased: Certainty::No,
                    stays: false,
                    cancelled: Certainty::No,
                };
                world.model.events.insert(key, event);
            }
            // Not there. It never will be: nobody sends it again under this key.
            _ => drop(world.model.refused.insert(key)),
        }
    }
}

/// Every acknowledged event is there once, unchanged; nothing else is.
fn acknowledged(world: &mut World, found: &Found) -> Result<(), String> {
    for (key, event) in &mut world.model.events {
        let erased = found.contains_key(&format!("erased {}", event.event));
        match (found.get(key).map(Vec::as_slice), event.erased) {
            (None, Certainty::Yes | Certainty::Perhaps) if erased => event.erased = Certainty::Yes,
            (Some([(id, seq, Some(said))]), Certainty::No | Certainty::Perhaps)
                if *id == event.event && *seq == event.wal_offset && *said == event.said =>
            {
                event.erased = Certainty::No;
            }
            (stored, _) => {
                return Err(format!(
                    "{key} ({}) was acknowledged, the log has {stored:?}",
                    event.event
                ));
            }
        }
    }
    let known: BTreeSet<&String> = world.model.events.keys().collect();
    match found.keys().find(|key| !key.starts_with("erased ") && !known.contains(key)) {
        Some(key) => Err(format!("the log has {key}, which nobody was answered for")),
        None => Ok(()),
    }
}

/// Rows of the views agree with the model: found by key, listed unless cancelled or erased.
fn rows(world: &mut World) -> Result<(), String> {
    let process = world.process.as_ref().ok_or("the process does not run")?;
    for (key, event) in &mut world.model.events {
        let row =
            process.views.event(FIRST_TENANT, event.event).map_err(|error| error.to_string())?;
        let row = row.ok_or_else(|| format!("{key} has no row"))?;
        if row.is_erased() != (event.erased == Certainty::Yes) {
            return Err(format!("{key}: the row says erased = {}", row.is_erased()));
        }
        match (row.is_excluded(), event.cancelled) {
            (true, Certainty::No) => {
                return Err(format!("{key} is excluded but was not cancelled"));
            }
            (false, Certainty::Yes) if !row.is_erased() => {
                return Err(format!("{key} was cancelled but is listed"));
            }
            (excluded, _) if !row.is_erased() => {
                event.cancelled = if excluded { Certainty::Yes } else { Certainty::No };
            }
            _ => {}
        }
    }
    Ok(())
}

/// Folding the whole log into an empty store gives the same bytes.
fn views_equal_replay(process: &Process) -> Result<(), String> {
    let kv = Arc::new(MemKv::new());
    let replay = views(Arc::clone(&kv) as _, &process.keys).map_err(|error| error.to_string())?;
    let tip = process.views.applied().ok_or("the views have applied nothing")?;
    catch_up(&replay, &*process.reader, &tip, &mut |_, _| {})
        .map_err(|error| format!("replay: {error}"))?;
    for space in Space::ALL.iter().filter(|space| !matches!(space, Space::Lifecycle | Space::Jobs))
    {
        let (live, replayed) = (dump(&**process.views.kv(), *space)?, dump(&*kv, *space)?);
        if live != replayed {
            let differs = live.iter().zip(&replayed).find(|(a, b)| a != b);
            return Err(format!(
                "the views differ from a replay in {}: {} rows against {}, first {differs:?}",
                space.name(),
                live.len(),
                replayed.len(),
            ));
        }
    }
    Ok(())
}

/// How many records the views have: identities of rows, and what was derived.
#[cfg(test)]
pub(super) fn records(world: &World) -> Result<usize, String> {
    let process = world.process.as_ref().ok_or("the process does not run")?;
    let spaces = [Space::Records, Space::Sources];
    spaces.iter().map(|space| dump(&**process.views.kv(), *space).map(|rows| rows.len())).sum()
}

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

fn dump(kv: &dyn Kv, space: Space) -> Result<Rows, String> {
    let mut rows = Vec::new();
    let end = [0xFF; 80];
    kv.scan(space, &[], &end, Direction::Forward, &mut |key, value| {
        rows.push((key.to_vec(), value.to_vec()));
        std::ops::ControlFlow::Continue(())
    })
    .map_err(|error| error.to_string())?;
    Ok(rows)
}

/// A row of an import and its identity are there together or not at all, whatever was erased since.
fn identities(world: &World) -> Result<(), String> {
    let process = world.process.as_ref().ok_or("the process does not run")?;
    let keyed = world.keyed();
    for key in &world.model.imported {
        let found = remembered(&process.views, &keyed, FIRST_TENANT, key);
        let found = found.map_err(|error| error.to_string())?;
        let event = world.model.events.get(key).map(|event| event.event);
        if found != event {
            return Err(format!("{key} is remembered as {found:?}, the log has {event:?}"));
        }
    }
    Ok(())
}

/// After resuming, no event is left between two stages.
fn staged(world: &World) -> Result<(), String> {
    let process = world.process.as_ref().ok_or("the process does not run")?;
    if process.stages.in_flight() != 0 {
        return Err(format!("{} events are stuck between stages", process.stages.in_flight()));
    }
    for (key, event) in world.model.events.iter().filter(|(_, event)| event.erased == Certainty::No)
    {
        let rows = process
            .views
            .lifecycle_of_event(FIRST_TENANT, event.event)
            .map_err(|error| error.to_string())?;
        let stages: Vec<Stage> = rows.iter().filter_map(|row| row.kind.stage()).collect();
        if !stages.is_sorted() || stages.iter().collect::<BTreeSet<_>>().len() != stages.len() {
            return Err(format!("{key}: stages out of order or doubled: {rows:?}"));
        }
        // What comes after that comes with the end of its episode.
        if event.cancelled == Certainty::No && !stages.contains(&Stage::Consolidated) {
            return Err(format!("{key} is not consolidated: {rows:?}"));
        }
    }
    Ok(())
}

/// The words of an erased event are nowhere on the disk.
fn words_are_gone(world: &World) -> Result<(), String> {
    let erased: Vec<&Acknowledged> =
        world.model.events.values().filter(|event| event.erased == Certainty::Yes).collect();
    if erased.is_empty() {
        return Ok(());
    }
    for path in world.disk.files() {
        let bytes = world.disk.contents(&path).map_err(|error| error.to_string())?;
        for event in &erased {
            let needle = event.said.own_words().as_bytes();
            if bytes.windows(needle.len()).any(|window| window == needle) {
                return Err(format!("words of {} are still in {}", event.event, path.display()));
            }
        }
    }
    Ok(())
}
