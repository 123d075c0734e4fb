//! One claim and what is said about it, piece by piece: the beliefs that it makes one after the other.
//!
//! A belief that is gone does not come back; the next thing that is said about its claim begins
//! another one. After an expiry that one begins from nothing. After a deletion by the floor it stands
//! on everything that is known, because what was said still counts, it only was not enough. The fold
//! takes pieces one at a time with [`take`]; [`replay`] takes all of them and must come to the same.

use lamina_types::layer::Confidence;
use lamina_types::{RecordedAt, ValidAt};

use super::declare::{Closing, Declaration, close, declare};
use super::evidence::{Evidence, Heard, Polarity, weigh};
use super::revise::{
    Deletion, Deprecation, Reason, Revision, Settings, Standing, State, Voices, again, begin,
    deprecate, fire, restore, revise,
};

/// Something that is said about a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A piece of evidence.
    Said(Said),
    /// Somebody declares what is to be believed.
    Declared(Declaration),
    /// A newer declaration answers the same question with something else.
    Closed {
        /// When it was recorded.
        at: RecordedAt,
        /// From when the newer one holds.
        newer: ValidAt,
    },
    /// Somebody decided a conflict of which this is a side.
    Decided {
        /// When it was recorded.
        at: RecordedAt,
        /// From when the side holds; none: it lost.
        from: Option<ValidAt>,
    },
    /// The vocabulary that its predicate is of does not have it any more, or means something else by it.
    Renamed {
        /// When it was recorded.
        at: RecordedAt,
    },
    /// The vocabulary has the predicate again.
    Returned {
        /// When it was recorded.
        at: RecordedAt,
    },
    /// Its subject or object is one with another: the evidence counts there from now on.
    Moved {
        /// When it was recorded.
        at: RecordedAt,
    },
}

impl Piece {
    /// When it was recorded.
    pub fn recorded(&self) -> RecordedAt {
        match self {
            Piece::Said(said) => said.evidence.recorded,
            Piece::Declared(declaration) => declaration.at,
            Piece::Closed { at, .. }
            | Piece::Decided { at, .. }
            | Piece::Renamed { at }
            | Piece::Returned { at }
            | Piece::Moved { at } => *at,
        }
    }
}

/// A piece of evidence, and what else comes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The evidence.
    pub evidence: Evidence,
    /// Until when the claim is said to hold. Of evidence against it: from when another value holds.
    pub valid_to: Option<ValidAt>,
    /// Below which confidence its event wants no belief; none: the usual floor.
    pub floor: Option<Confidence>,
    /// Whether it names the claim itself. What speaks of a rival cannot begin a belief.
    pub names: bool,
}

/// The belief in a claim, and what its evidence asks of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The belief.
    pub state: State,
    /// The lowest floor that any of its evidence asks for.
    pub floor: Confidence,
    /// The latest end of what supports it; none if some of that is open.
    pub valid_to: Option<ValidAt>,
}

/// What became of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The belief now.
    pub held: Held,
    /// It begins with this piece.
    pub begins: bool,
    /// Earlier evidence does not count in it: voices are heard as if for the first time.
    pub afresh: bool,
    /// The belief that stood here before, if this is another one.
    pub ended: Option<Held>,
    /// What happened.
    pub steps: Vec<Revision>,
}

impl Held {
    /// The settings of this belief.
    pub fn settings(&self, settings: &Settings) -> Settings {
        Settings { floor: self.floor, ..settings.clone() }
    }

    /// Fires what is due at or before `until`.
    pub fn fire(&mut self, settings: &Settings, until: RecordedAt) -> Vec<Revision> {
        let settings = self.settings(settings);
        let mut steps = Vec::new();
        while let Some(step) = fire(&mut self.state, &settings, until) {
            steps.push(step);
        }
        steps
    }

    /// Whether it is held.
    pub fn is_held(&self) -> bool {
        self.state.standing == Standing::Held
    }
}

