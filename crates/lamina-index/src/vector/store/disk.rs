//! How a store of vectors gets to disk and back.

use std::path::PathBuf;
use std::sync::Arc;

use lamina_env::disk::write_atomic;
use lamina_env::{Disk, DiskFile};

use super::{CHUNK, Name, Place, STATE_BYTES_MAX, Store, open_or_create};
use crate::error::Error;
use crate::vector::rows::{Fields, Row, Slot};
use crate::vector::state::State;

/// Rewrite the files when more than half of the rows are gone, and at least this many.
const GONE_MIN: usize = 10_000;

/// What one commit writes. It is written while searches and changes go on.
#[derive(Debug)]
pub(crate) struct Batch {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    rows: Arc<dyn DiskFile>,
    scopes: Arc<dyn DiskFile>,
    row_bytes: usize,
    /// New rows, and where they go.
    new_rows: Vec<u8>,
    new_rows_at: u64,
    /// New names of scopes, and where they go.
    new_scopes: Vec<u8>,
    new_scopes_at: u64,
    /// Pending rows that the batch holds; none where one was removed before.
    taken: Vec<bool>,
    /// Scopes that have their names in the file then.
    named: usize,
    /// What is so when all is written.
    state: State,
}

impl Batch {
    /// Bytes of what was removed.
    pub(crate) fn overwrites(&self) -> u64 {
        (self.state.removed.len() * self.row_bytes) as u64
    }

    /// Rows and names first, then the state that counts them, then the bytes of what was removed.
    pub(crate) fn write(&self) -> Result<(), Error> {
        self.rows.write_at(&self.new_rows, self.new_rows_at)?;
        self.rows.sync()?;
        if !self.new_scopes.is_empty() {
            self.scopes.write_at(&self.new_scopes, self.new_scopes_at)?;
            self.scopes.sync()?;
        }
        if self.new_rows_at == 0 {
            self.disk.sync_dir(&self.dir)?;
        }
        write_atomic(&*self.disk, &self.dir.join("state"), &self.state.encode())?;
        overwrite(&*self.rows, &self.state.removed, self.row_bytes)
    }
}

impl Store {
    /// What is to be written; none if there is nothing. Until it is finished, no other may begin.
    pub(crate) fn begin_commit(&mut self) -> Option<Batch> {
        if !self.is_dirty() {
            return None;
        }
        let mut new_rows = Vec::new();
        for row in &self.pending {
            match row {
                Some(row) => row.encode(&mut new_rows),
                None => new_rows.resize(new_rows.len() + self.row_bytes(), 0),
            }
        }
        let new_scopes = encode_scopes(self.paths.get(self.named..).unwrap_or_default());
        let count = u32::try_from(self.pending.len()).expect("row numbers are checked at put");
        let mut state = self.state.clone();
        state.rows += count;
        state.applied = self.applied;
        state.removed = std::mem::take(&mut self.removed);
        state.scopes_bytes += new_scopes.len() as u64;
        Some(Batch {
            disk: Arc::clone(&self.disk),
            dir: self.dir.clone(),
            rows: Arc::clone(&self.rows),
            scopes: Arc::clone(&self.scopes),
            row_bytes: self.row_bytes(),
            new_rows,
            new_rows_at: self.place(self.state.rows),
            new_scopes,
            new_scopes_at: self.state.scopes_bytes,
            taken: self.pending.iter().map(Option::is_some).collect(),
            named: self.paths.len(),
            state,
        })
    }

    /// The batch is on disk, or is not.
    pub(crate) fn end_commit(&mut self, batch: Batch, written: bool) -> Result<(), Error> {
        if !written {
            // What was to be removed still is; everything else is still pending.
            self.removed.extend(batch.state.removed);
            return Ok(());
        }
        let first = self.state.rows;
        let taken = self.pending.drain(..batch.taken.len()).zip(&batch.taken);
        // Removed while it was written: it is on disk and has to go from there.
        let gone = (first..).zip(taken).filter(|(_, (row, taken))| row.is_none() && **taken);
        self.removed.extend(gone.map(|(number, _)| number));
        self.named = batch.named;
        self.state = batch.state;
        let gone = self.state.rows as usize - self.live.min(self.state.rows as usize);
        if self.pending.is_empty() && self.removed.is_empty() && gone > GONE_MIN && gone > self.live
        {
            return self.rewrite();
        }
        Ok(())
    }

