//! Starts, stops and kills the real binary.
//!
//! A [`Server`] is ready when the line `listening on http://ADDR:PORT` (or `https`) was read from its standard
//! output, the same promise that scripts rely on; nothing here sleeps and hopes. It is killed when
//! the value is dropped, so that a failing test leaves nothing running.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::client::{Client, Deadline};

/// What `serve` prints before the address when it is ready.
const READY: &str = "listening on ";
/// A server that is not ready by then will not be.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Longer than any orderly end takes.
const END_TIMEOUT: Duration = Duration::from_secs(60);
/// Between two looks at a process.
const POLL: Duration = Duration::from_millis(5);

/// How to start a server. Everything not said here is the binary's own default.
#[derive(Debug, Clone)]
pub struct Launch {
    binary: PathBuf,
    data: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
    data: PathBuf,
    printed: Arc<Mutex<String>>,
    logged: Arc<Mutex<String>>,
}

impl Launch {
    /// The binary, on a free port of the loopback interface, with its data in `data`.
    pub fn new(binary: &Path, data: &Path) -> Launch {
        Launch {
            binary: binary.to_owned(),
            data: data.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// The same with one more argument after `serve`.
    pub fn argument(mut self, argument: impl Into<String>) -> Launch {
        self.arguments.push(argument.into());
        self
    }

    /// The same with an environment variable.
    pub fn environment(mut self, name: &str, value: impl Into<String>) -> Launch {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Starts it and kills it so soon after, ready or not.
    pub fn start_and_kill(&self, after: Duration) -> anyhow::Result<()> {
        let mut child = self
            .command()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", self.binary.display()))?;
        std::thread::sleep(after);
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = command(&self.binary);
        command.arg("serve").arg("--data").arg(&self.data);
        if !self.arguments.iter().any(|argument| argument == "--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Starts it and waits until it is ready.
    pub fn start(&self) -> anyhow::Result<Server> {
        let mut child = self
            .command()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.binary.display()))?;
        let printed = Arc::new(Mutex::new(String::new()));
        let logged = Arc::new(Mutex::new(String::new()));
        let (ready, when_ready) = mpsc::channel();
        let readers = [
            child.stdout.take().map(|out| collect(out, Arc::clone(&printed), Some(ready))),
            child.stderr.take().map(|err| collect(err, Arc::clone(&logged), None)),
        ];
        let address = match when_ready.recv_timeout(START_TIMEOUT) {
            Ok(address) => address,
            Err(why) => {
                let _ = child.kill();
                let status = child.wait()?;
                join(readers);
                let what = match why {
                    RecvTimeoutError::Timeout => "was not ready in time",
                    RecvTimeoutError::Disconnected => "ended before it was ready",
                };
                bail!("the server {what} ({status}):\n{}{}", text(&printed), text(&logged));
            }
        };
        Ok(Server { child, address, data: self.data.clone(), printed, logged })
    }
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its data directory.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A client of it.
    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// What it wrote to its standard output so far.
    pub fn printed(&self) -> String {
        text(&self.printed)
    }

    /// What it wrote to its standard error so far.
    pub fn logged(&self) -> String {
        text(&self.logged)
    }

    /// `kill -9`: no warning, no clean-up.
    pub fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to end (`SIGTERM`) without waiting.
    pub fn terminate(&self) -> anyhow::Result<()> {
        self.signal(Signal::TERM)
    }

    /// Asks it to read its files again (`SIGHUP`).
    pub fn hang_up(&self) -> anyhow::Result<()> {
        self.signal(Signal::HUP)
    }

    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let raw = i32::try_from(self.child.id()).context("process id")?;
        let pid = Pid::from_raw(raw).context("process id")?;
        kill_process(pid, signal)?;
        Ok(())
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> anyhow::Result<ExitStatus> {
        wait(&mut self.child, END_TIMEOUT)
    }

    /// Asks it to end and waits until it has.
    pub fn stop(mut self) -> anyhow::Result<ExitStatus> {
        self.terminate()?;
        self.wait()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the binary with these arguments to its end, for commands that do not serve.
pub fn run(binary: &Path, arguments: &[&str]) -> anyhow::Result<Output> {
    run_with(binary, arguments, &[])
}

/// The same with environment variables.
pub fn run_with(
    binary: &Path,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> anyhow::Result<Output> {
    let mut child = command(binary)
        .args(arguments)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", binary.display()))?;
    let printed = Arc::new(Mutex::new(String::new()));
    let logged = Arc::new(Mutex::new(String::new()));
    let readers = [
        child.stdout.take().map(|out| collect(out, Arc::clone(&printed), None)),
        child.stderr.take().map(|err| collect(err, Arc::clone(&logged), None)),
    ];
    let status = wait(&mut child, END_TIMEOUT)
        .with_context(|| format!("lamina {arguments:?}:\n{}{}", text(&printed), text(&logged)))?;
    join(readers);
    Ok(Output { status, stdout: text(&printed).into_bytes(), stderr: text(&logged).into_bytes() })
}

/// The binary without any setting of the caller's environment.
fn command(binary: &Path) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in std::env::vars() {
        if name.starts_with("LAMINA_") || name.starts_with("CORTEX_") || name == "RUST_LOG" {
            command.env_remove(name);
        }
    }
    command
}

/// Waits with a limit. The limit passed is an error, and the process is killed.
fn wait(child: &mut Child, limit: Duration) -> anyhow::Result<ExitStatus> {
    let deadline = Deadline::after(limit);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if deadline.passed() {
            let _ = child.kill();
            child.wait()?;
            bail!("the process did not end within {limit:?}");
        }
        std::thread::sleep(POLL);
    }
}

/// Waits until everything that the process wrote is read: its end comes before that of its pipes.
fn join(readers: [Option<JoinHandle<()>>; 2]) {
    for reader in readers.into_iter().flatten() {
        // A reader that panicked has lost text, which the test will notice.
        let _ = reader.join();
    }
}

/// Reads a pipe to its end in a thread, so that the process never blocks on a full one.
fn collect(
    pipe: impl Read + Send + 'static,
    into: Arc<Mutex<String>>,
    mut ready: Option<mpsc::Sender<SocketAddr>>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while let Ok(1..) = reader.read_until(b'\n', &mut line) {
            let text = String::from_utf8_lossy(&line).into_owned();
            line.clear();
            into.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
            let address = text
                .split_once(READY)
                .and_then(|(_, rest)| rest.split_once("://"))
                .and_then(|(_, rest)| rest.split(['/', ' ', '\n', '\r']).next())
                .and_then(|address| address.parse().ok());
            if let Some(address) = address
                && let Some(ready) = ready.take()
            {
                // The receiver is gone only if the start was given up.
                let _ = ready.send(address);
            }
        }
    })
}

fn text(shared: &Mutex<String>) -> String {
    shared.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
