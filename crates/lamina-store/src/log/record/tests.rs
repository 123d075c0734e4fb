//! The bytes of every kind of record, frozen; and decoding that never panics.

use expect_test::{Expect, expect};
use lamina_types::{Micros, RecordedAt};
use proptest::prelude::*;

use super::super::checkpoint::Checkpoint;
use super::super::erase::{ErasedEntry, encode as encode_erase};
use super::super::testing::hexdump;
use super::super::{EraseTarget, Section};
use super::{Fault, Seed, decode, encode};
use crate::entry::{Head, Kind, Place, control};

const LOG_ID: [u8; 16] = *b"golden log id 16";

fn head(kind: Kind, sub: u16) -> Head {
    Head {
        version: 1,
        kind,
        sub,
        flags: 0,
        codec_who: 0,
        codec_what: 0,
        key_id: 0,
        offset: 0x0102,
        batch: 0x0304,
        tenant: 1,
        tenant_seq: 0x0506,
        scope: 7,
        scope_seq: 0x0809,
        id: [0xAB; 16],
        recorded_at: RecordedAt(Micros(1_767_225_600_000_000)),
        causes: Vec::new(),
        who_len: 0,
        what_len: 0,
        who_commit: [0; 32],
        what_commit: [0; 32],
        prev_seal: [0xCD; 32],
        seal: [0; 32],
    }
}

fn record(mut head: Head, who: &Section, what: &Section) -> Vec<u8> {
    head.who_len = who.bytes().len() as u32;
    head.what_len = what.bytes().len() as u32;
    head.who_commit = who.commit();
    head.what_commit = what.commit();
    let mut bytes = Vec::new();
    encode(&mut bytes, Seed::of(&LOG_ID), &mut head, who.bytes(), what.bytes());
    let read = decode(&bytes, Seed::of(&LOG_ID)).unwrap();
    assert_eq!(read.head, head, "what is written is read back");
    assert_eq!((read.who, read.what), (who.bytes(), what.bytes()));
    assert_eq!(read.len, bytes.len());
    bytes
}

fn section(text: &[u8]) -> Section {
    Section::seal([0x5A; 32], text)
}

fn check(bytes: &[u8], expect: &Expect) {
    expect.assert_eq(&hexdump(bytes));
}

