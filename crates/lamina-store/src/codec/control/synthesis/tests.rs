//! Golden bytes, a round trip, and bytes that are cut off.

use expect_test::expect;
use lamina_types::stdx::hex;

use super::*;

#[test]
fn golden_bytes_and_back() {
    let whole = Synthesize {
        job: JobId::from_bytes([7; 16]),
        key: Some(([1; 16], [2; 16])),
        force: true,
        topics: vec![[3; 16]],
        from: i64::MIN,
        to: 1_700_000_000_000_000,
    };
    let bytes = whole.encode();
    expect!["0101100707070707070707070707070707070702100101010101010101010101010101010103100202020202020202020202020202020204010105100303030303030303030303030303030306080000000000000080070800401e18240a0600"].assert_eq(&hex::encode(&bytes));
    assert_eq!(Synthesize::decode(&bytes).unwrap(), whole);
    let plain = Synthesize { key: None, force: false, topics: Vec::new(), ..whole };
    assert_eq!(Synthesize::decode(&plain.encode()).unwrap(), plain);
    for end in 0..bytes.len() {
        // Whatever is cut off, nothing panics, and what is read was written.
        if let Ok(read) = Synthesize::decode(bytes.get(..end).unwrap()) {
            assert_eq!(read.job, plain.job);
        }
    }
}
