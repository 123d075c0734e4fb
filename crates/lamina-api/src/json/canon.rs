//! One spelling for equal JSON values, so that a retry which orders its keys differently is still
//! the same body.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The value with sorted keys, no white space and one way to escape strings. Numbers keep their
/// spelling: two numbers are equal here only if they were written alike, because a comparison by
/// value would have to round. Text that is not JSON is given back as it is.
pub fn canonical(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    write(json.trim(), &mut out);
    out
}

fn write(json: &str, out: &mut String) {
    match json.as_bytes().first() {
        Some(b'{') => match serde_json::from_str::<BTreeMap<String, &RawValue>>(json) {
            Ok(members) => list(out, '{', '}', members, |out, (key, value)| {
                string(&key, out);
                out.push(':');
                write(value.get(), out);
            }),
            Err(_) => out.push_str(json),
        },
        Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(json) {
            Ok(items) => list(out, '[', ']', items, |out, item| write(item.get(), out)),
            Err(_) => out.push_str(json),
        },
        Some(b'"') => match serde_json::from_str::<String>(json) {
            Ok(text) => string(&text, out),
            Err(_) => out.push_str(json),
        },
        _ => out.push_str(json),
    }
}

fn list<T>(
    out: &mut String,
    open: char,
    close: char,
    items: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut String, T),
) {
    out.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        each(out, item);
    }
    out.push(close);
}

fn string(text: &str, out: &mut String) {
    match serde_json::to_string(text) {
        Ok(quoted) => out.push_str(&quoted),
        Err(_) => out.push_str(text),
    }
}
