//! Where the server of a data directory can be reached: the socket it listens on, and the file that tells `lamina
//! mcp` and others about it.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use lamina_env::{Disk as _, DiskFile, RealDisk};
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, UnixListener, UnixStream};

use lamina_engine::open::LOCK_FILE;

use crate::config::{Config, Listen};
use crate::http::listen::Acceptor;

/// The file in the data directory.
const FILE_NAME: &str = "endpoint.json";
/// Between two attempts to get the lock beside a socket.
const LOCK_INTERVAL: Duration = Duration::from_millis(5);
/// Bytes of the file.
const FILE_BYTES_MAX: u64 = 16 << 10;

/// A socket that is listened on.
pub(super) struct Bound {
    /// `http://ADDRESS:PORT`, `https://ADDRESS:PORT` or `unix:PATH`.
    pub(super) address: String,
    pub(super) acceptor: Acceptor,
}

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Endpoint {
    /// `http://ADDRESS:PORT`, `https://ADDRESS:PORT` or `unix:PATH`.
    pub(super) address: String,
    /// The process.
    pub(super) pid: u32,
    /// The version of the program.
    pub(super) version: String,
    /// The preset it was started with.
    pub(super) preset: String,
}

/// Listens. A socket that a server left behind is taken away, one that answers is not.
pub(super) async fn bind(config: &Config) -> io::Result<Bound> {
    match &config.listen {
        Listen::Tcp(address) => {
            let listener = TcpListener::bind(address).await?;
            let scheme = if config.tls.is_some() { "https" } else { "http" };
            let address = format!("{scheme}://{}", listener.local_addr()?);
            Ok(Bound { address, acceptor: listener.into() })
        }
        Listen::Unix(path) => {
            if let Some(parent) = path.parent().filter(|parent| !RealDisk.exists(parent)) {
                RealDisk.create_dir_all(parent)?;
            }
            // Of several servers that find a socket left behind one removes it; the others find the new one.
            let guard = lock_beside(path).await?;
            remove_stale(path).await?;
            let listener = UnixListener::bind(path)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
            drop(guard);
            Ok(Bound { address: format!("unix:{}", path.display()), acceptor: listener.into() })
        }
    }
}

/// Waits for the lock under which a socket is removed and made anew.
async fn lock_beside(path: &Path) -> io::Result<Box<dyn DiskFile>> {
    let path = path.with_extension("lock");
    let file = match RealDisk.create_new(&path) {
        Ok(file) => file,
        Err(_) => RealDisk.open(&path)?,
    };
    while !file.try_lock()? {
        tokio::time::sleep(LOCK_INTERVAL).await;
    }
    Ok(file)
}

async fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        let reason = "there is a file of this name that is no socket";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
    }
    if UnixStream::connect(path).await.is_ok() {
        let reason = "another server listens on this socket";
        return Err(io::Error::new(io::ErrorKind::AddrInUse, reason));
    }
    RealDisk.remove(path)
}

/// Tells where this server is. One that cannot is found by its address only.
pub(super) fn publish(config: &Config, address: &str) {
    let endpoint = Endpoint {
        address: address.to_owned(),
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        preset: config.preset.to_string(),
    };
    let written = serde_json::to_vec(&endpoint)
        .map_err(io::Error::other)
        .and_then(|bytes| lamina_env::disk::write_atomic(&RealDisk, &file(&config.data), &bytes));
    if let Err(error) = written {
        tracing::warn!(%error, "other processes are not told where this server is");
    }
}

/// Takes back what [`bind`] left in the file system.
pub(super) fn unbind(config: &Config) {
    if let Listen::Unix(path) = &config.listen
        && let Err(error) = RealDisk.remove(path)
    {
        tracing::debug!(%error, path = %path.display(), "a socket was not removed");
    }
}

/// Takes back what [`publish`] and [`bind`] left in the file system.
pub(super) fn withdraw(config: &Config) {
    let mut gone = vec![file(&config.data)];
    if let Listen::Unix(path) = &config.listen {
        gone.push(path.clone());
    }
    for path in gone {
        if let Err(error) = RealDisk.remove(&path) {
            tracing::debug!(%error, path = %path.display(), "a file was not removed");
        }
    }
}

/// Where the server of a directory is, as its file says. Whether it still is there, only a connection tells.
pub(super) fn read(data: &Path) -> Option<Endpoint> {
    let bytes = lamina_env::disk::read_file(&RealDisk, &file(data), FILE_BYTES_MAX).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Removes the file that a server left behind, and returns true, if no process holds the lock of the directory. A
/// server holds the lock some time before it says where it is: the file of another must be gone by then.
pub(super) fn withdraw_stale(data: &Path) -> bool {
    let Ok(lock) = RealDisk.open(&data.join(LOCK_FILE)) else {
        return true;
    };
    if !lock.try_lock().unwrap_or(false) {
        return false;
    }
    let path = file(data);
    if RealDisk.exists(&path)
        && let Err(error) = RealDisk.remove(&path)
    {
        tracing::debug!(%error, path = %path.display(), "a file was not removed");
    }
    true
}

pub(super) fn file(data: &Path) -> PathBuf {
    data.join(FILE_NAME)
}
