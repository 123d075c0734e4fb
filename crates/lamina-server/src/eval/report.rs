//! Numbers for people, and lines for machines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::measure::{DEPTHS, Kind, Outcome, Rate, mean, percentile, wilson};

/// A data set and what came of its questions.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) conversations: usize,
    pub(super) records: usize,
    pub(super) outcomes: Vec<Outcome>,
}

impl Measured {
    fn of(&self, kind: Kind) -> Vec<&Outcome> {
        self.outcomes.iter().filter(|outcome| outcome.kind == kind).collect()
    }

    /// One line per question.
    pub(super) fn lines(&self) -> String {
        let mut lines = String::new();
        for outcome in &self.outcomes {
            let _ = writeln!(lines, "{}", outcome.as_json(&self.name));
        }
        lines
    }

    /// A table.
    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        let asked = self.of(Kind::Answerable);
        let _ = writeln!(
            text,
            "{}: {} conversations, {} turns, {} questions",
            self.name,
            self.conversations,
            self.records,
            asked.len()
        );
        let _ = write!(text, "  {:<26}{:>5} ", "category", "n");
        for group in ["mean", "any", "all"] {
            for depth in DEPTHS {
                let _ = write!(text, " {:>7}", format!("{group}@{depth}"));
            }
            text.push(' ');
        }
        let _ = writeln!(text, " {:>5}  mean@10, 95 %", "MRR");
        let mut categories: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
        for outcome in &asked {
            categories.entry(&outcome.question.category).or_default().push(outcome);
        }
        for (category, outcomes) in &categories {
            row(&mut text, category, outcomes);
        }
        if categories.len() > 1 {
            row(&mut text, "all", &asked);
        }
        self.rates(&mut text, &asked);
        text
    }

    fn rates(&self, text: &mut String, asked: &[&Outcome]) {
        let updates = Rate::over(asked.iter().filter_map(|outcome| outcome.update_first()));
        let sides = Rate::over(asked.iter().filter_map(|outcome| outcome.both_sides()));
        let empty = |outcome: &&Outcome| outcome.found.is_empty();
        let silent = Rate::over(asked.iter().map(empty));
        let honest = Rate::over(self.of(Kind::Unanswerable).iter().map(empty));
        let fooled = Rate::over(self.of(Kind::Elsewhere).iter().map(|outcome| !empty(outcome)));
        for (what, rate) in [
            ("updated above original", updates),
            ("both sides of a contradiction in the first 20", sides),
            ("nothing said although there is an answer", silent),
            ("nothing said where there is no answer", honest),
            ("something said to another memory's question", fooled),
        ] {
            if rate.of > 0 {
                let (low, high) = wilson(rate.share(), rate.of);
                let _ = writeln!(
                    text,
                    "  {what:<46}{:>5} of {:<5} {:.3} ({low:.3} to {high:.3})",
                    rate.hits,
                    rate.of,
                    rate.share()
                );
            }
        }
        let sorted = |value: fn(&Outcome) -> i64| {
            let mut values: Vec<i64> = asked.iter().map(|outcome| value(outcome)).collect();
            values.sort_unstable();
            values
        };
        let tokens = sorted(|outcome| i64::try_from(outcome.tokens).unwrap_or(i64::MAX));
        let spent = sorted(|outcome| outcome.micros);
        let _ = writeln!(
            text,
            "  tokens of a pack p50 {} p95 {}; milliseconds p50 {:.1} p95 {:.1} p99 {:.1}",
            percentile(&tokens, 0.5),
            percentile(&tokens, 0.95),
            percentile(&spent, 0.5) as f64 / 1_000.0,
            percentile(&spent, 0.95) as f64 / 1_000.0,
            percentile(&spent, 0.99) as f64 / 1_000.0,
        );
    }
}

fn row(text: &mut String, name: &str, outcomes: &[&Outcome]) {
    let _ = write!(text, "  {name:<26}{:>5} ", outcomes.len());
    let judged: [fn(f64) -> f64; 3] = [
        |share| share,
        |share| f64::from(u8::from(share > 0.0)),
        |share| f64::from(u8::from(share >= 1.0)),
    ];
    for judge in judged {
        for depth in DEPTHS {
            let value = mean(outcomes.iter().map(|outcome| judge(outcome.share(depth))));
            let _ = write!(text, " {value:>7.3}");
        }
        text.push(' ');
    }
    let found = mean(outcomes.iter().map(|outcome| outcome.share(10)));
    let (low, high) = wilson(found, outcomes.len());
    let reciprocal = mean(outcomes.iter().map(|outcome| outcome.reciprocal()));
    let _ = writeln!(text, " {reciprocal:>5.3}  {low:.3} to {high:.3}");
}
