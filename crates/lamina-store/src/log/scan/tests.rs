//! Any bytes can be judged: damaged logs never panic, and never open to something else.

use proptest::prelude::*;

use super::super::chains::Chains;
use super::super::record::Seed;
use super::super::recover::judge;
use super::super::segment::{HEAD_LEN, SegmentHead};
use super::super::testing::{World, small_log};
use super::{Standing, evidence, walk};
use lamina_types::{Micros, RecordedAt};

fn standing() -> Standing {
    Standing {
        next_offset: 0,
        next_batch: 1,
        tip: Some([0; 32]),
        recorded_at: RecordedAt(Micros(0)),
    }
}

fn small_bytes() -> (Vec<u8>, Seed) {
    let world = World::with_segments(4_096);
    small_log(&world);
    let bytes = world.disk.contents(&world.segments()[0]).unwrap();
    let head = SegmentHead::decode(&bytes).unwrap();
    (bytes, Seed::of(&head.log_id))
}

proptest! {
    #[test]
    fn any_bytes_can_be_walked(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        let seed = Seed::of(&[1; 16]);
        let _ = walk(&bytes, HEAD_LEN, seed, standing(), Chains::new());
        let _ = evidence(&bytes, 0, seed, 0);
        let _ = judge(&bytes, seed, standing(), &[]);
    }

    #[test]
    fn a_log_with_any_bytes_overwritten_is_a_prefix_or_refused(
        writes in proptest::collection::vec((128usize..4_000, any::<Vec<u8>>()), 1..4),
    ) {
        let (bytes, seed) = small_bytes();
        let whole = judge(&bytes, seed, standing(), &[]).unwrap();
        let mut damaged = bytes.clone();
        for (position, write) in writes {
            let end = (position + write.len()).min(damaged.len());
            damaged[position..end].copy_from_slice(&write[..end - position]);
        }
        if let Ok(found) = judge(&damaged, seed, standing(), &[]) {
            prop_assert!(found.walk.standing.next_offset <= whole.walk.standing.next_offset);
            prop_assert_eq!(&damaged[HEAD_LEN..found.walk.end], &bytes[HEAD_LEN..found.walk.end]);
        }
    }
}
