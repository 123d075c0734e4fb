//! Why a belief is held: its evidence as a graph down to events, and the same in sentences.
//!
//! Both are made of records that were fetched already; nothing is added to what they say. The
//! sentences come from a template, so that they can be had without a model and never claim more than
//! the graph.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lamina_types::{BeliefId, EventId, Micros};

use super::evidence::{Polarity, SupportId};
use super::read::{Shown, Stance};

/// Nodes of a graph.
pub const NODES_MAX: usize = 200;
/// Reasons a narrative names on either side.
const REASONS_MAX: usize = 3;

/// One support of a belief, with its words.
#[derive(Debug, Clone, PartialEq)]
pub struct Ground {
    /// The record.
    pub id: SupportId,
    /// What it weighs, in pieces of evidence.
    pub weight: f64,
    /// On which side it is.
    pub polarity: Polarity,
    /// What it says; none if its words are gone.
    pub summary: Option<String>,
    /// When, as a person reads it: `13 May 2026`.
    pub when: Option<String>,
    /// The events it stands on, with what they say.
    pub events: Vec<(EventId, Option<String>)>,
}

/// A record in the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeId {
    /// The belief itself; edges start at it.
    Belief(BeliefId),
    /// What it stands on.
    Support(SupportId),
}

/// A node of the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The record.
    pub id: SupportId,
    /// What it weighs; events have no weight of their own.
    pub weight: Option<f64>,
    /// What it says.
    pub summary: Option<String>,
}

/// How two records are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// A belief on what it stands on.
    SupportedBy,
    /// A belief on what speaks against it.
    ContradictedBy,
    /// A fact on its event.
    ExtractedFrom,
    /// An episode on its event.
    Contains,
}

impl Relation {
    /// As records say it.
    pub fn as_str(self) -> &'static str {
        match self {
            Relation::SupportedBy => "supported_by",
            Relation::ContradictedBy => "contradicted_by",
            Relation::ExtractedFrom => "extracted_from",
            Relation::Contains => "contains",
        }
    }
}

/// An edge of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// From where.
    pub from: NodeId,
    /// To where.
    pub to: SupportId,
    /// How they are related.
    pub relation: Relation,
}

/// What a belief stands on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Graph {
    /// The records, heaviest first, then their events.
    pub nodes: Vec<Node>,
    /// How they are related; both ends are the belief or among the nodes.
    pub edges: Vec<Edge>,
    /// Whether there was more than fits.
    pub cut: bool,
}

/// The support graph of a belief.
pub fn graph(belief: BeliefId, grounds: &[Ground]) -> Graph {
    let mut graph = Graph::default();
    let mut named = BTreeSet::new();
    for ground in ordered(grounds) {
        if named.len() >= NODES_MAX {
            graph.cut = true;
            break;
        }
        if named.insert(ground.id) {
            let (weight, summary) = (Some(ground.weight), ground.summary.clone());
            graph.nodes.push(Node { id: ground.id, weight, summary });
        }
        let relation = match ground.polarity {
            Polarity::Supports => Relation::SupportedBy,
            Polarity::Against => Relation::ContradictedBy,
        };
        graph.edges.push(Edge { from: NodeId::Belief(belief), to: ground.id, relation });
    }
    let grounds: Vec<&Ground> =
        ordered(grounds).into_iter().filter(|ground| named.contains(&ground.id)).collect();
    for ground in grounds {
        let relation = match ground.id {
            SupportId::Fact(_) => Relation::ExtractedFrom,
            SupportId::Episode(_) => Relation::Contains,
            SupportId::Event(_) => continue,
        };
        for (event, words) in &ground.events {
            let id = SupportId::Event(*event);
            if !named.contains(&id) {
                if graph.nodes.len() >= NODES_MAX {
                    graph.cut = true;
                    continue;
                }
                named.insert(id);
                graph.nodes.push(Node { id, weight: None, summary: words.clone() });
            }
            graph.edges.push(Edge { from: NodeId::Support(ground.id), to: id, relation });
        }
    }
    graph.edges.sort();
    graph.edges.dedup();
    graph
}

