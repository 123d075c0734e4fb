//! The residue of an erasure reads back, and hostile bytes do not read.

use super::*;

#[test]
fn what_is_left_reads_back() {
    let kept = vec![(3, vec![1, 2]), (u64::MAX, Vec::new())];
    let residue = Residue { kept, ..Residue::default() };
    assert_eq!(Residue::decode(&residue.encode()), Ok(residue));
    assert_eq!(Residue::default().encode(), [0_u8; 0]);
    assert_eq!(Residue::decode(&[]), Ok(Residue::default()));
}

#[test]
fn what_does_not_read_is_an_error() {
    let plain = Residue { kept: vec![(3, vec![1, 2])], ..Residue::default() };
    let lasting = Residue { stays: vec![(3, vec![7]), (4, vec![])], ..plain.clone() };
    for bytes in [plain.encode(), lasting.encode()] {
        for cut in 1..bytes.len() {
            assert!(Residue::decode(&bytes[..cut]).is_err(), "{cut}");
        }
        assert!(Residue::decode(&[&bytes[..], &[0]].concat()).is_err());
    }
    assert!(Residue::decode(&[9, 0]).is_err());
}

/// Bytes that are in logs out there.
#[test]
fn the_bytes_stay_what_they_are() {
    let plain = Residue { kept: vec![(3, vec![1, 2])], ..Residue::default() };
    assert_eq!(plain.encode(), [1, 1, 3, 2, 1, 2]);
    let lasting = Residue { stays: vec![(3, vec![7, 300])], keys: vec![(9, [5; 16])], ..plain };
    let bytes = lasting.encode();
    assert_eq!(bytes, [&[2, 1, 3, 2, 1, 2, 1, 3, 2, 7, 172, 2, 1, 9][..], &[5; 16]].concat());
    assert_eq!(Residue::decode(&bytes).as_ref(), Ok(&lasting));
    assert_eq!((lasting.stays(3), lasting.stays(9)), (Some(&[7, 300][..]), None));
    assert_eq!(lasting.clone().only(|offset| offset == 3).keys, []);
}
