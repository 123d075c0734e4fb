//! An object that is written member by member, without a value in between.

use lamina_types::Micros;

use crate::json::{Value, write_compact, write_plain};
use crate::time;

/// The text of an object that is not closed yet.
pub(super) struct ObjectText(String);

impl ObjectText {
    pub(super) fn new() -> ObjectText {
        ObjectText("{".to_owned())
    }

    fn key(&mut self, key: &str) {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
        self.0.push('"');
        write_plain(key, &mut self.0);
        self.0.push_str("\":");
    }

    /// JSON that is written already.
    pub(super) fn raw(&mut self, key: &str, json: &str) -> &mut ObjectText {
        self.key(key);
        self.0.push_str(json);
        self
    }

    pub(super) fn text(&mut self, key: &str, text: &str) -> &mut ObjectText {
        self.key(key);
        self.0.push('"');
        write_plain(text, &mut self.0);
        self.0.push('"');
        self
    }

    pub(super) fn value(&mut self, key: &str, value: &Value) -> &mut ObjectText {
        self.key(key);
        write_compact(value, &mut self.0);
        self
    }

    pub(super) fn time(&mut self, key: &str, at: Micros) -> &mut ObjectText {
        self.text(key, &time::print(at))
    }

    /// Texts, unless there are none.
    pub(super) fn texts(&mut self, key: &str, texts: &[String]) -> &mut ObjectText {
        if !texts.is_empty() {
            self.value(key, &Value::strings(texts));
        }
        self
    }

    pub(super) fn some_text(&mut self, key: &str, text: Option<&str>) -> &mut ObjectText {
        if let Some(text) = text {
            self.text(key, text);
        }
        self
    }

    pub(super) fn some_raw(&mut self, key: &str, json: Option<&str>) -> &mut ObjectText {
        if let Some(json) = json {
            self.raw(key, json);
        }
        self
    }

    pub(super) fn some_time(&mut self, key: &str, at: Option<Micros>) -> &mut ObjectText {
        if let Some(at) = at {
            self.time(key, at);
        }
        self
    }

    /// Whether it has no members.
    pub(super) fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    pub(super) fn close(&mut self) -> String {
        let mut text = std::mem::take(&mut self.0);
        text.push('}');
        text
    }
}
