//! Functions for fuzzers and property tests: each reads the bytes of a stranger and panics only where a
//! law of this crate does not hold.

use std::sync::Arc;

use crate::read::RecordReader;
use crate::source::MemoryBundle;
use crate::verify::{VerifyMode, VerifyOptions, verify, verify_zip};
use crate::{AUDIT_LOG, MANIFEST, RECORDS};

/// The reader and both verifiers, over an archive and over a bundle whose files are these bytes.
pub fn bundle(bytes: &[u8]) {
    for options in [VerifyOptions::STRICT, VerifyOptions::REFERENCE] {
        let report = verify_zip(Arc::new(bytes.to_vec()), &options);
        assert_eq!(report.worst().is_none(), report.exit_code() == 0, "the class is the code");
    }
    // The bytes are cut into the three files of a bundle.
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    let files = [RECORDS, AUDIT_LOG, MANIFEST]
        .map(|path| (path.to_owned(), parts.next().unwrap_or_default().to_vec()));
    let bundle = MemoryBundle::new(files);
    let strict = verify(&bundle, &VerifyOptions::STRICT);
    let reference = verify(&bundle, &VerifyOptions::REFERENCE);
    assert_eq!((strict.mode, reference.mode), (VerifyMode::Strict, VerifyMode::Reference));
    assert!(strict.findings_total >= strict.findings.len() as u64, "every finding is counted");
    let good = RecordReader::new(&bundle).filter(Result::is_ok).count() as u64;
    assert!(good <= strict.records, "a record takes a line");
}
