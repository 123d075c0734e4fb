//! Query parameters: decoded pairs in, typed values out.
//!
//! Unknown parameters are ignored (ruling 8). A known one that takes a single value and is given
//! twice is refused: picking one of the two would be a guess. An empty value counts as absent,
//! except where the name alone asks for something (`scope=`, `limit=`).

use lamina_types::limits::PAGE_MAX;
use lamina_types::{ActorId, ErrorCode, Micros, RecordedAt, ScopePath, ScopeView, ValidAt};

use crate::check;
use crate::error::ApiError;
use crate::time;

/// The decoded pairs of a query string.
#[derive(Debug, Clone, Copy)]
pub struct Params<'a>(&'a [(String, String)]);

/// Where a question stands on both axes of time. Intervals are half-open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// The instant in the world that is asked about.
    pub as_of_valid: Option<ValidAt>,
    /// The knowledge it is asked with.
    pub as_of_recorded: Option<RecordedAt>,
    /// True at some time in here.
    pub valid_during: Option<(ValidAt, ValidAt)>,
    /// Known at some time in here.
    pub recorded_during: Option<(RecordedAt, RecordedAt)>,
}

impl<'a> Params<'a> {
    /// Wraps decoded pairs.
    pub fn new(pairs: &'a [(String, String)]) -> Params<'a> {
        Params(pairs)
    }

    /// Every value of a parameter.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter that takes one, also if it is empty.
    pub fn raw(&self, name: &str) -> Result<Option<&'a str>, ApiError> {
        let mut values = self.all(name);
        let first = values.next();
        match values.next() {
            None => Ok(first),
            Some(_) => Err(ApiError::invalid_parameter(name, "was given more than once")),
        }
    }

