//! The report of the clock as a person reads it.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

#[track_caller]
fn check(answer: &Value, expected: &Expect) {
    expected.assert_eq(&shown(answer));
}

#[test]
fn report_names_both_times_and_the_command_that_confirms() {
    let mut answer = json!({
        "wall_at": "2027-06-17T10:00:00Z",
        "log_at": "2026-05-13T15:42:07Z",
        "recorded_at": "2026-05-13T15:42:00Z",
        "segment_modified_at": null,
        "log_ahead_secs": 0,
        "doubt": "ahead",
        "confirmed_by": null,
        "automatic_deletion": {"allowed": false, "reason": "clock", "wait_secs": null},
        "stopped_sweeps": [],
    });
    check(
        &answer,
        &expect![[r#"
          wall clock           2027-06-17T10:00:00Z
          last entry           2026-05-13T15:42:00Z
          newest file          -
          next entry           2026-05-13T15:42:07Z
          automatic deletion   off until the clock is confirmed
        the clock is ahead of the log. If the wall clock above is right: lamina clock --confirm
    "#]],
    );
    answer["doubt"] = Value::Null;
    answer["log_ahead_secs"] = json!(7);
    answer["automatic_deletion"] = json!({"allowed": false, "reason": "pause", "wait_secs": 60});
    let of_scope = json!({"sweep_id": "job_1", "tenant": "acme", "of": "scope",
        "scope": "ws:sales", "overdue": 120, "events": 300});
    let of_tenant = json!({"sweep_id": "job_2", "tenant": "acme", "of": "tenant",
        "scope": null, "overdue": 120, "events": 300});
    answer["stopped_sweeps"] = json!([of_scope, of_tenant]);
    check(
        &answer,
        &expect![[r#"
          wall clock           2027-06-17T10:00:00Z
          last entry           2026-05-13T15:42:00Z
          newest file          -
          next entry           2026-05-13T15:42:07Z
          log ahead by         7 s
          automatic deletion   off for 60 s more: the server was off for more than a day
          stopped sweep        120 of 300 events of ws:sales of tenant acme are overdue
            to let it run      lamina clock --confirm --sweep job_1
          stopped sweep        120 of 300 events of tenant acme are overdue
            to let it run      lamina clock --confirm --sweep job_2
        the clock is believed
    "#]],
    );
}
