//! The thread that embeds: it follows behind the index, a few calls at a time, for as long as it takes.
//!
//! What is not embedded yet is found by words and built-in vectors, so nothing waits for it. A server that
//! fails is asked again after a pause, however often: no event is given up because of it. A text that is
//! refused while others are not is left out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lamina_env::Clock;
use lamina_index::{Document, Further, Side, Space, Vector};
use lamina_store::entry::{Entry, Kind, Place};
use lamina_store::log::LogReader;
use lamina_store::view::Views;
use lamina_types::{Micros, ModelFault};

use super::EmbedDesk;
use crate::Error;
use crate::admin::standing::Standing;
use crate::derive::pace::background;
use crate::index::{Search, Wake, Woken, document};

/// Entries and bytes taken from the log at a time.
const ENTRIES_AT_ONCE: usize = 128;
const BYTES_AT_ONCE: usize = 4 * 1_024 * 1_024;
/// How long an idle thread sleeps.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long it waits for the index to come by.
const INDEX_PAUSE: Duration = Duration::from_millis(20);
/// How long after something that failed here it is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// How often the log hears how far it is.
const TOLD_EVERY_US: i64 = 10_000_000;
/// A text that every model takes.
const PROBE: &str = "A short text.";

/// What embedding takes.
#[derive(Debug)]
pub(crate) struct Embedding {
    pub(crate) desk: Arc<EmbedDesk>,
    pub(crate) search: Arc<Search>,
    pub(crate) wake: Arc<Wake>,
    pub(crate) reader: Arc<dyn LogReader>,
    pub(crate) views: Arc<Views>,
    pub(crate) standing: Arc<Standing>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// Why it does not go on.
#[derive(Debug)]
enum Stop {
    /// The engine closes.
    Closing,
    /// The model's vectors have another length than they had.
    OtherDims(u16),
    /// Something here failed.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

impl From<lamina_index::Error> for Stop {
    fn from(error: lamina_index::Error) -> Stop {
        Stop::Failed(error.into())
    }
}

/// Where it is between two steps.
#[derive(Debug, Default)]
struct Round {
    /// Where the log keeps the entry before the next.
    last: Option<(u64, Place)>,
    told: Option<Micros>,
    /// Where a space is whole that is being built.
    target: Option<u64>,
}

impl Embedding {
    /// Runs until the engine closes.
    pub(crate) fn run(self) {
        background("embedding");
        let mut round = Round::default();
        while !self.wake.is_closed() {
            let stopped = match self.step(&mut round) {
                Ok(()) => continue,
                Err(stopped) => stopped,
            };
            round = Round::default();
            match stopped {
                Stop::Closing => return,
                Stop::OtherDims(dims) => {
                    tracing::warn!(dims, "the embedding model makes vectors of another length now");
                    if let Err(error) = self.begin(dims) {
                        tracing::warn!(%error, "a space of vectors cannot be begun; trying again");
                        self.wake.rest(PAUSE);
                    }
                }
                Stop::Failed(error) => {
                    tracing::warn!(%error, "embedding cannot go on; trying again");
                    self.wake.rest(PAUSE);
                }
            }
        }
    }

    /// Embeds the next few entries, or waits for some.
    fn step(&self, round: &mut Round) -> Result<(), Stop> {
        let Some(Further { space, applied: from, whole }) = self.own() else {
            let dims = self.probe()?;
            return Ok(self.begin(dims)?);
        };
        let until = self.search.found.offset();
        self.desk.counts.stands(from, until);
        // What is written meanwhile comes after it: else a busy server would never get there.
        if !whole && from >= *round.target.get_or_insert_with(|| self.written(until)) {
            self.search.index.complete_space(&space)?;
            self.desk.serve(&self.search.index.further());
            tracing::info!(model = space.model, "everything has its vectors; they are asked now");
            return Ok(());
        }
        if whole && self.search.index.further().len() > 1 {
            self.search.index.keep_space(&space)?;
        }
        if from >= until {
            match self.wake.beyond(from, PATIENCE) {
                // The index is on its way there.
                Woken::To(_) if self.search.found.offset() <= from => self.wake.rest(INDEX_PAUSE),
                Woken::To(_) | Woken::Nothing => {}
                Woken::Closed => return Err(Stop::Closing),
            }
            return Ok(());
        }
        let (next, last) = self.follow(&space, from, until, round.last)?;
        round.last = last;
        if !whole {
            self.tell(round, next, until);
        }
        Ok(())
    }

    /// Up to where there is something to embed, whether or not the index has come there.
    fn written(&self, found: u64) -> u64 {
        match self.wake.beyond(found, Duration::ZERO) {
            Woken::To(written) => written,
            Woken::Nothing | Woken::Closed => found,
        }
    }

    /// The space of the configured model, if it was begun.
    fn own(&self) -> Option<Further> {
        let model = self.desk.embedding.embedder.model();
        self.search.index.further().into_iter().rev().find(|further| further.space.model == model)
    }

    fn begin(&self, dims: u16) -> Result<(), Error> {
        let model = self.desk.embedding.embedder.model().to_owned();
        tracing::info!(
            model,
            dims,
            "everything is embedded with this model; what there is serves meanwhile"
        );
        self.search.index.begin_space(Space { model, dims })?;
        // One of the same name and another length is gone.
        self.desk.serve(&self.search.index.further());
        Ok(())
    }

    fn tell(&self, round: &mut Round, next: u64, until: u64) {
        let now = self.clock.monotonic();
        if round.told.is_none_or(|told| now.0 - told.0 >= TOLD_EVERY_US) {
            round.told = Some(now);
            let percent = 100 * next / until.max(1);
            tracing::info!(percent, "events are being embedded");
        }
    }

