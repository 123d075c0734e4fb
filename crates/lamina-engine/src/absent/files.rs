//! Every file below a directory, byte by byte.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lamina_env::Env;

use super::needles::{Needles, Sought};
use super::packed::{Unpacked, unpack};
use super::{AbsentReport, Trace};
use crate::OpenError;
use crate::open::io_error;

/// Bytes read at a time.
const CHUNK: usize = 1 << 18;
/// What room that is kept for later looks like.
static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// Searches all files; gives the strings that the log has.
pub(super) fn search(
    data: &Path,
    env: &Env,
    sought: &Sought,
    needles: &Needles,
    report: &mut AbsentReport,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<BTreeSet<usize>, OpenError> {
    let files = below(data, env)?;
    let all = files.iter().map(|(_, bytes)| bytes).sum();
    let mut in_log = BTreeSet::new();
    for (path, _) in files {
        let name = path.strip_prefix(data).unwrap_or(&path).display().to_string();
        let is_log = name.starts_with("log/");
        // A name can say something too.
        needles.find(name.as_bytes(), &mut |found| {
            let (line, how) = (Some(sought.line(found.string)), "in its name".to_owned());
            report.add(Trace { line, place: name.clone(), position: 0, how });
        });
        let whole = file(&path, env, needles, &mut |met| match met {
            Met::Bytes(more) => {
                report.bytes += more;
                progress(report.bytes, all);
            }
            Met::String { string, how, position } => {
                if is_log {
                    in_log.insert(string);
                }
                let (line, place) = (Some(sought.line(string)), name.clone());
                report.add(Trace { line, place, position, how: how.to_owned() });
            }
        });
        let whole = match whole {
            Ok(whole) => whole,
            Err(error) => {
                report.unread(name, error);
                continue;
            }
        };
        report.files += 1;
        let mut unpacked = |Unpacked { bytes, how, position }: Unpacked| {
            report.bytes += bytes.len() as u64;
            needles.find(&bytes, &mut |found| {
                let how = format!("{}, compressed ({how})", found.how);
                let (line, place) = (Some(sought.line(found.string)), name.clone());
                report.add(Trace { line, place, position, how });
            });
        };
        if let Some(why) = whole.and_then(|bytes| unpack(&bytes, &mut unpacked).err()) {
            report.unread(name, why);
        }
    }
    Ok(in_log)
}

/// What reading a file comes across.
enum Met {
    /// So many bytes more.
    Bytes(u64),
    /// A string.
    String { string: usize, how: &'static str, position: u64 },
}

/// Searches one file. Gives its bytes if something compressed may be in it.
fn file(
    path: &Path,
    env: &Env,
    needles: &Needles,
    met: &mut dyn FnMut(Met),
) -> std::io::Result<Option<Vec<u8>>> {
    let file = env.disk.open_read(path)?;
    // Nothing that Lamina writes is compressed; uploads may be.
    let is_upload = |dir: &Path| dir.ends_with("blobs") || dir.ends_with("imports");
    let mut whole = path.parent().is_some_and(is_upload).then(Vec::new);
    let overlap = needles.longest().saturating_sub(1);
    let mut buffer: Vec<u8> = Vec::with_capacity(CHUNK + overlap);
    // Where in the file the buffer begins, and how much of it was searched before.
    let (mut start, mut searched) = (0_u64, 0);
    loop {
        let kept = buffer.len();
        buffer.resize(kept + CHUNK, 0);
        let read = file.read_at(buffer.get_mut(kept..).unwrap_or_default(), start + kept as u64)?;
        buffer.truncate(kept + read);
        met(Met::Bytes(read as u64));
        if let Some(whole) = &mut whole {
            whole.extend_from_slice(buffer.get(kept..).unwrap_or_default());
        }
        let (before, new) = buffer.split_at_checked(kept).unwrap_or_default();
        if new != ZEROS || before.iter().any(|byte| *byte != 0) {
            needles.find(&buffer, &mut |hit| {
                if hit.end > searched {
                    let position = start + hit.at as u64;
                    met(Met::String { string: hit.string, how: hit.how, position });
                }
            });
        }
        if read == 0 {
            return Ok(whole);
        }
        let cut = buffer.len().saturating_sub(overlap);
        buffer.drain(..cut);
        start += cut as u64;
        searched = buffer.len();
    }
}

/// Every file below a directory, with its length, sorted.
fn below(data: &Path, env: &Env) -> Result<Vec<(PathBuf, u64)>, OpenError> {
    let (mut files, mut folders) = (Vec::new(), vec![data.to_owned()]);
    while let Some(folder) = folders.pop() {
        let names = env.disk.list(&folder).map_err(|error| io_error("read", &folder, error))?;
        for name in names {
            let path = folder.join(name);
            if env.disk.list(&path).is_ok() {
                folders.push(path);
                continue;
            }
            let file = env.disk.open_read(&path);
            let length = file.and_then(|file| file.len());
            files.push((path.clone(), length.map_err(|error| io_error("read", &path, error))?));
        }
    }
    files.sort();
    Ok(files)
}
