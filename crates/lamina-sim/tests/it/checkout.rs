//! `memory_checkout` as an agent sees it: bounded, cited, current, and honest about what it does not know.

use lamina_core::read::tokens::estimate;
use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Api, Own, string};

/// One project of a server of its own.
struct Project {
    api: Api,
    name: String,
    _own: Own,
}

/// A checkout as it was sent: the text, and the structure.
struct Answered {
    text: String,
    structured: Value,
}

impl Answered {
    fn answerability(&self) -> &str {
        self.structured["quality"]["answerability"].as_str().unwrap()
    }

    /// Tokens of both together.
    fn tokens(&self) -> u64 {
        estimate(&self.text) + estimate(&self.structured.to_string())
    }
}

impl Project {
    fn start(name: &str) -> Project {
        let own = Own::start();
        Project { api: own.api(name), name: name.to_owned(), _own: own }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        });
        let target = format!("/mcp?project={}", self.name);
        let response = self.api.client.send(&Request::post(&target, &body)).unwrap();
        assert_eq!(response.status, 200, "{}", response.text());
        let answer: Value = response.json().unwrap();
        answer["result"].clone()
    }

    fn checkout(&mut self, arguments: &Value) -> Answered {
        let result = self.call("memory_checkout", arguments);
        assert_eq!(result["isError"], json!(false), "{result}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.starts_with("<lamina_memory>\n# Memory Checkout\n"), "{text}");
        assert!(text.ends_with("</lamina_memory>"), "{text}");
        Answered { text, structured: result["structuredContent"].clone() }
    }

    fn ask(&mut self, query: &str) -> Answered {
        self.checkout(&json!({"query": query}))
    }

    /// Something that a person said in a session, of some day of 2026.
    fn said(&mut self, session: &str, text: &str, day: &str) -> String {
        let mut envelope = self.api.envelope(text);
        envelope["scope"] = format!("project:{}/session:{session}", self.name).into();
        envelope["context"]["observed_at"] = format!("2026-{day}T10:00:00Z").into();
        let answer = self.api.post("/v1/experience?wait=settled", &envelope).ok(200);
        string(&answer, "event_id")
    }

    fn append(&mut self, event_type: &str, payload: &Value) {
        let result =
            self.call("memory_append", &json!({"event_type": event_type, "payload": payload}));
        assert_eq!(result["isError"], json!(false), "{result}");
    }
}

#[test]
fn m29_checkout_has_facts_of_every_session_with_citations_that_lead_back() {
    let mut project = Project::start("citing");
    project.said("one", "Acme has 120 seats. The renewal is due on May 31.", "04-10");
    project.said("two", "Acme has 200 seats now.", "05-13");
    let answered = project.ask("How many seats has Acme?");
    assert_eq!(answered.answerability(), "answer_from_memory", "{}", answered.text);
    assert!(answered.text.contains("200 seats"), "{}", answered.text);
    let facts = answered.structured["current_facts"].as_array().unwrap().clone();
    assert!(
        facts.iter().all(|fact| !fact["content"].as_str().unwrap().contains("120")),
        "{facts:?}"
    );
    for fact in &facts {
        let citation = string(fact, "citation");
        assert!(answered.text.contains(&citation), "{}", answered.text);
        let cited = crate::harness::encode(&citation);
        let page = project.api.get(&format!("/v1/events?citation={cited}")).ok(200);
        assert_eq!(page["items"].as_array().unwrap().len(), 1, "{citation}");
    }
}

#[test]
fn m30_tokens_bound_text_and_structure_together() {
    let mut project = Project::start("bounded");
    let nothing = project.ask("What is the capital of Mongolia?");
    assert_eq!(nothing.answerability(), "ask_user", "{}", nothing.text);
    assert!(nothing.tokens() <= 250, "{} tokens: {}", nothing.tokens(), nothing.text);
    for number in 0..40 {
        let text = format!(
            "The exporter of team {number} writes format {number} and its owner is Person{number}."
        );
        project.said("one", &text, "05-13");
    }
    for tokens in [100_u64, 300, 1_200, 4_000, 8_000] {
        let answered = project
            .checkout(&json!({"query": "Who owns the exporter formats?", "max_tokens": tokens}));
        let bound = tokens as f64 * 1.15 + 200.0;
        assert!(answered.tokens() as f64 <= bound, "{} for {tokens}", answered.tokens());
    }
    let refused = project.call("memory_checkout", &json!({"query": "x", "max_tokens": 99}));
    assert_eq!(refused["isError"], json!(true), "{refused}");
    let refused = project.call("memory_checkout", &json!({"query": "x", "as_of": "yesterday"}));
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("`as_of`"), "{refused}");
}

#[test]
fn m32_checkout_of_an_instant_is_what_was_known_then() {
    let mut project = Project::start("past");
    let event = project.said("one", "Maria works at Northwind.", "03-01");
    let before = project.api.event(&event);
    let known_at = string(&before["context"], "recorded_at");
    project.said("one", "Maria works at Contoso now.", "05-01");
    let now = project.ask("Where does Maria work?");
    assert!(now.text.contains("Contoso"), "{}", now.text);
    let then = json!({"query": "Where does Maria work?", "as_of": known_at});
    let then = project.checkout(&then);
    assert!(!then.text.contains("Contoso"), "{}", then.text);
}

#[test]
fn m34_m35_typed_events_are_sentences_and_instructions_have_their_section() {
    let mut project = Project::start("typed");
    project.said("one", "Please always give lengths in inches.", "04-01");
    project.append("goal.created", &json!({"title": "Ship the exporter"}));
    project.append(
        "decision.made",
        &json!({"decision": "Use ed25519 first", "rationale": "ML-DSA is experimental"}),
    );
    project.append("task.created", &json!({"taskId": "T-1", "title": "Merkle tree"}));
    project.append("task.completed", &json!({"taskId": "T-1"}));
    let answered = project.ask("current goals, decisions and tasks");
    let text = &answered.text;
    assert!(text.contains("set the goal \u{201c}Ship the exporter\u{201d}"), "{text}");
    assert!(text.contains("decided \u{201c}Use ed25519 first\u{201d} because"), "{text}");
    assert!(!text.contains("created the task"), "{text}");
    assert!(!text.contains("{\"") && !text.contains("\":"), "{text}");
    // The session of the instruction is another one than that of the call; it stands where it was said.
    let session = project.checkout(&json!({"query": "How long is the roof?", "session_id": "one"}));
    assert!(session.text.contains("## Standing instructions"), "{}", session.text);
    assert!(
        session.text.contains("asked: \u{201c}Please always give lengths in inches.\u{201d}"),
        "{}",
        session.text
    );
}

#[test]
fn m36_checkout_that_comes_back_in_a_prompt_is_no_fact() {
    let mut project = Project::start("returning");
    project.said("one", "Acme has 120 seats.", "04-10");
    let answered = project.ask("How many seats has Acme?");
    let prompt = format!(
        "<hook_context>{}\nAcme has 999 seats.</hook_context>\n\nHow many seats?",
        answered.text
    );
    project.said("one", &prompt, "05-13");
    let again = project.ask("How many seats has Acme?");
    assert!(again.text.contains("120") && !again.text.contains("999"), "{}", again.text);
}
