//! The parameters of `GET /v1/beliefs` and its relatives (R292-R294).

use lamina_types::limits::PAGE_DEFAULT;
use lamina_types::{BeliefId, ErrorCode, RecordedAt, ScopePath, ScopeView};
use sha2::{Digest, Sha256};

use crate::cursor::{self, Mac};
use crate::error::ApiError;
use crate::page::PageStart;
use crate::query::{Params, Times};
use crate::v1::facts::query::{confidence, word};

/// What `stance` may ask for.
const STANCES: &[(&str, Option<&str>)] = &[
    ("", None),
    ("supported", Some("supported")),
    ("contradicted", Some("contradicted")),
    ("uncertain", Some("uncertain")),
    ("deprecated", Some("deprecated")),
];

/// A question for beliefs. Intervals are half-open.
#[derive(Debug, Clone, PartialEq)]
pub struct BeliefsQuery {
    /// The scope.
    pub scope: ScopePath,
    /// How far from it.
    pub view: ScopeView,
    /// About this entity, actor or name.
    pub about: Option<String>,
    /// With this predicate.
    pub predicate: Option<String>,
    /// With this stance.
    pub stance: Option<&'static str>,
    /// When it is true, and with which knowledge it is asked.
    pub times: Times,
    /// At least this sure.
    pub min_confidence: f64,
    /// Also those that are kept for the past only, and those that are over.
    pub include_superseded: bool,
    /// At most so many.
    pub limit: usize,
    /// Where the caller says it stopped.
    pub cursor: Option<String>,
}

impl BeliefsQuery {
    /// Reads decoded query pairs. `as_of` stands for both axes; each can be named on its own, also as
    /// `valid_as_of` and `known_as_of`. `subject` is another word for `about`.
    pub fn parse(pairs: &[(String, String)]) -> Result<BeliefsQuery, ApiError> {
        let params = Params::new(pairs);
        let yes_or_no = &[("false", false), ("true", true)];
        let stance = params.choice("stance", STANCES)?;
        let superseded = params.choice("include_superseded", yes_or_no)?
            || params.choice("include_deprecated", yes_or_no)?
            || stance == Some("deprecated");
        Ok(BeliefsQuery {
            scope: params.scope()?,
            view: params.view()?,
            about: word(&params, "about")?.or(word(&params, "subject")?),
            predicate: word(&params, "predicate")?,
            stance,
            times: params.times()?,
            min_confidence: confidence(&params)?,
            include_superseded: superseded,
            limit: params.limit(PAGE_DEFAULT)?,
            cursor: params.one("cursor")?.map(str::to_owned),
        })
    }

    /// What a cursor is bound to: everything but the page size and the cursor itself.
    fn binding(&self) -> [u8; 32] {
        let bound = BeliefsQuery { cursor: None, limit: 0, ..self.clone() };
        Sha256::digest(format!("beliefs {bound:?}")).into()
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

/// The belief that a question is about, and the knowledge it is asked with.
pub fn one(pairs: &[(String, String)]) -> Result<(BeliefId, Option<RecordedAt>), ApiError> {
    let params = Params::new(pairs);
    let at = as_of(&params)?;
    let reason = "this parameter is required";
    let id = params.id("belief_id")?;
    let missing = || ApiError::at(ErrorCode::MissingRequiredField, "belief_id", reason);
    Ok((id.ok_or_else(missing)?, at))
}

/// The knowledge that a question is asked with.
pub fn as_of(params: &Params<'_>) -> Result<Option<RecordedAt>, ApiError> {
    Ok(params.as_of()?.1)
}

#[cfg(test)]
mod tests;
