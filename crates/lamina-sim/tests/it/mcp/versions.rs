//! Every way to memory does the same, and what an endpoint file may say wrongly.

use std::net::TcpListener;

use lamina_env::{RealDisk, disk::read_file, disk::write_atomic};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::processes::{Ground, endpoint, number, words};
use super::stdio::AgentClient;

/// Calls every tool, a resource and a prompt, and a mistake.
pub(super) fn every_tool_works(client: &mut AgentClient) {
    let written = client.call("memory_append", json!({"text": "Maria works at Northwind."}));
    let written = written["structuredContent"].clone();
    let citation = written["citation"].as_str().unwrap();
    let checkout = client.call("memory_checkout", json!({"query": "Where does Maria work?"}));
    assert!(checkout["content"][0]["text"].as_str().unwrap().contains("Northwind"), "{checkout}");
    assert_eq!(checkout["structuredContent"]["quality"]["answerability"], "answer_from_memory");
    let why = client.call("memory_why", json!({"id": citation}));
    assert_eq!(why["structuredContent"]["events"][0]["words"], "Maria works at Northwind.");
    let rated = client.call("memory_feedback", json!({"citation": citation, "feedback": "used"}));
    assert_eq!(rated["structuredContent"]["rated"][0], written["event_id"]);
    let preview = client.call("memory_forget", json!({"ids": [written["event_id"]]}));
    let preview_id = preview["structuredContent"]["preview_id"].clone();
    assert!(preview_id.is_string(), "{preview}");
    let mistake = client.call("memory_append", json!({"txt": "x"}));
    assert_eq!(mistake["isError"], true, "{mistake}");
    let brief = client.ask("resources/read", &json!({"uri": "lamina://brief"}));
    assert!(brief["result"]["contents"][0]["text"].is_string(), "{brief}");
    let prompt = json!({"name": "recall", "arguments": {"query": "Maria"}});
    let prompt = client.ask("prompts/get", &prompt);
    assert!(prompt["result"]["messages"].is_array(), "{prompt}");
    let arguments = json!({"ids": [written["event_id"]], "confirm": preview_id});
    let gone = client.call("memory_forget", arguments);
    assert_eq!(gone["structuredContent"]["forgotten"], true, "{gone}");
    let checkout = client.call("memory_checkout", json!({"query": "Where does Maria work?"}));
    assert!(!checkout.to_string().contains("Northwind"), "{checkout}");
}

#[test]
fn m16_embedded_engine_and_server_do_the_same() {
    for arguments in [&["--embedded"] as &[&str], &[], &["--profile", "slim"]] {
        let ground = Ground::new();
        let work = ground.directory.path().join("work");
        let mut client = AgentClient::start(&ground.data(), &work, arguments);
        every_tool_works(&mut client);
        assert_eq!(client.end().0, Some(0));
    }
}

/// A client whose sentences on standard error go to a file.
fn told_client(ground: &Ground) -> (AgentClient, NamedTempFile) {
    let work = ground.directory.path().join("work");
    let mut command = AgentClient::command(&work);
    let told = NamedTempFile::new_in(ground.directory.path()).unwrap();
    command.arg("--data").arg(ground.data()).stderr(told.reopen().unwrap());
    (AgentClient::spawn(&mut command), told)
}

fn sentences(told: &NamedTempFile) -> String {
    String::from_utf8(read_file(&RealDisk, told.path(), 1 << 20).unwrap()).unwrap()
}

fn rewrite(ground: &Ground, change: impl FnOnce(&mut Value)) {
    let mut file = endpoint(&ground.data()).unwrap();
    change(&mut file);
    let path = ground.data().join("endpoint.json");
    write_atomic(&RealDisk, &path, file.to_string().as_bytes()).unwrap();
}

#[test]
fn m14_stale_endpoint_and_foreign_process_are_told_and_never_sent_to() {
    let ground = Ground::new();
    let mut client = ground.client();
    let first = client.append("First.");
    assert_eq!(client.end().0, Some(0));
    assert!(super::processes::kill_server(&ground.data()));
    // The process of this test has the pid and the address now: another program, which must hear nothing.
    let foreign = TcpListener::bind("127.0.0.1:0").unwrap();
    foreign.set_nonblocking(true).unwrap();
    let address = format!("http://{}", foreign.local_addr().unwrap());
    rewrite(&ground, |file| {
        file["address"] = json!(address);
        file["pid"] = json!(std::process::id());
    });
    let (mut client, told) = told_client(&ground);
    let second = client.append("Second.");
    assert_eq!((number(&first), number(&second)), (1, 2));
    assert!(foreign.accept().is_err());
    assert_eq!(client.end().0, Some(0));
    let told = sentences(&told);
    assert!(told.contains(&address) && told.contains("another server is started"), "{told}");
}

#[test]
fn m14_server_of_another_version_is_used_and_told() {
    let ground = Ground::new();
    let mut client = ground.client();
    client.append("First.");
    for version in ["0.0.1", "99.0.0"] {
        rewrite(&ground, |file| file["version"] = json!(version));
        let (mut other, told) = told_client(&ground);
        let answer = other.append("Beside it.");
        let id = answer["result"]["structuredContent"]["event_id"].clone();
        assert_eq!(words(&mut other, &id), "Beside it.");
        assert_eq!(other.end().0, Some(0));
        let told = sentences(&told);
        assert!(told.contains(&format!("is version {version}")), "{told}");
        // Once for each process, however many calls it makes.
        assert_eq!(told.matches(&format!("is version {version}")).count(), 1, "{told}");
    }
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn m14_directory_that_cannot_be_served_is_told_in_the_answer() {
    let ground = Ground::new();
    // A file where the directory should be.
    write_atomic(&RealDisk, &ground.data(), b"no directory").unwrap();
    let mut client = ground.client();
    let answer = client.append("Nowhere.");
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(text.contains("Nothing was sent") && text.contains("lamina serve --data"), "{text}");
    assert_eq!(client.end().0, Some(0));
}
