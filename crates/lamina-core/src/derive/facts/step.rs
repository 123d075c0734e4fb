//! The rule at a point: what is known there, and one more thing that is said about it.
//!
//! What begins later outranks what began earlier, whichever was recorded first: so a new value
//! supersedes and a late report stays behind what is known of the time after it. At the same instant
//! a stated beginning outranks an observed one and a decision outranks both; equal rank and another
//! value is a conflict. An ending leaves nothing behind, and only what it names can be ended. That it
//! is *not* something is less than what it is, and never displaces it.
//!
//! A structured record replaces the last one of its author. Another author's record that says
//! something else opens a conflict, because neither system knows what the other one knows.

use std::cmp::Ordering;

use lamina_types::ValidAt;
use lamina_types::layer::Settling;

use super::{Content, Said, Support, Value, ValueKey, Weight};

/// What is known at a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) content: Content,
    /// The evidence that speaks of this point.
    pub(super) marks: Vec<Support>,
}

/// What one more piece of evidence does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing: they do not concern each other.
    Pass,
    /// Nothing: what is known began later.
    Blocked,
    /// The same again.
    Add,
    /// Another content.
    Become(Cell),
}

/// Whether evidence may take the place of what it outranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// It may.
    Supersede,
    /// It stands beside it: a conflict.
    Beside,
    /// It may, and where neither outranks the other the scope has said which one stands.
    Settle(Settling),
}

/// Evidence is clearly surer by more than this, in ten-thousandths.
const BAND: u16 = 2_000;

pub(super) fn step(cell: Option<&Cell>, mark: &Support, manner: Manner) -> Step {
    let Some(cell) = cell else {
        return match mark.said {
            Said::Value(value) => Step::Become(Cell::one(value, vec![*mark])),
            // Nothing is known, so there is nothing that an ending without a name could end.
            Said::Ends(None) => Step::Pass,
            Said::Ends(Some(value)) => {
                Step::Become(Cell { content: Content::Ended(Some(value)), marks: vec![*mark] })
            }
        };
    };
    match mark.said {
        Said::Value(value) => say(cell, value, mark, manner),
        Said::Ends(value) => end(cell, value, mark),
    }
}

fn say(cell: &Cell, value: Value, mark: &Support, manner: Manner) -> Step {
    let replaced = || Step::Become(Cell::one(value, vec![*mark]));
    let ranked = || match cell.compare(mark) {
        Ordering::Less => Step::Blocked,
        Ordering::Greater if manner != Manner::Beside => replaced(),
        Ordering::Equal => match cell.settled(mark, manner) {
            Some(Ordering::Greater) => replaced(),
            Some(_) => Step::Blocked,
            None => cell.beside(value, mark),
        },
        Ordering::Greater => cell.beside(value, mark),
    };
    if let Some(step) = disagree(cell, value, mark, manner) {
        return step;
    }
    match (&cell.content, value) {
        (Content::One(known), _) if *known == value => Step::Add,
        (Content::One(Value::Is(_)), Value::Is(_)) => ranked(),
        (Content::One(Value::IsNot(_)), Value::IsNot(_)) => match cell.compare(mark) {
            Ordering::Less => Step::Blocked,
            Ordering::Equal => Step::Pass,
            Ordering::Greater => replaced(),
        },
        // One says that it is, the other that it is not.
        (Content::One(known), _) if known.key() == value.key() => ranked(),
        (Content::One(_), _) => cell.compatible(value, mark),
        (Content::Ended(ended), _) => {
            let is_concerned = ended.is_none_or(|ended| value.key() == ended) || cell.ended_known();
            if !is_concerned || mark.from >= cell.top().0 {
                replaced()
            } else if ended.is_some_and(|ended| value == Value::Is(ended)) {
                // It is over all the same, but now it is known to have been.
                Step::Add
            } else {
                Step::Blocked
            }
        }
        (Content::Conflict(sides), _) if sides.contains(&value) => match cell.compare(mark) {
            Ordering::Less => Step::Blocked,
            Ordering::Greater if manner != Manner::Beside => replaced(),
            Ordering::Equal if cell.settled(mark, manner) == Some(Ordering::Greater) => replaced(),
            Ordering::Equal | Ordering::Greater => Step::Add,
        },
        (Content::Conflict(_), Value::Is(_)) => ranked(),
        (Content::Conflict(sides), Value::IsNot(denied)) => {
            let names_a_side = sides.contains(&Value::Is(denied));
            match cell.compare(mark) {
                Ordering::Less => Step::Blocked,
                Ordering::Equal if names_a_side => cell.beside(value, mark),
                Ordering::Greater if names_a_side => cell.without(Value::Is(denied)),
                Ordering::Equal | Ordering::Greater => Step::Pass,
            }
        }
    }
}

/// The effect of a later record where records of other authors say something else: it takes the
/// place of its author's own record and stands beside the others. `None` if no other author speaks.
fn disagree(cell: &Cell, value: Value, mark: &Support, manner: Manner) -> Option<Step> {
    let author = mark.author?;
    let of_others = |known: &&Support| {
        let is_other = known.author.is_some_and(|other| !author.is_same(other));
        is_other && matches!(known.said, Said::Value(Value::Is(_)))
    };
    let others: Vec<Support> = cell.marks.iter().filter(of_others).copied().collect();
    let differs = others.iter().any(|known| known.said != Said::Value(value));
    if !differs || cell.compare(mark) != Ordering::Greater || manner == Manner::Beside {
        return None;
    }
    match cell.settled(mark, manner) {
        Some(Ordering::Greater) => return Some(Step::Become(Cell::one(value, vec![*mark]))),
        Some(_) => return Some(Step::Blocked),
        None => {}
    }
    let mut sides: Vec<Value> = others.iter().filter_map(|known| known.said.value()).collect();
    sides.push(value);
    sides.sort_unstable();
    sides.dedup();
    let content = Content::Conflict(sides);
    let marks = others.into_iter().chain([*mark]).collect();
    Some(Step::Become(Cell { content, marks }))
}

