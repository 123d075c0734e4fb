//! Answers over HTTP: quoted, cited, dated, within their bounds, and not given when there is nothing to
//! quote.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use lamina_sim::client::{Request, StreamEvent};
use lamina_sim::process::run;
use serde_json::{Value, json};

use crate::harness::{Api, Own, binary, expect_event, string};

/// Questions whose quoted sentences must have the answer, of 100, and questions without an answer that
/// must be left without one, of 50.
const QUOTED_MIN: usize = 88;
const UNKNOWN_MIN: usize = 46;

/// The same of 40 and 40 beside the point; 39 and 19 before kinds of answers were told apart.
const NEARBY_QUOTED_MIN: usize = 36;
const NEARBY_UNKNOWN_MIN: usize = 36;

const PAIRS: &str = include_str!("answers/pairs.txt");
const NEARBY: &str = include_str!("answers/nearby.txt");

fn say(api: &mut Api, at: &str, text: &str) -> String {
    let mut envelope = api.envelope(text);
    envelope["context"] = json!({"observed_at": at});
    string(&api.post("/v1/experience?wait=indexed", &envelope).ok(200), "event_id")
}

fn ask(api: &mut Api, question: &str, more: &Value) -> Value {
    let mut body = json!({"scope": api.scope, "question": question});
    let fields = body.as_object_mut().expect("a request is an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    api.post("/v1/answer", &body).ok(200)
}

fn roof(api: &mut Api) -> (String, String) {
    let roof = say(api, "2025-03-14T10:00:00Z", "The roof of the barn leaks above the hayloft.");
    say(api, "2025-03-20T10:00:00Z", "Our cat caught three mice this morning.");
    let roofer =
        say(api, "2025-05-02T09:30:00Z", "The roofer came yesterday. He asks 1,900 euros.");
    (roof, roofer)
}

#[test]
fn r268_r269_an_answer_quotes_cites_and_says_how_it_was_made() {
    let mut api = Api::shared("answer-shape");
    let (roof, _) = roof(&mut api);
    let said = ask(&mut api, "Where does the roof of the barn leak?", &json!({}));
    assert_eq!(
        string(&said, "answer").lines().next(),
        Some(
            "On 2025-03-14, user:local said: \u{201c}The roof of the barn leaks above the \
             hayloft.\u{201d} [1]"
        )
    );
    assert_eq!((&said["answered"], &said["answer_model"]), (&json!(true), &json!("extractive")));
    let cited = &said["citations"][0];
    assert_eq!((&cited["marker"], &cited["layer"]), (&json!("[1]"), &json!("event")), "C52");
    assert_eq!(string(cited, "id"), roof);
    assert!(cited["support_strength"].as_f64().unwrap() >= 0.5);
    assert!(string(&said, "pack_id").starts_with("pack_") && said["as_of"].is_string());
    assert_eq!(said["provenance"]["trail"][0]["phase"], "ARIL_classify");
    assert!(said.get("diagnostics").is_none() && said.get("context_block").is_none());
    let more = json!({"diagnostics": "full", "include_context": true});
    let said = ask(&mut api, "Where does the roof of the barn leak?", &more);
    let made = &said["diagnostics"];
    for name in ["recall_ms", "llm_ms", "total_ms"] {
        assert!(made[name].is_number(), "{name}");
    }
    assert!(made["pack_used"]["events"].as_u64().unwrap() > 0, "R269");
    assert_eq!(made["answer_model"], "extractive");
    assert!(made["answer_tokens"]["completion"].as_u64().unwrap() > 0);
    assert_eq!(string(&made["sentences"][0], "id"), roof);
    assert!(string(&said, "context_block").contains("hayloft"));
}

#[test]
fn dates_are_made_explicit_and_markers_are_as_asked() {
    let mut api = Api::shared("answer-dates");
    let (_, roofer) = roof(&mut api);
    let said = ask(&mut api, "When did the roofer come?", &json!({}));
    let told = string(&said, "answer");
    assert!(told.contains("\u{201c}The roofer came yesterday.\u{201d} (2025-05-01) [1]"), "{told}");
    let listed =
        ask(&mut api, "When did the roofer come?", &json!({"citation_mode": "block_at_end"}));
    assert!(string(&listed, "answer").contains(&format!("Sources:\n[1] {roofer}")));
    let bare = ask(&mut api, "When did the roofer come?", &json!({"citation_mode": "none"}));
    assert!(!string(&bare, "answer").contains("[1]"));
    let short = ask(&mut api, "When did the roofer come?", &json!({"answer_max_tokens": 8}));
    assert!(string(&short, "answer").contains('\u{2026}'));
    let only = ask(&mut api, "When did the roofer come?", &json!({"skip_answer_llm": true}));
    assert_eq!((&only["answer"], &only["answered"]), (&json!(""), &json!(false)));
}

#[test]
fn what_is_not_there_is_not_known() {
    let mut api = Api::shared("answer-unknown");
    roof(&mut api);
    for question in ["When did Bartholomew marry Clementine?", "What is the colour of my bicycle?"]
    {
        let said = ask(&mut api, question, &json!({}));
        assert!(string(&said, "answer").starts_with("I do not know"), "{said}");
        assert_eq!((&said["answered"], &said["citations"]), (&json!(false), &json!([])));
    }
}

#[test]
fn r267_r440_an_answer_from_a_pack_recalls_nothing() {
    // Whatever is forgotten elsewhere on a shared server takes packs with it.
    let own = Own::start();
    let mut api = own.api("answer-pack");
    let (roof, _) = roof(&mut api);
    let body = json!({"scope": api.scope, "query": "Where does the roof leak?"});
    let pack = string(&api.post("/v1/recall", &body).ok(200), "pack_id");
    say(&mut api, "2025-06-01T10:00:00Z", "The roof leaks above the kitchen now.");
    let from = json!({"use_pack_id": pack, "diagnostics": "summary"});
    let said = ask(&mut api, "Where does the roof leak?", &from);
    assert_eq!(string(&said, "pack_id"), pack);
    assert!(!string(&said, "answer").contains("kitchen"), "the pack of before");
    assert!(said["diagnostics"]["recall_ms"].as_f64().unwrap().abs() < f64::EPSILON);
    let unknown = format!("pack_{}", "0".repeat(32));
    let body = json!({"scope": api.scope, "question": "Where?", "use_pack_id": unknown});
    api.post("/v1/answer", &body).fails(404, "NOT_FOUND");
    // What is taken back is not quoted from a pack of before.
    api.post(&format!("/v1/lifecycle/memory-event/{roof}/cancel"), &json!({})).ok(200);
    let body = json!({"scope": api.scope, "question": "Where?", "use_pack_id": pack});
    api.post("/v1/answer", &body).fails(404, "NOT_FOUND");
}

#[test]
fn ruling_6_a_model_that_is_not_configured_cannot_answer() {
    let mut api = Api::shared("answer-model");
    roof(&mut api);
    let body = json!({"scope": api.scope, "question": "Where?", "answer_model": "gpt-x"});
    api.post("/v1/answer", &body).fails(503, "ANSWER_UNAVAILABLE");
    let body = json!({"scope": api.scope, "brief": "The barn", "model": "gpt-x"});
    api.post("/v1/compose", &body).fails(503, "ANSWER_UNAVAILABLE");
    let named = json!({"answer_model": "extractive"});
    assert_eq!(ask(&mut api, "Where does the roof leak?", &named)["answered"], json!(true));
}

#[test]
fn a_document_has_headings_markers_and_says_what_is_missing() {
    let mut api = Api::shared("compose");
    let (roof, _) = roof(&mut api);
    let body = json!({"scope": api.scope, "brief": "The roof of the barn", "view": "holistic",
        "citations": true, "structure": ["Where the roof leaks", "Wedding plans of Clementine"]});
    let made = api.post("/v1/compose", &body).ok(200);
    let text = string(&made, "document");
    assert!(text.starts_with("# The roof of the barn\n"), "{text}");
    let (leaks, wedding) = text.split_once("## Wedding plans").expect("both headings");
    assert!(leaks.contains("hayloft.\u{201d} [S1]"), "{text}");
    assert!(wedding.contains("Nothing that was recalled speaks of this"), "{text}");
    assert!(text.contains(&format!("[S1] {roof}")));
    assert_eq!(
        (&made["citations"][0]["marker"], &made["model"]),
        (&json!("[S1]"), &json!("extractive"))
    );
    let body = json!({"scope": api.scope, "brief": "What happened to the roof", "citations": false,
        "depth": "exhaustive", "length": "brief", "time": "in 2025", "include_context": true});
    let digest = api.post("/v1/compose", &body).ok(200);
    let text = string(&digest, "document");
    assert!(text.contains("## 2025-03") && !text.contains("[S1]"), "{text}");
    assert!(string(&digest, "context_block").contains("hayloft"));
}

/// The self-written pairs: 96 were quoted and 50 left unanswered when this was written, with weights that
/// nobody had fitted to them.
#[test]
fn the_quoted_sentence_has_the_answer_and_absence_is_said() {
    let scored = Scored::of(&mut Api::shared("answer-pairs"), PAIRS);
    assert_eq!((scored.asked, scored.absent), (100, 50));
    scored.reach(QUOTED_MIN, UNKNOWN_MIN);
}

/// Questions beside the point, of people and things that the memory knows.
#[test]
fn the_same_name_alone_is_no_answer() {
    let scored = Scored::of(&mut Api::shared("answer-nearby"), NEARBY);
    assert_eq!((scored.asked, scored.absent), (40, 40));
    scored.reach(NEARBY_QUOTED_MIN, NEARBY_UNKNOWN_MIN);
}

/// What became of a file of pairs.
#[derive(Default)]
struct Scored {
    asked: usize,
    quoted: usize,
    absent: usize,
    unknown: usize,
    missed: Vec<String>,
}

impl Scored {
    fn of(api: &mut Api, pairs: &str) -> Scored {
        let mut scored = Scored::default();
        let base = api.scope.clone();
        for line in pairs.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (kind, rest) = line.split_at(2);
            match kind.trim() {
                "=" => api.scope = format!("{base}/project:{rest}"),
                "M" => {
                    let (at, text) = rest.split_once(" | ").expect("an instant and a text");
                    say(api, at, text);
                }
                "Q" => {
                    let (question, wanted) = rest.split_once(" | ").expect("a question, an answer");
                    let told = string(&ask(api, question, &json!({})), "answer");
                    scored.asked += 1;
                    if wanted.split(" / ").any(|word| told.contains(word)) {
                        scored.quoted += 1;
                    } else {
                        scored.missed.push(format!("Q {question} -> {told}"));
                    }
                }
                "N" => {
                    let said = ask(api, rest, &json!({}));
                    scored.absent += 1;
                    if said["answered"] == json!(false) {
                        scored.unknown += 1;
                    } else {
                        scored.missed.push(format!("N {rest} -> {}", string(&said, "answer")));
                    }
                }
                other => panic!("`{other}` is no kind of line"),
            }
        }
        scored
    }

    fn reach(&self, quoted: usize, unknown: usize) {
        let missed = self.missed.join("\n");
        assert!(self.quoted >= quoted, "quoted {} of {}:\n{missed}", self.quoted, self.asked);
        assert!(self.unknown >= unknown, "unknown {} of {}:\n{missed}", self.unknown, self.absent);
    }
}

