//! The lifecycle stream: order, filters, resume, ends (R308-R310, R358, R360, C20, C39).

use std::time::Duration;

use lamina_sim::client::{EventStream, Next, Request, StreamEvent};
use serde_json::{Value, json};

use crate::harness::{
    A_MOMENT, Api, Own, SOON, check_id, envelope, expect_event, string, unique_key,
};

const STAGES: [&str; 4] = ["captured", "extracted", "indexed", "consolidated"];

/// The next four events of a stream.
fn four(stream: &mut EventStream) -> Vec<StreamEvent> {
    (0..4).map(|_| expect_event(stream)).collect()
}

fn names(events: &[StreamEvent]) -> Vec<&str> {
    events.iter().map(|event| event.event.as_str()).collect()
}

#[track_caller]
fn quiet(stream: &mut EventStream) {
    match stream.next_within(A_MOMENT).unwrap() {
        Next::Quiet => {}
        other => panic!("the stream should be quiet: {other:?}"),
    }
}

#[test]
fn r308_a_subscriber_sees_every_stage_in_order() {
    let mut api = Api::shared("stream");
    let mut stream = api.stream(&format!("scope={}", api.scope));
    let head = stream.head();
    assert!(head.header("content-type").unwrap().starts_with("text/event-stream"));
    let cached = head.header("cache-control").unwrap();
    assert!(["no-cache", "no-store"].contains(&cached), "{cached}");
    let id = api.write("watch me");
    let events = four(&mut stream);
    assert_eq!(names(&events), STAGES, "R423");
    for event in &events {
        let row = event.json().unwrap();
        assert_eq!(row["event_id"], id);
        assert_eq!(row["event"], event.event);
        let lce = event.id.clone().unwrap();
        check_id(&lce, "lce");
        assert_eq!(row["lifecycle_id"], lce, "C39: the id of the stream is the id of the row");
        assert_eq!(api.get(&format!("/v1/lifecycle/event/{lce}")).ok(200), row);
    }
}

#[test]
fn the_stream_of_a_write_replays_what_happened_before_it_was_opened() {
    let mut api = Api::shared("stream-late");
    let envelope = api.envelope("done before you look");
    let answer = api.post("/v1/experience?wait=settled", &envelope).ok(200);
    let id = string(&answer, "event_id");
    let first = api.get(&format!("/v1/lifecycle?event_id={id}&limit=1")).ok(200);
    let captured = string(&first["items"][0], "lifecycle_id");
    let mut stream = api.stream(&format!("event_id={id}&since_lifecycle_id={captured}"));
    let next: Vec<StreamEvent> = (0..3).map(|_| expect_event(&mut stream)).collect();
    assert_eq!(names(&next), STAGES[1..]);
}

#[test]
fn r309_scope_event_and_kind_filters() {
    let mut api = Api::shared("stream-filter");
    let scope = api.scope.clone();
    let mut by_scope = api.stream(&format!("scope={scope}"));
    let mut elsewhere = api.stream(&format!("scope={scope}x"));
    let mut by_kind = api.stream(&format!("scope={scope}&events=captured,consolidated"));
    let id = api.write("x");
    assert_eq!(names(&four(&mut by_scope)), STAGES);
    let kinds = [expect_event(&mut by_kind), expect_event(&mut by_kind)];
    assert_eq!(names(&kinds), ["captured", "consolidated"]);
    quiet(&mut by_kind);
    quiet(&mut elsewhere);
    let mut by_event =
        api.stream(&format!("event_id={id}&since_lifecycle_id={}", kinds[0].id.clone().unwrap()));
    assert_eq!(expect_event(&mut by_event).event, "extracted");
    api.write("another");
    for event in [expect_event(&mut by_event), expect_event(&mut by_event)] {
        assert_eq!(event.json().unwrap()["event_id"], id);
    }
    quiet(&mut by_event);
}

#[test]
fn a_batch_can_be_watched_alone() {
    let mut api = Api::shared("stream-batch");
    let item = |text: &str| {
        json!({
            "scope": api.scope,
            "modality": "observation",
            "content": {"kind": "text", "text": text},
            "context": {"observed_at": "2026-05-13T15:42:00Z"},
            "idempotency_key": unique_key(),
        })
    };
    let body = json!({"items": [item("a"), item("b")]});
    let mut all = api.stream(&format!("scope={}&events=captured", api.scope));
    let answer = api.post("/v1/experience/bulk", &body).ok(202);
    let first = expect_event(&mut all);
    let batch = string(&answer, "batch_id");
    // Everything after the first `captured` of the batch, and nothing of the write beside it.
    let mut stream =
        api.stream(&format!("batch_id={batch}&since_lifecycle_id={}", first.id.unwrap()));
    api.write("beside it");
    let mut seen = Vec::new();
    for _ in 0..7 {
        seen.push(expect_event(&mut stream));
    }
    let captured = seen.iter().filter(|event| event.event == "captured").count();
    let consolidated = seen.iter().filter(|event| event.event == "consolidated").count();
    assert_eq!((captured, consolidated), (1, 2), "{:?}", names(&seen));
    quiet(&mut stream);
}

