//! The reference: one thread that encodes, hashes and writes the same records, and syncs once for
//! so many of them. The machine's own limit for a log like ours, without queues or answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::rng::draw;
use lamina_env::{DiskFile, Env, Rng};
use lamina_store::codec::experience::{Admission, Identity, split};
use lamina_store::log::Section;
use lamina_types::AuditId;
use sha2::{Digest, Sha256};

use crate::sample;

/// Bytes of a preallocated file, as a segment of the log.
const FILE_BYTES: u64 = 64 * 1_024 * 1_024;
/// A new file with its space reserved; the one before is gone.
fn fresh(env: &Env, dir: &Path) -> anyhow::Result<Box<dyn DiskFile>> {
    let path = dir.join("reference");
    if env.disk.exists(&path) {
        env.disk.remove(&path)?;
    }
    let file = env.disk.create_new(&path)?;
    file.allocate(FILE_BYTES)?;
    file.sync()?;
    env.disk.sync_dir(dir)?;
    Ok(file)
}

/// Bytes of a head.
const HEAD_BYTES: usize = 256;

/// Preallocated files that are written from front to back, one after the other, as the segments of
/// the log are: writing over old blocks would be cheaper than what a log has to do.
pub(crate) struct Plain {
    env: Env,
    dir: PathBuf,
    file: Box<dyn DiskFile>,
    position: u64,
    number: u64,
    previous: [u8; 32],
}

impl Plain {
    pub(crate) fn new(dir: &Path) -> anyhow::Result<Plain> {
        let env = Env::real();
        let file = fresh(&env, dir)?;
        Ok(Plain { env, dir: dir.to_owned(), file, position: 0, number: 0, previous: [0; 32] })
    }

    /// Begins a new file if this one has no room for so many bytes.
    fn make_room(&mut self, bytes: usize) -> anyhow::Result<()> {
        if self.position + bytes as u64 > FILE_BYTES {
            self.file = fresh(&self.env, &self.dir)?;
            self.position = 0;
        }
        Ok(())
    }

    /// Writes so many records and syncs once.
    pub(crate) fn batch(&mut self, records: u64) -> anyhow::Result<()> {
        let mut buffer = Vec::with_capacity(records as usize * 2_048);
        for _ in 0..records {
            self.record(&mut buffer);
        }
        self.make_room(buffer.len())?;
        self.file.write_at(&buffer, self.position)?;
        self.file.sync()?;
        self.position += buffer.len() as u64;
        Ok(())
    }

    fn record(&mut self, buffer: &mut Vec<u8>) {
        let write = sample::write(self.number, self.env.clock.wall());
        self.number += 1;
        let admission = Admission {
            caller: write.experience.observed_actor.id.clone(),
            request_id: write.request_id,
            audit_id: AuditId::from_bytes([1; 16]),
            decision: "scope.write".to_owned(),
            home: None,
            as_system: false,
        };
        let identity = Identity { family: 0, idem_mac: [2; 32], body_mac: [3; 32], batch_id: None };
        let (who, what) = split(admission, write.experience, identity);
        let who = self.section(&who.encode());
        let what = self.section(&what.encode());
        let mut head = [0u8; HEAD_BYTES];
        for (to, from) in head.iter_mut().zip(who.commit().into_iter().chain(what.commit())) {
            *to = from;
        }
        let seal = Sha256::new()
            .chain_update(b"ent1")
            .chain_update(self.previous)
            .chain_update(head)
            .finalize();
        self.previous = seal.into();
        buffer.extend_from_slice(&crc32c::crc32c(&head).to_le_bytes());
        buffer.extend_from_slice(&head);
        buffer.extend_from_slice(&self.previous);
        buffer.extend_from_slice(who.bytes());
        buffer.extend_from_slice(what.bytes());
    }

    fn section(&self, plaintext: &[u8]) -> Section {
        let rng: &dyn Rng = &*self.env.rng;
        Section::seal(draw::<32>(rng), plaintext)
    }

    /// Microseconds of one write and sync of a block of this size, so many times.
    pub(crate) fn single_us(&mut self, bytes: usize, times: usize) -> anyhow::Result<Vec<f64>> {
        let clock = Arc::clone(&self.env.clock);
        let block = vec![7u8; bytes];
        let mut spent = Vec::with_capacity(times);
        for _ in 0..times {
            self.make_room(bytes)?;
            let before = clock.monotonic();
            self.file.write_at(&block, self.position)?;
            self.file.sync()?;
            spent.push((clock.monotonic().0 - before.0) as f64);
            self.position += bytes as u64;
        }
        Ok(spent)
    }
}
