//! The file that says how far the index has come.

use super::{Progress, Reason};
use crate::vector::Space;

fn progress() -> Progress {
    let space = |model: &str, dims| Space { model: model.to_owned(), dims };
    Progress {
        log: [3; 20],
        applied: 1_234,
        space: space("one", 256),
        second: Some((space("two", 4), 99)),
    }
}

#[test]
fn what_is_written_is_read() {
    let mut progress = progress();
    assert_eq!(Progress::decode(&progress.encode()), Ok(progress.clone()));
    progress.second = None;
    assert_eq!(Progress::decode(&progress.encode()), Ok(progress));
}

#[test]
fn every_flipped_byte_and_every_cut_is_damage() {
    let bytes = progress().encode();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        assert_eq!(Progress::decode(&damaged), Err(Reason::Damaged), "byte {at}");
        assert_eq!(Progress::decode(&bytes[..at]), Err(Reason::Damaged), "cut at {at}");
    }
}