/// A request for a stream, with the last event that was seen.
fn streaming(path: &str, body: &Value, seen: Option<&str>) -> Request {
    let request = Request::post(path, body);
    match seen {
        Some(seen) => request.header("Last-Event-ID", seen),
        None => request,
    }
}

/// All events of a stream.
fn events(api: &Api, request: &Request) -> Vec<StreamEvent> {
    let mut stream = api.stream_with(request);
    let mut events = Vec::new();
    loop {
        let event = expect_event(&mut stream);
        let last = event.event == "done";
        events.push(event);
        if last {
            return events;
        }
    }
}

fn names(events: &[StreamEvent]) -> Vec<&str> {
    events.iter().map(|event| event.event.as_str()).collect()
}

#[test]
fn r355_r356_r359_a_recall_streams_layer_by_layer_and_resumes() {
    // Whatever is forgotten elsewhere on a shared server takes packs with it.
    let own = Own::start();
    let mut api = own.api("recall-stream");
    let (roof, _) = roof(&mut api);
    let body = json!({"scope": api.scope, "query": "Where does the roof of the barn leak?",
        "stream": true, "diagnostics": "summary", "idempotency_key": "stream-1"});
    let all = events(&api, &streaming("/v1/recall", &body, None));
    assert_eq!(
        names(&all),
        [
            "plan",
            "layer",
            "layer",
            "layer",
            "layer",
            "layer",
            "context_block",
            "provenance",
            "diagnostics",
            "done"
        ]
    );
    let data: Vec<Value> =
        all.iter().map(|event| serde_json::from_str(&event.data).unwrap()).collect();
    assert_eq!(data[0]["plan"], "DIRECT_LOOKUP_RECHECK");
    let layers: Vec<&str> =
        data[1..6].iter().map(|layer| layer["layer"].as_str().unwrap()).collect();
    assert_eq!(layers, ["facts", "beliefs", "episodes", "understanding", "events"]);
    assert_eq!(data[5]["items"][0]["id"], json!(roof), "R356");
    assert!(data[5]["elapsed_ms"].is_number() && data[9]["total_ms"].is_number());
    assert!(data[6]["text"].as_str().unwrap().contains("hayloft"));
    assert!(data[8]["time_ms"]["total"].is_number());
    let seen = all[5].id.clone().expect("every event has an id");
    assert!(seen.starts_with("lce_"));
    let rest = events(&api, &streaming("/v1/recall", &body, Some(&seen)));
    assert_eq!(names(&rest), ["context_block", "provenance", "diagnostics", "done"], "R359");
    assert_eq!(rest[0].id, all[6].id);
    let narrative = json!({"scope": api.scope, "query": "Where does the roof of the barn leak?",
        "stream": true, "view": "narrative"});
    let story = events(&api, &streaming("/v1/recall", &narrative, None));
    let kinds = names(&story);
    assert!(kinds.ends_with(&["citations", "diagnostics", "done"]) && kinds.contains(&"token"));
}

