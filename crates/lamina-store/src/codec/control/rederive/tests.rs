//! Golden bytes, round trips, and bytes that are cut off.

use expect_test::expect;
use lamina_types::stdx::hex;

use super::*;

#[test]
fn golden_bytes_and_back() {
    let begun = RederiveBegun {
        run: JobId::from_bytes([7; 16]),
        undoes: Some(JobId::from_bytes([6; 16])),
        replaces_models: true,
    };
    let bytes = begun.encode();
    expect!["01011007070707070707070707070707070707021006060606060606060606060606060606030101"]
        .assert_eq(&hex::encode(&bytes));
    assert_eq!(RederiveBegun::decode(&bytes).unwrap(), begun);
    let plain = RederiveBegun { undoes: None, replaces_models: false, ..begun };
    assert_eq!(RederiveBegun::decode(&plain.encode()).unwrap(), plain);
    let ended = RederiveEnded { run: JobId::from_bytes([7; 16]), answers: 300 };
    expect!["010110070707070707070707070707070707070202ac02"]
        .assert_eq(&hex::encode(&ended.encode()));
    assert_eq!(RederiveEnded::decode(&ended.encode()).unwrap(), ended);
    for (whole, reads) in [
        (bytes, (|bytes: &[u8]| RederiveBegun::decode(bytes).is_ok()) as fn(&[u8]) -> bool),
        (ended.encode(), |bytes| RederiveEnded::decode(bytes).is_ok()),
    ] {
        // Whatever is cut off, nothing panics, and what is not whole is not read.
        for end in 0..whole.len() - 1 {
            assert!(!reads(whole.get(..end).unwrap()), "{end}");
        }
    }
}
