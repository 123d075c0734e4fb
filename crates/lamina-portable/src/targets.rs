//! Functions for fuzzers and property tests: each reads the bytes of a stranger and panics only where a
//! law of this crate does not hold.

use crate::canon;
use crate::json::{ElementStream, LineReader, ReadPolicy, StreamOptions, parse, to_compact};

/// Every JSON reader and every canonical writer.
pub fn json(bytes: &[u8]) {
    for policy in [ReadPolicy::STRICT, ReadPolicy::PYTHON, ReadPolicy::AEGX] {
        if let Ok(value) = parse(bytes, &policy) {
            let again = parse(to_compact(&value).as_bytes(), &policy);
            assert_eq!(again.as_ref(), Ok(&value), "a written value reads back");
            drop(canon::python_ascii(&value));
            drop(canon::python_utf8(&value));
            drop(canon::jcs(&value));
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