#[test]
fn r357_r005_an_answer_streams_word_by_word() {
    // Whatever is forgotten elsewhere on a shared server takes packs with it.
    let own = Own::start();
    let mut api = own.api("answer-stream");
    roof(&mut api);
    let question = "Where does the roof of the barn leak?";
    let body = json!({"scope": api.scope, "question": question, "stream": true});
    let all = events(&api, &streaming("/v1/answer", &body, None));
    let of = |name: &str| -> Vec<Value> {
        let named = all.iter().filter(|event| event.event == name);
        named.map(|event| serde_json::from_str(&event.data).unwrap()).collect()
    };
    let text: String =
        of("token").iter().map(|token| token["text"].as_str().unwrap().to_owned()).collect();
    assert!(text.contains("The roof of the barn leaks above the hayloft.\u{201d} [1]"), "{text}");
    assert!(of("token").len() > 5);
    assert_eq!(of("citations")[0][0]["marker"], "[1]");
    assert!(of("provenance")[0]["trail"].is_array());
    let done = &of("done")[0];
    assert!(string(done, "pack_id").starts_with("pack_") && done["as_of"].is_string());
    let seen = all[2].id.clone().unwrap();
    let rest = events(&api, &streaming("/v1/answer", &body, Some(&seen)));
    assert_eq!(rest.len(), all.len() - 3);
}

