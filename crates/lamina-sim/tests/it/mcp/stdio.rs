//! `lamina mcp` as a client sees it: lines in, lines out.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{binary, directory};

/// How long an answer is waited for. Starting a debug build on a busy machine takes its time.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(120);

/// A client with its `lamina mcp`.
pub(crate) struct AgentClient {
    pub(super) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
}

impl AgentClient {
    /// Starts one for a directory, in a workspace.
    pub(crate) fn start(data: &Path, workspace: &Path, arguments: &[&str]) -> AgentClient {
        let mut command = AgentClient::command(workspace);
        command.arg("--data").arg(data).args(arguments);
        AgentClient::spawn(&mut command)
    }

    /// `lamina mcp` in a workspace, without arguments.
    pub(super) fn command(workspace: &Path) -> Command {
        let mut command = Command::new(binary());
        command
            .arg("mcp")
            .current_dir(workspace)
            .env("PWD", workspace)
            .env_remove("CLAUDE_PROJECT_DIR")
            .env("LAMINA_STORAGE_SEGMENT_BYTES", "4194304");
        command
    }

    pub(super) fn spawn(command: &mut Command) -> AgentClient {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        AgentClient { child, input, lines, next_id: 0 }
    }

    pub(crate) fn write(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next_id += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        self.write(message.to_string().as_bytes());
        self.next_id
    }

    pub(crate) fn read(&mut self) -> Value {
        let line = self.lines.recv_timeout(ANSWER_TIME_MAX).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(super) fn append(&mut self, text: &str) -> Value {
        self.ask("tools/call", &json!({"name": "memory_append", "arguments": {"text": text}}))
    }

    /// Sends an append without waiting for its answer.
    pub(super) fn send_append(&mut self, text: &str) -> u64 {
        self.send("tools/call", &json!({"name": "memory_append", "arguments": {"text": text}}))
    }

    /// The result of a call of a tool.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Goes away without a word: both pipes are closed, nobody waits.
    pub(super) fn vanish(self) -> Child {
        self.child
    }

    /// Waits for the end, with standard input open.
    pub(super) fn exit(mut self) -> (Option<i32>, Vec<String>) {
        let status = self.child.wait().unwrap();
        (status.code(), self.lines.iter().collect())
    }

    /// Closes standard input and waits for the end.
    pub(crate) fn end(mut self) -> (Option<i32>, Vec<String>) {
        drop(self.input.take());
        let status = self.child.wait().unwrap();
        (status.code(), self.lines.iter().collect())
    }
}

#[test]
fn m6_m10_lists_are_answered_without_opening_anything() {
    let directory = directory();
    let data = directory.path().join("data");
    let mut client = AgentClient::start(&data, directory.path(), &[]);
    let started =
        client.ask("initialize", &json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
    assert_eq!(started["result"]["protocolVersion"], "2025-06-18");
    client.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let listed = client.ask("tools/list", &json!({}));
    assert!(listed["result"]["tools"].as_array().unwrap().len() >= 4);
    client.write(b"no json");
    assert_eq!(client.read()["error"]["code"], -32_700);
    client.write(&vec![b' '; (4 << 20) + 1]);
    client.write(&vec![b'x'; (4 << 20) + 1]);
    let errors = [client.read(), client.read()];
    assert!(errors.iter().all(|error| error["error"]["code"] == -32_600), "{errors:?}");
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.ask("server/discover", &json!({"_meta": meta}));
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    let id = client.send("subscriptions/listen", &json!({"_meta": meta, "notifications": {}}));
    let acknowledged = client.read();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    let (code, rest) = client.end();
    assert_eq!(code, Some(0));
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert!(!data.exists());
}
