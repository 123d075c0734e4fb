//! Starting a thread of the engine, so that its end is never a secret and the directory stays locked
//! for as long as one of them works on it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use lamina_env::DiskFile;

use crate::OpenError;
use crate::engine::Shared;
use crate::open::io_error;

/// Which thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Writer,
    Applier,
    Stages,
    Derive,
    Model,
    Scrub,
    Audit,
    Index,
    Commit,
    Embed,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Writer => "lamina-writer",
            Role::Applier => "lamina-applier",
            Role::Stages => "lamina-stages",
            Role::Derive => "lamina-derive",
            Role::Model => "lamina-model",
            Role::Scrub => "lamina-scrub",
            Role::Audit => "lamina-audit",
            Role::Index => "lamina-index",
            Role::Commit => "lamina-commit",
            Role::Embed => "lamina-embed",
        }
    }
}

/// Starts a thread. Should it panic, health says so and what depends on it is refused.
pub(crate) fn spawn(
    role: Role,
    shared: &Arc<Shared>,
    lock: &Arc<dyn DiskFile>,
    body: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, OpenError> {
    let (fallen, lock) = (Fallen { role, shared: Arc::clone(shared) }, Arc::clone(lock));
    let thread = std::thread::Builder::new().name(role.name().to_owned()).spawn(move || {
        let _lock = lock;
        let _fallen = fallen;
        body();
    });
    thread.map_err(|source| io_error("given threads", Path::new(role.name()), source))
}

/// Tells the others when its thread panics.
struct Fallen {
    role: Role,
    shared: Arc<Shared>,
}

impl Drop for Fallen {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        tracing::error!(thread = self.role.name(), "a thread of the engine panicked");
        let reason = || Some("its thread panicked".to_owned());
        match self.role {
            // What it had half done on disk is for the next open to find out.
            Role::Writer => self.shared.writer.log.lock().poisoned = true,
            Role::Applier => {
                *self.shared.views_failed.lock() = reason();
                self.shared.applied.stop();
            }
            Role::Stages | Role::Derive => *self.shared.stages_failed.lock() = reason(),
            Role::Model => self.shared.model_failed.store(true, Ordering::Relaxed),
            Role::Scrub => *self.shared.scrub.damage.lock() = reason(),
            Role::Audit => *self.shared.audit.failed.lock() = reason(),
            Role::Embed => self.shared.embed_failed.store(true, Ordering::Relaxed),
            // It is searched by reading instead.
            Role::Index | Role::Commit => self.shared.index_failed.store(true, Ordering::Relaxed),
        }
    }
}
