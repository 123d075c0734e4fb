//! Answers of a server as text for a terminal.

use std::fmt::Write as _;

use lamina_models::sentence;
use serde_json::Value;

/// How text is coloured, if it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub(super) colours: bool,
}

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.colours { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn faint(self, text: &str) -> String {
        self.with("2", text)
    }

    fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    fn time(self, text: &str) -> String {
        self.with("36", text)
    }

    fn mark(self, text: &str) -> String {
        self.with("33", text)
    }
}

/// A pack: what applies whatever is asked, and then layer by layer.
pub(super) fn pack(pack: &Value, paint: Paint) -> String {
    let mut text = headline(pack, paint);
    let standing = list(pack, "/standing");
    if !standing.is_empty() {
        let _ = writeln!(text, "\n{}", paint.bold("standing"));
    }
    for item in standing {
        let words = one_line(&word(item, "/text"));
        let _ = writeln!(text, "     {}  {words}", paint.time(&when(item)));
        let _ = writeln!(text, "     {}", paint.faint(&word(item, "/id")));
    }
    for layer in ["events", "facts", "beliefs", "episodes", "understanding"] {
        let items = list(pack, &format!("/layers/{layer}"));
        if items.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{}", paint.bold(layer));
        for item in items {
            let _ = writeln!(
                text,
                "{:>3}  {}  {}  {}",
                word(item, "/ranked_position"),
                paint.time(&when(item)),
                paint.faint(&format!("{:.2}", number(item, "/score"))),
                one_line(&said(layer, item)),
            );
            let sources = list(pack, &format!("/provenance/citations/{}", word(item, "/id")));
            let sources: Vec<String> = sources.iter().take(3).filter_map(plain).collect();
            let whence = match (layer, sources.is_empty()) {
                ("events", _) => word(item, "/observed_actor/id"),
                (_, true) => String::new(),
                (_, false) => format!("from {}", sources.join(", ")),
            };
            let _ =
                writeln!(text, "     {}", paint.faint(&format!("{}  {whence}", word(item, "/id"))));
        }
    }
    text
}

/// An answer, and what its markers stand for.
pub(super) fn answer(answer: &Value, paint: Paint) -> String {
    let mut text = format!("{}\n", word(answer, "/answer"));
    let citations = list(answer, "/citations");
    if !citations.is_empty() {
        text.push('\n');
    }
    for citation in citations {
        let _ = writeln!(
            text,
            "{} {} {}  {}",
            paint.mark(&word(citation, "/marker")),
            word(citation, "/layer"),
            word(citation, "/id"),
            paint.faint(&format!("{:.2}", number(citation, "/support_strength"))),
        );
    }
    let _ = writeln!(text, "{}", paint.faint(&format!("by {}", word(answer, "/answer_model"))));
    text
}

/// Why each record was found: what every signal contributed.
pub(super) fn reasons(pack: &Value, paint: Paint) -> String {
    let mut text = headline(pack, paint);
    let events = list(pack, "/layers/events");
    let said_by = |id: &str| {
        let event = events.iter().find(|event| word(event, "/id") == id);
        event.map(|event| one_line(&said("events", event)))
    };
    let relevance = number(pack, "/diagnostics/relevance");
    let _ = writeln!(text, "relevance {relevance:.2}\n");
    for item in list(pack, "/diagnostics/items").iter().take(events.len().max(10)) {
        let id = word(item, "/event_id");
        let shown = said_by(&id).unwrap_or_else(|| "(not in the pack)".to_owned());
        let place = word(item, "/final_rank");
        let score = format!("{:.3}", number(item, "/score"));
        let _ = writeln!(text, "{place:>3}  {}  {shown}", paint.mark(&score));
        let parts = item.pointer("/contributions").and_then(Value::as_object);
        let parts: Vec<String> = parts
            .into_iter()
            .flatten()
            .filter(|(_, share)| share.as_f64().is_some_and(|share| share.abs() >= 0.0005))
            .map(|(signal, share)| format!("{signal} {:.3}", share.as_f64().unwrap_or_default()))
            .collect();
        let _ = writeln!(text, "     {}", paint.faint(&format!("{id}  {}", parts.join("  "))));
    }
    text
}

/// What a belief stands on.
pub(super) fn grounds(why: &Value, paint: Paint) -> String {
    let mut text = String::new();
    outline(why, paint, 0, &mut text);
    text
}

