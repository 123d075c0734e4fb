//! The parameters of `GET /v1/episodes` (R289, R373, C31).

use lamina_types::limits::PAGE_DEFAULT;
use lamina_types::{ActorId, ScopePath, ScopeView, ValidAt};
use sha2::{Digest, Sha256};

use crate::cursor::{self, Mac};
use crate::error::ApiError;
use crate::page::PageStart;
use crate::query::{Params, Times};

/// A question for episodes. Intervals are half-open.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodesQuery {
    /// The scope.
    pub scope: ScopePath,
    /// How far from it.
    pub view: ScopeView,
    /// With this actor among those who take part.
    pub actor: Option<ActorId>,
    /// When it had begun, and with which knowledge it is asked.
    pub times: Times,
    /// Under way at some time in here.
    pub overlapping: Option<(ValidAt, ValidAt)>,
    /// With what led to what.
    pub with_causal_chain: bool,
    /// At most so many.
    pub limit: usize,
    /// Where the caller says it stopped.
    pub cursor: Option<String>,
}

impl EpisodesQuery {
    /// Reads decoded query pairs. `as_of` stands for both axes; each can be named on its own.
    pub fn parse(pairs: &[(String, String)]) -> Result<EpisodesQuery, ApiError> {
        let params = Params::new(pairs);
        Ok(EpisodesQuery {
            scope: params.scope()?,
            view: params.view()?,
            actor: params.observed_actor()?,
            times: params.times()?,
            overlapping: params.worldly("overlapping")?,
            with_causal_chain: params
                .choice("with_causal_chain", &[("false", false), ("true", true)])?,
            limit: params.limit(PAGE_DEFAULT)?,
            cursor: params.one("cursor")?.map(str::to_owned),
        })
    }

    /// What a cursor is bound to: everything but the page size and the cursor itself.
    fn binding(&self) -> [u8; 32] {
        let bound = EpisodesQuery { cursor: None, limit: 0, ..self.clone() };
        Sha256::digest(format!("episodes {bound:?}")).into()
    }

    /// Where the page starts.
    pub fn start(&self, mac: Mac<'_>) -> Result<PageStart, ApiError> {
        cursor::decode(self.cursor.as_deref(), &self.binding(), mac)
    }

    /// The cursor of the page after this position.
    pub fn next_cursor(&self, position: &[u8], mac: Mac<'_>) -> String {
        cursor::encode(position, &self.binding(), mac)
    }
}

#[cfg(test)]
mod tests;
