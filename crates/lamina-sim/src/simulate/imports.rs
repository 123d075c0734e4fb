//! Imports under the same faults: a file comes in by steps, and after any of them the process may die.
//!
//! Each step decides row by row as the engine does, and begins where the log says that it stopped or at
//! the first row of the file. Whatever happened between, every row ends up in the log once.

use lamina_engine::import::RowPlan;
use lamina_engine::import::alone::{RowAlone, RowName, plan, step_entry};
use lamina_engine::open::FIRST_TENANT;
use lamina_engine::write::capture::Request;
use lamina_env::sim::rng::SimRng;
use tokio::sync::oneshot;

use super::model::{Certainty, ImportedFile, Said};
use super::workload::{SAID, SCOPES, apply, one, settle};
use super::world::{Waiting, World};

/// Rows of a file, at most.
const ROWS_MAX: u64 = 12;
/// Rows of a step, at most.
const STEP_ROWS_MAX: u64 = 4;

/// Rows of a file from one place to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowRange {
    pub(super) file: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Makes a step of an import: of a file that is not through, of one that is, or of a new one.
pub(super) fn step(world: &mut World, choices: &SimRng) -> String {
    let files = world.model.files.len() as u64;
    let chosen = choices.below(files + 1);
    if chosen == files {
        let rows = 1 + choices.below(ROWS_MAX);
        add_file(world, choices, rows);
    }
    let file = chosen as usize;
    let rows = rows_of(world, file).len();
    let from = if choices.below(3) == 0 { 0 } else { first_missing(world, file).min(rows - 1) };
    let to = rows.min(from + 1 + choices.below(STEP_ROWS_MAX) as usize);
    let written = match write_rows(world, choices, RowRange { file, from, to }) {
        Ok(Some(written)) => written,
        Ok(None) => return "no views to decide rows by".to_owned(),
        Err(error) => panic!("rows {from}..{to} of file {file}: {error}"),
    };
    let outcome = if choices.below(3) == 0 { "queued".to_owned() } else { apply(world) };
    format!("rows {from}..{to} of file {file}, {written} of them new; {outcome}")
}

/// Adds a file that no import has seen.
pub(super) fn add_file(world: &mut World, choices: &SimRng, rows: u64) {
    let rows = (0..rows)
        .map(|_| {
            let says = if world.derives { one(SAID, choices) } else { "" };
            world.model.fresh(one(SCOPES, choices), says, choices.below(500) as usize)
        })
        .collect();
    world.model.files.push(ImportedFile { rows });
}

/// Imports every file from its first row, as often as its rows take steps, and then once more: the
/// last time writes nothing.
pub(super) fn finish(world: &mut World, choices: &SimRng) -> Result<(), String> {
    for file in 0..world.model.files.len() {
        let rows = rows_of(world, file).len();
        for to in 1..=rows {
            write_rows(world, choices, RowRange { file, from: 0, to })?;
            apply(world);
            let again = write_rows(world, choices, RowRange { file, from: 0, to })?;
            if again != Some(0) {
                return Err(format!("rows ..{to} of file {file} again: {again:?} written"));
            }
        }
        for (key, _) in rows_of(world, file) {
            if !world.model.events.contains_key(key) {
                return Err(format!("row {key} of file {file} is not in the log"));
            }
        }
    }
    Ok(())
}

/// The rows of a file.
fn rows_of(world: &World, file: usize) -> &[(String, Said)] {
    world.model.files.get(file).map_or(&[], |file| &file.rows)
}

/// The first row of a file that is not known to be in the log.
fn first_missing(world: &World, file: usize) -> usize {
    rows_of(world, file).iter().take_while(|(key, _)| world.model.events.contains_key(key)).count()
}

/// Decides rows against the views and writes the new ones with their identities, in one append. Gives
/// how many are new; nothing if the views follow no more.
pub(super) fn write_rows(
    world: &mut World,
    choices: &SimRng,
    range: RowRange,
) -> Result<Option<usize>, String> {
    // The engine too decides only when the views have caught up.
    apply(world);
    let RowRange { file, from, to } = range;
    let items: Vec<(String, Said)> =
        rows_of(world, file).get(from..to).unwrap_or_default().to_vec();
    if world.process.as_ref().is_none_or(|process| process.stopped) {
        return Ok(None);
    }
    let mut new = Vec::new();
    for (key, said) in items {
        if decided(world, &key, &said)? == RowPlan::Written {
            new.push((key, said));
        }
    }
    if new.is_empty() {
        return Ok(Some(0));
    }
    submit(world, choices, new.clone());
    Ok(Some(new.len()))
}

/// The decision about a row, which must agree with what was acknowledged.
fn decided(world: &World, key: &str, said: &Said) -> Result<RowPlan, String> {
    let process = world.process.as_ref().ok_or("the process does not run")?;
    let row = RowName { source_id: key, body: said.text.as_bytes() };
    let planned = plan(&process.views, &world.keyed(), FIRST_TENANT, &row);
    let planned = planned.map_err(|error| error.to_string())?;
    let known = world.model.events.get(key).map(|event| event.erased);
    let agrees = match known {
        None => planned == RowPlan::Written || world.model.unanswered.contains_key(key),
        Some(Certainty::No) => planned == RowPlan::Known,
        Some(Certainty::Yes) => planned == RowPlan::Erased,
        Some(Certainty::Perhaps) => matches!(planned, RowPlan::Known | RowPlan::Erased),
    };
    if agrees { Ok(planned) } else { Err(format!("{key} ({known:?}) would be {planned:?}")) }
}

fn submit(world: &mut World, choices: &SimRng, items: Vec<(String, Said)>) {
    let rows: Vec<RowAlone> = items.iter().map(|(key, said)| world.row(key, said)).collect();
    let entry = step_entry(&SimRng::new(choices.next_u64()), FIRST_TENANT, &rows);
    let (reply, answer) = oneshot::channel();
    let prepared = rows.into_iter().map(|row| row.item).collect();
    for (key, said) in &items {
        world.model.administered.touched(&said.scope);
        world.model.imported.insert(key.clone());
        world.model.refused.remove(key);
    }
    world.model.unanswered.extend(items.iter().cloned());
    let process = world.process.as_mut().expect("the process runs");
    let request = Request::Import { items: prepared, step: Box::new(entry), reply };
    let committed = process.capture.commit(vec![request]);
    process.committed(committed);
    process.waiting.push(Waiting { items, answer });
    settle(world);
}