    /// Makes everything that was applied durable, and overwrites what was removed.
    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        while let Some(batch) = self.begin_commit() {
            let written = batch.write();
            self.end_commit(batch, written.is_ok())?;
            written?;
        }
        Ok(())
    }

    /// Leaves no trace of what was removed: not its rows, and not the name of a scope that is empty now. Gives
    /// the bytes that were overwritten.
    pub(crate) fn purge(&mut self) -> Result<u64, Error> {
        let mut bytes = (self.removed.len() * self.row_bytes()) as u64;
        self.commit()?;
        let mut at = 0;
        let mut blanked = 0;
        for (number, name) in self.paths.iter_mut().take(self.named).enumerate() {
            let length = name.len();
            let is_empty = self.rows_of.get(number).is_some_and(Vec::is_empty);
            if let Name::Is(path) = name
                && is_empty
            {
                self.scopes.write_at(&vec![0; length], at + 2)?;
                self.numbers.remove(path);
                *name = Name::Blank(length);
                blanked += length as u64;
            }
            at += 2 + length as u64;
        }
        if blanked > 0 {
            self.scopes.sync()?;
            bytes += blanked;
        }
        Ok(bytes)
    }

    fn write_state(&mut self, state: State) -> Result<(), Error> {
        write_atomic(&*self.disk, &self.dir.join("state"), &state.encode())?;
        self.state = state;
        Ok(())
    }

    /// Overwrites the rows that the state names as removed.
    pub(super) fn finish_removing(&mut self) -> Result<(), Error> {
        overwrite(&*self.rows, &self.state.removed, self.row_bytes())
    }

    /// Writes the live rows into new files, each scope's next to each other, and drops the old ones.
    pub(super) fn rewrite(&mut self) -> Result<(), Error> {
        assert!(self.pending.is_empty(), "everything is committed before a rewrite");
        let generation = self.state.generation.wrapping_add(1);
        let names = ["rows", "scopes"].map(|name| self.dir.join(format!("{name}-{generation}")));
        let [rows_path, scopes_path] = &names;
        for path in &names {
            // Left over from a rewrite that a crash ended.
            if self.disk.exists(path) {
                self.disk.remove(path)?;
            }
        }
        let rows = open_or_create(&*self.disk, rows_path)?;
        let scopes = open_or_create(&*self.disk, scopes_path)?;
        let mut paths = Vec::new();
        let (mut bytes, mut at, mut count) = (Vec::new(), 0, 0_u32);
        for (path, numbers) in self.paths.iter().zip(&self.rows_of) {
            if numbers.is_empty() {
                continue;
            }
            let scope = u32::try_from(paths.len()).expect("fewer scopes than before");
            paths.push(path.clone());
            for number in numbers {
                let mut row = self.read_row(*number)?;
                row.scope = scope;
                row.encode(&mut bytes);
                count += 1;
                if bytes.len() >= CHUNK {
                    rows.write_at(&bytes, at)?;
                    at += bytes.len() as u64;
                    bytes.clear();
                }
            }
        }
        rows.write_at(&bytes, at)?;
        rows.sync()?;
        scopes.write_at(&encode_scopes(&paths), 0)?;
        scopes.sync()?;
        self.disk.sync_dir(&self.dir)?;
        let before = self.state.generation;
        let mut state = self.state.clone();
        (state.generation, state.rows, state.removed) = (generation, count, Vec::new());
        state.scopes_bytes = paths.iter().map(|name| 2 + name.len() as u64).sum();
        self.write_state(state)?;
        for name in ["rows", "scopes"] {
            self.disk.remove(&self.dir.join(format!("{name}-{before}")))?;
        }
        self.disk.sync_dir(&self.dir)?;
        (self.rows, self.scopes) = (rows, scopes);
        self.forget_memory();
        self.read_scopes()?;
        self.read_rows()
    }

    pub(super) fn read_row(&self, number: u32) -> Result<Row, Error> {
        let mut bytes = vec![0; self.row_bytes()];
        let read = self.rows.read_at(&mut bytes, self.place(number))?;
        match Row::decode(bytes.get(..read).unwrap_or_default()) {
            Slot::Live(row) => Ok(row),
            Slot::Removed | Slot::Damaged => Err(Error::Damaged("a vector changed on disk")),
        }
    }

    fn forget_memory(&mut self) {
        self.paths.clear();
        self.numbers.clear();
        self.rows_of.clear();
        self.places.clear();
        self.cache.clear();
        self.live = 0;
    }

    /// Reads the names of scopes that count.
    pub(super) fn read_scopes(&mut self) -> Result<(), Error> {
        let length = self.state.scopes_bytes.min(STATE_BYTES_MAX);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        let read = self.scopes.read_at(&mut bytes, 0)?;
        let mut fields = Fields(bytes.get(..read).unwrap_or_default());
        let damaged = Error::Damaged("the table of scopes of the vectors");
        if read < bytes.len() {
            return Err(damaged);
        }
        while !fields.0.is_empty() {
            let name =
                next_scope(&mut fields).ok_or(Error::Damaged("a name in the table of scopes"))?;
            match name {
                Name::Is(path) => drop(self.scope_number(&path)?),
                Name::Blank(_) => {
                    self.paths.push(name);
                    self.rows_of.push(Vec::new());
                }
            }
        }
        self.named = self.paths.len();
        Ok(())
    }

    /// Reads where every row is; the vectors themselves are read when they are asked for.
    pub(super) fn read_rows(&mut self) -> Result<(), Error> {
        let per_chunk = u32::try_from((CHUNK / self.row_bytes()).max(1)).unwrap_or(1);
        let mut first = 0;
        let mut bytes = Vec::new();
        while first < self.state.rows {
            let count = per_chunk.min(self.state.rows - first);
            bytes.resize(count as usize * self.row_bytes(), 0);
            let read = self.rows.read_at(&mut bytes, self.place(first))?;
            if read < bytes.len() {
                return Err(Error::Damaged("the file of vectors is too short"));
            }
            for (number, bytes) in (first..).zip(bytes.chunks_exact(self.row_bytes())) {
                match Row::decode(bytes) {
                    Slot::Removed => {}
                    Slot::Live(row) if (row.scope as usize) < self.paths.len() => {
                        let place = Place { row: number, scope: row.scope };
                        self.index_row(row.candidate.key.record(), place);
                    }
                    Slot::Live(_) | Slot::Damaged => {
                        return Err(Error::Damaged("a vector"));
                    }
                }
            }
            first += count;
        }
        Ok(())
    }
}

/// Zeros over these rows.
fn overwrite(file: &dyn DiskFile, rows: &[u32], row_bytes: usize) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let zeros = vec![0; row_bytes];
    for row in rows {
        file.write_at(&zeros, u64::from(*row) * row_bytes as u64)?;
    }
    Ok(file.sync()?)
}

/// Length and bytes of each.
fn encode_scopes(names: &[Name]) -> Vec<u8> {
    let mut out = Vec::new();
    for name in names {
        let length = u16::try_from(name.len()).expect("a path has at most 4,096 characters");
        out.extend_from_slice(&length.to_le_bytes());
        match name {
            Name::Is(path) => out.extend_from_slice(path.as_str().as_bytes()),
            Name::Blank(length) => out.resize(out.len() + length, 0),
        }
    }
    out
}

fn next_scope(fields: &mut Fields<'_>) -> Option<Name> {
    let length = usize::from(u16::from_le_bytes(fields.take()?));
    let (name, rest) = fields.0.split_at_checked(length)?;
    fields.0 = rest;
    match name.iter().all(|byte| *byte == 0) {
        true => Some(Name::Blank(length)),
        false => std::str::from_utf8(name).ok()?.parse().ok().map(Name::Is),
    }
}
