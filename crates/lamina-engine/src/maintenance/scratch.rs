//! A place beside a data directory for what is only looked at: opening tables writes to them, so a copy is opened,
//! and the directory itself stays as it is to the last byte.

use std::io;
use std::path::{Path, PathBuf};

use lamina_env::Env;
use lamina_env::disk::make_private;

use crate::backup::copy::{Extent, copy};

/// A directory that is removed when it is not needed any more.
#[derive(Debug)]
pub(crate) struct Scratch<'a> {
    env: &'a Env,
    dir: PathBuf,
}

impl<'a> Scratch<'a> {
    /// Makes it beside the data directory, or in it if nothing can be made there.
    pub(crate) fn make(env: &'a Env, data: &Path) -> io::Result<Scratch<'a>> {
        let inside = data.join("check.scratch");
        let beside = data.file_name().map(|name| {
            let mut name = name.to_owned();
            name.push(".checking");
            data.with_file_name(name)
        });
        let made = |dir: PathBuf| -> io::Result<Scratch<'a>> {
            // One that was cut short left it behind.
            env.disk.remove_dir_all(&dir)?;
            env.disk.create_dir_all(&dir)?;
            let scratch = Scratch { env, dir };
            make_private(&scratch.dir)?;
            Ok(scratch)
        };
        match beside.map(made) {
            Some(Ok(scratch)) => Ok(scratch),
            Some(Err(_)) | None => made(inside),
        }
    }

    /// A place in it.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// A copy of a directory with everything below it.
    pub(crate) fn copied(&self, from: &Path, name: &str) -> io::Result<PathBuf> {
        let to = self.join(name);
        copy_all(self.env, from, &to)?;
        Ok(to)
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.env.disk.remove_dir_all(&self.dir) {
            tracing::warn!(%error, dir = %self.dir.display(), "a copy that was looked at is still there");
        }
    }
}

fn copy_all(env: &Env, from: &Path, to: &Path) -> io::Result<()> {
    env.disk.create_dir_all(to)?;
    for name in env.disk.list(from)? {
        let (from, to) = (from.join(&name), to.join(&name));
        if env.disk.list(&from).is_ok() {
            copy_all(env, &from, &to)?;
        } else {
            copy(&*env.disk, &from, &to, Extent::Whole, &mut |_| {})?;
        }
    }
    Ok(())
}
