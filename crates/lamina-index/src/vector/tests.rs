//! Vectors in bytes, on disk, and after damage.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::sim::SimDisk;
use lamina_types::{Micros, RecordedAt, ScopePath, ValidAt};
use proptest::strategy::Strategy as _;

use super::rows::{Row, Slot};
use super::state::State;
use super::{Budget, Space, Store, Vector, Wide, dot, nearest};
use crate::document::{Document, Layer, Part, Record, RecordKey};
use crate::error::Error;
use crate::filter::{Candidate, Filter};

const DIR: &str = "/v";

fn space() -> Space {
    Space { model: "test".to_owned(), dims: 4 }
}

fn open(disk: &SimDisk) -> Result<Store, Error> {
    Store::open(Arc::new(disk.clone()), PathBuf::from(DIR), &space(), &Budget::new(1 << 10))
}

fn document(number: u8, scope: &str, values: [f32; 4]) -> Document {
    Document {
        layer: Layer::Event,
        id: [number; 16],
        scope: scope.parse().unwrap(),
        offset: u64::from(number),
        recorded: RecordedAt(Micros(0)),
        valid_from: ValidAt(Micros(0)),
        valid_until: None,
        labels: Vec::new(),
        parts: vec![Part { text: String::new(), vector: Vector::of(&values) }],
    }
}

fn found(store: &mut Store) -> Vec<u64> {
    let scope: ScopePath = "org:a".parse().unwrap();
    let blocks = store.blocks(&Filter::subtree(scope)).unwrap();
    let question = Vector::of(&[1.0, 0.0, 0.0, 0.0]).unwrap();
    nearest(&blocks, &question, 9, &|_| true).iter().map(|hit| hit.offset).collect()
}

#[test]
fn directions_are_kept_in_bytes() {
    assert_eq!(Vector::of(&[0.0, 0.0]), None);
    assert_eq!(Vector::of(&[f32::NAN, f32::NAN]), None);
    assert_eq!(Vector::of(&[f32::INFINITY, 1.0]), None);
    let vector = Vector::of(&[3.0, -4.0]).unwrap();
    assert_eq!(vector.bytes(), [95, -127]);
    assert!((vector.cosine(&vector) - 1.0).abs() < 1e-6);
    let across = Vector::of(&[4.0, 3.0]).unwrap();
    assert!(vector.cosine(&across).abs() < 0.01);
}

proptest::proptest! {
    #[test]
    fn wide_instructions_add_up_to_the_same(
        (left, right) in proptest::collection::vec(proptest::prelude::any::<(i8, i8)>(), 0..600)
            .prop_map(|pairs| pairs.into_iter().unzip::<i8, i8, Vec<i8>, Vec<i8>>())
    ) {
        let mut slowly = 0_i32;
        for (left, right) in left.iter().zip(&right) {
            slowly += i32::from(*left) * i32::from(*right);
        }
        let one = Wide { values: left.iter().copied().map(i16::from).collect(), scale: 1.0 };
        let mut cosines = vec![9.0];
        one.cosines([(&*right, 1.0), (&*right, 0.5)].into_iter(), &mut cosines);
        proptest::prop_assert_eq!(cosines, vec![slowly as f32, slowly as f32 * 0.5]);
        proptest::prop_assert_eq!(dot(&left, &right), slowly);
    }
}

#[test]
fn golden_bytes_of_a_row() {
    let key = RecordKey { layer: Layer::Fact, id: [9; 16], part: 3 };
    let row = Row {
        scope: 7,
        candidate: Candidate {
            key,
            offset: 258,
            recorded: RecordedAt(Micros(-1)),
            valid_from: ValidAt(Micros(5)),
            valid_until: None,
        },
        values: Box::new([1, -1, 127, -128]),
    };
    let mut bytes = Vec::new();
    row.encode(&mut bytes);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    expect_test::expect!["9b986f47070000000200000003000000090909090909090909090909090909090201000000000000ffffffffffffffff0500000000000000ffffffffffffff7f01ff7f80"].assert_eq(&hex);
    assert_eq!(Row::decode(&bytes), Slot::Live(row));
    assert_eq!(Row::decode(&vec![0; bytes.len()]), Slot::Removed);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert_eq!(Row::decode(&damaged), Slot::Damaged, "byte {at}");
    }
}

#[test]
fn a_state_is_read_as_it_was_written_or_not_at_all() {
    let state = State {
        space: space(),
        generation: 3,
        rows: 17,
        scopes_bytes: 99,
        applied: 12,
        removed: vec![4, 16],
    };
    let bytes = state.encode();
    assert_eq!(State::decode(&bytes), Some(state));
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert_eq!(State::decode(&damaged), None, "byte {at}");
        assert_eq!(State::decode(&bytes[..at]), None, "cut at {at}");
    }
}

