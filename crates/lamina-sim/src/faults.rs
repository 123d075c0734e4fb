//! The fault suite with the real binary: every kind of file is flipped, cut, removed and exchanged, a server gets every
//! signal, and a second one is started beside it. Each case says what a user sees and what `lamina check` says.
//!
//! What must hold in every case: a read gives what was written or an error of its own code, never other words and never an
//! internal error; a server that refuses to start says why; what cannot be made again and is damaged is found by `check`;
//! and whatever can be made again leaves nothing behind after one start.

mod scene;
mod signals;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk, RealDisk};

use crate::process;
use scene::{Scene, Sight};

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The binary of the server.
    pub binary: PathBuf,
}

/// What a disk does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Flipped,
    Truncated,
    Missing,
    Swapped,
}

const FAULTS: [Fault; 4] = [Fault::Flipped, Fault::Truncated, Fault::Missing, Fault::Swapped];

/// What a file is to the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worth {
    /// It cannot be made again: `check` finds the damage, or nothing opens.
    Kept,
    /// It is made again: the server starts and shows everything.
    Disposable,
}

/// A kind of file.
#[derive(Debug, Clone, Copy)]
struct Kind {
    name: &'static str,
    /// The directory under the data directory, and how the name ends.
    place: (&'static str, &'static str),
    /// The last of several files.
    is_last: bool,
    worth: Worth,
}

const fn kind(name: &'static str, place: (&'static str, &'static str), worth: Worth) -> Kind {
    Kind { name, place, is_last: false, worth }
}

const KINDS: [Kind; 12] = [
    kind("format", ("", "FORMAT"), Worth::Kept),
    kind("log, sealed segment", ("log", ".seg"), Worth::Kept),
    Kind { is_last: true, ..kind("log, last segment", ("log", ".seg"), Worth::Kept) },
    kind("audit log", ("audit/log", ".seg"), Worth::Kept),
    kind("audit index", ("audit/index", ".idx"), Worth::Disposable),
    kind("blob", ("blobs", ""), Worth::Kept),
    kind("signing key", ("keys", "log-signing"), Worth::Kept),
    kind("key of a tenant", ("keys", "tenant-1"), Worth::Kept),
    kind("views", ("views", ""), Worth::Disposable),
    kind("search index", ("search", ""), Worth::Disposable),
    kind("acknowledged tip", ("", "acknowledged"), Worth::Disposable),
    kind("ballast", ("", "ballast"), Worth::Disposable),
];

/// How a case ended.
#[derive(Debug)]
struct Ending {
    check: i32,
    check_said: String,
    /// `None`: the server did not start, and said so.
    sight: Option<Sight>,
    said: String,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sight {
            Some(sight) => write!(f, "{sight}")?,
            None => write!(f, "does not start: {}", self.said)?,
        }
        write!(f, "\n        check {}: {}", self.check, self.check_said)
    }
}

/// Runs every case. An error if something does not hold.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("lamina-faults-").tempdir()?;
    let scene = Scene::make(&options.binary, folder.path())?;
    let (mut cases, mut wrong) = (0, Vec::new());
    for kind in KINDS {
        for fault in FAULTS {
            let Some(case) = scene.copy(folder.path())? else {
                bail!("the scene cannot be copied")
            };
            let Some(struck) = strike(&scene, &case, kind, fault)? else { continue };
            cases += 1;
            let ending = ending(&options.binary, &scene, &case)?;
            println!("{:20} {fault:?}\n        {ending}", kind.name);
            if let Err(error) = judge(kind, fault, &ending) {
                println!("        WRONG: {error}");
                wrong.push(format!("{} {fault:?} ({}): {error}", kind.name, struck.display()));
            }
            RealDisk.remove_dir_all(&case)?;
        }
    }
    for (name, result) in signals::all(&options.binary, folder.path())? {
        cases += 1;
        match result {
            Ok(()) => println!("{name:20} holds"),
            Err(error) => {
                println!("{name:20} WRONG: {error:#}");
                wrong.push(format!("{name}: {error:#}"));
            }
        }
    }
    println!("{cases} cases, {} do not hold", wrong.len());
    match wrong.is_empty() {
        true => Ok(()),
        false => bail!("{}", wrong.join("\n")),
    }
}

