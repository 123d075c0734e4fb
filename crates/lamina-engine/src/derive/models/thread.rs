//! The thread that asks a model: one call at a time, events of one scope at a time, tenants in turns.
//!
//! Everything it waits for can be interrupted by closing. What it was about to do is in the rows, and is
//! taken up by the next start.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use lamina_env::rng::draw;
use lamina_env::{Clock, Rng};
use lamina_models::llm::{self, Fault, Item, Output, Trouble};
use lamina_store::codec::models::{Cost, ModelGaveUp, ModelReserved, ModelSettled};
use lamina_store::entry::{Entry, Kind, control};
use lamina_store::log::{LogReader, NewEntry, Section};
use lamina_store::view::{ViewError, Views};
use lamina_types::RecordedAt;

use crate::derive::answer::{Answerer, Words, words};
use crate::derive::models::budget::{day_of, shares};
use crate::derive::models::queue::{self, Line, Waiting};
use crate::derive::models::{ModelDesk, Models};
use crate::derive::thread::{Deriving, append};
use crate::write::prepare::section;
use crate::write::writer::Message;

/// How often it looks without being called.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// The longest pause after a failure.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// The longest that a server is left alone because it says so.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(300);
/// Bytes of texts in one call.
const CALL_BYTES_MAX: usize = 64 * 1024;

const CALLS: &str = "lamina_model_calls_total";
const EVENTS: &str = "lamina_model_events_total";
const CLAIMS: &str = "lamina_model_claims_total";
const TOKENS: &str = "lamina_model_tokens_total";
const MICROS: &str = "lamina_model_cost_micros_total";

/// What the thread works with.
#[derive(Debug)]
pub(crate) struct Asking {
    desk: ModelDesk,
    views: Arc<Views>,
    reader: Arc<dyn LogReader>,
    answerer: Answerer,
    to_writer: Sender<Message>,
    clock: Arc<dyn Clock>,
    rng: Arc<dyn Rng>,
}

/// An event, read and ready to be asked about.
struct Asked {
    entry: Entry,
    words: Words,
}

impl Asked {
    fn text(&self) -> &str {
        self.words.text()
    }
}

/// Why it does not go on.
enum Stop {
    /// The engine closes.
    Closing,
    /// Rows cannot be read.
    Views(ViewError),
}

impl From<ViewError> for Stop {
    fn from(error: ViewError) -> Stop {
        Stop::Views(error)
    }
}

type Go<T> = Result<T, Stop>;

/// Whether a call can be paid for.
enum Affordable {
    /// It can; at most so much.
    Yes(Cost),
    /// Not today.
    Later,
    /// Not on any day.
    Never,
}

/// What became of the events of a line.
enum Served {
    /// There may be more.
    Some,
    /// The budget of the day is used up.
    Spent,
}

impl Asking {
    /// One that works on what the deriving thread has answered.
    pub(crate) fn beside(deriving: &Deriving, desk: &ModelDesk, rng: &Arc<dyn Rng>) -> Asking {
        Asking {
            desk: desk.clone(),
            views: Arc::clone(&deriving.views),
            reader: Arc::clone(&deriving.reader),
            answerer: deriving.answerer.clone(),
            to_writer: deriving.to_writer.clone(),
            clock: Arc::clone(&deriving.clock),
            rng: Arc::clone(rng),
        }
    }

