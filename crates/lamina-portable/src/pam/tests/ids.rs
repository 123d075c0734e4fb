//! Ids of exports and owners.

use crate::pam::{PamExportId, TermsTag, owner_id};
use lamina_types::Micros;

fn tag(scope: &str, is_full: bool) -> TermsTag<'_> {
    TermsTag { tenant: "t", scope, terms: "local", is_full }
}

#[test]
fn export_id_holds_its_instant_and_fits_its_terms_alone() {
    for at in [0, 1, 1_789_000_000_123_456, (1 << 55) - 1] {
        let id = PamExportId::new(Micros(at), [1, 2, 3, 255]);
        let text = id.print(&tag("user:alice", true));
        assert_eq!(text.len(), 36);
        assert_eq!(text.get(14..15), Some("4"), "{text}");
        assert_eq!(PamExportId::parse(&text, &tag("user:alice", true)), Some(id));
        assert_eq!(PamExportId::parse(&text, &tag("user:bob", true)), None);
        assert_eq!(PamExportId::parse(&text, &tag("user:alice", false)), None);
        assert_eq!(PamExportId::parse(&text.replace('-', ""), &tag("user:alice", true)), None);
    }
    assert_eq!(PamExportId::parse("nonsense", &tag("user:alice", true)), None);
}

#[test]
fn owner_of_a_scope_is_always_the_same() {
    assert_eq!(owner_id("user:alice"), owner_id("user:alice"));
    assert_ne!(owner_id("user:alice"), owner_id("user:bob"));
    assert_eq!(owner_id("user:alice").get(14..15), Some("8"));
}
