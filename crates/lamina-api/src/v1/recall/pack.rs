//! The stratified pack (R342-R354).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::v1::admin::ByteRange;
use crate::v1::beliefs::BeliefBody;
use crate::v1::damaged::DamagedItem;
use crate::v1::episodes::EpisodeBody;
use crate::v1::events::{EventBody, TraversedScope};
use crate::v1::facts::FactBody;
use crate::v1::understanding::ConceptBody;

/// What answers a question, in layers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "stratified_pack")]
pub struct PackBody {
    /// Refer to the pack by this for 60 seconds.
    #[schemars(regex(pattern = "^pack_[0-9a-f]{32}$"))]
    pub pack_id: String,
    /// The id of the request.
    pub request_id: String,
    /// The scope.
    pub scope: String,
    /// What is shown.
    pub view: &'static str,
    /// The records as text, ready for a prompt. Lines of `---` separate them, and each begins with
    /// `[YYYY-MM-DD HH:MM UTC] [tag] [actor via caller]`; the lines of a text after its first are indented.
    pub context_block: String,
    /// How sure it is that the memory knows what is asked: `known`, `perhaps` or `unknown`.
    #[schemars(regex(pattern = "^(known|perhaps|unknown)$"))]
    pub certainty: &'static str,
    /// The records. Where none is relevant enough, at most three events that come closest, each with `below_floor`.
    pub layers: LayersBody,
    /// Instructions and preferences that apply whatever is asked, the nearest scope and the last said first. They
    /// are no answer: an empty pack may have some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub standing: Vec<StandingBody>,
    /// What is known of the person who asks: name, role, place, language and allergies, as far as they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub profile: Vec<FactBody>,
    /// The facts that lead from an entity that the question names to the answer, hop by hop; absent unless the question
    /// names its subject through another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<ChainBody>,
    /// Of `structured`: the records as one graph, in JSON-LD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knowledge_subgraph: Option<Value>,
    /// What was done, and what stands on what.
    pub provenance: ProvenanceBody,
    /// How it was made; absent unless it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<DiagnosticsBody>,
    /// The instant whose knowledge it is.
    #[schemars(extend("format" = "date-time"))]
    pub as_of: String,
    /// Why nothing in it is relevant enough; absent unless that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<WhyNotBody>,
    /// Records that belong here and cannot be read because their stored bytes are damaged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub damaged: Vec<DamagedItem>,
    /// Something could not be read: what is here is not everything.
    #[serde(rename = "_partial", skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub partial: bool,
    /// Why not.
    #[serde(rename = "_partial_reason", skip_serializing_if = "Option::is_none")]
    pub partial_reason: Option<String>,
}