    /// Runs until the bell is closed.
    pub(crate) fn run(self) {
        let mut last = Line::default();
        // Lines whose budget of a day is used up.
        let mut closed: BTreeMap<Line, u64> = BTreeMap::new();
        while !self.desk.bell.is_closed() {
            let today = self.today();
            closed.retain(|_, day| *day == today);
            let is_closed = |line: Line| closed.contains_key(&line);
            let served = match queue::next_line(&self.views, last, &is_closed) {
                Ok(Some(line)) => {
                    last = line;
                    self.serve(line)
                }
                Ok(None) => {
                    self.desk.bell.wait(LOOK_AGAIN);
                    continue;
                }
                Err(error) => Err(Stop::Views(error)),
            };
            match served {
                Ok(Served::Some) => {}
                Ok(Served::Spent) => {
                    tracing::info!(
                        tenant = last.tenant,
                        "a budget for the model is used up for today; events wait"
                    );
                    closed.insert(last, today);
                }
                Err(Stop::Closing) => return,
                Err(Stop::Views(error)) => {
                    tracing::warn!(%error, "events that wait for the model cannot be read");
                    self.desk.bell.pause(LOOK_AGAIN);
                }
            }
        }
    }

    fn today(&self) -> u64 {
        day_of(RecordedAt(self.clock.wall()))
    }

    /// Asks about the first events of a line.
    fn serve(&self, line: Line) -> Go<Served> {
        let waiting = queue::waiting(&self.views, line, self.desk.models.batch_events)?;
        let (mut batch, gone) = self.read(&waiting);
        if !gone.is_empty() {
            // Erased in the meantime, or not readable: nothing to ask about.
            self.give_up(line, gone, Fault::Missing, 0)?;
        }
        // What may not be shown any more is not, whoever let it wait.
        let (forbidden, allowed): (Vec<Asked>, Vec<Asked>) = batch
            .into_iter()
            .partition(|asked| self.answerer.keeps_from_models(line.tenant, asked.words.scope()));
        batch = allowed;
        if !forbidden.is_empty() {
            let events = forbidden.iter().map(|asked| asked.entry.head.offset).collect();
            self.give_up(line, events, Fault::Forbidden, 0)?;
        }
        let mut bytes = 0;
        let within = batch.iter().take_while(|asked| {
            bytes += llm::shown(asked.text()).len();
            bytes <= CALL_BYTES_MAX
        });
        batch.truncate(within.count().max(1));
        // Fewer events may still be paid for.
        while let Some(last) = batch.pop() {
            batch.push(last);
            match self.affordable(line, &batch)? {
                Affordable::Yes(_) => {
                    self.ask_about(line, batch)?;
                    return Ok(Served::Some);
                }
                Affordable::Never if batch.len() == 1 => {
                    let event = batch.iter().map(|asked| asked.entry.head.offset).collect();
                    self.give_up(line, event, Fault::Budget, 0)?;
                    return Ok(Served::Some);
                }
                Affordable::Later if batch.len() == 1 => return Ok(Served::Spent),
                Affordable::Later | Affordable::Never => batch.truncate(batch.len() / 2),
            }
        }
        Ok(Served::Some)
    }

    /// Reads the words of events; those that have none are given back by offset.
    fn read(&self, waiting: &[Waiting]) -> (Vec<Asked>, Vec<u64>) {
        let (mut batch, mut gone) = (Vec::new(), Vec::new());
        for Waiting { offset, place } in waiting {
            let entry = match self.reader.entry(*offset, *place) {
                Ok(entry) => entry,
                Err(error) => {
                    tracing::warn!(%error, offset, "an event that waits for the model cannot be read");
                    gone.push(*offset);
                    continue;
                }
            };
            match words(&entry) {
                Some(words) => batch.push(Asked { entry, words }),
                None => gone.push(*offset),
            }
        }
        (batch, gone)
    }

    /// Whether a call about these events fits into the budgets of today.
    fn affordable(&self, line: Line, part: &[Asked]) -> Result<Affordable, ViewError> {
        let Models { prices, budget_scope, budget_all, output_tokens_max, .. } = &self.desk.models;
        let cost = prices.bound(part.iter().map(Asked::text), *output_tokens_max);
        let nothing = Cost::default();
        if !budget_scope.allows(nothing, cost) || !budget_all.allows(nothing, cost) {
            return Ok(Affordable::Never);
        }
        let today = self.today();
        let fits = budget_scope.allows(queue::spent_in(&self.views, line, today)?, cost)
            && budget_all.allows(queue::spent_by_all(&self.views, today)?, cost);
        Ok(if fits { Affordable::Yes(cost) } else { Affordable::Later })
    }