    /// Embeds the entries from one offset on. Gives the offset after the last.
    fn follow(
        &self,
        space: &Space,
        from: u64,
        until: u64,
        last: Option<(u64, Place)>,
    ) -> Result<(u64, Option<(u64, Place)>), Stop> {
        let (start, place) = last.map_or((from, None), |(offset, place)| (offset, Some(place)));
        let entries = self.reader.read(start, place, ENTRIES_AT_ONCE, BYTES_AT_ONCE);
        let entries = entries.map_err(Error::from)?;
        let ahead = |entry: &&Entry| (from..until).contains(&entry.head.offset);
        let (mut next, mut last) = (from, last);
        let mut documents: Vec<(u32, Document)> = Vec::new();
        for entry in entries.iter().filter(ahead) {
            next = entry.head.offset + 1;
            last = Some((entry.head.offset, entry.place));
            if entry.head.kind == Kind::Experience
                && let Some(document) = self.document(entry)?
            {
                documents.push((entry.head.tenant, document));
            }
        }
        drop(entries);
        self.embed(space, &mut documents)?;
        let mut by_tenant: BTreeMap<u32, Vec<Document>> = BTreeMap::new();
        for (tenant, document) in documents {
            by_tenant.entry(tenant).or_default().push(document);
        }
        for (tenant, documents) in by_tenant {
            self.search.index.put_further(space, tenant, &documents)?;
        }
        // What was read past the end of what is indexed comes with the next round.
        self.search.index.further_applied(space, next)?;
        Ok((next, last))
    }

    /// What of an event is embedded; nothing if it cannot be found, or may not be shown.
    fn document(&self, entry: &Entry) -> Result<Option<Document>, Error> {
        let row = self.views.event(entry.head.tenant, entry.head.event_id())?;
        let facets = row.as_ref().and_then(|row| row.listed());
        let document = facets.and_then(|facets| document::of_event(entry, facets, &|_| None));
        let shown = |document: &Document| {
            !self.desk.is_remote()
                || !self.standing.keeps_from_models(entry.head.tenant, &document.scope)
        };
        Ok(document.filter(shown))
    }

    /// Fills in the vectors.
    fn embed(&self, space: &Space, documents: &mut [(u32, Document)]) -> Result<(), Stop> {
        let texts = documents.iter().flat_map(|(_, document)| &document.parts);
        let texts: Vec<String> = texts.map(|part| part.text.clone()).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.desk.embedding.batch_texts.max(1)) {
            let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
            vectors.extend(self.batch(space, &batch)?);
        }
        let parts = documents.iter_mut().flat_map(|(_, document)| &mut document.parts);
        for (part, vector) in parts.zip(vectors) {
            part.vector = vector;
        }
        Ok(())
    }

    /// Asks until there is an answer. If some text is at fault, each is asked about alone.
    fn batch(&self, space: &Space, texts: &[&str]) -> Result<Vec<Option<Vector>>, Stop> {
        loop {
            let fault = match self.once(texts) {
                Ok(vectors) => return fitting(space, vectors),
                Err(error) => error.fault,
            };
            if self.wake.is_closed() {
                return Err(Stop::Closing);
            }
            if !fault.is_about_words() {
                continue;
            }
            let [text] = texts else {
                let alone = texts.iter().map(|text| self.batch(space, &[*text]));
                return Ok(alone.collect::<Result<Vec<_>, _>>()?.concat());
            };
            if self.refuses(text) {
                self.desk.counts.left_out();
                tracing::warn!(
                    fault = fault.as_str(),
                    "a text is not embedded: the model refuses it"
                );
                return Ok(vec![None]);
            }
        }
    }

    /// Whether the model takes another text before and after, and not this one.
    fn refuses(&self, text: &str) -> bool {
        let embedder = &self.desk.embedding.embedder;
        // Not from memory: it is about how the model is now.
        let takes = |text: &str| embedder.embed(&[text], Side::Stored);
        takes(PROBE).is_ok()
            && takes(text).is_err_and(|error| error.fault.is_about_words())
            && takes(PROBE).is_ok()
    }

    /// One call. After one that failed, the model is left alone for a while.
    fn once(&self, texts: &[&str]) -> Result<Vec<Option<Vector>>, super::EmbedError> {
        let embedder = &*self.desk.embedding.embedder;
        let made = self.desk.vectors(embedder, texts, Side::Stored);
        if let Err(error) = &made
            && !self.wake.is_closed()
        {
            let failures = self.desk.counts.failed(error.fault);
            tracing::warn!(
                fault = error.fault.as_str(),
                texts = texts.len(),
                "the embedding model gave no vectors; it is asked again"
            );
            self.wake.rest(self.desk.pause(failures, error.retry_after_s));
        }
        made
    }

    /// How many numbers the model's vectors have.
    fn probe(&self) -> Result<u16, Stop> {
        loop {
            match self.once(&[PROBE]).as_deref() {
                Ok([Some(vector)]) => return Ok(u16::try_from(vector.dims()).unwrap_or(u16::MAX)),
                Ok(_) => {
                    let failures = self.desk.counts.failed(ModelFault::Empty);
                    self.wake.rest(self.desk.pause(failures, None));
                }
                Err(_) => {}
            }
            if self.wake.is_closed() {
                return Err(Stop::Closing);
            }
        }
    }
}

/// Vectors of this space, or the length that they have instead.
fn fitting(space: &Space, vectors: Vec<Option<Vector>>) -> Result<Vec<Option<Vector>>, Stop> {
    let other = |vector: &&Vector| vector.dims() != usize::from(space.dims);
    match vectors.iter().flatten().find(other).map(Vector::dims) {
        Some(dims) => Err(Stop::OtherDims(u16::try_from(dims).unwrap_or(u16::MAX))),
        None => Ok(vectors),
    }
}