/// Something that applies whatever is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "pack_standing")]
pub struct StandingBody {
    /// The event that says it.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}$"))]
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// Who said it.
    pub actor: String,
    /// Who wrote it, authenticated.
    pub caller: String,
    /// When it was said.
    #[schemars(extend("format" = "date-time"))]
    pub observed_at: String,
    /// The sentences that say it; absent with `exclude_content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The records of a pack, each layer with the best first.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(rename = "pack_layers")]
pub struct LayersBody {
    /// What is believed.
    pub beliefs: Vec<Ranked<BeliefBody>>,
    /// What is known.
    pub facts: Vec<Ranked<FactBody>>,
    /// What belongs together.
    pub episodes: Vec<Ranked<EpisodeBody>>,
    /// What happened.
    pub events: Vec<Ranked<PackEventBody>>,
    /// What is understood.
    pub understanding: Vec<Ranked<ConceptBody>>,
}

/// An event of a pack.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "pack_event")]
pub struct PackEventBody {
    /// The event. If only a part of its text fits the tokens, `content` says so: `_partial`, `_partial_reason`,
    /// `_original_bytes` and `_excerpt_ranges`.
    #[serde(flatten)]
    pub event: EventBody,
    /// Which part of its text fits the question; absent if it only stands beside something that does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub matched_fragments: Vec<FragmentBody>,
    /// It is not relevant enough, and only the closest there is: no answer, and no evidence of one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub below_floor: bool,
}

/// Facts that lead to an answer, hop by hop.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "pack_chain")]
pub struct ChainBody {
    /// The hops, from the entity that the question names.
    pub hops: Vec<HopBody>,
    /// Where a hop is a conflict: the hops with each of its values. Then none of them is the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub branches: Vec<Vec<HopBody>>,
    /// Words of the question that no fact meets: the hop after the last is not known. Absent if the chain answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub missing: Vec<String>,
}

/// One hop of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "chain_hop")]
pub struct HopBody {
    /// The fact; absent if a sentence alone says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^fact_[0-9a-f]{32}$"))]
    pub fact: Option<String>,
    /// What it says, in words.
    pub text: String,
    /// Its value.
    pub value: String,
    /// The event that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
}

/// A part of a text that fits a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "matched_fragment")]
pub struct FragmentBody {
    /// The event and the number of the part.
    pub chunk_id: String,
    /// What the text was taken from.
    pub text_source: &'static str,
    /// Where it stands in what can be read of the content, in bytes of UTF-8.
    pub byte_range: ByteRange,
    /// Its language, if the caller has said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// What found the event: `bm25`, `vector`.
    pub matched_via: Vec<&'static str>,
}

/// A record with how well it fits.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "ranked_{T}")]
pub struct Ranked<T> {
    /// The record.
    #[serde(flatten)]
    pub record: T,
    /// Its place in the layer, from 1.
    pub ranked_position: usize,
    /// How well it fits; the best record of the pack has 1.
    #[schemars(range(min = 0, max = 1))]
    pub score: f64,
}

/// What was done, and what stands on what.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "pack_provenance")]
pub struct ProvenanceBody {
    /// What was done, in order.
    pub trail: Vec<TrailBody>,
    /// From every derived record of the pack to the records it stands on, down to events.
    pub citations: BTreeMap<String, Vec<String>>,
}

/// One step of a recall.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "trail_phase")]
pub struct TrailBody {
    /// Its name.
    pub phase: &'static str,
    /// What it decided or found.
    #[serde(flatten)]
    pub said: Map<String, Value>,
    /// How long it took.
    pub elapsed_ms: f64,
}

/// How a pack was made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "pack_diagnostics")]
pub struct DiagnosticsBody {
    /// Which decision let it read.
    pub policy: PolicyBody,
    /// The conditions that records had to meet, as `field.operator`.
    pub filters_applied: Vec<String>,
    /// The scopes that were read, and with `view=descend` those that were not.
    #[schemars(with = "Vec<Value>")]
    pub scopes_traversed: Vec<ScopeTraversed>,
    /// How the question was gone about.
    pub plan: &'static str,
    /// What type of question it is.
    pub question_type: &'static str,
    /// How sure it is that the records have to do with the question.
    pub relevance: f64,
    /// Milliseconds of each step.
    pub time_ms: BTreeMap<&'static str, f64>,
    /// Records that had a place in their layer and did not fit the tokens; absent unless there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knapsack_evictions: Option<usize>,
    /// Records that had a place in their layer and are too weak beside the best; absent unless there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail_evictions: Option<usize>,
    /// Tokens of all records together, by an estimate.
    pub tokens: u64,
    /// Models that were used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<BTreeMap<&'static str, String>>,
    /// Of `full`: every event that was looked at, the best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<ItemDiagnostics>>,
    /// Of `full`: the events that were looked at and are not in the pack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<Vec<DropDiagnostics>>,
    /// Of `full`: how many of the events that were looked at each channel has found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel_lists: Option<Vec<ChannelList>>,
    /// Whether `items` or `drops` was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items_truncated: Option<bool>,
    /// Something could not be read.
    #[serde(rename = "_partial")]
    pub partial: bool,
}

/// A scope that was read, by its path or with more to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ScopeTraversed {
    /// Its path.
    Path(String),
    /// Of a walk down.
    Walked(TraversedScope),
}

