//! `filters`: a tree of conditions, and the flat map that published clients send (R259).

use lamina_types::limits::{FILTER_VALUES_MAX, FILTERS_MAX};
use lamina_types::recall::{Field, Filter, Test};
use serde_json::{Map, Value};

use crate::error::ApiError;
use crate::time;

/// Levels of a tree of filters.
const DEPTH_MAX: usize = 16;

/// Reads the tree. An empty object lets everything pass.
pub(crate) fn admit(filters: &Value) -> Result<Filter, ApiError> {
    let mut left = FILTERS_MAX;
    node(filters, "filters", DEPTH_MAX, &mut left)
}

fn node(value: &Value, at: &str, depth: usize, left: &mut usize) -> Result<Filter, ApiError> {
    let Some(object) = value.as_object() else {
        return Err(ApiError::invalid_shape(at, "must be an object"));
    };
    if depth == 0 {
        let reason = format!("has more than {DEPTH_MAX} levels");
        return Err(ApiError::invalid_shape(at, reason));
    }
    let mut parts = Vec::with_capacity(object.len());
    for (key, inner) in object {
        let here = format!("{at}.{key}");
        parts.push(match key.to_ascii_uppercase().as_str() {
            "AND" => Filter::All(list(inner, &here, depth, left)?),
            "OR" => Filter::Any(list(inner, &here, depth, left)?),
            "NOT" => Filter::Not(Box::new(node(inner, &here, depth - 1, left)?)),
            "METADATA" => metadata(inner, &here, left)?,
            _ => condition(key, inner, &here, left)?,
        });
    }
    Ok(match <[Filter; 1]>::try_from(parts) {
        Ok([only]) => only,
        Err(parts) => Filter::All(parts),
    })
}

fn list(value: &Value, at: &str, depth: usize, left: &mut usize) -> Result<Vec<Filter>, ApiError> {
    let Some(items) = value.as_array() else {
        return Err(ApiError::invalid_shape(at, "must be a list of conditions"));
    };
    let read = |(index, item)| node(item, &format!("{at}[{index}]"), depth - 1, left);
    items.iter().enumerate().map(read).collect()
}

/// `{field: {operator: value, ...}}`; a bare value means `in`.
fn condition(key: &str, value: &Value, at: &str, left: &mut usize) -> Result<Filter, ApiError> {
    let field = field(key, at)?;
    let Some(operators) = value.as_object() else {
        return Ok(Filter::Is(field, test(field, "in", value, at, left)?));
    };
    if operators.is_empty() {
        return Err(ApiError::invalid_shape(at, "names no operator"));
    }
    let tests = operators.iter().map(|(operator, value)| {
        Ok(Filter::Is(field, test(field, operator, value, &format!("{at}.{operator}"), left)?))
    });
    Ok(Filter::All(tests.collect::<Result<_, ApiError>>()?))
}

/// The flat map: each key one value or several of which any will do; all keys must hold.
fn metadata(value: &Value, at: &str, left: &mut usize) -> Result<Filter, ApiError> {
    const KEYS: &[&str] = &["labels", "intent", "modality", "caller", "observed_actor"];
    let empty = Map::new();
    let Some(object) = value.as_object().or(value.is_null().then_some(&empty)) else {
        return Err(ApiError::invalid_shape(at, "must be an object"));
    };
    let read = |(key, value): (&String, &Value)| {
        let here = format!("{at}.{key}");
        if !KEYS.contains(&key.as_str()) {
            let reason = format!("is not known; known are {}", KEYS.join(", "));
            return Err(ApiError::invalid_shape(here, reason));
        }
        let field = field(key, &here)?;
        Ok(Filter::Is(field, test(field, "in", value, &here, left)?))
    };
    Ok(Filter::All(object.iter().map(read).collect::<Result<_, _>>()?))
}

fn field(name: &str, at: &str) -> Result<Field, ApiError> {
    let name = match name {
        "actor" => "observed_actor",
        "label" => "labels",
        other => other,
    };
    Field::ALL.into_iter().find(|field| field.as_str() == name).ok_or_else(|| {
        let known: Vec<&str> = Field::ALL.iter().map(|field| field.as_str()).collect();
        ApiError::invalid_shape(at, format!("is not a field; fields are {}", known.join(", ")))
    })
}

fn test(
    field: Field,
    operator: &str,
    value: &Value,
    at: &str,
    left: &mut usize,
) -> Result<Test, ApiError> {
    *left = left.checked_sub(1).ok_or_else(|| {
        ApiError::invalid_shape("filters", format!("has more than {FILTERS_MAX} conditions"))
    })?;
    let ordered = |make: fn(f64) -> Test| Ok(make(number(field, value, at)?));
    match operator {
        "in" | "eq" | "any" | "contains" if !field.is_ordered() => Ok(Test::In(texts(value, at)?)),
        "not_in" | "nin" | "ne" if !field.is_ordered() => Ok(Test::NotIn(texts(value, at)?)),
        "gte" if field.is_ordered() => ordered(Test::AtLeast),
        "gt" if field.is_ordered() => ordered(Test::Above),
        "lte" if field.is_ordered() => ordered(Test::AtMost),
        "lt" if field.is_ordered() => ordered(Test::Below),
        _ => {
            let known = if field.is_ordered() { "gte, gt, lte, lt" } else { "in, not_in, eq, ne" };
            let reason = format!("`{operator}` is no operator of `{}`: {known}", field.as_str());
            Err(ApiError::invalid_shape(at, reason))
        }
    }
}

fn texts(value: &Value, at: &str) -> Result<Vec<String>, ApiError> {
    let wrong = || ApiError::invalid_shape(at, "must be a text or a list of texts");
    let texts: Vec<String> = match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<_>>().ok_or_else(wrong)?
        }
        _ => return Err(wrong()),
    };
    if texts.len() > FILTER_VALUES_MAX {
        let reason = format!("has more than {FILTER_VALUES_MAX} values");
        return Err(ApiError::invalid_shape(at, reason));
    }
    Ok(texts)
}

/// A number, or an instant as microseconds, which a double holds exactly.
fn number(field: Field, value: &Value, at: &str) -> Result<f64, ApiError> {
    if field == Field::Confidence {
        let number = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
        return number.ok_or_else(|| ApiError::invalid_shape(at, "must be a number from 0 to 1"));
    }
    let Some(text) = value.as_str() else {
        return Err(ApiError::invalid_shape(at, "must be a time"));
    };
    let instant = time::parse_coarse(text).map_err(|error| time::refuse(at, error))?;
    Ok(instant.0 as f64)
}
