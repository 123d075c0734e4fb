//! Rows that were changed, deleted, inserted or put in another order on the disk are found, and the
//! first of them is named.

use std::path::{Path, PathBuf};

use lamina_env::Disk;

use super::super::testing::{World, all};
use super::super::{AuditFilter, AuditLog};

/// Where a row's record lies: file, position, length.
struct Lies {
    file: PathBuf,
    position: usize,
    len: usize,
}

/// Some hundred rows of two tenants over several segments, and where those of the first lie.
fn filled() -> (World, AuditLog, Vec<Lies>) {
    let world = World::new();
    let mut log = world.open();
    world.fill(&mut log, 100);
    log.idle().unwrap();
    world.fill(&mut log, 50);
    log.close().unwrap();
    let lies = lies(&world, &log);
    assert!(world.segments().len() > 3);
    (world, log, lies)
}

fn lies(world: &World, log: &AuditLog) -> Vec<Lies> {
    let reader = log.reader();
    let mut found = Vec::new();
    for span in reader.shared.sealed() {
        let index = reader.shared.index(&span).unwrap();
        for row in reader.shared.rows(&span, &index, 1).unwrap() {
            found.push((span.first_offset, row.position as usize));
        }
    }
    let active = reader.shared.active.read();
    let rows = active.tenants[&1].rows.iter();
    found.extend(rows.map(|row| (active.first_offset, row.position as usize)));
    let lies = found.into_iter().map(|(first_offset, position)| {
        let file = PathBuf::from(format!("/data/audit/log/{first_offset:016x}.seg"));
        let bytes = world.disk.contents(&file).unwrap();
        let len = u32::from_le_bytes(bytes[position..position + 4].try_into().unwrap());
        Lies { file, position, len: 14 + len as usize }
    });
    lies.collect()
}

fn verify(world: &World, log: &AuditLog, tenant: u32) -> Option<u64> {
    log.reader().verify(tenant, world.keys().public()).unwrap().first_broken_index
}

/// Does something to a copy of the files, looks, and puts them back.
fn after(
    world: &World,
    log: &AuditLog,
    file: &Path,
    change: impl FnOnce(&mut Vec<u8>),
) -> (Option<u64>, Option<u64>) {
    let kept = world.disk.contents(file).unwrap();
    let mut bytes = kept.clone();
    change(&mut bytes);
    bytes.resize(kept.len(), 0);
    world.disk.poke(file, 0, &bytes).unwrap();
    let found = (verify(world, log, 1), verify(world, log, 2));
    world.disk.poke(file, 0, &kept).unwrap();
    found
}

#[test]
fn what_nobody_touched_holds() {
    let (world, log, lies) = filled();
    for tenant in [1, 2, 3] {
        assert_eq!(verify(&world, &log, tenant), None);
    }
    let verified = log.reader().verify(1, world.keys().public()).unwrap();
    assert_eq!(verified.chain, log.reader().chain(1).unwrap());
    assert_eq!(verified.chain.length, lies.len() as u64);
    let again = world.open();
    assert_eq!(verify(&world, &again, 1), None, "also after a restart");
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let (world, log, lies) = filled();
    for index in [0, 37, lies.len() - 1] {
        let lie = &lies[index];
        for byte in (0..lie.len).step_by(7) {
            let found = after(&world, &log, &lie.file, |bytes| bytes[lie.position + byte] ^= 0x10);
            assert_eq!(found, (Some(index as u64), None), "byte {byte} of row {index}");
        }
    }
}

#[test]
fn a_deleted_row_is_missed() {
    let (world, log, lies) = filled();
    for index in [0, 1, 50, lies.len() - 1] {
        let Lies { file, position, len } = &lies[index];
        let found = after(&world, &log, file, |bytes| drop(bytes.drain(*position..position + len)));
        // Without a row after it only the batch, of up to three, can be told.
        let slack = if index + 1 == lies.len() { 2 } else { 0 };
        let named = found.0.unwrap();
        assert!(named <= index as u64 && named + slack >= index as u64, "row {index}: {named}");
        let found = after(&world, &log, file, |bytes| bytes[*position..position + len].fill(0));
        assert_eq!(found, (Some(index as u64), None), "row {index} zeroed");
    }
}

#[test]
fn a_section_that_was_zeroed_without_an_erasure_is_found() {
    let (world, log, lies) = filled();
    let Lies { file, position, len } = &lies[20];
    let found =
        after(&world, &log, file, |bytes| bytes[position + 14 + 217..position + len].fill(0));
    assert_eq!(found, (Some(20), None));
}

#[test]
fn an_inserted_row_is_found() {
    let (world, log, lies) = filled();
    for index in [0, 33] {
        let Lies { file, position, len } = &lies[index];
        let found = after(&world, &log, file, |bytes| {
            let copy = bytes[*position..position + len].to_vec();
            // Before the padding at the end of the file, or the footer would be cut off.
            bytes.splice(position + len..position + len, copy);
        });
        assert_eq!(found.0, Some(index as u64 + 1), "the copy stands where the next should");
    }
}

#[test]
fn rows_in_another_order_are_found() {
    let (world, log, lies) = filled();
    let pair = lies.windows(2).position(|pair| {
        pair[0].file == pair[1].file && pair[0].position + pair[0].len == pair[1].position
    });
    let index = pair.unwrap();
    let (first, second) = (&lies[index], &lies[index + 1]);
    let found = after(&world, &log, &first.file, |bytes| {
        let swapped = [
            &bytes[second.position..second.position + second.len],
            &bytes[first.position..second.position],
        ]
        .concat();
        bytes[first.position..second.position + second.len].copy_from_slice(&swapped);
    });
    assert_eq!(found, (Some(index as u64), None));
}

#[test]
fn a_segment_that_is_gone_is_missed() {
    let (world, log, lies) = filled();
    let gone = &world.segments()[1];
    let first = lies.iter().position(|lie| lie.file == *gone).unwrap();
    world.disk.remove(gone).unwrap();
    assert_eq!(verify(&world, &log, 1), Some(first as u64));
}

#[test]
fn rows_that_were_cut_off_are_missed() {
    let (world, log, lies) = filled();
    let (rows, _) = all(&log.reader(), 1, &AuditFilter::default(), 1_000);
    assert_eq!(rows.len(), lies.len());
    let lie = &lies[lies.len() - 2];
    let found = after(&world, &log, &lie.file, |bytes| bytes[lie.position..].fill(0));
    assert_eq!(found.0, Some(lies.len() as u64 - 2));
}