fn end(cell: &Cell, value: Option<ValueKey>, mark: &Support) -> Step {
    // The same instant is not too late: "I left" said after "I work there", both today.
    let is_outranked = cell.top().0 > mark.from;
    let names = |known: ValueKey| value.is_none_or(|value| value == known);
    match &cell.content {
        Content::Ended(ended) if *ended == value || value.is_none() => Step::Add,
        _ if is_outranked => Step::Blocked,
        Content::One(Value::Is(known)) if names(*known) => cell.ended(Some(*known), mark),
        Content::Conflict(sides) => match value {
            None => cell.ended(None, mark),
            Some(value) if sides.contains(&Value::Is(value)) => cell.without(Value::Is(value)),
            Some(_) => Step::Pass,
        },
        Content::One(_) | Content::Ended(_) => Step::Pass,
    }
}

impl Cell {
    pub(super) fn one(value: Value, marks: Vec<Support>) -> Cell {
        Cell { content: Content::One(value), marks }
    }

    /// The rank of what is known: its latest beginning.
    fn top(&self) -> (ValidAt, Weight) {
        self.ranking()
            .map(rank)
            .max()
            .unwrap_or((ValidAt(lamina_types::Micros(i64::MIN)), Weight::Observed))
    }

    /// Whether it goes on until something else is heard.
    pub(super) fn is_open(&self) -> bool {
        self.ranking().max_by_key(|mark| rank(mark)).is_some_and(|mark| mark.to.is_none())
    }

    /// The evidence whose beginnings count: of an ending, when it ended.
    fn ranking(&self) -> impl Iterator<Item = &Support> {
        let is_ended = matches!(self.content, Content::Ended(_));
        self.marks.iter().filter(move |mark| !is_ended || matches!(mark.said, Said::Ends(_)))
    }

    /// How the mark ranks against what is known.
    fn compare(&self, mark: &Support) -> Ordering {
        rank(mark).cmp(&self.top())
    }

    /// Which of two that rank alike stands, if the scope has said how that is decided.
    fn settled(&self, mark: &Support, manner: Manner) -> Option<Ordering> {
        let Manner::Settle(way) = manner else { return None };
        let known = self.marks.iter().map(|mark| mark.confidence.get()).max().unwrap_or(0);
        let said = mark.confidence.get();
        match way {
            Settling::Latest => Some(Ordering::Greater),
            Settling::LatestWithinBand if known <= said.saturating_add(BAND) => {
                Some(Ordering::Greater)
            }
            Settling::LatestWithinBand => Some(Ordering::Less),
            Settling::Strongest => Some(said.cmp(&known)).filter(|order| order.is_ne()),
        }
    }

    /// Whether something that was known ended, and not only something that nobody had told of.
    fn ended_known(&self) -> bool {
        self.marks.iter().any(|mark| matches!(mark.said, Said::Value(Value::Is(_))))
    }

    /// Is and is-not of different things are both true; the positive one tells more.
    fn compatible(&self, value: Value, mark: &Support) -> Step {
        match value {
            Value::Is(_) => Step::Become(Cell::one(value, vec![*mark])),
            Value::IsNot(_) if self.compare(mark) == Ordering::Less => Step::Blocked,
            Value::IsNot(_) => Step::Pass,
        }
    }

    /// The mark beside what is known: a conflict.
    fn beside(&self, value: Value, mark: &Support) -> Step {
        let mut sides = match &self.content {
            Content::Conflict(sides) => sides.clone(),
            Content::One(known) => vec![*known],
            Content::Ended(_) => Vec::new(),
        };
        sides.push(value);
        sides.sort_unstable();
        sides.dedup();
        let marks = self.marks.iter().copied().chain([*mark]).collect();
        Step::Become(Cell { content: Content::Conflict(sides), marks })
    }

    /// A conflict without one of its sides.
    fn without(&self, gone: Value) -> Step {
        let Content::Conflict(sides) = &self.content else { return Step::Pass };
        let sides: Vec<Value> = sides.iter().copied().filter(|side| *side != gone).collect();
        let marks: Vec<Support> =
            self.marks.iter().copied().filter(|mark| mark.said != Said::Value(gone)).collect();
        Step::Become(match sides.as_slice() {
            [last] => Cell::one(*last, marks),
            _ => Cell { content: Content::Conflict(sides), marks },
        })
    }

    fn ended(&self, value: Option<ValueKey>, mark: &Support) -> Step {
        let marks = self.marks.iter().copied().chain([*mark]).collect();
        Step::Become(Cell { content: Content::Ended(value), marks })
    }
}

impl Said {
    /// The value, if it says one.
    fn value(self) -> Option<Value> {
        match self {
            Said::Value(value) => Some(value),
            Said::Ends(_) => None,
        }
    }
}

impl Value {
    /// What it is about.
    pub fn key(self) -> ValueKey {
        match self {
            Value::Is(key) | Value::IsNot(key) => key,
        }
    }
}

fn rank(mark: &Support) -> (ValidAt, Weight) {
    (mark.from, mark.weight)
}
