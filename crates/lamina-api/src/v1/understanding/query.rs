//! The parameters of the reads of understanding (R296-R298, R240, R373, C31).

use lamina_types::limits::PAGE_DEFAULT;
use lamina_types::{ScopePath, ScopeView};
use sha2::{Digest, Sha256};

use crate::check;
use crate::cursor::{self, Mac};
use crate::error::ApiError;
use crate::page::PageStart;
use crate::query::{Params, Times};

/// Characters of a topic.
const TOPIC_CHARS_MAX: usize = 512;
/// Steps of a walk.
const DEPTH_MAX: u32 = 5;
/// Characters of the name of a relation.
const RELATION_CHARS_MAX: usize = 128;

/// A question for concepts. Intervals are half-open.
#[derive(Debug, Clone, PartialEq)]
pub struct ConceptsQuery {
    /// The scope.
    pub scope: ScopePath,
    /// How far from it.
    pub view: ScopeView,
    /// Only those that gather these words.
    pub topic: Option<String>,
    /// And what is within so many steps of them.
    pub depth: u32,
    /// Where it stands, and what is shown.
    pub at: ConceptQuery,
    /// At least this sure, in ten-thousandths.
    pub min_confidence: u16,
    /// At most so many.
    pub limit: usize,
    /// Where the caller says it stopped.
    pub cursor: Option<String>,
}

/// Where a question for one concept stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConceptQuery {
    /// When it is true, and with which knowledge it is asked.
    pub times: Times,
    /// Also what is not held any more.
    pub include_deprecated: bool,
}

/// A question for what is related to a concept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedQuery {
    /// Over edges of this relation only.
    pub relation: Option<String>,
    /// At most so many steps.
    pub depth: u32,
}

impl ConceptQuery {
    /// Reads decoded query pairs.
    pub fn parse(pairs: &[(String, String)]) -> Result<ConceptQuery, ApiError> {
        let params = Params::new(pairs);
        let (as_of_valid, as_of_recorded) = params.as_of()?;
        ConceptQuery::at(&params, Times { as_of_valid, as_of_recorded, ..Times::default() })
    }

    fn at(params: &Params<'_>, times: Times) -> Result<ConceptQuery, ApiError> {
        let include_deprecated =
            params.choice("include_deprecated", &[("false", false), ("true", true)])?;
        Ok(ConceptQuery { times, include_deprecated })
    }
}

impl RelatedQuery {
    /// Reads decoded query pairs.
    pub fn parse(pairs: &[(String, String)]) -> Result<RelatedQuery, ApiError> {
        let params = Params::new(pairs);
        let relation = params.one("relation")?;
        // One of a vocabulary may be meant: which there are, this crate does not know.
        let is_name = |name: &str| {
            let letters = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
            (1..=RELATION_CHARS_MAX).contains(&name.chars().count()) && name.chars().all(letters)
        };
        if relation.is_some_and(|relation| !is_name(relation)) {
            return Err(ApiError::invalid_parameter("relation", "must be the name of a relation"));
        }
        Ok(RelatedQuery { relation: relation.map(str::to_owned), depth: depth(&params, 1)? })
    }
}

impl ConceptsQuery {
    /// Reads decoded query pairs. `as_of` stands for both axes; each can be named on its own.
    pub fn parse(pairs: &[(String, String)]) -> Result<ConceptsQuery, ApiError> {
        let params = Params::new(pairs);
        let topic = params.one("topic")?.map(str::to_owned);
        if let Some(topic) = &topic {
            check::short(topic, TOPIC_CHARS_MAX)
                .map_err(|reason| ApiError::invalid_parameter("topic", reason))?;
        }
        Ok(ConceptsQuery {
            scope: params.scope()?,
            view: params.view()?,
            topic,
            depth: depth(&params, 0)?,
            at: ConceptQuery::at(&params, params.times()?)?,
            min_confidence: confidence(&params)?,
            limit: params.limit(PAGE_DEFAULT)?,
            cursor: params.one("cursor")?.map(str::to_owned),
        })
    }

    /// What a cursor is bound to: everything but the page size and the cursor itself.
    fn binding(&self) -> [u8; 32] {
        let bound = ConceptsQuery { cursor: None, limit: 0, ..self.clone() };
        Sha256::digest(format!("concepts {bound:?}")).into()
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

fn depth(params: &Params<'_>, default: u32) -> Result<u32, ApiError> {
    let Some(text) = params.one("depth")? else { return Ok(default) };
    text.parse::<u32>().ok().filter(|depth| (default..=DEPTH_MAX).contains(depth)).ok_or_else(
        || {
            let reason = format!("must be a whole number from {default} to {DEPTH_MAX}");
            ApiError::invalid_parameter("depth", reason)
        },
    )
}

fn confidence(params: &Params<'_>) -> Result<u16, ApiError> {
    let Some(text) = params.one("min_confidence")? else { return Ok(0) };
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    let number = number.ok_or_else(|| {
        ApiError::invalid_parameter("min_confidence", "must be a number from 0 to 1")
    })?;
    Ok((number * 10_000.0).round() as u16)
}
