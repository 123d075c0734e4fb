//! Many processes, one directory: servers that start, are found, are killed.

use std::path::Path;
use std::time::Duration;

use lamina_env::{RealDisk, disk::read_file};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::stdio::AgentClient;
use crate::harness::directory;

/// Clients at once.
const CLIENTS: usize = 8;

/// A data directory beside a workspace with a repository. The server that was started for it ends with it.
struct Ground {
    directory: TempDir,
}

impl Ground {
    fn new() -> Ground {
        let directory = directory();
        std::fs::DirBuilder::new()
            .recursive(true)
            .create(directory.path().join("work/.git"))
            .unwrap();
        Ground { directory }
    }

    fn data(&self) -> std::path::PathBuf {
        self.directory.path().join("data")
    }

    fn client(&self) -> AgentClient {
        AgentClient::start(&self.data(), &self.directory.path().join("work"), &[])
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        kill_server(&self.data());
    }
}

/// Kills the server that the endpoint file names; false if there is none.
fn kill_server(data: &Path) -> bool {
    let Ok(bytes) = read_file(&RealDisk, &data.join("endpoint.json"), 1 << 16) else {
        return false;
    };
    let Ok(endpoint) = serde_json::from_slice::<Value>(&bytes) else { return false };
    let pid = endpoint["pid"].as_i64().and_then(|pid| Pid::from_raw(i32::try_from(pid).unwrap()));
    pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

fn words(client: &mut AgentClient, id: &Value) -> String {
    let why = client.ask("tools/call", &json!({"name": "memory_why", "arguments": {"id": id}}));
    why["result"]["structuredContent"]["events"][0]["words"].as_str().unwrap().to_owned()
}

/// The dense numbers of events are also their count: nothing is lost, and nothing is there twice.
fn number(answer: &Value) -> u64 {
    let citation = answer["result"]["structuredContent"]["citation"].as_str();
    let citation = citation.unwrap_or_else(|| panic!("{answer}"));
    let (_, rest) = citation.split_once("/events/").unwrap();
    rest.split_once('#').unwrap().0.parse().unwrap()
}

#[test]
fn m12_eight_clients_at_once_share_one_server() {
    let ground = Ground::new();
    let threads: Vec<_> = (0..CLIENTS)
        .map(|index| {
            let mut client = ground.client();
            std::thread::spawn(move || {
                let answers: Vec<Value> = (0..3)
                    .map(|turn| client.append(&format!("Client {index} says {turn}.")))
                    .collect();
                assert_eq!(client.end().0, Some(0));
                answers
            })
        })
        .collect();
    let mut numbers = Vec::new();
    for thread in threads {
        numbers.extend(thread.join().unwrap().iter().map(number));
    }
    numbers.sort_unstable();
    let all: Vec<u64> = (1..=CLIENTS as u64 * 3).collect();
    assert_eq!(numbers, all);
}

#[test]
fn m13_m80_appends_survive_kills_of_the_server_once_each() {
    let ground = Ground::new();
    let mut client = ground.client();
    let mut acknowledged = Vec::new();
    let data = ground.data();
    for turn in 0..24 {
        if turn % 6 == 3 {
            // While the call is on its way, or just before.
            let data = data.clone();
            let killer = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(turn));
                kill_server(&data);
            });
            let answer = client.append(&format!("Turn {turn}."));
            killer.join().unwrap();
            if answer["result"]["structuredContent"].is_object() {
                acknowledged.push((turn, answer));
            } else {
                let text = answer["error"]["message"].as_str().unwrap();
                assert!(text.contains("Call again"), "{answer}");
            }
            continue;
        }
        acknowledged.push((turn, client.append(&format!("Turn {turn}."))));
    }
    let mut numbers: Vec<u64> = Vec::new();
    for (turn, answer) in &acknowledged {
        numbers.push(number(answer));
        let id = &answer["result"]["structuredContent"]["event_id"];
        assert_eq!(words(&mut client, id), format!("Turn {turn}."));
    }
    let last = number(&client.append("Last."));
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), acknowledged.len());
    // Every event has the number after the one before: none is there twice.
    assert!(last as usize <= 25 && last as usize > acknowledged.len(), "{last}");
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn m14_m15_server_on_a_socket_ends_after_its_idle_time() {
    let directory = directory();
    let data = directory.path().join("data");
    let socket = directory.path().join("run/lamina.sock");
    let mut server = std::process::Command::new(crate::harness::binary())
        .args(["serve", "--idle-exit", "1s", "--data"])
        .arg(&data)
        .args(["--listen", &format!("unix:{}", socket.display())])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let is_there = (0..3_000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        data.join("endpoint.json").exists()
    });
    assert!(is_there);
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(socket.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(server.wait().unwrap().success());
    assert!(!socket.exists() && !data.join("endpoint.json").exists());
}

#[test]
fn m16_embedded_engine_answers_the_same() {
    let ground = Ground::new();
    let work = ground.directory.path().join("work");
    let mut client = AgentClient::start(&ground.data(), &work, &["--embedded"]);
    let answer = client.append("The engine is in this process.");
    assert_eq!(number(&answer), 1);
    let scope = &answer["result"]["structuredContent"]["scope"];
    assert_eq!(scope, "project:work/session:work-default");
    let id = &answer["result"]["structuredContent"]["event_id"];
    assert_eq!(words(&mut client, id), "The engine is in this process.");
    assert_eq!(client.end().0, Some(0));
    let mut client = AgentClient::start(&ground.data(), &work, &[]);
    assert_eq!(number(&client.append("Now it is a server's.")), 2);
}

#[test]
fn m17_worktrees_are_one_project_and_namesakes_are_two() {
    let ground = Ground::new();
    let root = ground.directory.path();
    let make =
        |path: &str| std::fs::DirBuilder::new().recursive(true).create(root.join(path)).unwrap();
    let write = |path: &str, text: &str| {
        let file = lamina_env::Disk::create_new(&RealDisk, &root.join(path)).unwrap();
        file.write_at(text.as_bytes(), 0).unwrap();
    };
    make("work/src/deep");
    make("work/.git/worktrees/side");
    make("side");
    write("work/.git/worktrees/side/commondir", "../..\n");
    write("side/.git", &format!("gitdir: {}\n", root.join("work/.git/worktrees/side").display()));
    make("elsewhere/work/.git");
    let scope = |place: &str| {
        let mut client = AgentClient::start(&ground.data(), &root.join(place), &[]);
        let answer = client.append("Here.");
        answer["result"]["structuredContent"]["scope"].as_str().unwrap().to_owned()
    };
    let home = scope("work");
    assert_eq!(home, "project:work/session:work-default");
    assert_eq!(scope("work/src/deep"), home);
    assert_eq!(scope("side"), home);
    let namesake = scope("elsewhere/work");
    assert_ne!(namesake, home);
    assert!(namesake.starts_with("project:work-"), "{namesake}");
}
