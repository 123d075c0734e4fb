//! Requests that name less or more than they seem to are refused (C37).

use lamina_types::ErrorCode;
use serde_json::{Value, json};

use super::*;

fn read(body: &Value) -> Result<Asked, ErrorCode> {
    ErasureRequest::read(body.to_string().as_bytes(), None).map_err(|error| error.code)
}

const EVENT: &str = "evt_00000000000000000000000000000001";

#[test]
fn everything_goes_only_if_it_is_confirmed() {
    let silent = Err(ErrorCode::EmptySelectorWithoutConfirmation);
    assert_eq!(read(&json!({"scope": "user:alice"})), silent);
    assert_eq!(read(&json!({"scope": "user:alice", "selector": null})), silent);
    assert_eq!(read(&json!({"scope": "user:alice", "confirm_all": null})), silent);
    let all = read(&json!({"scope": "user:alice", "confirm_all": true})).unwrap();
    assert_eq!((all.events.len(), all.preview), (0, None));
    let shown =
        json!({"scope": "user:alice", "from_preview_id": format!("ervw_{}", "0".repeat(32))});
    assert!(read(&shown).is_ok());
    let mut denied = shown.clone();
    denied["confirm_all"] = json!(false);
    assert_eq!(read(&denied), silent);
    let named = json!({"scope": "user:alice", "selector": {"memory_ids": [EVENT, EVENT]}});
    assert_eq!(read(&named).unwrap().events.len(), 1);
    let mut both = named.clone();
    both["confirm_all"] = json!(false);
    assert!(read(&both).is_ok());
    both["confirm_all"] = json!(true);
    assert_eq!(read(&both), Err(ErrorCode::AmbiguousSelector));
    let none = json!({"scope": "user:alice", "confirm_all": false, "selector": {"memory_ids": []}});
    assert_eq!(read(&none), Err(ErrorCode::EmptySelectorWithoutConfirmation));
    // Who only wants to see it confirms nothing.
    let shown = |body: &Value| ErasureRequest::preview(body.to_string().as_bytes(), None);
    assert_eq!(shown(&json!({"scope": "user:alice"})).unwrap().events, []);
    assert_eq!(shown(&json!({"scope": "user:alice", "confirm_all": false})).unwrap().events, []);
    assert_eq!(shown(&both).unwrap_err().code, ErrorCode::AmbiguousSelector);
}

/// A client whose list came out empty did not ask for everything.
#[test]
fn a_selector_that_names_nothing_is_not_everything() {
    for selector in [json!({}), json!({"memory_ids": []}), json!({"memory_ids": null})] {
        for confirm_all in [None, Some(json!(null)), Some(json!(false))] {
            let mut body = json!({"scope": "user:alice", "selector": selector});
            if let Some(confirm_all) = confirm_all {
                body["confirm_all"] = confirm_all;
            }
            let empty = ErrorCode::EmptySelectorWithoutConfirmation;
            assert_eq!(read(&body), Err(empty), "{body}");
            let shown = ErasureRequest::preview(body.to_string().as_bytes(), None);
            assert_eq!(shown.unwrap_err().code, empty, "{body}");
        }
        let said = json!({"scope": "user:alice", "selector": selector, "confirm_all": true});
        assert_eq!(read(&said).unwrap().events, []);
    }
}

#[test]
fn a_preview_of_either_kind_may_be_named() {
    let with = |id: &str| json!({"scope": "user:alice", "from_preview_id": id});
    let digits = "0".repeat(32);
    let erasure = read(&with(&format!("ervw_{digits}"))).unwrap().preview;
    assert!(matches!(erasure, Some(Preview::Erasure(_))));
    let forget = read(&with(&format!("fpvw_{digits}"))).unwrap().preview;
    assert!(matches!(forget, Some(Preview::Forget(_))));
    assert_eq!(read(&with(&format!("evt_{digits}"))), Err(ErrorCode::InvalidId));
}

#[test]
fn what_is_misspelt_is_refused() {
    for (body, code) in [
        (json!({"scope": null}), ErrorCode::InvalidBody),
        (json!({"scope": "user:alice", "scopes": []}), ErrorCode::InvalidBody),
        (json!({"scope": "user:alice", "selector": {"memory_id": []}}), ErrorCode::InvalidBody),
        (json!({"scope": "user:alice", "selector": []}), ErrorCode::InvalidBody),
        (json!({"scope": "user:alice", "confirm_all": "yes"}), ErrorCode::InvalidBody),
        (json!({"scope": "alice"}), ErrorCode::InvalidScopeGrammar),
        (
            json!({"scope": "user:alice", "selector": {"memory_ids": ["fact_1"]}}),
            ErrorCode::InvalidId,
        ),
        (
            json!({"scope": "user:alice", "confirm_all": true, "audit_note": "x".repeat(2_001)}),
            ErrorCode::InvalidBody,
        ),
    ] {
        assert_eq!(read(&body), Err(code), "{body}");
    }
}

#[test]
fn a_hold_says_why() {
    let read = |body: Value| LegalHoldRequest::read(body.to_string().as_bytes());
    assert!(read(json!({"scope": "user:alice", "reason": "a trial"})).is_ok());
    assert!(read(json!({"scope": "user:alice", "reason": " "})).is_err());
    assert!(read(json!({"scope": "user:alice"})).is_err());
}