/// One event.
pub(super) fn event(event: &Value, paint: Paint) -> String {
    let mut text = format!("{}  {}\n", paint.time(&when(event)), said("events", event));
    let derives = list(event, "/derives").iter().filter_map(plain).collect::<Vec<_>>();
    let _ = writeln!(
        text,
        "{}",
        paint.faint(&format!("{}  {}", word(event, "/id"), word(event, "/scope")))
    );
    if !derives.is_empty() {
        let _ = writeln!(text, "made {}", derives.join(", "));
    }
    text
}

/// What a pack is, or why it is empty.
fn headline(pack: &Value, paint: Paint) -> String {
    let plan = word(pack, "/provenance/trail/0/plan");
    let took: f64 =
        list(pack, "/provenance/trail").iter().map(|step| number(step, "/elapsed_ms")).sum();
    let head = format!("{}  {}  {plan}  {took:.1} ms", word(pack, "/scope"), word(pack, "/view"));
    let mut text = format!("{}\n", paint.faint(&head));
    if let Some(why) = pack.get("why_not") {
        let _ = writeln!(
            text,
            "Nothing. {} records were looked at; the relevance of the best is {:.2}, and {:.2} is needed.",
            word(why, "/candidates"),
            number(why, "/best_score"),
            number(why, "/floor"),
        );
        if let Some(hint) = why.get("hint").and_then(Value::as_str) {
            let _ = writeln!(text, "{hint}");
        }
        if !list(pack, "/layers/events").is_empty() {
            let _ = writeln!(text, "The closest there is:");
        }
    }
    text
}

/// JSON as an outline: for shapes that are deep and read from the top.
fn outline(value: &Value, paint: Paint, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                match plain(value) {
                    Some(value) => {
                        let _ = writeln!(text, "{indent}{} {value}", paint.faint(name));
                    }
                    None => {
                        let _ = writeln!(text, "{indent}{}", paint.bold(name));
                        outline(value, paint, depth + 1, text);
                    }
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                match plain(item) {
                    Some(item) => {
                        let _ = writeln!(text, "{indent}- {item}");
                    }
                    None => outline(item, paint, depth + 1, text),
                }
            }
        }
        _ => {}
    }
}

/// What a record says.
fn said(layer: &str, item: &Value) -> String {
    let first = |names: &[&str]| {
        names.iter().map(|name| word(item, name)).find(|text| !text.is_empty()).unwrap_or_default()
    };
    match layer {
        "events" => {
            let text = word(item, "/content/text");
            if text.is_empty() { first(&["/content"]) } else { text }
        }
        "facts" | "beliefs" => {
            let base = if layer == "beliefs" { "/claim" } else { "" };
            let at = |name: &str| word(item, &format!("{base}{name}"));
            let subject = [at("/subject/name"), at("/subject/id"), at("/subject")];
            let object = [at("/object/name"), at("/object/value"), at("/object")];
            let pick = |all: [String; 3]| all.into_iter().find(|text| !text.is_empty());
            let sure = match number(item, "/confidence") {
                sure if sure > 0.0 => format!("  ({:.0} % sure)", sure * 100.0),
                _ => String::new(),
            };
            let (subject, object) =
                (pick(subject).unwrap_or_default(), pick(object).unwrap_or_default());
            format!("{}{sure}", sentence(&subject, &at("/predicate"), &object))
        }
        _ => {
            let (name, summary) = (word(item, "/name"), first(&["/summary", "/definition"]));
            if summary.is_empty() { name } else { format!("{name}: {summary}") }
        }
    }
}

/// The day and time of a record.
fn when(item: &Value) -> String {
    let at =
        ["/context/observed_at", "/observed_at", "/valid_from", "/started_at", "/recorded_from"]
            .iter()
            .map(|name| word(item, name))
            .find(|at| !at.is_empty())
            .unwrap_or_default();
    let minute = at.get(..16).unwrap_or(&at).replace('T', " ");
    format!("{minute:<16}")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn list<'a>(value: &'a Value, at: &str) -> &'a [Value] {
    value.pointer(at).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn word(value: &Value, at: &str) -> String {
    value.pointer(at).and_then(plain).unwrap_or_default()
}

fn number(value: &Value, at: &str) -> f64 {
    value.pointer(at).and_then(Value::as_f64).unwrap_or_default()
}

/// A text, a number or a truth value as text. Terminals obey control characters, so none is let through.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            Some(text.chars().filter(|c| !c.is_control() || *c == '\n').collect())
        }
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
