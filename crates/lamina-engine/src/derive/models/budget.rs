//! What may be spent: prices, bounds, and whether one more call fits.
//!
//! A call is counted at the most it can take before it is made, and at what it took afterwards, never
//! more than was counted before. So the sum of a day never exceeds its budget, whatever a provider says.

use lamina_models::llm::{Spent, fixed_bytes, shown_bytes};
use lamina_store::codec::models::Cost;
use lamina_types::RecordedAt;

const DAY_US: i64 = 24 * 3_600 * 1_000_000;

/// Prices of a million tokens, in millionths of the unit of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Prices {
    /// Of the question.
    pub input_micros: u64,
    /// Of the answer.
    pub output_micros: u64,
}

/// What may be spent in a day; `None`: as much as there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Tokens in both directions.
    pub tokens: Option<u64>,
    /// Money, in millionths of its unit.
    pub micros: Option<u64>,
}

impl Prices {
    /// What so many tokens cost, rounded up: what is owed is not less.
    pub fn cost(self, input_tokens: u64, output_tokens: u64) -> Cost {
        let input = u128::from(input_tokens) * u128::from(self.input_micros);
        let output = u128::from(output_tokens) * u128::from(self.output_micros);
        let money = input.saturating_add(output);
        let micros = u64::try_from(money.div_ceil(1_000_000)).unwrap_or(u64::MAX);
        Cost { input_tokens, output_tokens, micros }
    }

    /// The most that a call about these texts can take. No tokeniser makes more tokens than there are
    /// bytes; of our own instructions, which are plain English, half as many is plenty.
    pub fn bound<'a>(self, texts: impl Iterator<Item = &'a str>, output_max: u64) -> Cost {
        let shown: usize = texts.map(shown_bytes).sum();
        self.cost((fixed_bytes() / 2 + shown) as u64, output_max)
    }

    /// What a call about these texts will probably take: four bytes to a token, and an answer about as
    /// long as the texts.
    pub fn estimate(self, texts_bytes: u64, calls: u64, output_max: u64) -> Cost {
        let input = (calls * fixed_bytes() as u64 + texts_bytes) / 4;
        self.cost(input, (texts_bytes / 4).min(calls * output_max))
    }

    /// What a call took, of which so much was reserved. A provider that counts more than there can be is
    /// not believed.
    pub fn settle(self, spent: Spent, reserved: Cost) -> Cost {
        match spent {
            Spent::Nothing => Cost::default(),
            Spent::Unknown => reserved,
            Spent::Tokens(usage) => {
                let input = usage.input.min(reserved.input_tokens);
                self.cost(input, usage.output.min(reserved.output_tokens))
            }
        }
    }
}

impl Budget {
    /// Whether a call of this cost fits beside what was spent.
    pub fn allows(self, spent: Cost, call: Cost) -> bool {
        let both = spent.plus(call);
        self.tokens.is_none_or(|most| both.tokens() <= most)
            && self.micros.is_none_or(|most| both.micros <= most)
    }
}

/// The day of an instant, counted from the epoch, in UTC.
pub(crate) fn day_of(at: RecordedAt) -> u64 {
    at.0.0.div_euclid(DAY_US).max(0).cast_unsigned()
}

/// The shares of several events in the cost of their call: by the bytes of their texts, whole in all.
pub(crate) fn shares(cost: Cost, bytes: &[u64]) -> Vec<Cost> {
    let all: u128 = bytes.iter().map(|bytes| u128::from(*bytes).max(1)).sum();
    let mut left = cost;
    let mut shares: Vec<Cost> = bytes
        .iter()
        .map(|own| {
            let part = |of: u64| {
                let part = u128::from(of) * u128::from(*own).max(1) / all;
                u64::try_from(part).unwrap_or(u64::MAX)
            };
            let share = Cost {
                input_tokens: part(cost.input_tokens),
                output_tokens: part(cost.output_tokens),
                micros: part(cost.micros),
            };
            left = left.minus(share);
            share
        })
        .collect();
    // What rounding left over goes to the first.
    if let Some(first) = shares.first_mut() {
        *first = first.plus(left);
    }
    shares
}

#[cfg(test)]
mod tests;
