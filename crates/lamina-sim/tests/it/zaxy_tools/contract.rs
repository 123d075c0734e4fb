//! `docs/examples/memory-checkout-contract.json` is what the tool answers. `UPDATE_EXPECT=1` writes it again.

use std::path::{Path, PathBuf};

use lamina_env::RealDisk;
use lamina_env::disk::{read_file, write_atomic};
use serde_json::{Map, Value, json};

use super::Zaxy;
use crate::harness::Own;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/memory-checkout-contract.json")
}

/// A text without what differs between two runs: seals, times, the name of the project.
fn steady(text: &str, project: &str) -> String {
    let text = text.replace(project, "harbour");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let hex =
            rest.bytes().take_while(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(c)).count();
        if hex >= 12 {
            out.push_str("SEAL");
            rest = &rest[hex..];
            continue;
        }
        if is_day(rest) {
            let time = rest[10..].bytes().take_while(|c| b"T:.Z 0123456789".contains(c)).count();
            let time = if rest[10..].starts_with('T') { time } else { 0 };
            out.push_str("DATE");
            rest = &rest[10 + time..];
            continue;
        }
        out.push(first);
        rest = &rest[first.len_utf8()..];
    }
    out
}

fn is_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 10
        && bytes[..10].iter().enumerate().all(|(at, c)| match at {
            4 | 7 => *c == b'-',
            _ => c.is_ascii_digit(),
        })
}

fn normal(value: &Value, project: &str) -> Value {
    match value {
        Value::String(text) => steady(text, project).into(),
        Value::Array(items) => items.iter().map(|item| normal(item, project)).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                let value = match name.as_str() {
                    "score" | "prompt_tokens" | "facts_per_1k_prompt_tokens" => json!(1),
                    _ => normal(value, project),
                };
                (name.clone(), value)
            });
            Value::Object(members.collect::<Map<String, Value>>())
        }
        other => other.clone(),
    }
}

#[test]
fn checkout_example_is_what_the_tool_answers() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    zaxy.append(
        "decision.made",
        json!({
            "decision": "Memory Checkout is the model-facing context contract",
        }),
    );
    let proposed = json!({"action": "proposed", "skill_id": "python-test-first",
        "name": "Test first checkout", "procedure": ["Write failing test", "Run pytest"],
        "applicability": ["checkout"]});
    zaxy.call("memory_skill", proposed);
    let validated = json!({"action": "validated", "skill_id": "python-test-first"});
    zaxy.call("memory_skill", validated);
    let full = json!({"query": "which decision was made about the memory checkout contract"});
    let nothing = json!({"query": "the birthday of the lighthouse keeper"});
    let project = zaxy.project.clone();
    let mut answered = |request: &Value| {
        let answer = zaxy.call("memory_checkout", request.clone());
        json!({"request": request, "response": normal(&answer, &project)})
    };
    let made = json!({"full": answered(&full), "nothing_known": answered(&nothing)});
    let text = format!("{}\n", serde_json::to_string_pretty(&made).unwrap());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        write_atomic(&RealDisk, &example(), text.as_bytes()).unwrap();
    }
    let kept = String::from_utf8(read_file(&RealDisk, &example(), 1 << 20).unwrap()).unwrap();
    for (number, (own, kept)) in text.lines().zip(kept.lines()).enumerate() {
        assert_eq!(own, kept, "line {}", number + 1);
    }
    assert_eq!(text.len(), kept.len());
    // What the document promises of it.
    let response = &made["full"]["response"];
    assert_eq!(response["quality"]["answerability"], "answer_from_memory");
    assert_eq!(response["quality"]["required_action"], Value::Null);
    assert_eq!(response["diagnostics"]["skills"]["items"][0]["status"], "validated");
    assert_eq!(response["guidance"]["feedback"]["payloads"][0]["feedback"], "used");
    assert_eq!(made["nothing_known"]["response"]["quality"]["answerability"], "ask_user");
}
