//! The table of bad input: one line per case, with the status, the code and the field it must be
//! refused with. Never a 500; afterwards the server is healthy and its data clean.

mod table;

use lamina_sim::client::Request;
use lamina_sim::process;
use serde_json::{Value, json};

use crate::harness::{Answer, Own, binary, data, encode};
use table::{BODIES, BULKS, FIELDS, HEADERS, OTHERS, TARGETS};

/// What a case expects.
struct Expected {
    status: u16,
    code: &'static str,
    /// The exact `details.field`; empty where there is none to name, `*` where any will do.
    field: &'static str,
}

struct Case {
    name: String,
    request: Request,
    expected: Expected,
}

/// A good envelope with nothing left to default.
fn envelope() -> Value {
    json!({
        "scope": "user:bad-input",
        "observed_actor": {"id": "user:a", "type": "user", "session": "s"},
        "subject": {"id": "user:a", "type": "user"},
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": "x"},
        "context": {"observed_at": "2026-05-13T15:42:00Z", "labels": ["l"]},
        "directives": {"extract": ["facts"]},
        "idempotency_key": "bad-input",
    })
}

fn post(target: &str, body: impl Into<Vec<u8>>) -> Request {
    Request::new("POST", target).header("Content-Type", "application/json").bytes(body)
}

