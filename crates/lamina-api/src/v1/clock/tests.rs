//! Confirmations as the command line and scripts send them.

use super::*;

#[test]
fn confirmation_reads_a_sweep_or_the_clock_and_refuses_the_rest() {
    assert_eq!(ConfirmRequest::read(b"").unwrap(), None);
    assert_eq!(ConfirmRequest::read(b"{}").unwrap(), None);
    let id = format!("job_{}", "7".repeat(32));
    let body = format!("{{\"sweep_id\": \"{id}\"}}");
    assert_eq!(ConfirmRequest::read(body.as_bytes()).unwrap().unwrap().to_string(), id);
    for refused in [r#"{"sweep_id": "7"}"#, r#"{"sweep_id": 7}"#, r#"{"sweep": null}"#, "[]"] {
        assert!(ConfirmRequest::read(refused.as_bytes()).is_err(), "{refused}");
    }
}