/// Takes one piece. None if it cannot begin a belief and there is none.
///
/// `heard` is how often its voice was heard before; it does not count for a belief that begins
/// afresh, nor for a declaration.
pub fn take(
    before: Option<Held>,
    settings: &Settings,
    piece: &Piece,
    heard: Heard,
) -> Option<Taken> {
    let at = piece.recorded();
    let mut steps = Vec::new();
    let before = before.map(|mut held| {
        steps = held.fire(settings, at);
        held
    });
    match piece {
        Piece::Declared(declaration) => Some(declared(before, settings, declaration, steps)),
        Piece::Said(said) => heard_of(before, settings, said, heard, steps),
        Piece::Closed { at, newer } => {
            let mut held = before?;
            steps.extend(shut(&mut held, *at, *newer));
            Some(Taken { held, begins: false, afresh: false, ended: None, steps })
        }
        Piece::Decided { at, from } => {
            let mut held = before?;
            if let (true, Some(from)) = (held.is_held(), from) {
                held.state.valid_from = held.state.valid_from.max(*from);
            } else if held.is_held() {
                steps.push(deprecate(&mut held.state, Deprecation::Decided, *at));
            }
            Some(Taken { held, begins: false, afresh: false, ended: None, steps })
        }
        Piece::Moved { at } => deprecated(before?, Deprecation::Identity, *at, steps),
        Piece::Renamed { at } => deprecated(before?, Deprecation::Vocabulary, *at, steps),
        Piece::Returned { at } => {
            let mut held = before?;
            let own = held.settings(settings);
            steps.extend(restore(&mut held.state, &own, *at));
            Some(Taken { held, begins: false, afresh: false, ended: None, steps })
        }
    }
}

fn deprecated(
    mut held: Held,
    why: Deprecation,
    at: RecordedAt,
    mut steps: Vec<Revision>,
) -> Option<Taken> {
    if held.is_held() {
        steps.push(deprecate(&mut held.state, why, at));
    }
    Some(Taken { held, begins: false, afresh: false, ended: None, steps })
}

fn heard_of(
    before: Option<Held>,
    settings: &Settings,
    said: &Said,
    heard: Heard,
    mut steps: Vec<Revision>,
) -> Option<Taken> {
    let asked = said.floor.unwrap_or(settings.floor);
    match before {
        Some(held) if held.is_held() => {
            // What speaks of a rival asks nothing of this one.
            let floor = if said.names { held.floor.min(asked) } else { held.floor };
            let valid_to = end_after(&held, said);
            let own = Settings { floor, ..settings.clone() };
            let (state, more) = revise(held.state, &own, &said.evidence, heard);
            steps.extend(more);
            let held = Held { state, floor, valid_to };
            Some(Taken { held, begins: false, afresh: false, ended: None, steps })
        }
        _ if !said.names => None,
        // Of the time that was decided the same words say nothing new.
        Some(held) if lost(&held.state) && said.evidence.valid_from <= held.state.valid_from => {
            Some(Taken { held, begins: false, afresh: false, ended: None, steps })
        }
        Some(held) if counts_still(&held.state, said.evidence.recorded) => {
            let floor = held.floor.min(asked);
            let valid_to = end_after(&held, said);
            let own = Settings { floor, ..settings.clone() };
            let (state, step) = again(held.state.clone(), &own, &said.evidence, heard);
            steps.push(step);
            let ended = Some(held);
            let held = Held { state, floor, valid_to };
            Some(Taken { held, begins: true, afresh: false, ended, steps })
        }
        ended => {
            let own = Settings { floor: asked, ..settings.clone() };
            let (state, step) = begin(&own, &said.evidence);
            steps.push(step);
            let held = Held { state, floor: asked, valid_to: first_end(said) };
            Some(Taken { held, begins: true, afresh: true, ended, steps })
        }
    }
}

fn declared(
    before: Option<Held>,
    settings: &Settings,
    declaration: &Declaration,
    mut steps: Vec<Revision>,
) -> Taken {
    let ended = before.map(|mut held| {
        steps.extend(shut(&mut held, declaration.at, declaration.valid_from));
        held
    });
    let held = Held { state: declare(declaration), floor: settings.floor, valid_to: None };
    let shown = held.state.visible();
    let reason = Reason::Created;
    steps.push(Revision { at: declaration.at, reason, before: shown, after: shown });
    Taken { held, begins: true, afresh: true, ended, steps }
}

/// A newer declaration holds from `newer` on: what is left is asserted until then, or nothing is.
fn shut(held: &mut Held, at: RecordedAt, newer: ValidAt) -> Option<Revision> {
    if !held.is_held() {
        return None;
    }
    match close(held.state.valid_from, newer) {
        Closing::Replaced => Some(deprecate(&mut held.state, Deprecation::Replaced, at)),
        Closing::Shortened { valid_to } => {
            held.valid_to = Some(held.valid_to.map_or(valid_to, |known| known.min(valid_to)));
            None
        }
    }
}

