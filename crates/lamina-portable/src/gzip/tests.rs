//! Files that are inflated, and those that are refused.

use std::io::Write;

use expect_test::{Expect, expect};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

fn compress(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let limits = GzipLimits { bytes_max: 20 << 20, ratio_max: 200 };
    let mut content = Vec::new();
    let read = GzipReader::new(bytes, limits).read_to_end(&mut content);
    read.map(|_| content).map_err(|error| error.to_string())
}

fn check_refused(bytes: &[u8], expected: Expect) {
    expected.assert_eq(&inflate(bytes).expect_err("is refused"));
}

#[test]
fn members_that_follow_each_other_are_one_file() {
    let mut bytes = compress(b"one ");
    bytes.extend_from_slice(&compress(b"two"));
    assert_eq!(inflate(&bytes), Ok(b"one two".to_vec()));
}

/// Whoever asks again after a fault gets the fault, and nothing more is inflated.
#[test]
fn fault_ends_inflating() {
    let bomb = compress(&vec![0; 64 << 20]);
    let limits = GzipLimits { bytes_max: 1 << 30, ratio_max: 200 };
    let mut reader = GzipReader::new(bomb.as_slice(), limits);
    let mut buffer = vec![0; 65_536];
    while reader.read(&mut buffer).is_ok() {}
    let inflated = reader.inflated;
    for _ in 0..100 {
        assert!(reader.read(&mut buffer).is_err());
    }
    assert_eq!(reader.inflated, inflated);
}

#[test]
fn bombs_and_damage_are_refused() {
    let bomb = compress(&vec![0; 12 << 20]);
    check_refused(&bomb, expect!["the gzip file inflates to more than 200 times its size"]);
    let noise: Vec<u8> =
        (0..21_u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    check_refused(&compress(&noise), expect!["the gzip file inflates to more than 20971520 bytes"]);
    let whole = compress(b"some text that is long enough");
    check_refused(&whole[..whole.len() - 5], expect!["the gzip file was cut off"]);
    let mut flipped = whole;
    let last = flipped.len() - 6;
    flipped[last] ^= 1;
    check_refused(&flipped, expect!["the gzip file is corrupt"]);
    check_refused(b"no gzip at all", expect!["the gzip file is corrupt"]);
}

proptest! {
    #[test]
    fn compressed_bytes_inflate_equal(content in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(inflate(&compress(&content)), Ok(content));
    }

    #[test]
    fn reader_survives_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        crate::targets::gzip(&bytes);
    }
}
