//! The one server of a data directory: finds it, or starts it detached. Of several that start one at once, the lock
//! of the directory lets one win, and the others find it.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{sleep, timeout};

use crate::cli::endpoint::{self, Endpoint};
use crate::cli::exit::Exit;

/// Until a started server answers. Opening a large directory takes its time.
const START_TIME_MAX: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// Servers that end at once while no process has the directory, until it is taken as unusable.
const REFUSALS_MAX: usize = 3;
/// Between two attempts to start one, where another process still has the directory.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// Until a connection on this machine stands.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(2);
/// How long a started server waits for work.
const IDLE_EXIT: &str = "15m";
/// Bytes of the path of a socket; systems take 104 to 108.
const SOCKET_PATH_BYTES_MAX: usize = 100;
const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");
/// The socket in the data directory.
const SOCKET_NAME: &str = "lamina.sock";

/// A connection to a server of this machine.
pub(super) enum LocalStream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// Connects to the server of a directory, and starts it if there is none.
pub(super) async fn connect(data: &Path) -> io::Result<LocalStream> {
    if let Some(stream) = connect_running(data).await {
        return Ok(stream);
    }
    let started = timeout(START_TIME_MAX, start(data)).await;
    started.unwrap_or_else(|_| {
        let text = format!(
            "no server answers for {} within {} s: run `lamina serve --data {}` to see why",
            data.display(),
            START_TIME_MAX.as_secs(),
            data.display()
        );
        Err(io::Error::new(io::ErrorKind::TimedOut, text))
    })
}

/// What is said of a server of another version. Both speak the protocol; only tools and arguments may differ.
fn version_difference(server: &str, data: &Path) -> Option<String> {
    (server != OWN_VERSION).then(|| {
        format!(
            "the server of {} is version {server}, this command is {OWN_VERSION}: it is used as it is; end it to \
             have the next call start one of this version",
            data.display()
        )
    })
}

/// Writes a sentence to standard error, once for each process.
fn tell_once(sentence: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if TOLD.lock().insert(sentence.to_owned()) {
        // A client that closed the stream reads no sentences.
        drop(writeln!(io::stderr().lock(), "lamina mcp: {sentence}"));
    }
}

async fn start(data: &Path) -> io::Result<LocalStream> {
    let mut child = spawn(data)?;
    let mut has_ended = false;
    let mut refusals = 0;
    loop {
        if let Some(stream) = connect_running(data).await {
            reap(child);
            return Ok(stream);
        }
        match child.try_wait()? {
            None => sleep(LOOK_INTERVAL).await,
            // The directory is in use, by a server that starts or ends right now, or cannot be used at all.
            Some(status)
                if status.code() == Some(Exit::Unreadable as i32) && refusals < REFUSALS_MAX =>
            {
                if has_ended && endpoint::withdraw_stale(data) {
                    refusals += 1;
                }
                if has_ended {
                    child = spawn(data)?;
                } else {
                    sleep(RETRY_INTERVAL).await;
                }
                has_ended = !has_ended;
            }
            Some(status) if status.code() == Some(Exit::Schema as i32) => {
                let text = format!(
                    "{} was written by a newer version of lamina than {OWN_VERSION}: update this one",
                    data.display()
                );
                return Err(io::Error::other(text));
            }
            Some(status) => {
                let text = format!(
                    "the server of {} could not be started ({status}): run `lamina serve --data {}` to see why",
                    data.display(),
                    data.display()
                );
                return Err(io::Error::other(text));
            }
        }
    }
}

/// Waits for a server that outlives its use here, so that it does not stay as a zombie.
fn reap(mut child: Child) {
    // Nothing is done with how it ends.
    std::thread::spawn(move || drop(child.wait()));
}

fn spawn(data: &Path) -> io::Result<Child> {
    let socket = data.join(SOCKET_NAME);
    let listen = match socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        true => format!("unix:{}", socket.display()),
        false => "127.0.0.1:0".to_owned(),
    };
    Command::new(std::env::current_exe()?)
        .arg("serve")
        .arg("--data")
        .arg(data)
        .args(["--listen", &listen, "--idle-exit", IDLE_EXIT])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C in the terminal of a client is not meant for it.
        .process_group(0)
        .spawn()
}

/// Connects to the server that the endpoint file names, if it is there. A file that was left behind, or came with a
/// copy of the directory, names a process that does not hold the lock of the directory: whoever answers there has
/// another memory, or is another program.
async fn connect_running(data: &Path) -> Option<LocalStream> {
    let endpoint = endpoint::read(data)?;
    if endpoint::withdraw_stale(data) {
        tell_once(&format!(
            "{} names process {} at {}, which does not serve this directory: another server is started",
            endpoint::file(data).display(),
            endpoint.pid,
            endpoint.address
        ));
        return None;
    }
    if let Some(told) = version_difference(&endpoint.version, data) {
        tell_once(&told);
    }
    let Endpoint { address, .. } = endpoint;
    let connected = async {
        match address.strip_prefix("unix:") {
            Some(path) => UnixStream::connect(path).await.map(LocalStream::Unix),
            None => {
                let address = address.strip_prefix("http://").unwrap_or_default();
                TcpStream::connect(address).await.map(LocalStream::Tcp)
            }
        }
    };
    timeout(CONNECT_TIME_MAX, connected).await.ok()?.ok()
}