    /// Asks about events together; those that did not come out of it, one by one.
    fn ask_about(&self, line: Line, batch: Vec<Asked>) -> Go<()> {
        let mut parts = VecDeque::from([batch]);
        while let Some(part) = parts.pop_front() {
            let again = self.ask_part(line, part)?;
            parts.extend(again.into_iter().map(|asked| vec![asked]));
        }
        Ok(())
    }

    /// Asks about some events until there is an answer, or no hope for one. Gives back those to be asked
    /// about alone.
    fn ask_part(&self, line: Line, part: Vec<Asked>) -> Go<Vec<Asked>> {
        let offsets = |part: &[Asked]| part.iter().map(|asked| asked.entry.head.offset).collect();
        for attempt in 1..=self.desk.models.attempts.max(1) {
            let Affordable::Yes(reserved) = self.affordable(line, &part)? else {
                // They go on waiting.
                return Ok(Vec::new());
            };
            let call: [u8; 16] = draw(&*self.rng);
            self.reserve(line, call, reserved, part.len())?;
            let items: Vec<Item> = part.iter().map(|asked| self.item(asked)).collect();
            let heard = self.desk.models.model.ask(&items);
            if self.desk.bell.is_closed() {
                // What was reserved counts as spent: nobody will know better.
                return Err(Stop::Closing);
            }
            let cost = self.desk.models.prices.settle(heard.spent, reserved);
            metered(cost, heard.said.as_ref().err());
            let Trouble { fault, retry_after_s } = match heard.said {
                Ok(output) => {
                    self.desk.status.well();
                    let alone = part.len() == 1;
                    let missing = self.answer(line, part, output, (call, cost))?;
                    if !alone || missing.is_empty() {
                        return Ok(missing);
                    }
                    self.give_up(line, offsets(&missing), Fault::Missing, attempt)?;
                    return Ok(Vec::new());
                }
                Err(trouble) => trouble,
            };
            let failures = self.desk.status.failed(fault);
            self.append(vec![self.settled(line, call, cost, Some(fault))])?;
            tracing::warn!(
                fault = fault.as_str(),
                attempt,
                events = part.len(),
                "the model gave no answer that can be used; that of the rules stands"
            );
            if fault.is_about_words() && part.len() > 1 {
                return Ok(part);
            }
            if fault.is_about_words() || attempt == self.desk.models.attempts {
                self.give_up(line, offsets(&part), fault, attempt)?;
                return Ok(Vec::new());
            }
            self.pause(failures, retry_after_s)?;
        }
        Ok(Vec::new())
    }

    /// An event as the model is shown it, under a name that no text can know.
    fn item(&self, asked: &Asked) -> Item {
        let id: [u8; 6] = draw(&*self.rng);
        Item {
            id: id.iter().map(|byte| format!("{byte:02x}")).collect(),
            observed_at: asked.words.observed_at(),
            text: llm::shown(asked.text()).to_owned(),
        }
    }

    /// Appends the answers to a call together with what it took. Gives back events that it says nothing
    /// about.
    fn answer(
        &self,
        line: Line,
        part: Vec<Asked>,
        output: Output,
        (call, cost): ([u8; 16], Cost),
    ) -> Go<Vec<Asked>> {
        if output.ignored > 0 {
            tracing::warn!(count = output.ignored, "the model says what it was not asked");
        }
        let bytes: Vec<u64> = part.iter().map(|asked| asked.text().len() as u64).collect();
        let (mut entries, mut missing) = (Vec::new(), Vec::new());
        let shares = shares(cost, &bytes);
        for ((asked, said), share) in part.into_iter().zip(output.events).zip(shares) {
            let Some(candidates) = said else {
                missing.push(asked);
                continue;
            };
            let name = self.desk.models.model.name();
            let revised =
                self.answerer.revised(&asked.entry, &asked.words, &candidates, name, share);
            metrics::counter!(EVENTS, "outcome" => "answered").increment(1);
            metrics::counter!(CLAIMS, "outcome" => "grounded").increment(revised.grounded);
            metrics::counter!(CLAIMS, "outcome" => "ungrounded").increment(revised.ungrounded);
            entries.push(revised.entry);
        }
        entries.push(self.settled(line, call, cost, None));
        self.append(entries)?;
        Ok(missing)
    }

