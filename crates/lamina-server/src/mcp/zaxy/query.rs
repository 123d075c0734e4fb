//! `memory_query`: ranked contexts of a session, at a point in time, page by page.

use lamina_types::stdx::hex;
use lamina_types::{Micros, RecordedAt};
use serde_json::{Value, json};

use super::bounds;
use super::contexts::{Context, ContextQuery, find};
use super::layout::{Layout, answer};
use super::schemas;
use super::session::Session;
use crate::mcp::tools::{ANSWER_BYTES_MAX, Effect, Tool, ToolAnswer, ToolCall, ToolFailure};

const NAME: &str = "memory_query";
/// Sessions of one call.
const SESSIONS_MAX: usize = 16;
/// Contexts of one question, over all pages.
const FOUND_MAX: usize = 100;
/// The version of cursors.
const CURSOR_VERSION: u64 = 1;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Query memory",
    description: "Ranked hits with citations.",
    input: || schemas::input(NAME),
    output: || schemas::output(NAME),
    effect: Effect::Reads,
    always_load: false,
    run: |call| Box::pin(run(call)),
};

/// Where a page begins, and what it is a page of.
struct QueryPage {
    offset: usize,
    /// The knowledge of the first page: writes in between change nothing.
    recorded: RecordedAt,
}

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let query = bounds::query(&call)?;
    let limit = bounds::limit(&call)?;
    let valid_at = temporal_filter(&call)?;
    let sessions = sessions(&call)?;
    let bound = cursor_of(&call, &query, &sessions);
    let given = call.text("cursor");
    let page = match given {
        None => QueryPage { offset: 0, recorded: RecordedAt(call.app.engine.log_time()) },
        Some(cursor) => read_cursor(cursor, &bound)?,
    };
    let mut found: Vec<Context> = Vec::new();
    for session in &sessions {
        let query = ContextQuery {
            query: query.clone(),
            valid_at,
            recorded: Some(page.recorded),
            limit: FOUND_MAX,
        };
        found.extend(find(session, &query).await?);
    }
    if sessions.len() > 1 {
        found.sort_by(|one, other| other.score.total_cmp(&one.score));
    }
    found.truncate(FOUND_MAX);
    let mut bytes = 0;
    let mut shown: Vec<Value> = Vec::new();
    for context in found.iter().skip(page.offset).take(limit) {
        let context = context.shown();
        bytes += context.to_string().len();
        if bytes > ANSWER_BYTES_MAX && !shown.is_empty() {
            break;
        }
        shown.push(context);
    }
    let is_paged = given.is_some() || call.arguments.get("paged") == Some(&Value::Bool(true));
    if !is_paged {
        return Ok(answer(Layout::Indented, shown.into()));
    }
    let next = page.offset + shown.len();
    let has_more = next < found.len() && !shown.is_empty();
    let next_cursor = has_more.then(|| write_cursor(&bound, next, page.recorded));
    let session_id = sessions.first().map(Session::id).unwrap_or_default();
    let body = json!({
        "contexts": shown,
        "next_cursor": next_cursor,
        "cursor": given,
        "has_more": has_more,
        "offset": page.offset,
        "session_id": session_id,
    });
    Ok(answer(Layout::Indented, body))
}

/// The sessions that are asked: those of `session_ids`, else the one of the call.
fn sessions(call: &ToolCall) -> Result<Vec<Session<'_>>, ToolFailure> {
    let named = call.arguments.get("session_ids").and_then(Value::as_array);
    let mut named: Vec<&str> = named.into_iter().flatten().filter_map(Value::as_str).collect();
    named.sort_unstable();
    named.dedup();
    if named.len() > SESSIONS_MAX {
        let text = format!("`session_ids` has more than {SESSIONS_MAX} sessions.");
        return Err(ToolFailure::mistake("INVALID_ARGUMENT", text));
    }
    if named.is_empty() {
        return Ok(vec![Session::of(call)?]);
    }
    named.into_iter().map(|id| Session::named(call, Some(id))).collect()
}

fn temporal_filter(call: &ToolCall) -> Result<Option<Micros>, ToolFailure> {
    let Some(text) = call.text("temporal_filter").map(str::trim) else { return Ok(None) };
    instant(text).map(Some).ok_or_else(|| {
        let text = "`temporal_filter` must be a time such as 2026-05-13T15:00:00Z, or a day.";
        ToolFailure::mistake("INVALID_ARGUMENT", text)
    })
}

/// An instant of ISO 8601: a time with its offset, or a day, which begins at midnight UTC.
pub(super) fn instant(text: &str) -> Option<Micros> {
    let parsed = lamina_api::time::parse(text).ok();
    parsed.or_else(|| match text.len() {
        10 => lamina_api::time::parse(&format!("{text}T00:00:00Z")).ok(),
        _ => lamina_api::time::parse(&format!("{text}Z")).ok(),
    })
}

/// What a cursor belongs to: the question with its sessions and its time.
fn cursor_of(call: &ToolCall, query: &str, sessions: &[Session<'_>]) -> Value {
    let ids: Vec<&str> = sessions.iter().map(|session| session.place.scope.as_str()).collect();
    json!([query, ids, call.text("temporal_filter")])
}

fn write_cursor(bound: &Value, offset: usize, recorded: RecordedAt) -> String {
    let cursor = json!({"v": CURSOR_VERSION, "o": offset, "r": recorded.0.0, "q": bound});
    hex::encode(cursor.to_string().as_bytes())
}

fn read_cursor(text: &str, bound: &Value) -> Result<QueryPage, ToolFailure> {
    let bytes = hex_bytes(text);
    let cursor = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let page = cursor.and_then(|cursor| {
        let is_own = cursor.get("v")?.as_u64()? == CURSOR_VERSION && cursor.get("q")? == bound;
        let offset = usize::try_from(cursor.get("o")?.as_u64()?).ok()?;
        let recorded = RecordedAt(Micros(cursor.get("r")?.as_i64()?));
        (is_own && offset <= FOUND_MAX).then_some(QueryPage { offset, recorded })
    });
    page.ok_or_else(|| {
        let text =
            "`cursor` is not one of this question: repeat its arguments, or ask without a cursor.";
        ToolFailure::mistake("INVALID_ARGUMENT", text)
    })
}

/// The bytes of hexadecimal digits.
fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_is_taken_back_for_its_own_question_only() {
        let bound = json!(["q", ["s"], null]);
        let cursor = write_cursor(&bound, 7, RecordedAt(Micros(12)));
        let page = read_cursor(&cursor, &bound).unwrap();
        assert_eq!((page.offset, page.recorded), (7, RecordedAt(Micros(12))));
        assert!(read_cursor(&cursor, &json!(["other", ["s"], null])).is_err());
        for bad in ["", "zz", "7b", "7b7d", "abc"] {
            assert!(read_cursor(bad, &bound).is_err(), "{bad}");
        }
    }

    #[test]
    fn instant_is_a_time_or_a_day() {
        assert!(instant("2026-12-01T00:00:00Z").is_some());
        assert_eq!(instant("2026-12-01"), instant("2026-12-01T00:00:00Z"));
        assert_eq!(instant("2026-12-01T00:00:00"), instant("2026-12-01T00:00:00Z"));
        for bad in ["", "soon", "2026-13-01", "12"] {
            assert_eq!(instant(bad), None, "{bad}");
        }
    }
}
