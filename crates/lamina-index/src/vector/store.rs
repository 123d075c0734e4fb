//! The vectors of one tenant in one space, on disk and in memory.
//!
//! `rows-G` holds rows, `scopes-G` the names of scopes, `state` says what of them counts. Rows are only
//! appended; a removed one is overwritten with zeros. Nothing here is truth: whatever is damaged or of
//! another layout is dropped and made again from the log.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use lamina_env::{Disk, DiskFile};
use lamina_types::ScopePath;

use super::cache::{Block, Budget, Cache, Loaded};
use super::rows::{Row, Slot, row_bytes};
use super::state::State;
use super::{Space, Vector};
use crate::document::{Document, Record, RecordKey};
use crate::error::Error;
use crate::filter::{Candidate, Filter, Reach};

/// Bytes that are read or written at once.
const CHUNK: usize = 1 << 20;
/// Bytes of a state file at most: a count of removed rows limits it.
pub(super) const STATE_BYTES_MAX: u64 = 1 << 30;

/// One tenant's vectors.
#[derive(Debug)]
pub(crate) struct Store {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    state: State,
    rows: Arc<dyn DiskFile>,
    scopes: Arc<dyn DiskFile>,
    /// Number to path.
    paths: Vec<Name>,
    /// How many of them are in the file.
    named: usize,
    numbers: BTreeMap<ScopePath, u32>,
    /// By number of the scope: its live rows, ascending.
    rows_of: Vec<Vec<u32>>,
    /// By hash of the record; two records may share one, their rows tell them apart.
    places: HashMap<u64, Places>,
    /// Rows after the committed ones; none where one was removed again.
    pending: Vec<Option<Row>>,
    /// Committed rows that are to be overwritten.
    removed: Vec<u32>,
    /// Highest offset applied.
    applied: u64,
    live: usize,
    cache: Cache,
}

/// The name of a scope in the table of them.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    Is(ScopePath),
    /// So many zeros, since nothing is left in the scope.
    Blank(usize),
}

impl Name {
    /// Bytes of it.
    fn len(&self) -> usize {
        match self {
            Name::Is(path) => path.as_str().len(),
            Name::Blank(length) => *length,
        }
    }
}

/// Where the parts of a record are.
#[derive(Debug)]
enum Places {
    One(Place),
    #[expect(clippy::box_collection, reason = "nearly all records have one; the entry stays small")]
    Many(Box<Vec<Place>>),
}

#[derive(Debug, Clone, Copy)]
struct Place {
    row: u32,
    scope: u32,
}

