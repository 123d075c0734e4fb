//! Holds arguments against the input schema of a tool: as much of JSON Schema 2020-12 as the schemas of this server
//! use. A keyword that is not understood here would be a promise that nothing keeps; a test walks all schemas.

use serde_json::{Map, Value};

/// The keywords that are understood. Those that only describe constrain nothing.
#[cfg(test)]
pub(crate) const KEYWORDS: [&str; 15] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "oneOf",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "maxItems",
    "description",
    "default",
    "title",
];

/// What is wrong with one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaError {
    /// The argument, with the way into it.
    pub(crate) at: String,
    pub(crate) reason: String,
}

/// Checks an object of arguments.
pub(crate) fn check(schema: &Value, arguments: &Map<String, Value>) -> Result<(), SchemaError> {
    object(schema, arguments, "")
}

fn object(schema: &Value, found: &Map<String, Value>, at: &str) -> Result<(), SchemaError> {
    let place = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    let properties = schema.get("properties").and_then(Value::as_object);
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if !found.contains_key(name) {
            return Err(SchemaError { at: place(name), reason: "is required".to_owned() });
        }
    }
    for (name, value) in found {
        match properties.and_then(|properties| properties.get(name)) {
            Some(schema) => check_value(schema, value, &place(name))?,
            None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                let known: Vec<&str> =
                    properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                let name: String = name.chars().take(64).collect();
                let reason = format!("is not known; known are {}", known.join(", "));
                return Err(SchemaError { at: place(&name), reason });
            }
            None => {}
        }
    }
    Ok(())
}

fn check_value(schema: &Value, value: &Value, at: &str) -> Result<(), SchemaError> {
    let wrong = |reason: String| Err(SchemaError { at: at.to_owned(), reason });
    if let Some(kind) = schema.get("type").and_then(Value::as_str)
        && !is_of(value, kind)
    {
        return wrong(format!("must be of type {kind}"));
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        return wrong(format!("must be one of {}", allowed.join(", ")));
    }
    if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
        let fitting = choices.iter().filter(|choice| check_value(choice, value, at).is_ok());
        if fitting.count() != 1 {
            let kinds = choices.iter().filter_map(|choice| choice.get("type")?.as_str());
            let kinds: Vec<&str> = kinds.collect();
            return wrong(format!("must be of type {}", kinds.join(" or ")));
        }
    }
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    let length = |name: &str, length: usize| bound(name).map(|bound| (bound, length as u64));
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            let (least, most) = (bound("minimum"), bound("maximum"));
            let fits = least.is_none_or(|least| number >= least as f64)
                && most.is_none_or(|most| number <= most as f64);
            if !fits {
                let (least, most) = (least.unwrap_or(0), most.unwrap_or(u64::MAX));
                return wrong(format!("must be from {least} to {most}"));
            }
        }
        Value::String(text) => {
            let chars = text.chars().count();
            if let Some((least, _)) =
                length("minLength", chars).filter(|(least, chars)| chars < least)
            {
                return wrong(format!("must have at least {least} characters"));
            }
            if let Some((most, _)) = length("maxLength", chars).filter(|(most, chars)| chars > most)
            {
                return wrong(format!("must have at most {most} characters"));
            }
        }
        Value::Array(items) => {
            if let Some((most, _)) =
                length("maxItems", items.len()).filter(|(most, count)| count > most)
            {
                return wrong(format!("must have at most {most} entries"));
            }
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    check_value(schema, item, &format!("{at}[{index}]"))?;
                }
            }
        }
        Value::Object(found) => object(schema, found, at)?,
        Value::Null | Value::Bool(_) => {}
    }
    Ok(())
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => false,
    }
}
