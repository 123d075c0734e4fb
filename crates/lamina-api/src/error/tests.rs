//! The envelope of errors, and that every code is explained.

use expect_test::expect;
use lamina_types::ErrorCode;

use super::ApiError;

#[test]
fn an_error_about_a_field() {
    let error = ApiError::invalid_envelope("content.role", "must be one of user, assistant");
    assert_eq!(error.field(), Some("content.role"));
    expect![[r#"
        {
          "error_code": "INVALID_ENVELOPE",
          "message": "`content.role`: must be one of user, assistant",
          "request_id": "req_1",
          "details": {
            "field": "content.role",
            "reason": "must be one of user, assistant"
          },
          "retriable": false
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&error.envelope("req_1", None)).unwrap());
}

#[test]
fn an_error_without_details_has_none() {
    let error = ApiError::of(ErrorCode::WalUnavailable).retry_after(5);
    assert_eq!((error.status, error.retry_after_s), (503, Some(5)));
    let envelope = error.envelope("req_1", None);
    assert!(envelope.retriable && envelope.details.is_none());
}

#[test]
fn body_errors_have_two_statuses() {
    assert_eq!(ApiError::new(ErrorCode::InvalidBody, "x").status, 400);
    assert_eq!(ApiError::invalid_shape("a", "x").status, 422);
}
