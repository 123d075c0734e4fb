//! Secrets are cut out of payloads before they are sealed.
//!
//! A key that names a secret loses its value; a text that holds the form of a known secret loses that part. Counts
//! such as `max_tokens` name no secret, and neither do words that only contain one, such as `secretary`.

use serde_json::{Map, Value};

/// Stands in the place of a secret.
pub(super) const REDACTED: &str = "[REDACTED]";
/// The label of an event that lost a secret.
pub(super) const RESTRICTED_LABEL: &str = "sensitivity:restricted";

/// Words of a key that name a secret.
const SECRET_WORDS: [&str; 14] = [
    "apikey",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "privatekey",
    "secret",
    "secrets",
];
/// Pairs of words of a key that name a secret.
const SECRET_PAIRS: [(&str, &str); 4] =
    [("api", "key"), ("private", "key"), ("access", "key"), ("session", "key")];

/// Cuts the secrets out of a payload. Returns the paths of members that lost one, in their order.
pub(super) fn redact(payload: &mut Map<String, Value>) -> Vec<String> {
    let mut paths = Vec::new();
    object(payload, "", &mut paths);
    paths
}

/// A text without the secrets that have a known form.
pub(super) fn redact_text(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let is_start = at == 0 || !bytes.get(at - 1).copied().is_some_and(is_token);
        let length =
            if is_start { secret_length(bytes.get(at..).unwrap_or_default()) } else { None };
        match length {
            Some(length) => {
                out.push_str(text.get(kept..at).unwrap_or_default());
                out.push_str(REDACTED);
                at += length;
                kept = at;
            }
            None => at += 1,
        }
    }
    if kept == 0 && out.is_empty() {
        return None;
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Some(out)
}

fn object(object: &mut Map<String, Value>, at: &str, paths: &mut Vec<String>) {
    for (key, value) in object.iter_mut() {
        let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
        let is_empty = matches!(value, Value::Null | Value::Bool(_))
            || value.as_str().is_some_and(str::is_empty);
        if names_secret(key) && !is_empty {
            *value = REDACTED.into();
            paths.push(path);
        } else {
            walk(value, &path, paths);
        }
    }
}

fn walk(value: &mut Value, at: &str, paths: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            if let Some(clean) = redact_text(text) {
                *text = clean;
                paths.push(at.to_owned());
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                walk(item, &format!("{at}[{index}]"), paths);
            }
        }
        Value::Object(members) => object(members, at, paths),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a key names a secret: `apiKey`, `X-Auth-Token`, `db_password`; not `max_tokens`, not `secretary`.
fn names_secret(key: &str) -> bool {
    let words = words(key);
    let is_named = words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()));
    let is_pair = words.windows(2).any(|pair| match pair {
        [first, second] => SECRET_PAIRS.contains(&(first.as_str(), second.as_str())),
        _ => false,
    });
    // A token is a secret, tokens are counted.
    is_named || is_pair || words.last().is_some_and(|word| word == "token")
}

/// The words of a key, in lower case.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in key.chars() {
        let is_break = !c.is_alphanumeric() || (c.is_uppercase() && was_lower);
        if is_break && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words
}

/// The length of a secret of a known form that begins here.
fn secret_length(bytes: &[u8]) -> Option<usize> {
    let run = |from: usize, fits: fn(u8) -> bool| {
        bytes.get(from..).unwrap_or_default().iter().take_while(|c| fits(**c)).count()
    };
    for (prefix, least) in [("sk-", 8), ("pypi-", 20), ("ghp_", 20), ("github_pat_", 20)] {
        if bytes.starts_with(prefix.as_bytes()) {
            let length = run(prefix.len(), is_token);
            return (length >= least).then_some(prefix.len() + length);
        }
    }
    if bytes.starts_with(b"AKIA") {
        let length = run(4, |c| c.is_ascii_uppercase() || c.is_ascii_digit());
        return (length == 16).then_some(20);
    }
    // The three parts of a JSON web token; the first is the encoding of `{"`.
    if bytes.starts_with(b"eyJ") {
        let mut length = 0;
        for part in 0..3 {
            let count = run(length, is_token);
            length += count;
            if count < 10 {
                return None;
            }
            if part < 2 {
                if bytes.get(length) != Some(&b'.') {
                    return None;
                }
                length += 1;
            }
        }
        return Some(length);
    }
    None
}

fn is_token(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c == b'-'
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redacted(payload: Value) -> (Value, Vec<String>) {
        let Value::Object(mut payload) = payload else { panic!("a payload is an object") };
        let paths = redact(&mut payload);
        (payload.into(), paths)
    }

    #[test]
    fn secrets_lose_their_values_and_counts_keep_theirs() {
        let (payload, paths) = redacted(json!({
            "api_key": "x", "apiKey": "x", "X-Auth-Token": "x", "db_password": "x",
            "Authorization": "Bearer x", "privateKey": {"pem": "x"}, "secret": "x",
            "nested": [{"access_token": "x"}],
        }));
        assert_eq!(
            paths,
            [
                "api_key",
                "apiKey",
                "X-Auth-Token",
                "db_password",
                "Authorization",
                "privateKey",
                "secret",
                "nested[0].access_token"
            ]
        );
        assert!(!payload.to_string().contains("\"x\""), "{payload}");
        let harmless = json!({
            "max_tokens": 200, "total_tokens": 4, "tokenizer": "o200k", "secretary": "Ann",
            "passwordless": true, "key": "v", "monkey": "x", "keyboard": "x",
        });
        assert_eq!(redacted(harmless.clone()), (harmless, Vec::new()));
    }

    #[test]
    fn known_forms_of_secrets_are_cut_out_of_texts() {
        for (text, clean) in [
            ("use sk-abcdefgh1234 now", Some("use [REDACTED] now")),
            ("AKIAABCDEFGHIJKLMNOP", Some("[REDACTED]")),
            ("pypi-abcdefghijklmnopqrstu.", Some("[REDACTED].")),
            ("eyJhbGciOiJI.eyJzdWIiOiIx.abcdefghijkl", Some("[REDACTED]")),
            ("a task-list, risk-adjusted", None),
            ("sk-1", None),
            ("docs.configuration.reference_pages", None),
            ("na\u{ef}ve \u{2014} sk-abcdefgh", Some("na\u{ef}ve \u{2014} [REDACTED]")),
        ] {
            assert_eq!(redact_text(text).as_deref(), clean, "{text}");
        }
    }
}
