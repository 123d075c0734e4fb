//! Functions for fuzzers and property tests: each reads the bytes of a stranger and panics only where a
//! law of this crate does not hold.

use std::io::Read as _;
use std::sync::Arc;

use lamina_types::Micros;

use crate::canon;
use crate::csv::{CsvLimits, CsvReader};
use crate::foreign::{Format, ImportOptions, detect, read};
use crate::gzip::{GzipLimits, GzipReader};
use crate::json::{ElementStream, LineReader, ReadPolicy, StreamOptions, Value, parse, to_compact};
use crate::source::{ImportSource, SourceLimits};
use crate::zaxy::{
    EntrySelector, EventLog, Selector, Verdict, VerifyOptions, disclose, project, to_file,
    verify_bundle, verify_subset,
};
use crate::zip::{ZipArchive, ZipLimits};

/// Every JSON reader and every canonical writer.
pub fn json(bytes: &[u8]) {
    for policy in [
        ReadPolicy::STRICT,
        ReadPolicy::PYTHON,
        #[cfg(feature = "aegx")]
        ReadPolicy::AEGX,
    ] {
        if let Ok(value) = parse(bytes, &policy) {
            let again = parse(to_compact(&value).as_bytes(), &policy);
            assert_eq!(again.as_ref(), Ok(&value), "a written value reads back");
            drop(canon::python_ascii(&value));
            drop(canon::python_utf8(&value));
            drop(canon::jcs(&value));
            #[cfg(feature = "aegx")]
            drop(canon::aegx(&value));
        }
    }
    let options = StreamOptions {
        policy: ReadPolicy::STRICT,
        streamed: &["results", "a"],
        value_bytes_max: 64,
    };
    let parts = ElementStream::new(bytes, options).take(bytes.len() + 2).count();
    assert!(parts <= bytes.len() + 1, "each part takes a byte");
    LineReader::new(bytes, 16).for_each(drop);
}

/// The ZIP reader: an archive that opens gives no more bytes than its limits allow.
pub fn zip(bytes: &[u8]) {
    let limits = ZipLimits {
        entries_max: 100,
        entry_bytes_max: 1 << 16,
        total_bytes_max: 1 << 17,
        directory_bytes_max: 1 << 20,
        ratio_max: 200,
    };
    let Ok(archive) = ZipArchive::open(Arc::new(bytes.to_vec()), &limits) else { return };
    for index in 0..archive.entries().len() {
        let Ok(mut reader) = archive.reader(index) else { continue };
        let mut content = Vec::new();
        drop(reader.read_to_end(&mut content));
        assert!(content.len() as u64 <= limits.entry_bytes_max, "the limit holds");
    }
}

/// The gzip reader.
pub fn gzip(bytes: &[u8]) {
    let limits = GzipLimits { bytes_max: 1 << 16, ratio_max: 200 };
    let mut content = Vec::new();
    drop(GzipReader::new(bytes, limits).read_to_end(&mut content));
}

/// The CSV reader: records stay inside of their limits.
pub fn csv(bytes: &[u8]) {
    let limits = CsvLimits { columns_max: 4, record_bytes_max: 32 };
    for record in CsvReader::new(bytes, b',', limits).take(bytes.len() + 1).flatten() {
        assert!(record.fields.len() <= limits.columns_max, "the limit holds");
    }
}

/// Logs, bundles, subsets and their proofs: what verifies keeps its verdict when it is written and read again.
pub fn zaxy(bytes: &[u8]) {
    if let Ok(log) = EventLog::read(bytes) {
        let broken = log.verify().err();
        assert!(broken.is_none_or(|broken| !broken.to_string().is_empty()), "a fault has a reason");
        drop(project(&log.events, &Selector::all()));
    }
    let Ok(value) = parse(bytes, &ReadPolicy::PYTHON) else { return };
    let options = VerifyOptions::default();
    let verdicts = |value: &Value| [verify_bundle(value, options), verify_subset(value, options)];
    let first = verdicts(&value);
    if let Ok(text) = to_file(&value) {
        let again =
            parse(text.as_bytes(), &ReadPolicy::PYTHON).expect("a written value reads back");
        assert_eq!(
            verdicts(&again),
            first,
            "the verdict is about the value, not about its spelling"
        );
    }
    // What is disclosed of a bundle that verifies, verifies.
    if let Ok(found) = disclose(&value, &EntrySelector::all()) {
        let verdict = verify_subset(&found.subset, options);
        assert!(matches!(verdict, Verdict::Valid { .. }), "{verdict:?}");
    }
}

/// One importer: it ends, counts every row once, and gives the same rows again.
pub fn import(format: Format, name: &str, bytes: &[u8]) {
    let source = ImportSource::open(name, Arc::new(bytes.to_vec()), &SourceLimits::IMPORT);
    let Ok(source) = source.map(Arc::new) else { return };
    drop(detect(&source));
    let options = ImportOptions::new(Micros(0));
    let mut rows = read(source, format, options);
    let (mut good, mut bad) = (0, 0);
    for row in rows.by_ref() {
        match row {
            Ok(row) => {
                assert_eq!(row.order, good, "rows are numbered");
                good += 1;
            }
            Err(_) => bad += 1,
        }
    }
    let account = rows.into_account();
    assert_eq!(account.failed(), bad, "every error is counted");
    assert_eq!(account.read(), good + account.skipped() + bad, "every row is counted once");
}
