//! The parameters of `GET /v1/facts` and its relatives (R290, R373, R374, C31).

use lamina_types::limits::PAGE_DEFAULT;
use lamina_types::{ScopePath, ScopeView};
use sha2::{Digest, Sha256};

use crate::check;
use crate::cursor::{self, Mac};
use crate::error::ApiError;
use crate::page::PageStart;
use crate::query::{Params, Times};

/// Characters of a subject or a predicate in a question.
const WORD_CHARS_MAX: usize = 512;

/// A question for facts. Intervals are half-open.
#[derive(Debug, Clone, PartialEq)]
pub struct FactsQuery {
    /// The scope.
    pub scope: ScopePath,
    /// How far from it.
    pub view: ScopeView,
    /// About this entity, actor or name.
    pub subject: Option<String>,
    /// With this predicate.
    pub predicate: Option<String>,
    /// When it is true, and with which knowledge it is asked.
    pub times: Times,
    /// At least this sure.
    pub min_confidence: f64,
    /// Also versions that others have replaced.
    pub include_superseded: bool,
    /// At most so many.
    pub limit: usize,
    /// Where the caller says it stopped.
    pub cursor: Option<String>,
}

impl FactsQuery {
    /// Reads decoded query pairs.
    pub fn parse(pairs: &[(String, String)]) -> Result<FactsQuery, ApiError> {
        let params = Params::new(pairs);
        Ok(FactsQuery {
            scope: params.scope()?,
            view: params.view()?,
            subject: word(&params, "subject")?,
            predicate: word(&params, "predicate")?,
            times: params.times()?,
            min_confidence: confidence(&params)?,
            include_superseded: params
                .choice("include_superseded", &[("false", false), ("true", true)])?,
            limit: params.limit(PAGE_DEFAULT)?,
            cursor: params.one("cursor")?.map(str::to_owned),
        })
    }

    /// What a cursor is bound to: the list, and everything but the page size and the cursor itself.
    fn binding(&self, list: &str) -> [u8; 32] {
        let FactsQuery { cursor: _, limit: _, .. } = self;
        let bound = FactsQuery { cursor: None, limit: 0, ..self.clone() };
        Sha256::digest(format!("{list} {bound:?}")).into()
    }

    /// Where the page of a list starts.
    pub fn start(&self, list: &str, mac: Mac<'_>) -> Result<PageStart, ApiError> {
        cursor::decode(self.cursor.as_deref(), &self.binding(list), mac)
    }

    /// The cursor of the page of a list after this position.
    pub fn next_cursor(&self, list: &str, position: &[u8], mac: Mac<'_>) -> String {
        cursor::encode(position, &self.binding(list), mac)
    }
}

pub(crate) fn word(params: &Params<'_>, name: &'static str) -> Result<Option<String>, ApiError> {
    let given = params.one(name)?.map(str::to_owned);
    if let Some(given) = &given {
        check::short(given, WORD_CHARS_MAX)
            .map_err(|reason| ApiError::invalid_parameter(name, reason))?;
    }
    Ok(given)
}

pub(crate) fn confidence(params: &Params<'_>) -> Result<f64, ApiError> {
    let Some(text) = params.one("min_confidence")? else { return Ok(0.0) };
    text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number)).ok_or_else(|| {
        ApiError::invalid_parameter("min_confidence", "must be a number from 0 to 1")
    })
}

#[cfg(test)]
mod tests;
