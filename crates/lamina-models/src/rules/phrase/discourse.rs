//! Who has been spoken of, so that "she" and "his" can be resolved. A pronoun is resolved only when
//! one candidate is left: a wrong name is worse than none.

use lamina_types::layer::extraction::Term;

use super::{Nature, Referent};
use crate::rules::lexicon;

/// Referents that are remembered.
const REFERENTS_MAX: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gender {
    Male,
    Female,
    Unknown,
}

const MALE: &[&str] = &[
    "husband",
    "boyfriend",
    "fiancé",
    "fiance",
    "son",
    "father",
    "dad",
    "papa",
    "brother",
    "uncle",
    "nephew",
    "grandfather",
    "grandpa",
    "grandad",
    "granddad",
    "grandson",
    "stepfather",
    "stepson",
    "stepbrother",
    "father-in-law",
    "brother-in-law",
    "son-in-law",
    "half-brother",
    "hubby",
    "bf",
];
const FEMALE: &[&str] = &[
    "wife",
    "girlfriend",
    "fiancée",
    "fiancee",
    "daughter",
    "mother",
    "mom",
    "mum",
    "mama",
    "sister",
    "aunt",
    "auntie",
    "niece",
    "grandmother",
    "grandma",
    "granny",
    "gran",
    "nan",
    "granddaughter",
    "stepmother",
    "stepdaughter",
    "stepsister",
    "mother-in-law",
    "sister-in-law",
    "daughter-in-law",
    "half-sister",
    "gf",
];

impl Gender {
    pub(crate) fn of_kin(noun: &str) -> Gender {
        if MALE.contains(&noun) {
            Gender::Male
        } else if FEMALE.contains(&noun) {
            Gender::Female
        } else {
            Gender::Unknown
        }
    }

    fn fits(self, other: Gender) -> bool {
        self == Gender::Unknown || other == Gender::Unknown || self == other
    }
}

type Spoken = (Referent, usize, bool);

/// The one among those, if there is exactly one.
fn only<'a>(mut spoken: impl Iterator<Item = &'a Spoken>) -> Option<&'a Referent> {
    match (spoken.next(), spoken.next()) {
        (Some((referent, _, _)), None) => Some(referent),
        _ => None,
    }
}

fn is_given(referent: &Referent) -> bool {
    matches!(&referent.term, Term::Named { name, .. } if lexicon::is_given(name))
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Discourse {
    /// With the clause each was last spoken of in, and whether as its subject.
    spoken: Vec<Spoken>,
}

impl Discourse {
    /// Remembers a referent; actors are never meant by a third person.
    pub(crate) fn note(&mut self, referent: &Referent, clause: usize, subject: bool) {
        if matches!(referent.term, lamina_types::layer::extraction::Term::Actor(_)) {
            return;
        }
        if let Some(known) =
            self.spoken.iter_mut().find(|(known, _, _)| known.term == referent.term)
        {
            known.1 = clause;
            known.2 |= subject;
            return;
        }
        if self.spoken.len() < REFERENTS_MAX {
            self.spoken.push((referent.clone(), clause, subject));
        }
    }

    /// The one person or animal that "he" or "she" can mean.
    pub(crate) fn person(&self, gender: Gender) -> Option<&Referent> {
        let fits = |referent: &Referent| {
            matches!(referent.nature, Nature::Person | Nature::Animal | Nature::Name)
                && referent.gender.fits(gender)
        };
        // Somebody certainly a person before a mere name; what is near before what is far.
        for certain in [true, false] {
            let candidates = || {
                self.spoken.iter().filter(|(referent, _, _)| {
                    fits(referent) && (!certain || referent.nature != Nature::Name)
                })
            };
            let Some(latest) = candidates().map(|(_, clause, _)| *clause).max() else { continue };
            let near = || candidates().filter(|(_, clause, _)| *clause == latest);
            // Of two names, the one that people are given is somebody.
            return only(near()).or_else(|| only(near().filter(|(known, _, _)| is_given(known))));
        }
        None
    }

    /// The thing that was the last subject.
    pub(crate) fn thing(&self) -> Option<&Referent> {
        let latest = self
            .spoken
            .iter()
            .filter(|(_, _, subject)| *subject)
            .map(|(_, clause, _)| *clause)
            .max()?;
        let mut last =
            self.spoken.iter().filter(|(_, clause, subject)| *clause == latest && *subject);
        let (referent, _, _) = last.next()?;
        let alone = last.next().is_none();
        (alone && matches!(referent.nature, Nature::Name | Nature::Thing)).then_some(referent)
    }

    /// The last that was spoken of at all: what "who" and "which" mean.
    pub(crate) fn last(&self) -> Option<&Referent> {
        let latest =
            self.spoken.iter().map(|(referent, clause, _)| (*clause, referent.start)).max()?;
        self.spoken
            .iter()
            .find(|(referent, clause, _)| (*clause, referent.start) == latest)
            .map(|(referent, _, _)| referent)
    }
}
