//! What a person sees: progress, the table of a report, the query of an upload.

use expect_test::expect;
use serde_json::json;

use super::{encode, follow, table};

#[test]
fn progress_shows_pace_and_time_left_as_far_as_known() {
    let job = json!({"fraction_complete": 0.42, "processed": 5240, "total": 12480,
                     "rows_per_second": 1250.4, "seconds_left": 66, "failed": 3});
    expect![" 42 %  5240 of 12480 rows  1250 rows/s  1 min 6 s left  3 refused"]
        .assert_eq(&follow::progress(&job));
    expect!["  0 %  0 rows"].assert_eq(&follow::progress(&json!({})));
}

#[test]
fn report_is_shown_as_a_table() {
    let report = json!({
        "format": "mem0", "detected": null, "source": {"name": "page.json", "bytes": 812}, "dry_run": true,
        "read": 3, "written": 1, "known": 1, "replaced": 0, "skipped": 0, "failed": 1,
        "by_kind": {"text": 2}, "kept": [{"field": "memory", "to": "content.text"}],
        "carried": [{"field": "attributed_to", "count": 2}],
        "lost": [{"field": "score", "count": 1, "why": "not a stored field"}], "changed": [],
        "skipped_why": [], "errors": [{"line": 4, "error": "INVALID_TIMESTAMP", "detail": "`never` is no time"}],
        "errors_total": 2,
    });
    expect![[r#"
        page.json (812 bytes), format mem0

          read                    3
          would write             1
          known already           1
          replaced                0
          skipped                 0
          failed                  1

        By kind
                   2  text

        Kept
          memory -> content.text

        Carried along in origin
                   2  attributed_to

        Lost
                   1  score: not a stored field

        Errors
          line 4: INVALID_TIMESTAMP `never` is no time
          and 1 more
    "#]]
    .assert_eq(&table::render(&report));
}

#[test]
fn query_values_are_encoded() {
    assert_eq!(encode("user:alice/project:x"), "user:alice/project:x");
    assert_eq!(encode("a b&c=+02:00"), "a%20b%26c%3D%2B02:00");
}