#[test]
fn an_experience() {
    let head = Head { causes: vec![3, 4], ..head(Kind::Experience, 0) };
    let bytes = record(head, &section(b"alice"), &section(b"said hello"));
    check(
        &bytes,
        &expect![[r#"
        6901000096feffffe9000c7770950101
        00000000000000000002010000000000
        00040300000000000001000000060500
        00000000000700000000000000090800
        0000000000ababababababababababab
        ababababab0040204648470600020003
        00000000000000040000000000000040
        000000400000005759ef284297de9c9e
        d76470c71c8338532fe26d1ecda454d3
        51a6a8945c7e4b2a8dbe30b18591322a
        53d04aac4621c8002ce87c54ce048317
        1b76519a337dbfcdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcd0534c1c32870aed2e6
        250f051c43de98871a92266f2f7642b1
        aeed4299c6ff9f5a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5ae1b066e20500000061
        6c696365000000000000000000000000
        000000000000005a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a1c6c0eab0a00000073
        6169642068656c6c6f00000000000000
        00000000000000
    "#]],
    );
}

#[test]
fn an_answer() {
    let head = Head { causes: vec![0x0101], ..head(Kind::Answer, 0) };
    check(
        &record(head, &Section::absent(), &section(b"rules")),
        &expect![[r#"
        21010000defeffffe100d830342c0102
        00000000000000000002010000000000
        00040300000000000001000000060500
        00000000000700000000000000090800
        0000000000ababababababababababab
        ababababab0040204648470600010001
        01000000000000000000004000000000
        00000000000000000000000000000000
        00000000000000000000000000000094
        573badf468b879c4c3c2de383fbfdc30
        d13d5e32a51f9ed1047f1f2464a368cd
        cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcdcdcdcdcdcdcdcdcd97
        aee9e31d503e40498fdb2ca250f95f8d
        ad3a5047419583786fdb1f976cfb495a
        5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a5a5a5a5a5a5a5a5af3
        d323f30500000072756c657300000000
        000000000000000000000000000000
    "#]],
    );
}

#[test]
fn a_control_entry() {
    let head = head(Kind::Control, control::SCOPE);
    check(
        &record(head, &section(b"who"), &section(b"org:acme")),
        &expect![[r#"
        59010000a6feffffd900588ccc160103
        02000000000000000002010000000000
        00040300000000000001000000060500
        00000000000700000000000000090800
        0000000000ababababababababababab
        ababababab0040204648470600000040
        00000040000000393e14908c6e82621b
        56455c817a509312fae58b641e389aae
        d18cb142e664fa9e90b606a3c5e6d3c5
        3b4f13d5af561652a5127b0f01dc3f10
        b2d14533bee049cdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcddc7861673181fbdf1a
        7904f98d1848205e26656b759f153e59
        7f143e78bf80195a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a5916ad250300000077
        686f0000000000000000000000000000
        000000000000005a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a9e5cd110080000006f
        72673a61636d65000000000000000000
        00000000000000
    "#]],
    );
}

#[test]
fn a_tick() {
    let bytes = record(head(Kind::Tick, 0), &Section::absent(), &Section::absent());
    check(
        &bytes,
        &expect![[r#"
        d900000026ffffffd90086ba8f1c0104
        00000000000000000002010000000000
        00040300000000000001000000060500
        00000000000700000000000000090800
        0000000000ababababababababababab
        ababababab0040204648470600000000
        00000000000000000000000000000000
        00000000000000000000000000000000
        00000000000000000000000000000000
        00000000000000000000000000000000
        00000000000000cdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcd8599f763f6f3a54ecf
        d7616f4481c3f9f655addce10e80cef3
        0ac63819a5fc19
    "#]],
    );
}

#[test]
fn a_mark() {
    let bytes = record(head(Kind::Mark, 0), &Section::absent(), &Section::absent());
    check(
        &bytes,
        &expect![[r#"
        d900000026ffffffd9004e3378cc0105
        00000000000000000002010000000000
        00040300000000000001000000060500
        00000000000700000000000000090800
        0000000000ababababababababababab
        ababababab0040204648470600000000
        00000000000000000000000000000000
        00000000000000000000000000000000
        00000000000000000000000000000000
        00000000000000000000000000000000
        00000000000000cdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcdbdf3648fdeb180bf28
        f6b187c408ec7d8e622771c80fec0ca8
        28de84a15bb68b
    "#]],
    );
}

#[test]
fn an_erase() {
    let targets = [
        EraseTarget { offset: 5, place: Place::at(1, 128), who: true, what: false },
        EraseTarget { offset: 6, place: Place::at(2, 4_096), who: true, what: true },
    ];
    let head = Head { causes: vec![5, 6], ..head(Kind::Control, control::ERASE) };
    let payload = section(&encode_erase(&targets, b"residue"));
    check(
        &record(head, &Section::absent(), &payload),
        &expect![[r#"
        6901000096feffffe9004d79947d0103
        04000000000000000002010000000000
        00040300000000000001000000060500
        00000000000700000000000000090800
        0000000000ababababababababababab
        ababababab0040204648470600020005
        00000000000000060000000000000000
        00000080000000000000000000000000
        00000000000000000000000000000000
        0000000000000017eeca5311216610d3
        4f8b63e8752d57de27ca6c6341d18ce3
        9aaebc90959fc2cdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcd9c42d265614c8e8f40
        cd3925ddb004db3aa3df88fbce3d24ba
        70b9a2469f17e75a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a7e06c6ed2e00000001
        02000000050000000000000080000000
        01000000010600000000000000001000
        00020000000372657369647565000000
        00000000000000000000000000000000
        00000000000000000000000000000000
        00000000000000
    "#]],
    );
}

#[test]
fn an_erased() {
    let head = Head { causes: vec![9], ..head(Kind::Control, control::ERASED) };
    let payload = section(&ErasedEntry { erase: 9 }.encode());
    check(
        &record(head, &Section::absent(), &payload),
        &expect![[r#"
        21010000defeffffe100e42769460103
        05000000000000000002010000000000
        00040300000000000001000000060500
        00000000000700000000000000090800
        0000000000ababababababababababab
        ababababab0040204648470600010009
        00000000000000000000004000000000
        00000000000000000000000000000000
        000000000000000000000000000000a3
        b187e932ade6708e28dc08bdd880e325
        28ee30ad944c65cf4f600ed26b5067cd
        cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcdcdcdcdcdcdcdcdcd43
        42993719ea98acb221d0d455f6c52015
        8f0bee6dbcee856d9f70a76eab5f585a
        5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a48
        02e91309000000010900000000000000
        000000000000000000000000000000
    "#]],
    );
}

#[test]
fn a_checkpoint() {
    let checkpoint = Checkpoint {
        log_id: LOG_ID,
        epoch: 0,
        batch: 0x0303,
        next_offset: 0x0102,
        tip: [0x77; 32],
        recorded_at: RecordedAt(Micros(1_767_225_600_000_000)),
        public_key: [0; 32],
        signature: [0; 64],
    };
    let key = ed25519_dalek::SigningKey::from_bytes(&[0x11; 32]);
    let payload = section(&checkpoint.sign(&key).encode());
    let head = head(Kind::Control, control::CHECKPOINT);
    check(
        &record(head, &Section::absent(), &payload),
        &expect![[r#"
        d901000026feffffd900a844c5730103
        06000000000000000002010000000000
        00040300000000000001000000060500
        00000000000700000000000000090800
        0000000000ababababababababababab
        ababababab0040204648470600000000
        00000000010000000000000000000000
        00000000000000000000000000000000
        000000000000007effb38b09c61a9ec1
        4dfd6730ac32a6ac68be47cd3620847d
        1fb6a70625dd54cdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
        cdcdcdcdcdcdcd3116fef4ba69f739dd
        65f312e2a01d6d188a1cd5628d92f0f6
        b8794f387fc0725a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
        5a5a5a5a5a5a5afe883497ad00000001
        676f6c64656e206c6f67206964203136
        00000000030300000000000002010000
        00000000777777777777777777777777
        77777777777777777777777777777777
        777777770040204648470600d04ab232
        742bb4ab3a1368bd4615e4e6d0224ab7
        1a016baf8520a332c9778737574f1cb1
        5585c526273d46cae9ceb2a7bb40d03e
        c432084ac38bc7c9fb8d0aee61bad1a8
        56ad500ff96495daf1746f02e8270fd7
        8876adefc49a3334a473a50400000000
        00000000000000000000000000000000
        00000000000000000000000000000000
        00000000000000
    "#]],
    );
}

#[test]
fn every_flip_outside_the_sections_is_noticed() {
    let bytes = record(head(Kind::Experience, 0), &section(b"alice"), &section(b"hello"));
    let sections = 128;
    for position in 0..bytes.len() - sections {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[position] ^= 1 << bit;
            let fault = decode(&flipped, Seed::of(&LOG_ID)).unwrap_err();
            assert!(matches!(fault, Fault::Bytes(_) | Fault::Short(_)), "{position} {fault:?}");
        }
    }
    assert!(decode(&bytes, Seed::of(b"another log's id")).is_err());
}

#[test]
fn a_seal_that_does_not_hold_is_not_a_torn_write() {
    let mut bytes = record(head(Kind::Mark, 0), &Section::absent(), &Section::absent());
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let crc = Seed::of(&LOG_ID).checksum(&[&bytes[..10], &bytes[14..]]);
    bytes[10..14].copy_from_slice(&crc.to_le_bytes());
    let fault = decode(&bytes, Seed::of(&LOG_ID)).unwrap_err();
    assert_eq!(fault, Fault::Meaning("the seal of an entry does not hold"));
}

proptest! {
    #[test]
    fn decoding_any_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = decode(&bytes, Seed::of(&LOG_ID));
    }

    #[test]
    fn decoding_a_plausible_frame_never_panics(
        body in proptest::collection::vec(any::<u8>(), 217..600),
        head_len in 217u16..600,
    ) {
        // Lengths and checksum hold, so that everything behind them is reached.
        let len = body.len() as u32;
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(&(!len).to_le_bytes());
        bytes.extend_from_slice(&head_len.to_le_bytes());
        let head = &body[..usize::from(head_len).min(body.len())];
        let crc = Seed::of(&LOG_ID).checksum(&[&bytes, head]);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes.extend_from_slice(&body);
        let _ = decode(&bytes, Seed::of(&LOG_ID));
    }
}
