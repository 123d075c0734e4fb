//! The index file: golden bytes, round trip, and files that do not hold.

use expect_test::expect;
use lamina_types::stdx::hex;
use proptest::prelude::*;

use super::*;

fn index_row(seq: u64) -> IndexRow {
    IndexRow {
        id: AuditId::mint(Micros(1_000_000 * seq as i64), [seq as u8; 8]),
        at: Micros(1_000_000 * seq as i64),
        seq,
        actor: 7,
        scope: 9,
        capability: 11,
        offset: seq as u32,
        position: 128,
        decision: Decision::Allow,
        gdpr: seq == 2,
    }
}

fn building() -> Building {
    let heads = |seq| Heads {
        tenant_seq: seq + 1,
        own: ChainHead { seq: 1, seal: [8; 32] },
        rows: ChainHead { seq, seal: [9; 32] },
    };
    let tenants = BTreeMap::from([
        (1, Held { heads: heads(2), rows: vec![index_row(1), index_row(2)] }),
        (5, Held { heads: heads(3), rows: vec![index_row(3)] }),
    ]);
    Building { number: 0, first_offset: 16, next_offset: 22, covered: 300, tenants }
}

#[test]
fn golden_bytes() {
    let bytes = building().encode(&[1; 16]);
    assert_eq!(bytes.len(), HEAD_LEN + 2 * PART_LEN + 3 * ROW_LEN);
    expect!["4c4155444958010a01010101010101010101010101010101100000000000000016000000000000002c0100000000000002000000c299425a0100000000000000020000003632b19f0300000000000000010000000000000008080808080808080808080808080808080808080808080808080808080808080200000000000000090909090909090909090909090909090909090909090909090909090909090940420f000000000080841e00000000000070e803000000000070d00700000000050000000200000001000000a6535eb804000000000000000100000000000000080808080808080808080808080808080808080808080808080808080808080803000000000000000909090909090909090909090909090909090909090909090909090909090909c0c62d0000000000c0c62d00000000000070b80b000000000070b80b000000000000000003e87000810101010101010140420f00000000000100000000000000070000000000000009000000000000000b0000000100000080000000010000000000000007d07000820202020202020280841e00000000000200000000000000070000000000000009000000000000000b000000020000008000000003000000000000000bb870008303030303030303c0c62d00000000000300000000000000070000000000000009000000000000000b000000030000008000000001000000"].assert_eq(&hex::encode(&bytes));
}

#[test]
fn what_was_stored_is_read_back() {
    let (built, bytes) = (building(), building().encode(&[1; 16]));
    let summary = Summary::decode(&bytes).unwrap();
    assert_eq!((summary.first_offset, summary.next_offset, summary.covered), (16, 22, 300));
    for (tenant, held) in &built.tenants {
        let part = &summary.parts[tenant];
        assert_eq!(part.heads, held.heads);
        let (start, len) = summary.span(part);
        let rows = decode_rows(part, &bytes[start as usize..start as usize + len]).unwrap();
        assert_eq!(rows, held.rows);
        for row in &rows {
            assert!(part.may_hold(row.id));
        }
        assert!(!part.may_hold(AuditId::mint(Micros(90_000_000), [0; 8])));
    }
    assert_eq!(summary.parts[&1].seq_first(), 1);
    assert_eq!(summary.parts[&5].seq_first(), 3);
}

#[test]
fn any_flipped_byte_is_noticed() {
    let bytes = building().encode(&[1; 16]);
    let table_end = HEAD_LEN + 2 * PART_LEN;
    for position in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[position] ^= 1;
        match Summary::decode(&bytes) {
            None => assert!(position < table_end),
            Some(summary) => {
                let hold = summary.parts.values().all(|part| {
                    let (start, len) = summary.span(part);
                    decode_rows(part, &bytes[start as usize..start as usize + len]).is_some()
                });
                assert!(!hold && position >= table_end, "byte {position}");
            }
        }
    }
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..400), ours: bool) {
        if ours && bytes.len() >= 8 {
            bytes[..8].copy_from_slice(&MAGIC);
        }
        let _ = Summary::decode(&bytes);
    }
}
