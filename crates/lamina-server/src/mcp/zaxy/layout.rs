//! Answers as one text item that holds JSON, laid out as clients of Zaxy know it.

use std::io;

use serde::Serialize as _;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use serde_json::{Value, json};

use crate::mcp::tools::ToolAnswer;

/// How the JSON of an answer is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// One line, with a blank behind each `:` and `,`.
    Line,
    /// Indented by two, every character that is not ASCII escaped.
    Indented,
    /// Indented by two, characters as they are.
    IndentedRaw,
}

/// An answer. A list becomes the member `results` of the structure, which is an object in every version of the
/// protocol.
pub(super) fn answer(layout: Layout, value: Value) -> ToolAnswer {
    let text = text(layout, &value);
    let structured = match value {
        Value::Array(_) => json!({"results": value}),
        value => value,
    };
    ToolAnswer { text, structured }
}

/// The JSON of a value in a layout.
pub(super) fn text(layout: Layout, value: &Value) -> String {
    let mut bytes = Vec::new();
    let written = match layout {
        Layout::Line => value.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced)),
        Layout::Indented | Layout::IndentedRaw => {
            let formatter = PrettyFormatter::with_indent(b"  ");
            value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))
        }
    };
    let text = match written {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => value.to_string(),
    };
    match layout {
        Layout::IndentedRaw => text,
        Layout::Line | Layout::Indented => escaped(&text),
    }
}

/// JSON whose characters outside of ASCII are escapes. They stand in texts only, where an escape means the same.
fn escaped(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut units = [0; 2];
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

/// One line with a blank behind each `:` and `,`.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_null<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        CompactFormatter.write_null(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_escapes_and_spaces_as_its_clients_know_it() {
        let value = json!({"seq": 8, "list": [1, null], "text": "caf\u{e9} \u{1f600}"});
        let line = text(Layout::Line, &value);
        assert_eq!(line, r#"{"seq": 8, "list": [1, null], "text": "caf\u00e9 \ud83d\ude00"}"#);
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        let indented = text(Layout::Indented, &json!({"a": "\u{e9}"}));
        assert_eq!(indented, "{\n  \"a\": \"\\u00e9\"\n}");
        assert_eq!(text(Layout::IndentedRaw, &json!({"a": "é"})), "{\n  \"a\": \"é\"\n}");
    }

    #[test]
    fn list_becomes_results_of_the_structure() {
        let answer = answer(Layout::Indented, json!([1]));
        assert_eq!(answer.structured, json!({"results": [1]}));
        assert_eq!(answer.text, "[\n  1\n]");
    }
}