#[test]
fn the_command_line_asks_a_running_server() {
    let mut api = Api::shared("ask");
    let (roof, _) = roof(&mut api);
    let url = format!("http://{}", api.client.address());
    let question = "Where does the roof of the barn leak?";
    let ask = |command: &str, more: &[&str]| {
        let mut arguments = vec![command, "--url", &url, "--scope", &api.scope, question];
        arguments.extend(more);
        let output = run(&binary(), &arguments).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let pack = ask("recall", &[]);
    assert!(pack.contains("1  2025-03-14 10:00  1.00  The roof of the barn leaks"), "{pack}");
    assert!(pack.contains(&roof) && !pack.contains('\u{1b}'), "no colours without a terminal");
    let answer = ask("answer", &[]);
    assert!(answer.contains("hayloft.\u{201d} [1]") && answer.contains(&roof), "{answer}");
    let json: Value = serde_json::from_str(&ask("answer", &["--json"])).unwrap();
    assert_eq!(json["answered"], json!(true));
    let why = ask("why", &[]);
    assert!(why.contains("relevance ") && why.contains("lexical "), "{why}");
    let nobody = run(&binary(), &["recall", "--url", "http://127.0.0.1:1", "--scope", "a:b", "x"]);
    assert_eq!(nobody.unwrap().status.code(), Some(4), "ruling 21");
    let unsaid = run(&binary(), &["recall", "--url", &url, "x"]).unwrap();
    assert_eq!(unsaid.status.code(), Some(64), "no scope");
}

/// A provider of chat completions that always says the same.
fn provider(says: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = Vec::new();
            let mut piece = [0; 4096];
            // A request that asks about events gets nothing to read: it is not what is tested here.
            while let Ok(read) = stream.read(&mut piece) {
                asked.extend_from_slice(&piece[..read]);
                let text = String::from_utf8_lossy(&asked);
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head.lines().find_map(|line| {
                    let line = line.to_ascii_lowercase();
                    line.strip_prefix("content-length:")?.trim().parse::<usize>().ok()
                });
                if read == 0 || body.len() >= length.unwrap_or(0) {
                    break;
                }
            }
            let body = json!({"choices": [{"message": {"content": says}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 321, "completion_tokens": 12}})
            .to_string();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            let answer = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn a_model_answers_from_the_pack_and_its_markers_are_held_against_it() {
    let url = provider("The roof of the barn leaks above the hayloft [1]. It rains in Lisbon [9].");
    let own = Own::start_with(&[
        ("LAMINA_MODELS_PROVIDER", "openai"),
        ("LAMINA_MODELS_MODEL", "small"),
        ("LAMINA_MODELS_BASE_URL", &url),
        ("LAMINA_MODELS_ANSWERS", "true"),
    ]);
    let mut api = own.api("answer-llm");
    let (roof, _) = roof(&mut api);
    let question = "Where does the roof of the barn leak?";
    let said = ask(&mut api, question, &json!({"diagnostics": "summary"}));
    assert_eq!(
        string(&said, "answer"),
        "The roof of the barn leaks above the hayloft [1]. It rains in Lisbon."
    );
    assert_eq!((&said["answer_model"], &said["answered"]), (&json!("small"), &json!(true)));
    assert_eq!(string(&said["citations"][0], "id"), roof);
    let made = &said["diagnostics"];
    assert_eq!(made["removed_markers"], json!(["[9]"]));
    assert_eq!(made["answer_tokens"], json!({"prompt": 321, "completion": 12}));
    let named = ask(&mut api, question, &json!({"answer_model": "small"}));
    assert_eq!(named["answer_model"], "small");
    let quoted = ask(&mut api, question, &json!({"answer_model": "extractive"}));
    assert!(string(&quoted, "answer").starts_with("On 2025-03-14, user:local said: "));
    let nothing = ask(&mut api, "When did Bartholomew marry Clementine?", &json!({}));
    assert_eq!(nothing["answered"], json!(false), "an empty pack is nobody's business");
    let body = json!({"scope": api.scope, "question": question, "answer_model": "large"});
    api.post("/v1/answer", &body).fails(503, "ANSWER_UNAVAILABLE");
}

#[test]
fn a_model_that_fails_leaves_the_quotes() {
    let own = Own::start_with(&[
        ("LAMINA_MODELS_PROVIDER", "openai"),
        ("LAMINA_MODELS_MODEL", "small"),
        ("LAMINA_MODELS_BASE_URL", "http://127.0.0.1:1"),
        ("LAMINA_MODELS_ANSWERS", "true"),
    ]);
    let mut api = own.api("answer-unheard");
    roof(&mut api);
    let question = "Where does the roof of the barn leak?";
    let said = ask(&mut api, question, &json!({"diagnostics": "summary"}));
    assert_eq!((&said["answer_model"], &said["answered"]), (&json!("extractive"), &json!(true)));
    assert_eq!(said["diagnostics"]["model_fault"], "unreachable");
    let body = json!({"scope": api.scope, "question": question, "answer_model": "small"});
    api.post("/v1/answer", &body).fails(503, "ANSWER_UNAVAILABLE");
}
