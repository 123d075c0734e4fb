//! Reading what a registration says.

use super::*;

fn paths(said: &Said) -> Vec<String> {
    said.inherit_from.iter().map(ToString::to_string).collect()
}

#[test]
fn members_are_found_where_they_are_and_nowhere_else() {
    let said = Said::read(r#"{"inherit_from":["org:acme","ws:b/user:c"],"audit":"full"}"#);
    assert_eq!(paths(&said), ["org:acme", "ws:b/user:c"]);
    assert_eq!(said.audit_full, Some(true));
    assert_eq!(Said::read(r#"{"audit":"standard"}"#).audit_full, Some(false));
    for nothing in ["", "{}", r#"{"children":{"auto_register":true}}"#, r#"{"inherit_from":[]}"#] {
        assert_eq!(Said::read(nothing), Said::default(), "{nothing}");
    }
}

#[test]
fn a_value_cannot_pretend_to_be_a_member() {
    let hostile = r#"{"consolidation":"\"inherit_from\":[\"org:x\"],\"audit\":\"full\""}"#;
    assert_eq!(Said::read(hostile), Said::default());
    let first = r#"{"conflict_resolution":"\"audit\":\"full\"","audit":"standard"}"#;
    assert_eq!(Said::read(first).audit_full, Some(false));
}
