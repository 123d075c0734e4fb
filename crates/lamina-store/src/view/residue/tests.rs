//! The residue of an erasure reads back, and hostile bytes do not read.

use super::*;

#[test]
fn what_is_left_reads_back() {
    let residue = Residue { kept: vec![(3, vec![1, 2]), (u64::MAX, Vec::new())] };
    assert_eq!(Residue::decode(&residue.encode()), Ok(residue));
    assert_eq!(Residue::default().encode(), [0_u8; 0]);
    assert_eq!(Residue::decode(&[]), Ok(Residue::default()));
}

#[test]
fn what_does_not_read_is_an_error() {
    let bytes = Residue { kept: vec![(3, vec![1, 2])] }.encode();
    for cut in 1..bytes.len() {
        assert!(Residue::decode(&bytes[..cut]).is_err(), "{cut}");
    }
    assert!(Residue::decode(&[&bytes[..], &[0]].concat()).is_err());
    assert!(Residue::decode(&[9, 0]).is_err());
}
