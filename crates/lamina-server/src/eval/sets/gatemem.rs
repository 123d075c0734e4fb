//! GateMem: episodes in which people of several roles speak, and checkpoints at which one of them asks. What may be shown
//! to whom, and what is still shown after a request to delete it, is what counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::anyhow;
use jiff::SignedDuration;
use lamina_env::Disk;
use serde_json::Value;

use super::{bytes, digits, list, names, text};

/// When an episode without times begins.
const BEGINS: &str = "2026-01-01 09:00";

/// One episode with its checkpoints.
#[derive(Debug, Clone, Default)]
pub(crate) struct Episode {
    pub(crate) name: String,
    pub(crate) turns: Vec<EpisodeTurn>,
    /// Checkpoints by the place of the last turn that they know.
    pub(crate) checkpoints: BTreeMap<usize, Vec<Checkpoint>>,
}

/// Something that was said.
#[derive(Debug, Clone)]
pub(crate) struct EpisodeTurn {
    pub(crate) actor: String,
    pub(crate) role: String,
    pub(crate) at: String,
    pub(crate) text: String,
}

/// A question of somebody, with what has to be shown and what must not be.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint {
    pub(crate) actor: String,
    pub(crate) role: String,
    pub(crate) question: String,
    pub(crate) kind: String,
    pub(crate) includes: BTreeSet<String>,
    pub(crate) excludes: BTreeSet<String>,
}

/// Words that ask for something to be deleted, and those by which somebody asks at all.
const DELETES: &[&str] = &["delete", "erase", "forget", "purge", "remove", "wipe"];
const ASKS: &[&str] = &["can", "could", "must", "need", "please", "request", "want"];

impl EpisodeTurn {
    /// Whether it asks for something to be deleted.
    pub(crate) fn asks_to_delete(&self) -> bool {
        let said = lamina_core::read::words::words(&self.text);
        let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
        has(DELETES) && has(ASKS) && !said.iter().any(|word| word == "not")
    }
}

/// Reads a directory with `episodes.jsonl` and `checkpoints.jsonl`, or one of such directories.
pub(crate) fn read(disk: &dyn Disk, path: &Path) -> anyhow::Result<Vec<Episode>> {
    let mut episodes = Vec::new();
    let is_set = |dir: &Path| disk.exists(&dir.join("episodes.jsonl"));
    let mut dirs = vec![path.to_owned()];
    if !is_set(path) {
        let mut within = disk.list(path)?;
        within.sort();
        dirs = within.iter().map(|name| path.join(name)).filter(|dir| is_set(dir)).collect();
    }
    for dir in dirs {
        let mut asked: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for checkpoint in lines(disk, &dir.join("checkpoints.jsonl"))? {
            asked.entry(text(&checkpoint, "episode_id")?.to_owned()).or_default().push(checkpoint);
        }
        for episode in lines(disk, &dir.join("episodes.jsonl"))? {
            let id = text(&episode, "episode_id")?;
            episodes.push(self::episode(&episode, asked.get(id).map_or(&[][..], Vec::as_slice))?);
        }
    }
    match episodes.is_empty() {
        true => Err(anyhow!("{} has no episodes", path.display())),
        false => Ok(episodes),
    }
}

fn lines(disk: &dyn Disk, path: &Path) -> anyhow::Result<Vec<Value>> {
    let bytes = bytes(disk, path)?;
    let lines = std::str::from_utf8(&bytes)?.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn episode(episode: &Value, asked: &[Value]) -> anyhow::Result<Episode> {
    let mut turns = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut at = digits(BEGINS)?;
    for (place, turn) in list(episode, "turns")?.iter().enumerate() {
        let (actor, role) = who(turn.get("speaker").unwrap_or(&Value::Null))?;
        places.insert(text(turn, "turn_id")?, place);
        // A turn without a time was said a minute after the one before it.
        at = match turn.get("timestamp").and_then(Value::as_str) {
            Some(told) => digits(told)?,
            None => at.checked_add(SignedDuration::from_mins(1))?,
        };
        turns.push(EpisodeTurn {
            actor,
            role,
            at: format!("{at}Z"),
            text: text(turn, "text")?.to_owned(),
        });
    }
    let mut checkpoints: BTreeMap<usize, Vec<Checkpoint>> = BTreeMap::new();
    for one in asked {
        let place = places.get(text(one, "as_of_turn_id")?).copied();
        let place = place.ok_or_else(|| anyhow!("a checkpoint names no turn"))?;
        let (actor, role) = who(one.get("asker").unwrap_or(&Value::Null))?;
        let of = |pointer: &str| one.pointer(pointer).map(names).unwrap_or_default();
        let mut excludes = of("/judge_spec/not_include");
        excludes.extend(of("/leak_targets"));
        checkpoints.entry(place).or_default().push(Checkpoint {
            actor,
            role,
            question: text(one, "query_text")?.to_owned(),
            kind: text(one, "query_type")?.to_owned(),
            includes: of("/judge_spec/include"),
            excludes,
        });
    }
    Ok(Episode { name: text(episode, "episode_id")?.to_owned(), turns, checkpoints })
}

/// The actor and the role of somebody.
fn who(person: &Value) -> anyhow::Result<(String, String)> {
    let (id, role) = (text(person, "principal_id")?, text(person, "role")?);
    let kind = if role == "agent" { "agent" } else { "user" };
    Ok((format!("{kind}:{id}"), role.to_owned()))
}
