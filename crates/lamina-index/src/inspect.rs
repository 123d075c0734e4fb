//! What the files of an index hold, read as they lie on disk: also documents that are deleted and not yet
//! gone from their files, and rows that no state counts. For whoever wants to know that something is not there.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use lamina_env::Disk;

use crate::analyze;
use crate::document::RecordKey;
use crate::error::Error;
use crate::{applied, lexical, vector};

/// Bytes of a word that no language leaves out.
const TELLING_BYTES_MIN: usize = 5;

/// Something that the files hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lies {
    /// The file, or what stands for several.
    pub place: String,
    /// By words, or by meaning.
    pub kind: Kind,
    /// Which record.
    pub key: RecordKey,
    /// Of the entry that it was made of.
    pub offset: u64,
    /// Which of the strings that were asked for have all their words in it.
    pub strings: Vec<usize>,
}

/// How something can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// By its words.
    Document,
    /// By its meaning.
    Vector,
}

/// What was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspected {
    /// Documents, the deleted ones included.
    pub documents: u64,
    /// Vectors.
    pub vectors: u64,
    /// Files that hold something that cannot be read.
    pub unread: Vec<(String, String)>,
}

/// A string as it would be indexed: for each of its words, the terms that it may stand as.
pub(crate) type Words = Vec<Vec<String>>;

/// Shows everything that the index in `dir` holds, one by one. Changes nothing; nobody may have it open.
pub fn inspect(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    strings: &[&str],
    show: &mut dyn FnMut(Lies),
) -> Result<Inspected, Error> {
    let mut seen = Inspected::default();
    if !disk.exists(dir) {
        return Ok(seen);
    }
    let words: Vec<Words> = strings.iter().map(|string| words(string)).collect();
    for name in disk.list(dir)?.into_iter().filter(|name| name.starts_with("tenant-")) {
        let tenant = dir.join(&name);
        let lexical = tenant.join("words");
        if disk.exists(&lexical) {
            let place = format!("{name}/words");
            // An index that cannot be read is no proof that something is not in it.
            if let Err(error) = lexical::inspect(disk, &lexical, &place, &words, &mut seen, show) {
                seen.unread.push((place, error.to_string()));
            }
        }
        for folder in disk.list(&tenant)?.into_iter().filter(|name| name.starts_with("vectors-")) {
            let place = format!("{name}/{folder}");
            vector::inspect(&**disk, &tenant.join(folder), &place, &mut seen, show)?;
        }
    }
    Ok(seen)
}

/// What a comparison with the checksums came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifiedFiles {
    /// Files that were read.
    pub files: u64,
    /// Files that do not hold what was written, and what is wrong with each.
    pub damaged: Vec<(String, String)>,
}

/// Compares every file of the index in `dir` with its checksums. Changes nothing; nobody may have it open.
pub fn verify(disk: &Arc<dyn Disk>, dir: &Path) -> Result<VerifiedFiles, Error> {
    let mut verified = VerifiedFiles::default();
    if !disk.exists(dir) {
        return Ok(verified);
    }
    if let Some(what) = applied::damage(&**disk, dir)? {
        verified.damaged.push(("applied".to_owned(), what.to_owned()));
    }
    verified.files += 1;
    for name in disk.list(dir)?.into_iter().filter(|name| name.starts_with("tenant-")) {
        let tenant = dir.join(&name);
        let words = tenant.join("words");
        if disk.exists(&words) {
            let place = format!("{name}/words");
            if let Err(error) = lexical::verify(disk, &words, &place, &mut verified) {
                verified.damaged.push((place, error.to_string()));
            }
        }
        for folder in disk.list(&tenant)?.into_iter().filter(|name| name.starts_with("vectors-")) {
            let place = format!("{name}/{folder}");
            vector::verify(&**disk, &tenant.join(folder), &place, &mut verified)?;
        }
    }
    Ok(verified)
}

/// The words that tell: which of the short ones a document was indexed by depends on its language.
fn words(string: &str) -> Words {
    let asked = analyze::question(string, None);
    let tells = |asked: &analyze::Asked| asked.word.len() >= TELLING_BYTES_MIN;
    let any = asked.iter().any(tells);
    asked.into_iter().filter(|asked| !any || tells(asked)).map(|asked| asked.terms).collect()
}

/// Which documents have all words of which strings.
pub(crate) fn with_all<E>(
    words: &[Words],
    documents: &mut dyn FnMut(&str) -> Result<Vec<u32>, E>,
) -> Result<HashMap<u32, Vec<usize>>, E> {
    let mut found: HashMap<u32, Vec<usize>> = HashMap::new();
    for (string, words) in words.iter().enumerate() {
        let mut having: Option<Vec<u32>> = None;
        for terms in words {
            let mut of_word = Vec::new();
            for term in terms {
                of_word.extend(documents(term)?);
            }
            of_word.sort_unstable();
            of_word.dedup();
            if let Some(before) = having {
                of_word.retain(|document| before.binary_search(document).is_ok());
            }
            having = Some(of_word);
        }
        for document in having.unwrap_or_default() {
            found.entry(document).or_default().push(string);
        }
    }
    Ok(found)
}
