//! Roles have names and an order.

use super::MemberRole;

#[test]
fn names_are_read_back() {
    for role in MemberRole::ALL {
        assert_eq!(role.as_str().parse(), Ok(*role));
    }
    for text in ["", "Owner", "admin", "owner "] {
        assert!(text.parse::<MemberRole>().is_err(), "{text}");
    }
}

#[test]
fn the_strongest_role_is_the_maximum() {
    assert_eq!(MemberRole::ALL.iter().max(), Some(&MemberRole::Owner));
    assert!(MemberRole::Owner.writes() && MemberRole::Writer.writes());
    assert!(!MemberRole::Reader.writes());
}
