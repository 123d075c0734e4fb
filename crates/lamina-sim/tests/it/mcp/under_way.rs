//! Requests under way: how many, what cancels them, and how `lamina mcp` ends with them.

use std::process::{Command, Stdio};
use std::time::Duration;

use lamina_env::{Clock as _, SystemClock};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::processes::Ground;
use crate::harness::{binary, directory};

/// Requests under way at a time.
const UNDER_WAY_MAX: u64 = 64;

#[test]
fn m7_sixty_four_requests_are_under_way_and_the_next_is_refused() {
    let ground = Ground::new();
    let mut client = ground.client();
    // The first call starts a server, which takes longer than sending all of them.
    let ids: Vec<u64> =
        (0..UNDER_WAY_MAX + 3).map(|turn| client.send_append(&format!("Turn {turn}."))).collect();
    let mut refused = Vec::new();
    let mut answered = Vec::new();
    for _ in &ids {
        let answer = client.read();
        let id = answer["id"].as_u64().unwrap();
        if answer["error"]["code"] == -32_000 {
            let text = answer["error"]["message"].as_str().unwrap();
            assert!(text.contains("64 requests are under way"), "{text}");
            refused.push(id);
        } else {
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            answered.push(id);
        }
    }
    answered.sort_unstable();
    assert_eq!(refused, ids[UNDER_WAY_MAX as usize..]);
    assert_eq!(answered, ids[..UNDER_WAY_MAX as usize]);
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn m7_cancelled_request_is_not_answered_and_an_id_under_way_is_refused() {
    let ground = Ground::new();
    let mut client = ground.client();
    let cancelled = client.send_append("Cancelled.");
    let twice = json!({"jsonrpc": "2.0", "id": cancelled, "method": "tools/call", "params": {}});
    client.write(twice.to_string().as_bytes());
    let refused = client.read();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(cancelled), &json!(-32_600)));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": cancelled}});
    client.write(cancel.to_string().as_bytes());
    // Lists are answered while calls are under way, and the cancelled call says nothing any more.
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    let other = client.append("Not cancelled.");
    assert_eq!(other["result"]["isError"], false, "{other}");
    let (code, rest) = client.end();
    assert_eq!((code, rest), (Some(0), Vec::new()));
}

#[test]
fn m6_answers_under_way_are_finished_after_the_end_of_input_and_after_signals() {
    let ground = Ground::new();
    // A server is there, so that the answers come within the time that is given to them.
    let mut first = ground.client();
    first.append("First.");
    assert_eq!(first.end().0, Some(0));
    for signal in [None, Some(Signal::TERM), Some(Signal::INT)] {
        let mut client = ground.client();
        client.ask("ping", &json!({}));
        let id = client.send_append("Under way.");
        let started = now_us();
        let mut answers = Vec::new();
        let (code, rest) = match signal {
            None => client.end(),
            Some(signal) => {
                // The line has to be read before the signal is: an answer to the next one tells.
                client.send("ping", &json!({}));
                answers.push(client.read());
                let pid = Pid::from_raw(i32::try_from(client.child.id()).unwrap()).unwrap();
                kill_process(pid, signal).unwrap();
                client.exit()
            }
        };
        assert_eq!(code, Some(0), "{signal:?}");
        assert!(now_us() - started < 15_000_000, "{signal:?}");
        answers.extend(rest.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        let answer = answers.iter().find(|answer| answer["id"] == id);
        let answer = answer.unwrap_or_else(|| panic!("{signal:?}: {rest:?}"));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
}

#[test]
fn m6_client_that_is_gone_with_its_pipe_open_ends_the_proxy() {
    let directory = directory();
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // The test holds the other end of standard input open all the time.
    let script = "exec 3<>\"$2\"; \"$0\" mcp --data \"$1\" <&3 >/dev/null & echo $!; sleep 2";
    let shell = Command::new("sh")
        .args(["-c", script])
        .arg(binary())
        .arg(directory.path().join("data"))
        .arg(&pipe)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let pid: u32 = String::from_utf8(shell.stdout).unwrap().trim().parse().unwrap();
    let gone = now_us();
    while is_running(pid) {
        assert!(now_us() - gone < 30_000_000, "{pid} is still there");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn now_us() -> i64 {
    SystemClock::default().wall().0
}

/// Whether a process is there, other than as a zombie that nobody waits for.
fn is_running(pid: u32) -> bool {
    let state = Command::new("cat").arg(format!("/proc/{pid}/stat")).output().unwrap();
    let text = String::from_utf8(state.stdout).unwrap();
    text.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn m1_batch_on_a_line_is_answered_as_one_line() {
    let ground = Ground::new();
    let mut client = ground.client();
    let version = client.ask("initialize", &json!({"protocolVersion": "2025-03-26"}));
    assert_eq!(version["result"]["protocolVersion"], "2025-03-26");
    let append = |id: u64| {
        let params = json!({"name": "memory_append", "arguments": {"text": format!("Of {id}.")}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    client.write(json!([append(71), ping, told, append(72)]).to_string().as_bytes());
    let answers = client.read();
    let mut ids: Vec<String> =
        answers.as_array().unwrap().iter().map(|answer| answer["id"].to_string()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["\"p\"", "71", "72"], "{answers}");
    // A notification alone has no answer; the next line is the one of the ping.
    client.write(json!([told]).to_string().as_bytes());
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    assert_eq!(client.end(), (Some(0), Vec::new()));
    let mut newer = ground.client();
    newer.ask("initialize", &json!({"protocolVersion": "2025-06-18"}));
    newer.write(json!([ping]).to_string().as_bytes());
    assert_eq!(newer.read()["error"]["code"], -32_600);
}
