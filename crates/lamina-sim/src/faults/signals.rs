//! Signals to a server that is written to, and a second server on its directory.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::scene::launch;
use crate::client::{Client, Request};
use crate::process::{self, Server};

type Case = (&'static str, anyhow::Result<()>);

/// How long a stopped server sleeps.
const STOPPED: Duration = Duration::from_millis(700);

/// Runs all cases.
pub(super) fn all(binary: &Path, folder: &Path) -> anyhow::Result<Vec<Case>> {
    let cases: [(&'static str, &[&str]); 4] = [
        ("SIGTERM", &["TERM"]),
        ("SIGINT", &["INT"]),
        ("SIGKILL", &["KILL"]),
        ("SIGSTOP, SIGCONT", &["STOP", "CONT"]),
    ];
    let mut ended = Vec::new();
    for (name, signals) in cases {
        let data = folder.join("signals");
        ended.push((name, survives(binary, &data, signals)));
        let _ = lamina_env::Disk::remove_dir_all(&lamina_env::RealDisk, &data);
    }
    ended.push(("two servers", second_is_refused(binary, &folder.join("two"))));
    Ok(ended)
}

fn write(client: &mut Client, number: usize) -> anyhow::Result<String> {
    let body = json!({"scope": "org:faults/ws:signals", "content": format!("event {number}")});
    let answer = client.send_once(&Request::post("/v1/experience", &body))?;
    let answer = answer.json()?;
    Ok(answer.get("event_id").and_then(Value::as_str).context("an event id")?.to_owned())
}

fn send(server: &Server, signal: &str) -> anyhow::Result<()> {
    let sent =
        Command::new("kill").arg(format!("-{signal}")).arg(server.pid().to_string()).status()?;
    ensure!(sent.success(), "the signal {signal} was not sent");
    Ok(())
}

/// Everything acknowledged before and during the signals is there after a start.
fn survives(binary: &Path, data: &Path, signals: &[&str]) -> anyhow::Result<()> {
    let mut server = launch(binary, data).start()?;
    let address = server.address();
    let writer = std::thread::spawn(move || {
        let mut client = Client::new(address);
        let mut written = Vec::new();
        for number in 0..2_000 {
            match write(&mut client, number) {
                Ok(id) => written.push(id),
                Err(_) => break,
            }
        }
        written
    });
    std::thread::sleep(Duration::from_millis(300));
    for signal in signals {
        send(&server, signal)?;
        if *signal == "STOP" {
            std::thread::sleep(STOPPED);
        }
    }
    let goes_on = signals.contains(&"CONT");
    if goes_on {
        std::thread::sleep(STOPPED);
        server.terminate()?;
    }
    let status = server.wait()?;
    ensure!(signals == ["KILL"] || status.success(), "the server ended with {status}");
    let Ok(written) = writer.join() else { bail!("the writer panicked") };
    ensure!(!written.is_empty(), "nothing was written");
    let server = launch(binary, data).start()?;
    let mut client = server.client();
    for id in &written {
        let answer = client.send(&Request::get(&format!("/v1/events/{id}")))?;
        ensure!(answer.status == 200, "LOST {id}: {}", answer.text());
    }
    server.stop()?;
    let text = data.to_str().context("a directory that is not UTF-8")?;
    let checked = process::run(binary, &["check", "--data", text])?;
    ensure!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    Ok(())
}

/// The second server says that the directory is in use, and the first goes on.
fn second_is_refused(binary: &Path, data: &Path) -> anyhow::Result<()> {
    let server = launch(binary, data).start()?;
    let mut client = server.client();
    let first = write(&mut client, 1)?;
    let text = data.to_str().context("a directory that is not UTF-8")?;
    for command in [
        &["serve", "--data", text, "--listen", "127.0.0.1:0"][..],
        &["check", "--data", text],
        &["repair", "--data", text],
        &["rebuild", "--data", text],
    ] {
        let refused = process::run(binary, command)?;
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        ensure!(!refused.status.success() && said.contains("in use"), "{command:?}: {said}");
    }
    write(&mut client, 2)?;
    let answer = client.send(&Request::get(&format!("/v1/events/{first}")))?;
    ensure!(answer.status == 200, "{}", answer.text());
    ensure!(server.stop()?.success(), "the first server did not stop in order");
    Ok(())
}
