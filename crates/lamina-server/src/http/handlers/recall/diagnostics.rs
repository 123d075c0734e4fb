//! How a pack was made, for those who ask: where each event stood in each channel, why it moved, and why it is
//! not shown.

use std::collections::{BTreeMap, HashMap};

use lamina_api::v1::recall::{
    ChannelList, ChannelRank, DiagnosticsBody, DropDiagnostics, ItemDiagnostics, PolicyBody,
    Reorder, ScopeTraversed,
};
use lamina_core::read::score::Signal;
use lamina_engine::ReadPermit;
use lamina_engine::read::recall::{Considered, Dropped, Recalled};
use lamina_types::recall::{Detail, Recall};
use lamina_types::{EventId, ScopeView};

use super::{events, rounded};

/// Events that `diagnostics: full` tells about.
const SHOWN_MAX: usize = 500;

/// How a pack was made.
pub(super) fn of(
    reach: &ReadPermit,
    question: &Recall,
    recalled: &Recalled,
    time_ms: BTreeMap<&'static str, f64>,
) -> DiagnosticsBody {
    let full = question.detail == Detail::Full;
    let scopes_traversed = match &recalled.traversed {
        Some(walked) => {
            let walked = walked.iter().cloned().map(events::traversed);
            walked.map(ScopeTraversed::Walked).collect()
        }
        None => {
            let up =
                question.scope.self_and_ancestors().into_iter().filter(|path| reach.covers(path));
            let up =
                up.take(if question.view.reach() == ScopeView::Local { 1 } else { usize::MAX });
            up.map(|path| ScopeTraversed::Path(path.to_string())).collect()
        }
    };
    let truncated = recalled.considered.len().max(recalled.dropped.len()) > SHOWN_MAX;
    DiagnosticsBody {
        policy: PolicyBody {
            tier_attribution: reach.decided_by().as_str().to_owned(),
            capability: reach.capability(),
        },
        filters_applied: question.filter.names(),
        scopes_traversed,
        plan: recalled.plan.as_str(),
        question_type: recalled.plan.question_type(),
        relevance: rounded(recalled.relevance),
        time_ms,
        knapsack_evictions: (recalled.evicted > 0).then_some(recalled.evicted),
        tail_evictions: (recalled.cut > 0).then_some(recalled.cut),
        tokens: recalled.tokens,
        models: full.then(|| {
            recalled.embedded_by.iter().map(|model| ("embedding", model.clone())).collect()
        }),
        items: full.then(|| items(question, recalled)),
        drops: full.then(|| recalled.dropped.iter().take(SHOWN_MAX).map(drop_of).collect()),
        channel_lists: full.then(|| Channel::all(recalled).map(Channel::list).collect()),
        items_truncated: full.then_some(truncated),
        partial: !recalled.failed.is_empty() || recalled.unindexed || recalled.unembedded,
    }
}

/// What a channel gave an event.
type Score = fn(&Considered) -> Option<f64>;

/// What one channel found among the events that were looked at.
struct Channel {
    name: &'static str,
    /// Places from 1, with scores.
    found: HashMap<EventId, ChannelRank>,
}

impl Channel {
    fn all(recalled: &Recalled) -> impl Iterator<Item = Channel> {
        let own: [(_, Score); 3] = [
            ("bm25", |event| event.lexical),
            ("vector", |event| event.semantic),
            ("vector_model", |event| event.further),
        ];
        let asked = if recalled.embedded_by.is_some() { 3 } else { 2 };
        own.into_iter().take(asked).map(|(name, score)| Channel::new(recalled, name, score))
    }

    fn new(recalled: &Recalled, name: &'static str, score: Score) -> Channel {
        let events = recalled.considered.iter();
        let mut found: Vec<(EventId, f64)> =
            events.filter_map(|event| Some((event.id, score(event)?))).collect();
        found.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let places = found
            .into_iter()
            .enumerate()
            .map(|(at, (id, score))| (id, ChannelRank { rank: at + 1, score: rounded(score) }));
        Channel { name, found: places.collect() }
    }

    fn list(self) -> ChannelList {
        ChannelList { channel: self.name, len: self.found.len() }
    }
}

fn items(question: &Recall, recalled: &Recalled) -> Vec<ItemDiagnostics> {
    let channels: Vec<Channel> = Channel::all(recalled).collect();
    let items = recalled.considered.iter().take(SHOWN_MAX).enumerate();
    items.map(|(at, event)| item(question, at + 1, event, &channels)).collect()
}

fn item(
    question: &Recall,
    rank: usize,
    event: &Considered,
    channels: &[Channel],
) -> ItemDiagnostics {
    let contributions = Signal::ALL
        .iter()
        .map(|signal| (signal.as_str(), rounded(event.contributions.of(*signal))))
        .collect();
    let found = channels.iter().filter_map(|one| Some((one.name, *one.found.get(&event.id)?)));
    let channels: BTreeMap<&'static str, ChannelRank> = found.collect();
    let mut matched_via: Vec<&'static str> = channels.keys().copied().collect();
    if matched_via.is_empty() {
        matched_via.push("neighbour");
    }
    let fused_rank = event.fused + 1;
    let why = if question.variants.is_empty() { "newer_first" } else { "query_variants" };
    let moved = fused_rank != rank;
    ItemDiagnostics {
        event_id: event.id.to_string(),
        final_rank: rank,
        fused_rank,
        score: rounded(event.score),
        contributions,
        channels,
        variants: (0..u8::BITS).filter(|way| event.ways & (1 << way) != 0).collect(),
        matched_via,
        reorder: Reorder { from: moved.then_some(fused_rank), why: moved.then_some(why) },
        thread: event.thread,
        terms: event.terms,
    }
}

fn drop_of((id, why): &(EventId, Dropped)) -> DropDiagnostics {
    let reason = match why {
        Dropped::BelowFloor => "below_floor",
        Dropped::Filtered => "filtered",
        Dropped::LayerLimit => "layer_limit",
        Dropped::TailCut => "tail_cut",
        Dropped::TokenBudget => "token_budget",
    };
    DropDiagnostics { event_id: id.to_string(), reason }
}
