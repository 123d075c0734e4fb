//! Many processes, one directory: servers that start, are found, are killed.

use std::path::Path;
use std::time::Duration;

use lamina_env::{RealDisk, disk::read_file};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::stdio::AgentClient;
use crate::harness::directory;

/// Memory of one `lamina mcp`, without the pages of the program file, which all of them share. A build without
/// optimization takes a little more than 15 MB.
const PROXY_BYTES_MAX: u64 = 18 << 20;

/// Clients at once.
const CLIENTS: usize = 8;

/// A data directory beside a workspace with a repository. The server that was started for it ends with it.
pub(super) struct Ground {
    pub(super) directory: TempDir,
}

impl Ground {
    pub(super) fn new() -> Ground {
        let directory = directory();
        std::fs::DirBuilder::new()
            .recursive(true)
            .create(directory.path().join("work/.git"))
            .unwrap();
        Ground { directory }
    }

    pub(super) fn data(&self) -> std::path::PathBuf {
        self.directory.path().join("data")
    }

    pub(super) fn client(&self) -> AgentClient {
        AgentClient::start(&self.data(), &self.directory.path().join("work"), &[])
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        kill_server(&self.data());
    }
}

/// Kills the server that the endpoint file names; false if there is none.
pub(super) fn kill_server(data: &Path) -> bool {
    let Some(endpoint) = endpoint(data) else { return false };
    let pid = endpoint["pid"].as_i64().and_then(|pid| Pid::from_raw(i32::try_from(pid).unwrap()));
    pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

/// What the endpoint file says.
pub(super) fn endpoint(data: &Path) -> Option<Value> {
    let bytes = read_file(&RealDisk, &data.join("endpoint.json"), 1 << 16).ok()?;
    serde_json::from_slice(&bytes).ok()
}

pub(super) fn words(client: &mut AgentClient, id: &Value) -> String {
    let why = client.ask("tools/call", &json!({"name": "memory_why", "arguments": {"id": id}}));
    why["result"]["structuredContent"]["events"][0]["words"].as_str().unwrap().to_owned()
}

/// The dense numbers of events are also their count: nothing is lost, and nothing is there twice.
pub(super) fn number(answer: &Value) -> u64 {
    let citation = answer["result"]["structuredContent"]["citation"].as_str();
    let citation = citation.unwrap_or_else(|| panic!("{answer}"));
    let (_, rest) = citation.split_once("/events/").unwrap();
    rest.split_once('#').unwrap().0.parse().unwrap()
}

/// The memory of a process that is its own.
fn resident_bytes(pid: u32) -> u64 {
    let path = format!("/proc/{pid}/status");
    let bytes = std::process::Command::new("cat").arg(path).output().unwrap().stdout;
    let text = String::from_utf8(bytes).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() << 10
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
                let resident = resident_bytes(client.child.id());
                assert!(resident <= PROXY_BYTES_MAX, "{resident}");
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
    // A linked worktree stays in its project when its directory is gone.
    lamina_env::Disk::remove(&RealDisk, &root.join("side/.git")).unwrap();
    std::fs::remove_dir(root.join("side")).unwrap();
    let mut command = AgentClient::command(root);
    command.arg("--data").arg(ground.data()).env("CLAUDE_PROJECT_DIR", root.join("side/src"));
    let mut client = AgentClient::spawn(&mut command);
    let answer = client.append("There.");
    assert_eq!(answer["result"]["structuredContent"]["scope"], json!(home));
    let namesake = scope("elsewhere/work");
    assert_ne!(namesake, home);
    assert!(namesake.starts_with("project:work-"), "{namesake}");
}

#[test]
fn m18_variables_of_other_programs_name_project_and_session() {
    let ground = Ground::new();
    let work = ground.directory.path().join("work");
    let scope = |place: &std::path::Path, variables: &[(&str, &str)]| {
        let mut command = AgentClient::command(place);
        command.arg("--data").arg(ground.data()).env("USER", "ann").envs(variables.iter().copied());
        let mut client = AgentClient::spawn(&mut command);
        let answer = client.append("Here.");
        answer["result"]["structuredContent"]["scope"].as_str().unwrap().to_owned()
    };
    let log = ground.directory.path().join("elsewhere/.eventloom");
    let log = log.to_str().unwrap();
    std::fs::DirBuilder::new().recursive(true).create(log).unwrap();
    for (variables, expected) in [
        (&[("ZAXY_DOMAIN", "zaxy")] as &[_], "project:zaxy/session:zaxy-default"),
        (&[("EVENTLOOM_THREAD", "t.1")], "project:work/session:t_2E1"),
        (&[("EVENTLOOM_PATH", log)], "project:elsewhere/session:elsewhere-default"),
        (&[("ZAXY_DOMAIN", "z"), ("EVENTLOOM_THREAD", "t")], "project:z/session:t"),
    ] {
        assert_eq!(scope(&work, variables), expected, "{variables:?}");
    }
    // Where no project is, it is the person's own scope.
    for place in ["/", "/tmp"] {
        let found = scope(std::path::Path::new(place), &[]);
        assert_eq!(found, "user:ann/session:ann-default", "{place}");
    }
}
