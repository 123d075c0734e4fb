//! The bytes of segment heads, commits and footers, frozen.

use expect_test::{Expect, expect};
use lamina_types::{Micros, RecordedAt};
use proptest::prelude::*;

use super::super::record::Seed;
use super::super::testing::hexdump;
use super::{
    Commit, Footer, HeadFault, SegmentHead, TipHash, erase_gen_pair, file_name, next_erase_gen,
    parse_name,
};

const LOG_ID: [u8; 16] = *b"golden log id 16";

fn head() -> SegmentHead {
    SegmentHead {
        log_id: LOG_ID,
        epoch: 2,
        first_offset: 0x0102,
        first_batch: 0x0304,
        prev_tip: [0xEE; 32],
        erase_from: 0x0101,
        erase_gen: Some(5),
    }
}

fn check(bytes: &[u8], expect: &Expect) {
    expect.assert_eq(&hexdump(bytes));
}

#[test]
fn a_segment_head() {
    assert_eq!(SegmentHead::decode(&head().encode()), Ok(head()));
    check(
        &head().encode(),
        &expect![[r#"
        4c414d494e41010a0100676f6c64656e
        206c6f67206964203136020000000201
        0000000000000403000000000000eeee
        eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee
        eeeeeeeeeeeeeeeeeeeeeeeeeeee0101
        00000000000000000000000000000000
        00000000000000000000000000000000
        00000000fb74f4be05000000faffffff
    "#]],
    );
}

#[test]
fn a_commit() {
    let commit = Commit { batch: 0x0304, count: 2, tip: [0x77; 32] };
    let mut bytes = Vec::new();
    commit.encode(&mut bytes, Seed::of(&LOG_ID));
    assert_eq!(Commit::decode(&bytes, Seed::of(&LOG_ID)), Ok(commit));
    check(
        &bytes,
        &expect![[r#"
        4c434d54040300000000000002000000
        77777777777777777777777777777777
        77777777777777777777777777777777
        b9e9b111
    "#]],
    );
}

#[test]
fn a_footer() {
    let footer = Footer {
        last_offset: 0x0110,
        last_batch: 0x0308,
        count: 15,
        end: 0x3F00,
        recorded_at: RecordedAt(Micros(1_767_225_600_000_000)),
        tip: [0x77; 32],
    };
    let bytes = footer.encode(Seed::of(&LOG_ID));
    assert_eq!(Footer::decode(&bytes, Seed::of(&LOG_ID)), Ok(footer));
    check(
        &bytes,
        &expect![[r#"
        4c454e44100100000000000008030000
        000000000f00000000000000003f0000
        00000000004020464847060077777777
        77777777777777777777777777777777
        777777777777777777777777d64b8859
    "#]],
    );
}

#[test]
fn a_tip() {
    let mut tip = TipHash::after(&[1; 32]);
    tip.seal(&[2; 32]);
    tip.seal(&[3; 32]);
    check(
        &tip.finish(),
        &expect![[r#"
        7490f752f39e7f7f3cdefe463b29517f
        96c2cd29ba76b04fc61353bbf8a68663
    "#]],
    );
}

#[test]
fn every_flip_in_a_head_is_noticed() {
    let bytes = head().encode();
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes;
            flipped[position] ^= 1 << bit;
            match SegmentHead::decode(&flipped) {
                Err(HeadFault::Damaged(_)) => assert!(position < 120),
                Ok(found) => {
                    assert!(position >= 120, "byte {position}");
                    assert_eq!(found, SegmentHead { erase_gen: None, ..head() });
                }
                Err(HeadFault::Newer(_)) => panic!("a flipped bit passes for a newer format"),
            }
        }
    }
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let mut bytes = head().encode();
    bytes[8..10].copy_from_slice(&2u16.to_le_bytes());
    let crc = Seed::of(&LOG_ID).checksum(&[&bytes[..116]]);
    bytes[116..120].copy_from_slice(&crc.to_le_bytes());
    assert_eq!(SegmentHead::decode(&bytes), Err(HeadFault::Newer(2)));
}

#[test]
fn an_erase_generation_grows_even_from_a_torn_pair() {
    for generation in [0u32, 1, 0xFF, 0x01FF, 0xFFFF, 0x00FF_FFFF] {
        let (old, new) = (erase_gen_pair(generation), erase_gen_pair(generation + 1));
        assert_eq!(next_erase_gen(old), generation + 1);
        for torn_at in 0..=8 {
            let mut torn = old;
            torn[..torn_at].copy_from_slice(&new[..torn_at]);
            assert!(next_erase_gen(torn) > generation, "{generation} torn at {torn_at}");
        }
    }
}

#[test]
fn names_are_sixteen_digits_and_nothing_else() {
    assert_eq!(file_name(0xAB), "00000000000000ab.seg");
    assert_eq!(parse_name("00000000000000ab.seg"), Some(0xAB));
    for other in
        ["ab.seg", "00000000000000AB.seg", "00000000000000ab.tmp", "x", "+0000000000000ab.seg"]
    {
        assert_eq!(parse_name(other), None, "{other}");
    }
}

proptest! {
    #[test]
    fn decoding_any_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = SegmentHead::decode(&bytes);
        let _ = Commit::decode(&bytes, Seed::of(&LOG_ID));
        let _ = Footer::decode(&bytes, Seed::of(&LOG_ID));
    }
}
