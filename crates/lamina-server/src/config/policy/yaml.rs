//! YAML as a tree whose every value knows where it stands.
//!
//! Of the language only what a policy needs: mappings, lists and texts, one document. Anchors, aliases
//! and tags are refused: what they stand for is not what a reader sees.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};

/// Levels of a document. A policy has three.
const DEPTH_MAX: usize = 8;

/// Where something stands; both are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// What does not hold, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) at: Place,
    pub(super) rule: String,
    pub(super) help: String,
}

/// A value and where it begins.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Place,
    pub(super) value: Value,
}

/// Equal by what it says, wherever it stands.
impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.value == other.value
    }
}

/// A value. Numbers and truth values are texts: the settings know what they are.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Value {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// Reads one document.
pub(super) fn parse(text: &str) -> Result<Node, Problem> {
    let mut reader = Reader { text, parser: Parser::new_from_str(text) };
    let mut root = None;
    loop {
        let (event, at) = reader.next()?;
        match event {
            Event::StreamEnd => break,
            Event::StreamStart | Event::DocumentEnd | Event::Nothing => {}
            Event::DocumentStart(_) if root.is_some() => {
                let (rule, help) =
                    ("a policy is one document", "remove what follows the second `---`");
                return Err(problem(at, rule, help));
            }
            Event::DocumentStart(_) => {
                let (event, at) = reader.next()?;
                root = Some(reader.node(event, at, 0)?);
            }
            _ => return Err(problem(at, "this is no document", "begin with `allow:`")),
        }
    }
    let empty = || {
        problem(
            Place { line: 1, column: 1 },
            "the file is empty",
            "begin with `allow:` and a list of rules",
        )
    };
    root.ok_or_else(empty)
}

struct Reader<'a> {
    text: &'a str,
    parser: Parser<'a, StrInput<'a>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Place), Problem> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, place(&span.start))),
            Some(Err(error)) => Err(self.syntax(place(error.marker()), error.info())),
            None => Ok((Event::StreamEnd, Place { line: 1, column: 1 })),
        }
    }

    /// A mistake in the language itself. The usual ones have a better word than the parser's.
    fn syntax(&self, at: Place, info: &str) -> Problem {
        let line = self.text.lines().nth(at.line.saturating_sub(1)).unwrap_or_default();
        let bare = |mark: char| {
            line.split([' ', '[', ','])
                .any(|word| word.trim_end_matches([']', ',']) == mark.to_string())
        };
        let help = if bare('*') {
            "a star by itself needs quotes: \"*\""
        } else if line.contains('\t') {
            "indent with spaces, not with tabs"
        } else {
            "look at indentation, quotes and colons of this line and the one before"
        };
        problem(at, &format!("this is not YAML ({info})"), help)
    }

    fn node(&mut self, event: Event<'a>, at: Place, depth: usize) -> Result<Node, Problem> {
        if depth > DEPTH_MAX {
            let help = "a policy has keys, lists and settings, and nothing below them";
            return Err(problem(at, "this is nested too deep", help));
        }
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag) => (*anchor, tag.is_some()),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => {
                (*anchor, tag.is_some())
            }
            _ => (0, false),
        };
        if anchor != 0 || tag || matches!(event, Event::Alias(_)) {
            let help =
                "write the value itself; a text that begins with `&`, `*` or `!` needs quotes";
            return Err(problem(at, "anchors, aliases and tags are not taken", help));
        }
        let value = match event {
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::SequenceStart(..) => Value::List(self.list(depth)?),
            Event::MappingStart(..) => Value::Map(self.map(depth)?),
            _ => return Err(problem(at, "the file ends too early", "finish the list or mapping")),
        };
        Ok(Node { at, value })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Problem> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, at) => items.push(self.node(event, at, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(Node, Node)>, Problem> {
        let mut members = Vec::new();
        loop {
            match self.next()? {
                (Event::MappingEnd, _) => return Ok(members),
                (event, at) => {
                    let key = self.node(event, at, depth + 1)?;
                    let (event, at) = self.next()?;
                    members.push((key, self.node(event, at, depth + 1)?));
                }
            }
        }
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    match (style, text) {
        (ScalarStyle::Plain, "" | "~" | "null" | "Null" | "NULL") => Value::Null,
        (_, text) => Value::Text(text.to_owned()),
    }
}

fn place(marker: &Marker) -> Place {
    Place { line: marker.line().max(1), column: marker.col() + 1 }
}

fn problem(at: Place, rule: &str, help: &str) -> Problem {
    Problem { at, rule: rule.to_owned(), help: help.to_owned() }
}
