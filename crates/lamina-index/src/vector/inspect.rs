//! Rows of vectors as they lie on disk, in every file of them.

use std::path::Path;

use lamina_env::Disk;
use lamina_env::disk::read_file;

use super::rows::{Row, Slot, row_bytes};
use super::state::State;
use super::store::STATE_BYTES_MAX;
use crate::error::Error;
use crate::inspect::{Inspected, Kind, Lies, VerifiedFiles};

/// Rows read at a time.
const ROWS_AT_ONCE: usize = 4_096;

/// Shows every row of the vectors in `dir`.
pub(crate) fn inspect(
    disk: &dyn Disk,
    dir: &Path,
    place: &str,
    seen: &mut Inspected,
    show: &mut dyn FnMut(Lies),
) -> Result<(), Error> {
    let state = dir.join("state");
    let state = match disk.exists(&state) {
        true => State::decode(&read_file(disk, &state, STATE_BYTES_MAX)?),
        false => None,
    };
    for name in disk.list(dir)?.into_iter().filter(|name| name.starts_with("rows-")) {
        let file = disk.open_read(&dir.join(&name))?;
        let place = format!("{place}/{name}");
        let Some(state) = &state else {
            if file.len()? > 0 {
                seen.unread.push((place, "vectors without a state that says of what".to_owned()));
            }
            continue;
        };
        let length = row_bytes(state.space.dims);
        let mut buffer = vec![0; length * ROWS_AT_ONCE];
        let (mut at, mut damaged) = (0, 0_u64);
        loop {
            let read = file.read_at(&mut buffer, at)?;
            for bytes in buffer.get(..read).unwrap_or_default().chunks(length) {
                match Row::decode(bytes) {
                    Slot::Removed => {}
                    Slot::Damaged => damaged += 1,
                    Slot::Live(row) => {
                        seen.vectors += 1;
                        show(Lies {
                            place: place.clone(),
                            kind: Kind::Vector,
                            key: row.candidate.key,
                            offset: row.candidate.offset,
                            strings: Vec::new(),
                        });
                    }
                }
            }
            at += read as u64;
            if read < buffer.len() {
                break;
            }
        }
        if damaged > 0 {
            seen.unread.push((place, format!("{damaged} rows cannot be read")));
        }
    }
    Ok(())
}

/// Compares the state and the rows of the vectors in `dir` with their checksums.
pub(crate) fn verify(
    disk: &dyn Disk,
    dir: &Path,
    place: &str,
    verified: &mut VerifiedFiles,
) -> Result<(), Error> {
    let path = dir.join("state");
    if !disk.exists(&path) {
        return Ok(());
    }
    verified.files += 1;
    let Some(state) = State::decode(&read_file(disk, &path, STATE_BYTES_MAX)?) else {
        let what = "its checksum does not hold".to_owned();
        verified.damaged.push((format!("{place}/state"), what));
        return Ok(());
    };
    let name = format!("rows-{}", state.generation);
    let path = dir.join(&name);
    let damage = |what: String| (format!("{place}/{name}"), what);
    verified.files += 1;
    if state.rows > 0 && !disk.exists(&path) {
        verified.damaged.push(damage("is missing".to_owned()));
        return Ok(());
    }
    if state.rows == 0 {
        return Ok(());
    }
    let file = disk.open_read(&path)?;
    let length = row_bytes(state.space.dims);
    let mut buffer = vec![0; length];
    let mut damaged = 0_u64;
    for row in 0..state.rows {
        let read = file.read_at(&mut buffer, u64::from(row) * length as u64)?;
        let holds = read == length
            && (state.removed.contains(&row) || Row::decode(&buffer) != Slot::Damaged);
        damaged += u64::from(!holds);
    }
    if damaged > 0 {
        verified.damaged.push(damage(format!("the checksums of {damaged} rows do not hold")));
    }
    Ok(())
}
