//! What serde says about a value of the wrong shape, in the words of JSON.
//!
//! It speaks of the types of this program: `expected f64`, `struct ScopeBody`. Whoever wrote the body
//! knows objects, arrays, strings, numbers, `true`, `false` and `null`.

/// What is wrong with a value, as a sentence that goes on from its name.
pub(super) fn in_json(message: &str) -> String {
    let parts = |rest: &str| -> Option<String> {
        let (found, expected) = rest.rsplit_once(", expected ")?;
        Some(format!("must be {}, not {}", wanted(expected), given(found)))
    };
    if let Some(rest) = message.strip_prefix("invalid type: ")
        && let Some(said) = parts(rest)
    {
        return said;
    }
    if let Some(rest) = message.strip_prefix("invalid value: ")
        && let Some(said) = parts(rest)
    {
        return said;
    }
    if let Some(rest) = message.strip_prefix("unknown variant `") {
        let known: Vec<&str> = rest.split('`').skip(2).step_by(2).collect();
        return match known.as_slice() {
            [] => "is none of the known values".to_owned(),
            known => format!("must be one of {}", known.join(", ")),
        };
    }
    if let Some(rest) = message.strip_prefix("invalid length ")
        && let Some((length, _)) = rest.split_once(", expected ")
    {
        return format!("must not have {length} elements");
    }
    if message.starts_with("data did not match any variant") {
        return "does not have the expected shape".to_owned();
    }
    message.to_owned()
}

/// What is there.
fn given(found: &str) -> String {
    let quoted = |rest: &str| rest.trim_matches('`').to_owned();
    match found.split_once(' ') {
        Some(("string", text)) => format!("the string {text}"),
        Some(("integer" | "boolean", value)) => quoted(value),
        _ if found.starts_with("floating point ") => quoted(&found["floating point ".len()..]),
        _ => match found {
            "map" => "an object",
            "sequence" => "an array",
            "unit value" | "null" | "Option value" => "null",
            other => other,
        }
        .to_owned(),
    }
}

/// What should be there.
fn wanted(expected: &str) -> String {
    let whole = |range: &str| format!("a whole number{range}");
    match expected {
        "f32" | "f64" => "a number".to_owned(),
        "u8" => whole(" from 0 to 255"),
        "u16" => whole(" from 0 to 65535"),
        "u32" => whole(" from 0 to 4294967295"),
        "u64" | "u128" | "usize" => whole(" that is not negative"),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => whole(""),
        "a boolean" | "bool" => "true or false".to_owned(),
        "unit" | "null" => "null".to_owned(),
        "str" | "string" | "a borrowed string" | "a character" => "a string".to_owned(),
        "map" | "a map" => "an object".to_owned(),
        "sequence" | "a sequence" => "an array".to_owned(),
        "option" => "a value or null".to_owned(),
        other if other.starts_with("struct ") => "an object".to_owned(),
        other if other.starts_with("tuple ") || other.starts_with("a tuple") => {
            "an array".to_owned()
        }
        other if other.contains("enum") || other == "variant identifier" => {
            "one of the known values".to_owned()
        }
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests;
