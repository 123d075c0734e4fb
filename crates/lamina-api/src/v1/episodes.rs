//! `GET /v1/episodes` and `POST /v1/episodes/build`: what belongs together (R214-R216, R289).

mod query;

use lamina_types::ScopePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use query::EpisodesQuery;

use super::traversal::TraversedScope;

use crate::check;
use crate::error::ApiError;
use crate::json;

/// A page of episodes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "episode_page")]
pub struct EpisodesPage {
    /// The episodes, the last that began to be known first.
    pub items: Vec<EpisodeBody>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
    /// Of `view=descend`: where the episodes are from, and on the first page what was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes_traversed: Option<Vec<TraversedScope>>,
}

/// Events that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "episode")]
pub struct EpisodeBody {
    /// Its id.
    #[schemars(regex(pattern = "^ep_[0-9a-f]{32}$"))]
    pub id: String,
    /// The same, under the name other readers use.
    pub episode_id: String,
    /// Its scope.
    pub scope: String,
    /// What it is about, in a few words that were said; when it began, if there are none.
    pub name: String,
    /// Sentences that say most of it, as they were said.
    pub summary: String,
    /// Its events, in the order in which they happened.
    #[schemars(inner(regex(pattern = "^evt_[0-9a-f]{32}$")))]
    pub events: Vec<String>,
    /// What it stands on: its events.
    #[schemars(inner(regex(pattern = "^evt_[0-9a-f]{32}$")))]
    pub supports: Vec<String>,
    /// When the first of them happened.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// When the last of them happened; null while it goes on.
    #[schemars(extend("format" = "date-time"))]
    pub ended_at: Option<String>,
    /// `open`, `closed` (only what comes late joins it) or `sealed` (nothing joins it any more).
    #[schemars(extend("enum" = ["open", "closed", "sealed"]))]
    pub state: &'static str,
    /// Why it ended: `gap`, `topic_shift`, `size` or `explicit`; null while it goes on, and for one that
    /// came late as a whole.
    #[schemars(extend("enum" = ["gap", "topic_shift", "size", "explicit", null]))]
    pub ended_by: Option<&'static str>,
    /// When it was sealed.
    #[schemars(extend("format" = "date-time"))]
    pub sealed_at: Option<String>,
    /// From when it is true that it happened: when it began.
    #[schemars(extend("format" = "date-time"))]
    pub valid_from: String,
    /// Always null: that it happened stays true.
    #[schemars(extend("format" = "date-time"))]
    pub valid_to: Option<String>,
    /// When it began to be known.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_from: String,
    /// Always null: an episode is not replaced by another version.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_to: Option<String>,
    /// Who takes part, in the order in which they first do.
    pub actors_involved: Vec<String>,
    /// How much of what it speaks of the other episodes of the scope speak of too; null when it is asked
    /// for with the knowledge of the past.
    #[schemars(range(min = 0, max = 1))]
    pub centrality_score: Option<f64>,
    /// What led to what; only if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causal_chain: Option<Vec<CausalLink>>,
    /// The episode whose matter it carries on.
    pub causal_predecessor: Option<String>,
    /// The episode that carries on its own; the first, if there are several.
    pub causal_successor: Option<String>,
    /// All that do.
    pub causal_successors: Vec<String>,
    /// Whether more will be known of it: true until it is sealed.
    #[serde(rename = "_partial")]
    pub partial: bool,
    /// Why: `episode_open`, or `awaiting_late_events`.
    #[serde(rename = "_partial_reason", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["episode_open", "awaiting_late_events"]))]
    pub partial_reason: Option<&'static str>,
}

/// One step of a causal chain.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "causal_link")]
pub struct CausalLink {
    /// The event.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}$"))]
    pub event: String,
    /// `trigger`, `decision` or `outcome`.
    #[schemars(extend("enum" = ["trigger", "decision", "outcome"]))]
    pub role: &'static str,
}

/// `POST /v1/episodes/build`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "episodes_build")]
pub struct BuildRequest {
    /// The scope.
    pub scope: String,
    /// Whether what is open ends now, and everything is sealed; false by default.
    pub seal: Option<bool>,
}

impl BuildRequest {
    /// Reads the body: the scope, and whether to seal.
    pub fn read(body: &[u8]) -> Result<(ScopePath, bool), ApiError> {
        let request: BuildRequest = json::read(body)?;
        Ok((check::scope("scope", &request.scope)?, request.seal.unwrap_or(false)))
    }
}

/// What there is after building.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "episodes_built")]
pub struct EpisodesBuilt {
    /// Episodes of the scope.
    pub built: u64,
    /// The last of them, if the caller may read them.
    pub items: Vec<EpisodeBody>,
    /// Events that still wait to be derived from, counted up to a thousand.
    pub dirty: u64,
}
