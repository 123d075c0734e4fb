//! What a backup consists of, as its file `MANIFEST` says.
//!
//! Lines of text, so that a person can read it: what it is, of which log, one line for each file, and how
//! many there are. It is written last; without it, or with a file that does not match it, a directory is
//! no backup.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk, Env};
use lamina_types::stdx::hex;

use super::refused;
use crate::OpenError;
use crate::open::io_error;

/// The name of its file.
pub(super) const MANIFEST: &str = "MANIFEST";
const FIRST: &str = "lamina backup";
const FORMAT: &str = "format 1";
const BYTES_MAX: u64 = 1 << 30;

/// One file of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(super) sha256: [u8; 32],
    pub(super) bytes: u64,
    /// How often something in it was erased; of other files than segments 0.
    pub(super) erase_gen: u32,
}

/// What a backup consists of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Manifest {
    pub(super) log_id: [u8; 16],
    pub(super) epoch: u32,
    /// By path below the directory, `/` between its parts.
    pub(super) files: BTreeMap<String, Copied>,
}

impl Manifest {
    /// The manifest of a directory; `None` if it has none.
    pub(super) fn find(disk: &dyn Disk, dir: &Path) -> Result<Option<Manifest>, OpenError> {
        let path = dir.join(MANIFEST);
        if !disk.exists(&path) {
            return Ok(None);
        }
        let bytes =
            read_file(disk, &path, BYTES_MAX).map_err(|error| io_error("read", &path, error))?;
        let text = String::from_utf8(bytes).ok();
        let manifest = text.and_then(|text| Manifest::parse(&text));
        manifest.map(Some).ok_or_else(|| refused(&path, "not the manifest of a backup"))
    }

    pub(super) fn write(&self, env: &Env, dir: &Path) -> Result<(), OpenError> {
        let path = dir.join(MANIFEST);
        write_atomic(&*env.disk, &path, self.text().as_bytes())
            .map_err(|error| io_error("written", &path, error))
    }

    fn text(&self) -> String {
        let mut text =
            format!("{FIRST}\n{FORMAT}\nlog {}\nepoch {}\n", hex::encode(&self.log_id), self.epoch);
        for (path, Copied { sha256, bytes, erase_gen }) in &self.files {
            let _ = writeln!(text, "file {} {bytes} {erase_gen} {path}", hex::encode(sha256));
        }
        let _ = writeln!(text, "files {}", self.files.len());
        text
    }

    fn parse(text: &str) -> Option<Manifest> {
        let mut lines = text.lines();
        let begins = lines.next() == Some(FIRST) && lines.next() == Some(FORMAT);
        let log_id = hex::decode_array::<16>(lines.next()?.strip_prefix("log ")?)?;
        let epoch = lines.next()?.strip_prefix("epoch ")?.parse().ok()?;
        let mut manifest = Manifest { log_id, epoch, files: BTreeMap::new() };
        let mut count = None;
        for line in lines {
            if count.is_some() {
                return None;
            }
            if let Some(number) = line.strip_prefix("files ") {
                count = Some(number.parse::<usize>().ok()?);
                continue;
            }
            let mut words = line.strip_prefix("file ")?.splitn(4, ' ');
            let sha256 = hex::decode_array::<32>(words.next()?)?;
            let (bytes, erase_gen) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            let path = words.next().filter(|path| stays_below(path))?;
            manifest.files.insert(path.to_owned(), Copied { sha256, bytes, erase_gen });
        }
        (begins && count == Some(manifest.files.len())).then_some(manifest)
    }
}

/// Whether a path names something below the directory it is joined to, as ours do: a manifest may come
/// from anywhere.
fn stays_below(path: &str) -> bool {
    let plain = |part: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !part.is_empty() && part.chars().all(known) && part.chars().any(|c| c != '.')
    };
    path.split('/').count() <= 3 && path.split('/').all(plain)
}

#[cfg(test)]
mod tests {
    use super::{Copied, Manifest};

    fn manifest() -> Manifest {
        let copied = Copied { sha256: [9; 32], bytes: 17, erase_gen: 2 };
        let mut manifest = Manifest { log_id: [3; 16], epoch: 4, ..Manifest::default() };
        manifest.files.insert("log/0000000000000000.seg".to_owned(), copied.clone());
        manifest.files.insert("audit/checkpoints/latest.json".to_owned(), copied);
        manifest
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Manifest::parse(&manifest().text()), Some(manifest()));
    }

    #[test]
    fn one_that_was_cut_or_leads_elsewhere_is_none() {
        let text = manifest().text();
        for length in 0..text.len() - 1 {
            assert_eq!(Manifest::parse(&text[..length]), None, "{length}");
        }
        for path in ["../keys", "/etc/passwd", "log/../../x", "log//x", "a/b/c/d", "..", "a b", ""]
        {
            let text = text.replace("log/0000000000000000.seg", path);
            assert_eq!(Manifest::parse(&text), None, "{path}");
        }
    }
}