#[test]
fn a_scope_that_left_memory_is_read_from_disk() {
    let disk = SimDisk::new();
    let mut store = open(&disk).unwrap();
    for number in 0..40 {
        let far = f32::from(number);
        store
            .put(&document(number, &format!("org:a/user:u{}", number % 5), [1.0, far, 0.0, 0.0]))
            .unwrap();
        if number % 10 == 4 {
            store.commit().unwrap();
        }
    }
    let expected: Vec<u64> = (0..9).collect();
    assert_eq!(found(&mut store), expected);
    store.commit().unwrap();
    assert_eq!(found(&mut store), expected);
    let mut store = open(&disk).unwrap();
    assert_eq!(store.len(), 40);
    assert_eq!(found(&mut store), expected);
}

#[test]
fn removed_bytes_are_zero_on_disk_and_rewriting_keeps_the_rest() {
    let disk = SimDisk::new();
    let mut store = open(&disk).unwrap();
    for number in 1..5 {
        store.put(&document(number, "org:a/user:x", [1.0, f32::from(number), 0.0, 0.0])).unwrap();
    }
    store.put(&document(5, "org:a/user:gone", [1.0, 1.5, 0.0, 0.0])).unwrap();
    store.commit().unwrap();
    let record = |number| Record { layer: Layer::Event, id: [number; 16] };
    store.remove(record(2)).unwrap();
    store.commit().unwrap();
    let rows = disk.contents(&Path::new(DIR).join("rows-0")).unwrap();
    assert!(rows[68..136].iter().all(|byte| *byte == 0), "the second row");
    store.remove(record(5)).unwrap();
    store.purge().unwrap();
    assert_eq!(found(&mut store), [1, 3, 4]);
    let mut store = open(&disk).unwrap();
    assert_eq!(found(&mut store), [1, 3, 4]);
    assert_eq!(disk.files().len(), 3, "old files are gone: {:?}", disk.files());
    store.put(&document(6, "org:a/user:gone", [1.0, 0.0, 0.0, 0.0])).unwrap();
    store.commit().unwrap();
    assert_eq!(found(&mut open(&disk).unwrap()), [6, 1, 3, 4]);
}

#[test]
fn damage_is_noticed_and_rows_after_the_committed_ones_are_not_damage() {
    let disk = SimDisk::new();
    let mut store = open(&disk).unwrap();
    store.put(&document(1, "org:a", [1.0; 4])).unwrap();
    store.commit().unwrap();
    let rows = Path::new(DIR).join("rows-0");
    disk.poke(&rows, 68, &[7; 30]).unwrap();
    assert_eq!(open(&disk).unwrap().len(), 1);
    disk.poke(&rows, 20, &[0xFF]).unwrap();
    assert!(matches!(open(&disk), Err(Error::Damaged(_))));
    let other = Space { model: "other".to_owned(), dims: 4 };
    let opened = Store::open(Arc::new(disk.clone()), PathBuf::from(DIR), &other, &Budget::new(0));
    assert!(matches!(opened, Err(Error::OtherSpace { .. })));
}

#[test]
fn what_is_removed_while_it_is_written_is_gone_after_the_next_commit() {
    let disk = SimDisk::new();
    let mut store = open(&disk).unwrap();
    store.put(&document(1, "org:a", [1.0; 4])).unwrap();
    store.put(&document(2, "org:a", [1.0, 2.0, 3.0, 4.0])).unwrap();
    let batch = store.begin_commit().unwrap();
    store.remove(Record { layer: Layer::Event, id: [2; 16] }).unwrap();
    store.put(&document(3, "org:a/user:new", [1.0, 0.0, 0.0, 0.0])).unwrap();
    batch.write().unwrap();
    store.end_commit(batch, true).unwrap();
    assert_eq!(found(&mut store), [3, 1]);
    assert_eq!(found(&mut open(&disk).unwrap()).len(), 2, "on disk are the first two");
    store.commit().unwrap();
    assert_eq!(found(&mut store), [3, 1]);
    assert_eq!(found(&mut open(&disk).unwrap()), [3, 1]);
    let rows = disk.contents(&Path::new(DIR).join("rows-0")).unwrap();
    assert!(rows[68..136].iter().all(|byte| *byte == 0), "the second row");
}

#[test]
fn a_commit_that_fails_is_made_good_by_the_next() {
    let disk = SimDisk::new();
    let mut store = open(&disk).unwrap();
    store.put(&document(1, "org:a", [1.0; 4])).unwrap();
    store.commit().unwrap();
    store.remove(Record { layer: Layer::Event, id: [1; 16] }).unwrap();
    store.put(&document(2, "org:a/user:x", [1.0; 4])).unwrap();
    disk.fail_sync(1);
    assert!(matches!(store.commit(), Err(Error::Io(_))));
    assert_eq!(found(&mut store), [2]);
    store.commit().unwrap();
    assert_eq!(found(&mut open(&disk).unwrap()), [2]);
}