impl Store {
    /// Opens what is there, or begins anew if there is nothing. Damage is an error.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        dir: PathBuf,
        space: &Space,
        budget: &Arc<Budget>,
    ) -> Result<Store, Error> {
        disk.create_dir_all(&dir)?;
        let path = dir.join("state");
        let state = if disk.exists(&path) {
            let bytes = lamina_env::disk::read_file(&*disk, &path, STATE_BYTES_MAX)?;
            let state = State::decode(&bytes).ok_or(Error::Damaged("the state of the vectors"))?;
            if state.space != *space {
                return Err(Error::OtherSpace { stored: state.space, asked: space.clone() });
            }
            state
        } else {
            let space = space.clone();
            State {
                space,
                generation: 0,
                rows: 0,
                scopes_bytes: 0,
                applied: 0,
                removed: Vec::new(),
            }
        };
        let rows = open_or_create(&*disk, &dir.join(format!("rows-{}", state.generation)))?;
        let scopes = open_or_create(&*disk, &dir.join(format!("scopes-{}", state.generation)))?;
        let mut store = Store {
            applied: state.applied,
            disk,
            dir,
            state,
            rows,
            scopes,
            paths: Vec::new(),
            named: 0,
            numbers: BTreeMap::new(),
            rows_of: Vec::new(),
            places: HashMap::new(),
            pending: Vec::new(),
            removed: Vec::new(),
            live: 0,
            cache: Cache::new(Arc::clone(budget)),
        };
        store.finish_removing()?;
        store.read_scopes()?;
        store.read_rows()?;
        Ok(store)
    }

    pub(crate) fn space(&self) -> &Space {
        &self.state.space
    }

    pub(crate) fn len(&self) -> usize {
        self.live
    }

    pub(crate) fn cached_bytes(&self) -> usize {
        self.cache.bytes()
    }

    pub(crate) fn is_dirty(&self) -> bool {
        !self.pending.is_empty() || !self.removed.is_empty()
    }

    /// Says that everything before this offset was applied.
    pub(crate) fn applied_to(&mut self, offset: u64) {
        self.applied = self.applied.max(offset);
    }

    /// Whether its vectors are of this space.
    pub(crate) fn fits(&self, document: &Document) -> Result<(), Error> {
        let expected = self.state.space.dims;
        let vectors = document.parts.iter().filter_map(|part| part.vector.as_ref());
        match vectors.map(Vector::dims).find(|dims| *dims != usize::from(expected)) {
            Some(found) => Err(Error::WrongDims { expected, found }),
            None => Ok(()),
        }
    }

    /// Puts the vectors of a document's parts; replaces what was put of this record before.
    pub(crate) fn put(&mut self, document: &Document) -> Result<(), Error> {
        self.fits(document)?;
        self.remove(document.record())?;
        for (candidate, part) in document.candidates() {
            if let Some(vector) = &part.vector {
                self.put_vector(&document.scope, candidate, vector)?;
            }
        }
        Ok(())
    }

    fn put_vector(
        &mut self,
        scope: &ScopePath,
        candidate: Candidate,
        vector: &Vector,
    ) -> Result<(), Error> {
        let number = self.scope_number(scope)?;
        let row_number = self
            .state
            .rows
            .checked_add(u32::try_from(self.pending.len()).unwrap_or(u32::MAX))
            .filter(|row| *row < u32::MAX)
            .ok_or(Error::TooMany("vectors of a tenant"))?;
        let row = Row { scope: number, candidate, values: vector.bytes().into() };
        self.cache.change(number, |loaded| loaded.push(row_number, &row));
        self.pending.push(Some(row));
        self.index_row(candidate.key.record(), Place { row: row_number, scope: number });
        Ok(())
    }

    /// Removes all parts of a record.
    pub(crate) fn remove(&mut self, record: Record) -> Result<(), Error> {
        let key = hash(record);
        let places = match self.places.remove(&key) {
            None => return Ok(()),
            Some(Places::One(place)) => vec![place],
            Some(Places::Many(places)) => *places,
        };
        let mut others = Vec::new();
        for place in places {
            if self.key_at(place.row)?.record() == record {
                self.remove_row(place);
            } else {
                others.push(place);
            }
        }
        if !others.is_empty() {
            self.places.insert(key, Places::Many(Box::new(others)));
        }
        Ok(())
    }

    /// Whether the record's part has a vector.
    pub(crate) fn holds(&self, key: RecordKey) -> Result<bool, Error> {
        let places = match self.places.get(&hash(key.record())) {
            None => &[],
            Some(Places::One(place)) => std::slice::from_ref(place),
            Some(Places::Many(places)) => places.as_slice(),
        };
        for place in places {
            if self.key_at(place.row)? == key {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Which document a row is of.
    fn key_at(&self, number: u32) -> Result<RecordKey, Error> {
        match number.checked_sub(self.state.rows) {
            None => Ok(self.read_row(number)?.candidate.key),
            Some(index) => {
                let row = self.pending.get(index as usize).and_then(Option::as_ref);
                Ok(row.expect("a listed row after the committed ones is pending").candidate.key)
            }
        }
    }

    fn remove_row(&mut self, place: Place) {
        if let Some(rows) = self.rows_of.get_mut(place.scope as usize)
            && let Ok(at) = rows.binary_search(&place.row)
        {
            rows.remove(at);
            self.live -= 1;
        }
        self.cache.change(place.scope, |loaded| loaded.remove(place.row));
        match place.row.checked_sub(self.state.rows) {
            None => self.removed.push(place.row),
            Some(index) => {
                if let Some(row) = self.pending.get_mut(index as usize) {
                    *row = None;
                }
            }
        }
    }

    fn index_row(&mut self, record: Record, place: Place) {
        self.live += 1;
        if let Some(rows) = self.rows_of.get_mut(place.scope as usize) {
            rows.push(place.row);
        }
        let entry = self.places.entry(hash(record));
        match entry {
            std::collections::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(Places::One(place));
            }
            std::collections::hash_map::Entry::Occupied(mut occupied) => match occupied.get_mut() {
                Places::Many(places) => places.push(place),
                Places::One(first) => {
                    let first = *first;
                    occupied.insert(Places::Many(Box::new(vec![first, place])));
                }
            },
        }
    }

    fn scope_number(&mut self, scope: &ScopePath) -> Result<u32, Error> {
        if let Some(number) = self.numbers.get(scope) {
            return Ok(*number);
        }
        let number =
            u32::try_from(self.paths.len()).map_err(|_| Error::TooMany("scopes of a tenant"))?;
        self.numbers.insert(scope.clone(), number);
        self.paths.push(Name::Is(scope.clone()));
        self.rows_of.push(Vec::new());
        Ok(number)
    }

    /// Blocks of all scopes that the filter reaches. They stay as they are while a search uses them.
    pub(crate) fn blocks(&mut self, filter: &Filter<'_>) -> Result<Vec<Arc<Block>>, Error> {
        let mut blocks = Vec::new();
        for number in self.reached(filter) {
            let loaded = match self.cache.get(number) {
                Some(loaded) => loaded,
                None => {
                    let loaded = self.load(number)?;
                    self.cache.put(number, loaded.clone());
                    loaded
                }
            };
            blocks.extend_from_slice(loaded.blocks());
        }
        Ok(blocks)
    }

    /// Numbers of the scopes that have rows and that the filter reaches.
    fn reached(&self, filter: &Filter<'_>) -> Vec<u32> {
        let mut numbers = Vec::new();
        for reach in &filter.within {
            match reach {
                Reach::Exact(path) => numbers.extend(self.numbers.get(path).copied()),
                Reach::Subtree(path) => {
                    let below = self
                        .numbers
                        .range(path.clone()..)
                        .take_while(|(found, _)| found.as_str().starts_with(path.as_str()));
                    numbers.extend(
                        below.filter(|(found, _)| path.contains(found)).map(|(_, number)| *number),
                    );
                }
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|number| {
            let path = self.paths.get(*number as usize);
            let has_rows = self.rows_of.get(*number as usize).is_some_and(|rows| !rows.is_empty());
            has_rows && matches!(path, Some(Name::Is(path)) if filter.reaches(path))
        });
        numbers
    }

    /// Reads a scope's rows; neighbours in one go.
    fn load(&self, number: u32) -> Result<Loaded, Error> {
        let mut loaded = Loaded::default();
        let rows = self.rows_of.get(number as usize).map(Vec::as_slice).unwrap_or_default();
        let committed = rows.partition_point(|row| *row < self.state.rows);
        let (on_disk, pending) = rows.split_at(committed);
        let most = (CHUNK / self.row_bytes()).max(1);
        let mut buffer = Vec::new();
        for run in
            on_disk.chunk_by(|left, right| left + 1 == *right).flat_map(|run| run.chunks(most))
        {
            let Some(first) = run.first() else { continue };
            buffer.resize(run.len() * self.row_bytes(), 0);
            let read = self.rows.read_at(&mut buffer, self.place(*first))?;
            if read < buffer.len() {
                return Err(Error::Damaged("the file of vectors is too short"));
            }
            for (row_number, bytes) in run.iter().zip(buffer.chunks_exact(self.row_bytes())) {
                match Row::decode(bytes) {
                    Slot::Live(row) => loaded.push(*row_number, &row),
                    Slot::Removed | Slot::Damaged => {
                        return Err(Error::Damaged("a vector changed on disk"));
                    }
                }
            }
        }
        for row_number in pending {
            let row = row_number
                .checked_sub(self.state.rows)
                .and_then(|index| self.pending.get(index as usize))
                .and_then(Option::as_ref)
                .expect("a listed row after the committed ones is pending");
            loaded.push(*row_number, row);
        }
        Ok(loaded)
    }

    fn row_bytes(&self) -> usize {
        row_bytes(self.state.space.dims)
    }

    fn place(&self, row: u32) -> u64 {
        u64::from(row) * self.row_bytes() as u64
    }
}

fn open_or_create(disk: &dyn Disk, path: &std::path::Path) -> Result<Arc<dyn DiskFile>, Error> {
    let file = if disk.exists(path) { disk.open(path)? } else { disk.create_new(path)? };
    Ok(Arc::from(file))
}

fn hash(record: Record) -> u64 {
    let (high, low) = record.id.split_at(8);
    let number = |half: &[u8]| half.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    let mixed = (number(high) ^ u64::from(record.layer as u8)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed.rotate_left(29) ^ number(low)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

mod disk;