/// Does it to a file of the kind; `None` if there is none, or no other to exchange it with.
fn strike(scene: &Scene, case: &Path, kind: Kind, fault: Fault) -> anyhow::Result<Option<PathBuf>> {
    let Some(path) = find(case, kind)? else { return Ok(None) };
    let mut bytes = read_file(&RealDisk, &path, 1 << 30)?;
    // Segments and journals are longer than what was written to them.
    let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    match fault {
        Fault::Flipped => match bytes.get_mut(written / 2) {
            Some(byte) => *byte ^= 0x40,
            None => return Ok(None),
        },
        Fault::Truncated => bytes.truncate(written / 2),
        Fault::Missing => {
            RealDisk.remove(&path)?;
            return Ok(Some(path));
        }
        Fault::Swapped => {
            let Some(other) = find(scene.other(), kind)? else { return Ok(None) };
            bytes = read_file(&RealDisk, &other, 1 << 30)?;
        }
    }
    write_atomic(&RealDisk, &path, &bytes)?;
    Ok(Some(path))
}

/// A file of a kind: the largest below its place, or the first or last of segments.
fn find(data: &Path, kind: Kind) -> anyhow::Result<Option<PathBuf>> {
    let (place, ending) = kind.place;
    let mut files = scene::files(&data.join(place))?;
    files.retain(|file| file.to_string_lossy().ends_with(ending));
    files.sort();
    Ok(match ending {
        "" => files.into_iter().max_by_key(|file| file.metadata().map_or(0, |data| data.len())),
        _ if kind.is_last => files.pop(),
        _ => files.into_iter().next(),
    })
}

/// What `check` says, what a server shows, and what it says if it does not start.
fn ending(binary: &Path, scene: &Scene, case: &Path) -> anyhow::Result<Ending> {
    let data = case.to_str().context("a directory that is not UTF-8")?;
    let checked = process::run(binary, &["check", "--data", data])?;
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&checked.stdout),
        String::from_utf8_lossy(&checked.stderr)
    );
    let interesting = |line: &&str| {
        line.contains("DAMAGED") || line.contains("mends") || line.contains("lamina:")
    };
    let check_said = text.lines().find(interesting).or(text.lines().last()).unwrap_or_default();
    let check_said = check_said.trim().replace(data, "DIR");
    let (sight, said) = match scene::launch(binary, case).start() {
        Ok(server) => {
            let sight = scene.look(&server)?;
            server.stop()?;
            (Some(sight), String::new())
        }
        Err(error) => {
            let text = format!("{error:#}").replace(data, "DIR");
            let told = text.lines().find(|line| line.starts_with("lamina:")).map(str::to_owned);
            (None, told.unwrap_or(text))
        }
    };
    Ok(Ending { check: checked.status.code().unwrap_or(-1), check_said, sight, said })
}

/// Whether an ending is one of those that are promised.
fn judge(kind: Kind, fault: Fault, ending: &Ending) -> anyhow::Result<()> {
    match &ending.sight {
        Some(sight) => {
            if let Some(wrong) = &sight.wrong {
                bail!("a read gave {wrong}");
            }
            let all = sight.errors.is_empty();
            if kind.worth == Worth::Disposable && !all {
                bail!("the file can be made again, and {:?} is not shown", sight.errors);
            }
            if kind.worth == Worth::Kept && !all && ending.check == 0 {
                bail!("`check` finds nothing, and {:?} is not shown", sight.errors);
            }
            if !all && sight.health == "healthy" {
                bail!("a read met damage, and health says that there is none");
            }
        }
        None => {
            if kind.worth == Worth::Disposable {
                bail!("the file can be made again, and the server does not start");
            }
            if ending.said.is_empty() {
                bail!("the server does not start and does not say why");
            }
        }
    }
    if ending.check < 0 || ending.check > 4 {
        bail!("`check` ended with {} at a {fault:?} file", ending.check);
    }
    Ok(())
}
