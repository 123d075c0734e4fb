//! The id of a request: the client's own if it is sane, otherwise one we mint (R206, R207).

use axum::http::{HeaderMap, HeaderValue};
use lamina_env::Env;
use lamina_env::rng::draw;
use lamina_types::RequestId;

/// Carries the id both ways.
pub(crate) const HEADER: &str = "x-cortex-request-id";
/// What older clients send. Read, never echoed under this name.
const FALLBACK: &str = "x-request-id";
const CHARS_MAX: usize = 128;

/// An id that can stand in a header, in JSON and in a log line.
#[derive(Debug, Clone)]
pub(crate) struct Id(HeaderValue);

impl Id {
    pub(crate) fn of(headers: &HeaderMap, env: &Env) -> Id {
        let given = |name: &str| headers.get(name).filter(|value| is_sane(value)).cloned();
        match given(HEADER).or_else(|| given(FALLBACK)) {
            Some(value) => Id(value),
            None => Id::mint(env),
        }
    }

    pub(crate) fn mint(env: &Env) -> Id {
        let id = RequestId::mint(env.clock.wall(), draw(&*env.rng));
        let value = HeaderValue::try_from(id.to_string());
        Id(value.expect("an id is letters, digits and an underscore"))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

/// Visible ASCII and not endless: nothing that could break a log line or a terminal.
fn is_sane(value: &HeaderValue) -> bool {
    let bytes = value.as_bytes();
    (1..=CHARS_MAX).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests;