/// Whether a conflict was decided against it.
fn lost(state: &State) -> bool {
    matches!(state.standing, Standing::Deprecated { why: Deprecation::Decided, .. })
}

/// Whether the evidence of a belief that is gone counts in the next one: the floor took it, and its
/// time is not over.
fn counts_still(state: &State, at: RecordedAt) -> bool {
    matches!(state.standing, Standing::Deleted { why: Deletion::BelowFloor, .. })
        && state.expires.is_none_or(|expires| at < expires)
}

/// The end of a belief that begins with a piece.
fn first_end(said: &Said) -> Option<ValidAt> {
    match said.evidence.polarity {
        Polarity::Against => None,
        Polarity::Supports => said.valid_to,
    }
}

/// The end of a belief after one more piece: the latest end of what supports it. Another value from a later time on ends it
/// there; the same claim said again opens it again. A denial ends nothing: the belief is kept as contradicted.
fn end_after(held: &Held, said: &Said) -> Option<ValidAt> {
    let known = held.valid_to;
    match said.evidence.polarity {
        Polarity::Against => {
            let is_over =
                |end: &ValidAt| held.state.supports_count > 0 && *end > held.state.valid_from;
            let end = said.valid_to.filter(is_over);
            end.map(|end| known.map_or(end, |known| known.min(end))).or(known)
        }
        Polarity::Supports if held.state.supports_count == 0 => said.valid_to,
        Polarity::Supports => known.zip(said.valid_to).map(|(one, two)| one.max(two)),
    }
}

/// One belief of a claim: from the piece it began with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// The position of the piece it began with.
    pub from: usize,
    /// The positions of the evidence that it took, and what each piece weighed.
    pub took: Vec<(usize, u64)>,
    /// Itself, as it is or as it ended.
    pub held: Held,
    /// What happened to it, with how it stood after.
    pub steps: Vec<(Revision, State)>,
}

/// Every belief that the pieces make, in the order they came, as they stand at `until`.
pub fn replay(settings: &Settings, pieces: &[Piece], until: RecordedAt) -> Vec<Life> {
    let mut lives: Vec<Life> = Vec::new();
    let mut voices = Voices::default();
    for (from, piece) in pieces.iter().enumerate() {
        if let Some(life) = lives.last_mut() {
            life.run(settings, piece.recorded());
        }
        let before = lives.last().map(|life| life.held.clone());
        let heard = match piece {
            Piece::Said(said) => voices.heard(&said.evidence),
            Piece::Declared(_)
            | Piece::Closed { .. }
            | Piece::Decided { .. }
            | Piece::Renamed { .. }
            | Piece::Returned { .. }
            | Piece::Moved { .. } => Heard::default(),
        };
        let Some(taken) = take(before, settings, piece, heard) else { continue };
        if taken.afresh {
            voices = Voices::default();
        }
        let took = match piece {
            Piece::Said(Said { evidence, .. }) => {
                let heard = voices.hear(evidence);
                Some((from, weigh(evidence.confidence, evidence.trust, heard)))
            }
            _ => None,
        };
        if taken.begins {
            let replaced = taken.ended.as_ref().map(|held| &held.state);
            if let (Some(life), Some(state)) = (lives.last_mut(), replaced)
                && life.held.state.standing != state.standing
                && let Some(step) = taken.steps.first()
            {
                life.steps.push((*step, state.clone()));
            }
            if let (Some(life), Some(ended)) = (lives.last_mut(), taken.ended) {
                life.held = ended;
            }
            let steps = taken.steps.last().map(|step| (*step, taken.held.state.clone()));
            let (took, steps) = (took.into_iter().collect(), steps.into_iter().collect());
            lives.push(Life { from, took, held: taken.held, steps });
        } else if let Some(life) = lives.last_mut() {
            let state = &taken.held.state;
            life.steps.extend(taken.steps.into_iter().map(|step| (step, state.clone())));
            life.held = taken.held;
            life.took.extend(took);
        }
    }
    if let Some(life) = lives.last_mut() {
        life.run(settings, until);
    }
    lives
}

impl Life {
    /// Fires deadlines one by one, so that each step has its own state.
    fn run(&mut self, settings: &Settings, until: RecordedAt) {
        let own = self.held.settings(settings);
        while let Some(step) = fire(&mut self.held.state, &own, until) {
            self.steps.push((step, self.held.state.clone()));
        }
    }
}

#[cfg(test)]
mod tests;
