//! Abstain: whether what was found has to do with the question at all.

use lamina_core::read::abstain::{self, Evidence, EvidenceHit, WhyNot, evidence_of_hits};
use lamina_core::read::rerank::Touch;
use lamina_core::read::units::{Unit, met, units};
use lamina_core::read::words::{Matter, asking, matter, stem};

use lamina_store::kv::Direction;
use lamina_store::view::{Axis, EventScan};
use lamina_types::ValidAt;

use super::plan::Frame;
use super::retrieve::{Found, Hits};
use crate::Error;
use crate::engine::Inner;

/// What a text asks for, and what speaks for what was found.
#[derive(Debug)]
pub(super) struct Side {
    units: Vec<Unit>,
    evidence: Evidence,
}

impl Inner {
    /// Why nothing that was found is relevant enough.
    pub(super) fn why_not(
        &self,
        frame: &Frame<'_>,
        order: &[usize],
        (best_score, floor): (f64, f64),
    ) -> Result<WhyNot, Error> {
        let is_before_records = self.is_before_records(frame, order)?;
        Ok(WhyNot { candidates: order.len(), best_score, floor, is_before_records })
    }

    /// Whether a question asks with knowledge from before anything was recorded, of a time that records speak of.
    fn is_before_records(&self, frame: &Frame<'_>, order: &[usize]) -> Result<bool, Error> {
        if !order.is_empty() || !frame.in_the_past || frame.scopes.is_empty() {
            return Ok(false);
        }
        let scan = EventScan::recorded(frame.tenant, frame.scopes.clone(), Direction::Forward, 1);
        let until = ValidAt(frame.recorded.0.plus(1));
        let scan = EventScan { axis: Axis::Observed, observed_to: Some(until), ..scan };
        let page = self.views.event_scan(&scan)?;
        Ok(page.rows.first().is_some_and(|row| row.recorded_at > frame.recorded))
    }
}

impl Hits {
    /// Notes what speaks for the hits: of the whole question, and of the sentence that asks if there are others.
    pub(super) fn note_evidence(&mut self, frame: &Frame<'_>) {
        let whole = frame.question.query.as_str();
        self.sides.push(self.side(whole, true, &frame.matter));
        if let Some(asks) = asking(whole) {
            self.sides.push(self.side(asks, asks == whole, &matter(asks)));
        }
    }

    /// What speaks for the hits, from the words of a text that they have.
    fn side(&self, text: &str, is_whole: bool, matter: &Matter) -> Side {
        let terms = self.asked.iter();
        let weighed: Vec<(&str, f64)> =
            terms.map(|term| (term.word.as_str(), term.weight)).collect();
        let units = units(text, is_whole, &weighed, &matter.names);
        let known = |name: &&String| {
            self.asked.iter().any(|term| term.documents > 0 && stem(&term.word) == **name)
        };
        let named = matter.names.iter().filter(known).count() as f64;
        let names = (!matter.names.is_empty()).then(|| named / matter.names.len() as f64);
        let hits: Vec<EvidenceHit> = self.events.iter().map(Found::as_evidence).collect();
        let evidence = evidence_of_hits(&units, &hits, names);
        Side { units, evidence }
    }

    /// Adds to the evidence how far one record meets the question.
    pub(super) fn weigh_evidence(&mut self) {
        let touches: Vec<&Touch> = self
            .events
            .iter()
            .filter_map(|found| found.seen.as_ref())
            .map(|seen| &seen.touch)
            .collect();
        for side in &mut self.sides {
            side.evidence.closest = met(&side.units, &touches, true);
            side.evidence.matter = met(&side.units, &touches, false);
        }
    }

    /// Whether an event may be offered below the floor.
    pub(super) fn is_close(&self, found: &Found) -> bool {
        self.sides.iter().any(|side| found.as_evidence().is_close(&side.units))
    }

    /// How sure it is that any of it has to do with the question.
    pub(super) fn relevance(&self, order: &[usize]) -> f64 {
        match (self.sides.is_empty(), order.is_empty()) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => {
                let sides = self.sides.iter().map(|side| abstain::relevance(&side.evidence));
                sides.fold(0.0, f64::max)
            }
        }
    }
}
