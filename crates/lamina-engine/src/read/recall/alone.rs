//! Recall without threads and without a search index, for the simulator: over views and a log that somebody
//! else writes. Events are found by reading them; what recall remembers from one question to the next is kept, and
//! has to be forgotten with what is erased.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use lamina_env::Env;
use lamina_store::audit::Peppers;
use lamina_store::ballast::Ballast;
use lamina_store::blob::BlobStore;
use lamina_store::keys::Keys;
use lamina_store::log::LogReader;
use lamina_store::view::Views;
use lamina_types::recall::Recall;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::{MayRecall, Recalled, Tuning};
use crate::admin::Admin;
use crate::admin::standing::Standing;
use crate::audit::AuditAlone;
use crate::audit::retention::Retention;
use crate::clock::ClockGuard;
use crate::derive::backlog::Backlog;
use crate::engine::{Inner, ReadTurns, Shared};
use crate::write::applied::Applied;
use crate::write::apply::Applier;
use crate::write::hub::Hub;
use crate::write::room::Room;
use crate::{Error, OpenError, Settings};

/// Answers questions on the thread that asks them.
pub struct RecallAlone {
    inner: Inner,
}

impl fmt::Debug for RecallAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecallAlone").finish_non_exhaustive()
    }
}

/// What recall reads.
#[derive(Debug)]
pub struct RecallOver<'a> {
    /// Its clock and its disk; nothing of the log is on that disk.
    pub env: Env,
    /// The keys of the log.
    pub keys: &'a Arc<Keys>,
    /// The views.
    pub views: &'a Arc<Views>,
    /// The log.
    pub reader: &'a Arc<dyn LogReader>,
    /// How far the views are.
    pub applied: &'a Arc<Applied>,
    /// What is in force.
    pub standing: &'a Arc<Standing>,
    /// The audit log beside it.
    pub audit: &'a AuditAlone,
}

impl RecallAlone {
    /// Over what is open.
    pub fn over(over: RecallOver<'_>) -> Result<RecallAlone, OpenError> {
        let RecallOver { env, keys, views, reader, applied, standing, audit } = over;
        let data = PathBuf::from("/recall");
        let dirs = ["blobs", "keys", "imports"].map(|name| data.join(name));
        let made = dirs.iter().try_for_each(|dir| env.disk.create_dir_all(dir));
        made.map_err(|source| crate::open::io_error("made", &data, source))?;
        let settings = Settings::new(&data);
        let [blobs, peppers, staging] = &dirs;
        let open = |dir| BlobStore::open(Arc::clone(&env.disk), dir, Arc::clone(&env.rng));
        let unopened = |source| crate::open::io_error("opened", &data, source);
        let blobs = open(blobs).map_err(unopened)?;
        let staging = open(staging).map_err(unopened)?;
        let peppers = Peppers::open(Arc::clone(&env.disk), peppers, Arc::clone(&env.rng));
        let peppers = peppers.map_err(OpenError::Keys)?;
        let lock = env.disk.create_new(&data.join("LOCK"));
        let lock = lock.map_err(|source| crate::open::io_error("made", &data, source))?;
        let (to_writer, _) = mpsc::channel();
        let shared = Arc::new(Shared { applied: Arc::clone(applied), ..Shared::default() });
        let guard = Arc::new(ClockGuard::alone(&env, &settings, &shared.writer));
        let retention = Retention::new(&settings, standing, &guard);
        let inner = Inner {
            guard,
            settings: settings.clone(),
            keys: Arc::clone(keys),
            views: Arc::clone(views),
            backlog: Arc::new(Backlog::default()),
            desk: None,
            answerer: None,
            reader: Arc::clone(reader),
            hub: Arc::new(Hub::default()),
            blobs: Arc::new(blobs),
            room: Room::new(Ballast::new(Arc::clone(&env.disk), &data, 0), 0),
            turns: ReadTurns::default(),
            shared,
            admin: Admin::over(Arc::clone(standing), Arc::new(staging)),
            audit: audit.beside(retention, peppers),
            search: None,
            writes: Arc::new(Semaphore::new(1)),
            to_writer,
            threads: Mutex::default(),
            scrubbing: Mutex::default(),
            _lock: Arc::from(lock),
            env,
        };
        Ok(RecallAlone { inner })
    }

    /// The same applier, and what is remembered here is forgotten with what it takes back.
    pub fn follows(&self, applier: Applier) -> Applier {
        let shared = &self.inner.shared;
        applier
            .with_told(Arc::clone(&shared.told), Arc::clone(&shared.texts))
            .with_served(Arc::clone(&shared.served))
    }

    /// What is known about a question, with everything that is applied.
    pub fn recall(&self, may: &MayRecall, question: &Recall) -> Result<Recalled, Error> {
        let answered = self.inner.shared.applied.offset();
        self.inner.recall(may, question, answered, &Tuning::USUAL)
    }
}