    fn reserve(&self, line: Line, call: [u8; 16], cost: Cost, events: usize) -> Go<()> {
        let model = self.desk.models.model.name().to_owned();
        let what = ModelReserved { call, cost, events: events as u64, model }.encode();
        self.append(vec![self.control(line, control::MODEL_RESERVED, Vec::new(), &what)])
    }

    fn settled(&self, line: Line, call: [u8; 16], cost: Cost, fault: Option<Fault>) -> NewEntry {
        let fault = fault.map_or(0, |fault| fault as u8);
        let what = ModelSettled { call, cost, fault }.encode();
        self.control(line, control::MODEL_SETTLED, Vec::new(), &what)
    }

    /// These events wait no more; what the rules made of them stays.
    fn give_up(&self, line: Line, events: Vec<u64>, fault: Fault, attempts: u32) -> Go<()> {
        metrics::counter!(EVENTS, "outcome" => "given_up").increment(events.len() as u64);
        tracing::warn!(
            fault = fault.as_str(),
            events = events.len(),
            "the model is not asked about these events any more"
        );
        let what = ModelGaveUp { fault: fault as u8, attempts }.encode();
        self.append(vec![self.control(line, control::MODEL_GAVE_UP, events, &what)])
    }

    fn control(&self, line: Line, sub: u16, causes: Vec<u64>, what: &[u8]) -> NewEntry {
        NewEntry {
            kind: Kind::Control,
            sub,
            tenant: line.tenant,
            scope: line.scope,
            causes,
            who: Section::absent(),
            what: section(&*self.rng, what),
        }
    }

    fn append(&self, entries: Vec<NewEntry>) -> Go<()> {
        if append(&self.to_writer, entries) { Ok(()) } else { Err(Stop::Closing) }
    }

    /// Leaves the server alone for a while: longer with each failure in a row, never all callers at the
    /// same instant, and at least as long as it asks for.
    fn pause(&self, failures: u32, retry_after_s: Option<u64>) -> Go<()> {
        self.desk.bell.pause(pause_length(
            Duration::from_millis(self.desk.models.pause_ms),
            failures,
            retry_after_s.map(Duration::from_secs),
            u16::from_le_bytes(draw(&*self.rng)),
        ));
        if self.desk.bell.is_closed() { Err(Stop::Closing) } else { Ok(()) }
    }
}

/// `jitter` moves it between half and one and a half times its length.
pub(crate) fn pause_length(
    first: Duration,
    failures: u32,
    asked: Option<Duration>,
    jitter: u16,
) -> Duration {
    let doubled = first.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let share = 0.5 + f64::from(jitter) / f64::from(u16::MAX);
    let own = doubled.min(PAUSE_MAX).mul_f64(share);
    own.max(asked.unwrap_or_default().min(RETRY_AFTER_MAX))
}

fn metered(cost: Cost, trouble: Option<&Trouble>) {
    let outcome = trouble.map_or("answered", |trouble| trouble.fault.as_str());
    metrics::counter!(CALLS, "outcome" => outcome).increment(1);
    metrics::counter!(TOKENS, "direction" => "input").increment(cost.input_tokens);
    metrics::counter!(TOKENS, "direction" => "output").increment(cost.output_tokens);
    metrics::counter!(MICROS).increment(cost.micros);
}

#[cfg(test)]
mod tests;