#[test]
fn r358_resume_by_header_and_by_parameter_starts_with_the_next_event() {
    let mut api = Api::shared("stream-resume");
    let scope = api.scope.clone();
    let mut stream = api.stream(&format!("scope={scope}"));
    api.write("one");
    let seen = four(&mut stream);
    drop(stream);
    api.write_settled("two, while nobody looked");
    let last = seen[1].id.clone().unwrap();
    let by_parameter = api.stream(&format!("scope={scope}&since_lifecycle_id={last}"));
    let request =
        Request::get(&format!("/v1/lifecycle/stream?scope={scope}")).header("Last-Event-ID", &last);
    let by_header = api.stream_with(&request);
    for mut stream in [by_parameter, by_header] {
        let mut resumed: Vec<StreamEvent> =
            vec![expect_event(&mut stream), expect_event(&mut stream)];
        assert_eq!(resumed[0], seen[2]);
        assert_eq!(resumed[1], seen[3]);
        resumed.clear();
        assert_eq!(names(&four(&mut stream)), STAGES);
        // And then goes on live.
        api.write("three");
        assert_eq!(names(&four(&mut stream)), STAGES);
    }
}

/// An id from the future, invented or from before the clock was set back, does not silence a stream.
#[test]
fn a_stream_that_resumes_after_a_future_event_shows_what_comes() {
    let mut api = Api::shared("stream-future");
    let scope = api.scope.clone();
    api.write_settled("before");
    let future = "lce_f1890000000070008000000000000000";
    let mut stream = api.stream(&format!("scope={scope}&since_lifecycle_id={future}"));
    api.write("after");
    assert_eq!(names(&four(&mut stream)), STAGES);
}

/// No event is lost or doubled at the seam between replay and live.
#[test]
fn resuming_while_others_write_loses_and_doubles_nothing() {
    let mut api = Api::shared("stream-seam");
    let scope = api.scope.clone();
    let query = format!("scope={scope}&events=captured");
    let mut stream = api.stream(&query);
    let first = api.write("first");
    let mut last = expect_event(&mut stream).id.unwrap();
    drop(stream);
    let mut client = api.another_client();
    let template = api.envelope("burst");
    let writer = std::thread::spawn(move || {
        for _ in 0..60 {
            let mut envelope = template.clone();
            envelope["idempotency_key"] = json!(unique_key());
            let answer = client.send(&Request::post("/v1/experience", &envelope)).unwrap();
            assert_eq!(answer.status, 202, "{}", answer.text());
        }
    });
    let mut seen = vec![first];
    while seen.len() < 61 {
        let mut stream = api.stream(&format!("{query}&since_lifecycle_id={last}"));
        for _ in 0..5 {
            if seen.len() == 61 {
                break;
            }
            let event = expect_event(&mut stream);
            last = event.id.clone().unwrap();
            seen.push(string(&event.json().unwrap(), "event_id"));
        }
    }
    writer.join().unwrap();
    let mut stream = api.stream(&format!("{query}&since_lifecycle_id={last}"));
    quiet(&mut stream);
    let mut listed = api.list(&format!("scope={scope}&limit=1000"));
    listed.sort();
    seen.sort();
    assert_eq!(seen, listed);
}

#[test]
fn c20_only_lifecycle_ids_resume_a_stream() {
    let mut api = Api::shared("stream-ids");
    let id = api.write("x");
    let refused = |request: &Request| {
        let response = api.client.stream(request).unwrap().expect_err("not a stream");
        crate::harness::Answer::checked("GET", &request.target, response).fails(422, "INVALID_ID");
    };
    refused(&Request::get(&format!("/v1/lifecycle/stream?since_lifecycle_id={id}")));
    refused(&Request::get("/v1/lifecycle/stream").header("Last-Event-ID", &id));
    refused(&Request::get("/v1/lifecycle/stream?since_lifecycle_id=yesterday"));
    refused(&Request::get("/v1/lifecycle/stream?event_id=lce_01890000000070008000000000000000"));
    refused(&Request::get("/v1/lifecycle/stream?batch_id=x"));
}