/// The belief and its reasons in sentences. `claim` is the claim as a person says it.
pub fn narrative(claim: &str, shown: &Shown, grounds: &[Ground]) -> String {
    let opening = match shown.stance {
        Stance::Supported => "It is believed",
        Stance::Contradicted => "It is not believed any more",
        Stance::Uncertain => "It is uncertain",
        Stance::Deprecated => "It was once believed",
    };
    let mut text = format!("{opening} that {claim}");
    let ordered = ordered(grounds);
    let of = |side: Polarity| -> Vec<&Ground> {
        ordered.iter().copied().filter(|ground| ground.polarity == side).collect()
    };
    let (supports, against) = (of(Polarity::Supports), of(Polarity::Against));
    match shown.stance {
        Stance::Contradicted => {
            reasons(&mut text, " because ", &against);
            text.push('.');
            side(&mut text, " In its favour: ", &supports);
        }
        _ => {
            reasons(&mut text, " because ", &supports);
            text.push('.');
            side(&mut text, " Against it: ", &against);
        }
    }
    let wordless = grounds.iter().filter(|ground| ground.summary.is_none()).count();
    if wordless > 0 {
        let _ = write!(text, " The words of {wordless} of {} supports are gone.", grounds.len());
    }
    let interval = shown.interval;
    let _ = write!(
        text,
        " The confidence is {:.2}, between {:.2} and {:.2} with probability {:.2}.",
        shown.confidence, interval.lower, interval.upper, interval.level
    );
    text
}

fn side(text: &mut String, opening: &str, grounds: &[&Ground]) {
    let before = text.len();
    reasons(text, opening, grounds);
    if text.len() > before {
        text.push('.');
    }
}

fn reasons(text: &mut String, opening: &str, grounds: &[&Ground]) {
    let told: Vec<String> = grounds.iter().filter_map(|ground| reason(ground)).collect();
    if told.is_empty() {
        return;
    }
    text.push_str(opening);
    let shown = told.len().min(REASONS_MAX);
    for (index, words) in told.iter().take(shown).enumerate() {
        let glue = match index {
            0 => "",
            _ if index + 1 == told.len() => " and ",
            _ => ", ",
        };
        let _ = write!(text, "{glue}{words}");
    }
    if told.len() > shown {
        let _ = write!(text, " and {} more", told.len() - shown);
    }
}

fn reason(ground: &Ground) -> Option<String> {
    let words = ground.summary.as_deref()?.trim().trim_end_matches('.');
    let id = match ground.id {
        SupportId::Fact(id) => id.to_string(),
        SupportId::Episode(id) => id.to_string(),
        SupportId::Event(id) => id.to_string(),
    };
    // The record may be derived; the words are an event's.
    let from = match (ground.id, ground.events.first()) {
        (SupportId::Event(_), _) | (_, None) => String::new(),
        (_, Some((event, _))) => format!(", {event}"),
    };
    Some(match &ground.when {
        Some(when) => format!("on {when} \"{words}\" ({id}{from})"),
        None => format!("\"{words}\" ({id}{from})"),
    })
}

/// A day as a person reads it: `13 May 2026`.
pub fn day(at: Micros) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    // Days since the first of March of the year 0, in eras of 400 years, which are all alike.
    let days = at.0.div_euclid(86_400_000_000) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12;
    let year = era * 400 + year_of_era + i64::from(month < 2);
    let month = usize::try_from(month).ok().and_then(|month| MONTHS.get(month)).unwrap_or(&"");
    format!("{day} {month} {year}")
}

/// Heaviest first; ties by id.
fn ordered(grounds: &[Ground]) -> Vec<&Ground> {
    let mut ordered: Vec<&Ground> = grounds.iter().collect();
    ordered.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.id.cmp(&b.id)));
    ordered
}

#[cfg(test)]
mod tests;