/// Which decision let a recall read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "pack_policy")]
pub struct PolicyBody {
    /// The innermost tier that had a say.
    pub tier_attribution: String,
    /// What was asked for.
    pub capability: &'static str,
}

/// One event that was looked at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "pack_item_diagnostics")]
pub struct ItemDiagnostics {
    /// The event.
    pub event_id: String,
    /// Its place among all that were looked at, from 1.
    pub final_rank: usize,
    /// Its place by score alone.
    pub fused_rank: usize,
    /// Its score.
    pub score: f64,
    /// What each signal contributed to it.
    pub contributions: BTreeMap<&'static str, f64>,
    /// Its places in the channels that found it.
    pub channels: BTreeMap<&'static str, ChannelRank>,
    /// Which ways to ask have found it: 0 is `query`, the others are those of `query_variants`.
    pub variants: Vec<u32>,
    /// What found it.
    pub matched_via: Vec<&'static str>,
    /// Why `final_rank` is not `fused_rank`; empty if it is.
    pub reorder: Reorder,
    /// Its conversation among those of this recall, and its place there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<(u64, u64)>,
    /// Which words of the question it has, as bits.
    pub terms: u64,
}

/// A place in a channel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "channel_rank")]
pub struct ChannelRank {
    /// From 1.
    pub rank: usize,
    /// By which it has that place.
    pub score: f64,
}

/// Why an event does not stand where its score would put it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "pack_reorder")]
pub struct Reorder {
    /// The place by score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<usize>,
    /// `newer_first`: what replaced something went above it. `query_variants`: the places of several ways to ask were
    /// merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
}

/// An event that was looked at and is not in the pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "pack_drop")]
pub struct DropDiagnostics {
    /// The event.
    pub event_id: String,
    /// `below_floor`, `filtered`, `layer_limit`, `tail_cut` or `token_budget`.
    pub reason: &'static str,
}

/// How much a channel has found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "channel_list")]
pub struct ChannelList {
    /// Its name.
    pub channel: &'static str,
    /// Events of it that were looked at.
    pub len: usize,
}

/// Why nothing in a pack is relevant enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "why_not")]
pub struct WhyNotBody {
    /// Records that were looked at.
    pub candidates: usize,
    /// The relevance of the best of them.
    pub best_score: f64,
    /// What it would have had to be.
    pub floor: f64,
    /// What to ask instead, if the knowledge that is asked with is older than every record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

impl PackBody {
    /// The pack without large texts (R257): ids and numbers stay.
    pub fn without_content(&self) -> Result<Value, serde_json::Error> {
        // The name of an episode is a phrase of its words.
        const LARGE: &[&str] =
            &["content", "name", "summary", "source", "causal_chain", "narrative", "definition"];
        let bare = |item: &mut Value| {
            if let Some(item) = item.as_object_mut() {
                item.retain(|key, _| !LARGE.contains(&key.as_str()));
            }
        };
        let mut pack = serde_json::to_value(self)?;
        let layers = pack.get_mut("layers").and_then(Value::as_object_mut);
        for items in layers.into_iter().flat_map(|layers| layers.values_mut()) {
            items.as_array_mut().into_iter().flatten().for_each(bare);
        }
        let profile = pack.get_mut("profile").and_then(Value::as_array_mut);
        profile.into_iter().flatten().for_each(bare);
        // Words of facts: ids stay.
        for hop in
            pack.pointer_mut("/chain/hops").and_then(Value::as_array_mut).into_iter().flatten()
        {
            if let Some(hop) = hop.as_object_mut() {
                hop.retain(|key, _| key == "fact" || key == "event");
            }
        }
        if let Some(chain) = pack.get_mut("chain").and_then(Value::as_object_mut) {
            chain.remove("branches");
        }
        let standing = pack.get_mut("standing").and_then(Value::as_array_mut);
        for item in standing.into_iter().flatten().filter_map(Value::as_object_mut) {
            item.remove("text");
        }
        if let Some(block) = pack.get_mut("context_block") {
            *block = Value::String(String::new());
        }
        Ok(pack)
    }
}