    /// The value of a parameter that takes one.
    pub fn one(&self, name: &str) -> Result<Option<&'a str>, ApiError> {
        Ok(self.raw(name)?.filter(|value| !value.is_empty()))
    }

    /// A scope that must be given.
    pub fn scope(&self) -> Result<ScopePath, ApiError> {
        self.scope_opt()?.ok_or_else(|| {
            let reason = "this parameter is required";
            ApiError::at(ErrorCode::MissingRequiredField, "scope", reason)
        })
    }

    /// A scope that may be given.
    pub fn scope_opt(&self) -> Result<Option<ScopePath>, ApiError> {
        self.raw("scope")?.map(|text| check::scope("scope", text)).transpose()
    }

    /// `view`, local by default (R073, R434).
    pub fn view(&self) -> Result<ScopeView, ApiError> {
        self.choice(
            "view",
            &[
                ("local", ScopeView::Local),
                ("holistic", ScopeView::Holistic),
                ("descend", ScopeView::Descend),
            ],
        )
    }

    /// One of a few values; the first is the default.
    pub fn choice<T: Copy>(&self, name: &str, values: &[(&str, T)]) -> Result<T, ApiError> {
        let given = self.one(name)?;
        let found = match given {
            Some(given) => values.iter().find(|(value, _)| *value == given),
            None => values.first(),
        };
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = values.iter().map(|(value, _)| *value).collect();
            let reason = format!("must be one of {}", names.join(", "));
            ApiError::invalid_parameter(name, reason)
        })
    }

    /// A timestamp or a date.
    pub fn time(&self, name: &str) -> Result<Option<Micros>, ApiError> {
        self.one(name)?
            .map(|text| time::parse_query(text).map_err(|error| time::refuse(name, error)))
            .transpose()
    }

    /// A timestamp, a date, a month or a year.
    pub fn coarse_time(&self, name: &str) -> Result<Option<Micros>, ApiError> {
        self.one(name)?
            .map(|text| time::parse_coarse(text).map_err(|error| time::refuse(name, error)))
            .transpose()
    }

    /// Where a question stands in the world and in knowledge: `as_of` stands for both, and each can be
    /// named on its own, also as `valid_as_of` and `known_as_of`.
    pub fn as_of(&self) -> Result<(Option<ValidAt>, Option<RecordedAt>), ApiError> {
        let both = self.coarse_time("as_of")?;
        let either = |name: &str, alias: &str| -> Result<Option<Micros>, ApiError> {
            Ok(self.coarse_time(name)?.or(self.coarse_time(alias)?).or(both))
        };
        let valid = either("as_of_valid", "valid_as_of")?;
        let recorded = either("as_of_recorded", "known_as_of")?;
        Ok((valid.map(ValidAt), recorded.map(RecordedAt)))
    }

    /// Everything that a question can say about time.
    pub fn times(&self) -> Result<Times, ApiError> {
        let (as_of_valid, as_of_recorded) = self.as_of()?;
        Ok(Times {
            as_of_valid,
            as_of_recorded,
            valid_during: self.worldly("valid_during")?,
            recorded_during: self
                .during("recorded_during")?
                .map(|(from, to)| (RecordedAt(from), RecordedAt(to))),
        })
    }

    /// A stretch of the world's time.
    pub fn worldly(&self, name: &'static str) -> Result<Option<(ValidAt, ValidAt)>, ApiError> {
        Ok(self.during(name)?.map(|(from, to)| (ValidAt(from), ValidAt(to))))
    }

    /// `from..to`, both as they are in other parameters; also as JSON, `["from","to"]` or
    /// `{"from":…,"to":…}` (C32).
    pub fn during(&self, name: &'static str) -> Result<Option<(Micros, Micros)>, ApiError> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        let Some((from, to)) = bounds(text) else {
            let reason = "must be two times with `..` between them";
            return Err(ApiError::invalid_parameter(name, reason));
        };
        let parse =
            |text: &str| time::parse_coarse(text).map_err(|error| time::refuse(name, error));
        let (from, to) = (parse(&from)?, parse(&to)?);
        if from < to {
            Ok(Some((from, to)))
        } else {
            Err(ApiError::invalid_parameter(name, "must end after it begins"))
        }
    }

    /// `limit`, a whole number from 1 to the largest page.
    pub fn limit(&self, default: usize) -> Result<usize, ApiError> {
        let Some(text) = self.raw("limit")? else {
            return Ok(default);
        };
        text.parse::<usize>().ok().filter(|limit| (1..=PAGE_MAX).contains(limit)).ok_or_else(|| {
            let reason = format!("must be a whole number from 1 to {PAGE_MAX}");
            ApiError::invalid_parameter("limit", reason)
        })
    }

    /// An actor under either of two names that mean the same (C13).
    pub fn observed_actor(&self) -> Result<Option<ActorId>, ApiError> {
        let (canonical, alias) = (self.one("observed_actor")?, self.one("actor")?);
        let (name, text) = match (canonical, alias) {
            (Some(a), Some(b)) if a != b => {
                let reason = "differs from `observed_actor`, which means the same";
                return Err(ApiError::invalid_parameter("actor", reason));
            }
            (Some(text), _) => ("observed_actor", text),
            (None, Some(text)) => ("actor", text),
            (None, None) => return Ok(None),
        };
        // A plus sign in an address arrives as a space from clients that do not encode it.
        text.replace(' ', "+").parse().map(Some).map_err(
            |error: lamina_types::actor::ActorError| {
                ApiError::invalid_parameter(name, error.to_string())
            },
        )
    }

    /// An id of one kind.
    pub fn id<T>(&self, name: &str) -> Result<Option<T>, ApiError>
    where
        T: std::str::FromStr<Err = lamina_types::ids::IdError>,
    {
        self.one(name)?.map(|text| id(name, text)).transpose()
    }
}

/// Reads an id of one kind, from a query or a path (R108).
pub fn id<T>(name: &str, text: &str) -> Result<T, ApiError>
where
    T: std::str::FromStr<Err = lamina_types::ids::IdError>,
{
    text.parse().map_err(|error: lamina_types::ids::IdError| {
        ApiError::at(ErrorCode::InvalidId, name, error.to_string())
    })
}

/// The two ends of a range, as they are written.
fn bounds(text: &str) -> Option<(String, String)> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Named {
        from: String,
        to: String,
    }
    if text.starts_with('[') {
        return serde_json::from_str(text).ok();
    }
    if text.starts_with('{') {
        return serde_json::from_str(text).ok().map(|Named { from, to }| (from, to));
    }
    let (from, to) = text.split_once("..")?;
    Some((from.to_owned(), to.to_owned()))
}

#[cfg(test)]
mod tests;
