//! The parameters of `GET /v1/episodes` (R289, R373, C31).

use lamina_types::limits::PAGE_DEFAULT;
use lamina_types::{ActorId, RecordedAt, ScopePath, ScopeView, ValidAt};
use sha2::{Digest, Sha256};

use crate::cursor::{self, Mac};
use crate::error::ApiError;
use crate::page::PageStart;
use crate::query::Params;

/// A question for episodes. Intervals are half-open.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodesQuery {
    /// The scope.
    pub scope: ScopePath,
    /// How far from it.
    pub view: ScopeView,
    /// With this actor among those who take part.
    pub actor: Option<ActorId>,
    /// Had begun by this instant.
    pub as_of_valid: Option<ValidAt>,
    /// The knowledge it is asked with.
    pub as_of_recorded: Option<RecordedAt>,
    /// True at some time in here: had begun before its end.
    pub valid_during: Option<(ValidAt, ValidAt)>,
    /// Known at some time in here.
    pub recorded_during: Option<(RecordedAt, RecordedAt)>,
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
        let (as_of_valid, as_of_recorded) = params.as_of()?;
        let worldly = |name| {
            Ok::<_, ApiError>(params.during(name)?.map(|(from, to)| (ValidAt(from), ValidAt(to))))
        };
        let known = params.during("recorded_during")?;
        Ok(EpisodesQuery {
            scope: params.scope()?,
            view: params.view()?,
            actor: params.observed_actor()?,
            as_of_valid,
            as_of_recorded,
            valid_during: worldly("valid_during")?,
            recorded_during: known.map(|(from, to)| (RecordedAt(from), RecordedAt(to))),
            overlapping: worldly("overlapping")?,
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