/// The value of a line: JSON, or `N*TEXT` for a text repeated so often.
fn value(raw: &str) -> Value {
    match raw.split_once('*') {
        Some((count, text)) if count.bytes().all(|c| c.is_ascii_digit()) => {
            json!(text.repeat(count.parse().unwrap()))
        }
        _ => serde_json::from_str(raw).unwrap_or_else(|error| panic!("{raw}: {error}")),
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (pointer, raw, status, code, field) in FIELDS {
        let mut body = envelope();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        body.pointer_mut(parent).unwrap()[name] = value(raw);
        cases.push(Case {
            name: format!("{pointer} = {raw}"),
            request: post("/v1/experience", body.to_string()),
            expected: Expected { status: *status, code, field },
        });
    }
    for (target, bodies) in [("/v1/experience", BODIES), ("/v1/experience/bulk", BULKS)] {
        for (name, body, status, code, field) in bodies {
            cases.push(Case {
                name: format!("{target}: {name}"),
                request: post(target, *body),
                expected: Expected { status: *status, code, field },
            });
        }
    }
    for (method, target, status, code, field) in TARGETS {
        let request = Request::new(method, target);
        let request = if *method == "POST" { request.json(&envelope()) } else { request };
        cases.push(Case {
            name: format!("{method} {target}"),
            request,
            expected: Expected { status: *status, code, field },
        });
    }
    for (route, body, status, code, field) in OTHERS {
        let (method, target) = route.split_once(' ').unwrap();
        let request = Request::new(method, target).header("Content-Type", "application/json");
        cases.push(Case {
            name: format!("{route}: {body}"),
            request: request.bytes(*body),
            expected: Expected { status: *status, code, field },
        });
    }
    for (name, content, status, code, field) in HEADERS {
        cases.push(Case {
            name: format!("{name}: {}", String::from_utf8_lossy(content)),
            request: post("/v1/experience", envelope().to_string()).header(name, content),
            expected: Expected { status: *status, code, field },
        });
    }
    cases.extend(made());
    cases
}

/// Cases that are too large or too deep to be written down.
fn made() -> Vec<Case> {
    let deep = |levels: usize| {
        let mut body = envelope();
        body["content"] = json!({"kind": "json"});
        let text = body.to_string();
        // The body and `content` are two levels.
        let data = format!("{}1{}", "[".repeat(levels - 2), "]".repeat(levels - 2));
        text.replace("{\"kind\":\"json\"}", &format!("{{\"kind\":\"json\",\"data\":{data}}}"))
    };
    let with = |pointer: &str, value: Value| {
        let mut body = envelope();
        *body.pointer_mut(pointer).unwrap() = value;
        body.to_string()
    };
    let text = |bytes: usize| json!({"kind": "text", "text": "x".repeat(bytes)});
    let labels = |count: usize| -> Value { (0..count).map(|n| json!(format!("l{n}"))).collect() };
    let padded = |bytes: usize| {
        let mut body = envelope().to_string().into_bytes();
        body.resize(bytes, b' ');
        body
    };
    let mib = 1_048_576;
    let lines: Vec<(&str, Vec<u8>, u16, &str, &str)> = vec![
        ("nesting of 65", deep(65).into(), 400, "INVALID_BODY", "*"),
        ("nesting of 100000", deep(100_000).into(), 400, "INVALID_BODY", "*"),
        ("an unclosed nesting of a million", vec![b'['; 1_000_000], 400, "INVALID_BODY", "*"),
        ("a text of 1 MiB and a byte", with("/content", text(mib + 1)).into(), 422, "INVALID_ENVELOPE", "content.text"),
        ("65 labels", with("/context/labels", labels(65)).into(), 422, "INVALID_ENVELOPE", "context.labels"),
        ("a body of 4 MiB and a byte", padded(4 * mib + 1), 413, "BODY_TOO_LARGE", ""),
        ("a body of 10 MB", vec![b'x'; 10_000_000], 413, "BODY_TOO_LARGE", ""),
        ("a location of 4097 bytes", with("/context", json!({"observed_at": "2026-05-13T15:42:00Z", "location": "x".repeat(4_097)})).into(), 422, "INVALID_ENVELOPE", "context.location"),
        ("65 attachments", with("/content", json!({"kind": "text", "text": "x", "media": vec![json!({"blob_id": "blob_01890000000070008000000000000000"}); 65]})).into(), 422, "INVALID_ENVELOPE", "content.media"),
        ("17 scripts", { let mut body = envelope(); body["scripts"] = json!(vec!["Latn"; 17]); body.to_string().into() }, 422, "INVALID_ENVELOPE", "scripts"),
    ];
    lines
        .into_iter()
        .map(|(name, body, status, code, field)| Case {
            name: name.to_owned(),
            request: post("/v1/experience", body),
            expected: Expected { status, code, field },
        })
        .collect()
}

/// What is wrong with an answer, if anything.
fn complaint(case: &Case, answer: &Answer) -> Option<String> {
    let Expected { status, code, field } = case.expected;
    let response = &answer.response;
    let error = response.json().unwrap_or_default();
    let named = error["details"]["field"].as_str().unwrap_or_default();
    let field_ok = field == "*" || named == field;
    let code_ok = code == "*" || error["error_code"] == code;
    if response.status == status && code_ok && field_ok {
        return None;
    }
    let body: String = response.text().chars().take(300).collect();
    Some(format!(
        "{}\n    expected {status} {code} `{field}`\n    found    {} {body}",
        case.name, response.status
    ))
}

#[test]
fn bad_input_is_refused_as_the_table_says() {
    let own = Own::start();
    let mut api = own.api("bad-input");
    let cases = cases();
    assert!(cases.len() >= 120, "{}", cases.len());
    let mut complaints = Vec::new();
    for case in &cases {
        let answer = api.send(&case.request);
        complaints.extend(complaint(case, &answer));
    }
    assert!(
        complaints.is_empty(),
        "{} of {}:\n{}",
        complaints.len(),
        cases.len(),
        complaints.join("\n")
    );
    let written = api.get("/v1/events?scope=user:bad-input&view=descend").ok(200);
    assert_eq!(written["items"], json!([]), "nothing that was refused was written");
    assert_eq!(api.get("/v1/admin/health").ok(200)["status"], "healthy");
    api.write("and it still works");
    let directory = own.stop();
    let path = data(directory.path());
    let output = process::run(&binary(), &["check", "--data", path.to_str().unwrap()]).unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Ruling 18: 64 levels are fine.
#[test]
fn the_deepest_body_that_fits_is_stored_whole() {
    let own = Own::start();
    let mut api = own.api("deep");
    let data = format!("{}1{}", "[".repeat(62), "]".repeat(62));
    let body = format!(r#"{{"scope":"{}","content":{{"kind":"json","data":{data}}}}}"#, api.scope);
    let id =
        api.send(&post("/v1/experience", body)).ok(202)["event_id"].as_str().unwrap().to_owned();
    assert_eq!(api.event(&id)["content"]["data"].to_string(), data);
}

/// No byte, wherever it stands in a body, a path, a query or a header, makes the server fail.
#[test]
fn every_byte_everywhere_is_met_with_an_answer() {
    let own = Own::start();
    let mut api = own.api("bytes");
    for byte in 0..=255u8 {
        let mut body = br#"{"scope":"user:x","content":"a"#.to_vec();
        body.push(byte);
        body.extend_from_slice(br#"b","modality":"m"}"#);
        let answer = api.send(&post("/v1/experience", body));
        assert!(matches!(answer.response.status, 202 | 400), "byte {byte}");
        let target = format!("/v1/events?scope=user:x&labels=a%{byte:02X}b");
        let answer = api.get(&target);
        assert!(matches!(answer.response.status, 200 | 400 | 422), "byte {byte} in a query");
        let target = format!("/v1/experience/by-idempotency-key/a%{byte:02X}b");
        let answer = api.get(&target);
        let status = answer.response.status;
        assert!(matches!(status, 400 | 404 | 422), "byte {byte} in a path: {status}");
    }
    api.get(&format!("/v1/events?scope={}", encode("user:x"))).ok(200);
}
