//! The file that says how far the index has come.

use super::{Further, Progress, Reason};
use crate::vector::Space;

fn progress() -> Progress {
    let space = |model: &str, dims| Space { model: model.to_owned(), dims };
    Progress {
        log: [3; 20],
        applied: 1_234,
        space: space("one", 256),
        further: vec![
            Further { space: space("two", 4), applied: 99, whole: true },
            Further { space: space("three", 8), applied: 7, whole: false },
        ],
    }
}

#[test]
fn what_is_written_is_read() {
    let mut progress = progress();
    assert_eq!(Progress::decode(&progress.encode()), Ok(progress.clone()));
    progress.further.clear();
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
