//! Fits what was gathered into a number of tokens, which count for the text and the structure together.
//!
//! Every list has a share, so that a long list of instructions cannot push out the facts. Costs of single items decide
//! what is taken; then the whole is weighed as it will be sent, and items go until it fits.

use std::collections::BTreeSet;

use super::verdict::{Found, judge};
use super::{Checkout, EvidenceLine, Gathered, LeftOut, conflict_line};
use crate::read::tokens::estimate;

/// Tokens of a checkout, if nothing else is asked.
pub const TOKENS_DEFAULT: u64 = 1_200;
/// The least that can be asked for.
pub const TOKENS_MIN: u64 = 100;
/// The most that can be asked for.
pub const TOKENS_MAX: u64 = 8_000;

/// What a small budget is raised to: the verdict alone takes most of it.
const SMALL: u64 = 300;
/// The frame of an item in text and structure: dash, date, names of members, quotation marks.
const ITEM_TOKENS: u64 = 38;
/// Text and structure of a checkout without items.
const FRAME_TOKENS: u64 = 210;

/// What a list may take of the tokens that are left for items, as one part of so many.
const STANDING_PART: u64 = 5;
const CONFLICTS_PART: u64 = 4;
const WORK_PART: u64 = 4;
const EVIDENCE_PART: u64 = 5;

/// How many items of each list are taken.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    facts: usize,
    evidence: usize,
    standing: usize,
    work: usize,
    conflicts: usize,
    recent: usize,
}

/// The checkout that fits. `weigh` says what a checkout takes as it is sent, text and structure together.
pub fn assemble(
    gathered: &Gathered,
    tokens_max: u64,
    weigh: &dyn Fn(&Checkout) -> u64,
) -> Checkout {
    let tokens_max = tokens_max.clamp(TOKENS_MIN, TOKENS_MAX);
    let target = tokens_max.max((tokens_max + 100).min(SMALL));
    let mut taken = choose(gathered, target.saturating_sub(FRAME_TOKENS));
    loop {
        let checkout = checkout(gathered, taken);
        if weigh(&checkout) <= target || !give_up_one(&mut taken) {
            return checkout;
        }
    }
}

/// Takes items by their own costs: the best fact first, then what has a share, then facts, then evidence.
fn choose(gathered: &Gathered, budget: u64) -> Taken {
    let mut left = budget;
    let facts: Vec<u64> =
        gathered.facts.iter().map(|fact| cost(&fact.content, fact.citation.as_deref())).collect();
    let standing: Vec<u64> =
        gathered.standing.iter().map(|one| cost(&one.text, one.citation.as_deref())).collect();
    let work: Vec<u64> =
        gathered.work.iter().map(|item| cost(&item.summary, Some(&item.citation))).collect();
    let conflicts: Vec<u64> =
        gathered.conflicts.iter().map(|one| cost(&conflict_line(one), None)).collect();
    let mut taken = Taken { facts: take(&facts, 1, &mut left), ..Taken::default() };
    let mut share = |costs: &[u64], part: u64| {
        let mut share = (budget / part).min(left);
        let before = share;
        let taken = take(costs, usize::MAX, &mut share);
        left -= before - share;
        taken
    };
    taken.conflicts = share(&conflicts, CONFLICTS_PART);
    taken.standing = share(&standing, STANDING_PART);
    taken.work = share(&work, WORK_PART);
    // Evidence of the best facts has a place beside further facts.
    let reserved = (budget / EVIDENCE_PART).min(left);
    left -= reserved;
    taken.facts += take(facts.get(taken.facts..).unwrap_or_default(), usize::MAX, &mut left);
    left += reserved;
    let lines = |lines: &[EvidenceLine]| -> Vec<u64> {
        lines.iter().map(|line| cost(&line.quote, Some(&line.citation))).collect()
    };
    taken.evidence = take(&lines(&evidence_of(gathered, taken.facts)), usize::MAX, &mut left);
    taken.work += take(work.get(taken.work..).unwrap_or_default(), usize::MAX, &mut left);
    taken.standing +=
        take(standing.get(taken.standing..).unwrap_or_default(), usize::MAX, &mut left);
    taken.recent = take(&lines(&gathered.recent), usize::MAX, &mut left);
    taken
}

