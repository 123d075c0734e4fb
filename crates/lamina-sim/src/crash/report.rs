//! Counts, and the list of what is wrong.

use anyhow::bail;
use lamina_types::Micros;

use super::ledger::Ledger;

/// How many findings are printed in full.
const SHOWN_MAX: usize = 20;

/// What is wrong in a round.
#[derive(Debug, Default)]
pub(super) struct Findings {
    all: Vec<String>,
}

impl Findings {
    pub(super) fn add(&mut self, finding: String) {
        self.all.push(finding);
    }

    /// An error if there is any.
    pub(super) fn settle(&self, round: usize) -> anyhow::Result<()> {
        if self.all.is_empty() {
            return Ok(());
        }
        for finding in self.all.iter().take(SHOWN_MAX) {
            eprintln!("round {round}: {finding}");
        }
        bail!("{} findings up to round {round}", self.all.len());
    }
}

/// What the rounds added up to.
#[derive(Debug, Default)]
pub(super) struct Summary {
    rounds: usize,
    recoveries_killed: usize,
    acknowledged: usize,
    unknown: usize,
    replays: usize,
    blobs: usize,
    lost: usize,
    doubled: usize,
    survived: usize,
    reopen_ms: Vec<i64>,
    last: [usize; 3],
}

impl Summary {
    pub(super) fn begin_round(&mut self, ledger: &Ledger) {
        self.rounds += 1;
        self.acknowledged += ledger.acknowledged();
        self.unknown += ledger.unknown();
        self.replays += ledger.pages.iter().map(|page| page.replays).sum::<usize>();
        self.blobs += ledger.pages.iter().map(|page| page.blobs.len()).sum::<usize>();
        self.last = [ledger.acknowledged(), ledger.unknown(), 0];
    }

    pub(super) fn recovery_killed(&mut self) {
        self.recoveries_killed += 1;
    }

    pub(super) fn reopened(&mut self, took: Micros) {
        self.reopen_ms.push(took.0 / 1_000);
    }

    pub(super) fn lost(&mut self) {
        self.lost += 1;
    }

    pub(super) fn doubled(&mut self) {
        self.doubled += 1;
    }

    /// An event without an answer that is there all the same.
    pub(super) fn survived(&mut self) {
        self.survived += 1;
        let [_, _, survived] = &mut self.last;
        *survived += 1;
    }

    pub(super) fn last_round(&self) -> String {
        let [acknowledged, unknown, survived] = self.last;
        format!(
            "{acknowledged} acknowledged, {unknown} without an answer ({survived} of them there), reopened in {} ms",
            self.reopen_ms.last().copied().unwrap_or_default()
        )
    }

    pub(super) fn text(&self) -> String {
        let mut sorted = self.reopen_ms.clone();
        sorted.sort_unstable();
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        let longest = sorted.last().copied().unwrap_or_default();
        format!(
            "\n{} rounds, {} recoveries killed too\n\
             acknowledged {}, replayed {}, blobs {}, without an answer {} ({} of them there)\n\
             lost {}, doubled {}\n\
             reopened in {median} ms (median), {longest} ms (longest)",
            self.rounds,
            self.recoveries_killed,
            self.acknowledged,
            self.replays,
            self.blobs,
            self.unknown,
            self.survived,
            self.lost,
            self.doubled,
        )
    }
}