#[test]
fn r309_unknown_kinds_are_refused_and_job_filters_are_quiet() {
    let mut api = Api::shared("stream-kinds");
    let response = api
        .client
        .stream(&Request::get("/v1/lifecycle/stream?events=captured,exploded"))
        .unwrap()
        .expect_err("not a stream");
    assert_eq!(response.status, 422);
    let hex = "01890000000070008000000000000000";
    for filter in ["job_id=job_", "import_id=imp_", "export_id=exp_", "erasure_id=erasure_"] {
        let mut stream = api.stream(&format!("scope={}&{filter}{hex}", api.scope));
        api.write("x");
        quiet(&mut stream);
    }
}

/// The names of the catalogue (X) are accepted as filters also where nothing emits them yet.
#[test]
fn every_name_of_the_catalogue_is_a_filter() {
    let api = Api::shared("stream-catalogue");
    for name in [
        "captured",
        "extracted",
        "indexed",
        "consolidated",
        "compressed",
        "forgotten",
        "policy_changed",
        "policy_revoked",
        "import_progress",
        "import_complete",
        "import_error",
        "export_progress",
        "export_complete",
        "erasure_progress",
        "erasure_complete",
        "lagging",
    ] {
        api.stream(&format!("scope={}&events={name}", api.scope));
    }
}

/// A server that ends says so to its streams instead of leaving them hanging.
#[test]
fn streams_close_when_the_server_ends() {
    let own = Own::start();
    let mut api = own.api("stream-end");
    let mut stream = api.stream(&format!("scope={}", api.scope));
    api.write("x");
    four(&mut stream);
    own.server.terminate().unwrap();
    loop {
        match stream.next_within(crate::harness::SOON).unwrap() {
            Next::Closed => break,
            Next::Event(_) => {}
            Next::Quiet => panic!("the stream stays open though the server was asked to end"),
        }
    }
    let mut server = own.server;
    assert!(server.wait().unwrap().success());
}

/// R360: the history outlives the process, so a client can resume across a restart.
#[test]
fn a_stream_resumes_across_a_restart() {
    let own = Own::start();
    let mut api = own.api("stream-restart");
    let scope = api.scope.clone();
    let id = api.write_settled("before");
    let rows = api.get(&format!("/v1/lifecycle?event_id={id}")).ok(200);
    let captured = string(&rows["items"][0], "lifecycle_id");
    let own = own.restart();
    let api = own.api("after");
    let mut stream = api.stream(&format!("scope={scope}&since_lifecycle_id={captured}"));
    let resumed: Vec<StreamEvent> = (0..3).map(|_| expect_event(&mut stream)).collect();
    assert_eq!(names(&resumed), STAGES[1..]);
}

/// R361, R389: a reader that does not read is told how far it fell behind, and nothing is lost.
#[test]
fn r361_r389_a_reader_that_does_not_read_is_told_and_can_resume() {
    let lag = Duration::from_millis(500);
    let own = Own::start_with(&[("LAMINA_LIMITS_STREAM_LAG_MS", "500")]);
    let mut api = own.api("lagging");
    let scope = api.scope.clone();
    let mut stream = api.stream(&format!("scope={scope}"));
    let mut written = 0;
    // More than the sockets and the server hold between them, so that the stream has to wait.
    for _ in 0..6 {
        let items: Vec<Value> = (0..1_000)
            .map(|_| {
                let mut item = envelope(&scope, "hello");
                item.as_object_mut().unwrap().remove("scope");
                item
            })
            .collect();
        let body = json!({"scope": scope, "items": items});
        api.post("/v1/experience/bulk?wait=settled", &body).ok(202);
        written += items.len();
    }
    // However fast all of this was: from here on whatever waits is older than the limit.
    std::thread::sleep(lag);
    let mut seen = Vec::new();
    let lagging = loop {
        let event = expect_event(&mut stream);
        match event.id {
            Some(id) => seen.push(id),
            None => break event,
        }
    };
    assert_eq!(lagging.event, "lagging");
    let said = lagging.json().unwrap();
    assert_eq!(said["since_lifecycle_id"].as_str(), seen.last().map(String::as_str));
    let behind = said["behind_by"].as_str().unwrap();
    let seconds: f64 = behind.trim_start_matches("PT").trim_end_matches('S').parse().unwrap();
    assert!(seconds >= 0.5, "{behind}");
    assert_eq!(stream.next_within(SOON).unwrap(), Next::Closed);
    // One for each of the four stages.
    assert!(!seen.is_empty() && seen.len() < 4 * written, "{}", seen.len());
    let last = seen.last().unwrap().clone();
    let mut resumed = api.stream(&format!("scope={scope}&since_lifecycle_id={last}"));
    while seen.len() < 4 * written {
        seen.push(expect_event(&mut resumed).id.unwrap());
    }
    assert!(seen.is_sorted_by(|one, two| one < two), "in order, and none twice");
}