/// How many from the beginning fit, at most so many.
fn take(costs: &[u64], most: usize, left: &mut u64) -> usize {
    let mut taken = 0;
    for cost in costs.iter().take(most) {
        if *cost > *left {
            break;
        }
        *left -= cost;
        taken += 1;
    }
    taken
}

/// What an item takes in text and structure together.
fn cost(content: &str, citation: Option<&str>) -> u64 {
    2 * (estimate(content) + citation.map_or(0, estimate)) + ITEM_TOKENS
}

/// Takes the least needed item out, and says whether there was one. The last of facts, instructions and warnings go when
/// nothing else is left.
fn give_up_one(taken: &mut Taken) -> bool {
    for least in [1, 0] {
        let lists = [
            (&mut taken.recent, 0),
            (&mut taken.evidence, 0),
            (&mut taken.work, least),
            (&mut taken.standing, least),
            (&mut taken.facts, least),
            (&mut taken.conflicts, least),
        ];
        for (list, least) in lists {
            if *list > least {
                *list -= 1;
                return true;
            }
        }
    }
    false
}

/// The evidence of the first facts, in its order.
fn evidence_of(gathered: &Gathered, facts: usize) -> Vec<EvidenceLine> {
    let shown: BTreeSet<&str> =
        gathered.facts.iter().take(facts).filter_map(|fact| fact.citation.as_deref()).collect();
    let is_shown = |line: &&EvidenceLine| shown.contains(line.citation.as_str());
    gathered.evidence.iter().filter(is_shown).cloned().collect()
}

/// The checkout with so many items of each list.
fn checkout(gathered: &Gathered, taken: Taken) -> Checkout {
    let evidence = evidence_of(gathered, taken.facts);
    let left_out = LeftOut {
        facts: gathered.facts.len() - taken.facts,
        evidence: evidence.len().saturating_sub(taken.evidence),
        standing: gathered.standing.len() - taken.standing,
        work: gathered.work.len() - taken.work,
        conflicts: gathered.conflicts.len() - taken.conflicts,
        recent: gathered.recent.len() - taken.recent,
    };
    let shown = Gathered {
        facts: first(&gathered.facts, taken.facts),
        evidence: first(&evidence, taken.evidence),
        standing: first(&gathered.standing, taken.standing),
        work: first(&gathered.work, taken.work),
        conflicts: first(&gathered.conflicts, taken.conflicts),
        recent: first(&gathered.recent, taken.recent),
        scope: gathered.scope.clone(),
        query: gathered.query.clone(),
        why_not: gathered.why_not,
        ..*gathered
    };
    let warnings = warnings(&shown, left_out);
    let found = Found {
        facts: gathered.facts.len(),
        conflicts: gathered.conflicts.len(),
        warnings: warnings.len(),
    };
    let quality = judge(&shown, found);
    Checkout { shown, left_out, warnings, quality }
}

fn first<T: Clone>(all: &[T], count: usize) -> Vec<T> {
    all.iter().take(count).cloned().collect()
}

fn warnings(shown: &Gathered, left_out: LeftOut) -> Vec<String> {
    let mut warnings: Vec<String> = shown.conflicts.iter().map(conflict_line).collect();
    match left_out.conflicts {
        0 => {}
        1 => warnings.push("Another open conflict did not fit.".to_owned()),
        more => warnings.push(format!("{more} more open conflicts did not fit.")),
    }
    match shown.redacted {
        0 => {}
        1 => warnings.push("Evidence of one fact was erased.".to_owned()),
        more => warnings.push(format!("Evidence of {more} facts was erased.")),
    }
    if shown.is_partial {
        warnings.push("A part of memory could not be read.".to_owned());
    }
    warnings
}
