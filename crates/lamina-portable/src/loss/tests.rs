//! The two forms of a report.

use expect_test::expect;

use super::*;

fn report() -> LossReport {
    let mut account = LossAccount::default();
    account.count_row("message");
    account.count_row("message");
    account.keep("text", "content.text");
    account.carry("title");
    account.carry("title");
    account.lose("score", "it is not a stored field");
    account.change("time", "the file's time was taken");
    account.skip("empty", 3);
    account.fail(ReportedError {
        line: Some(7),
        code: ErrorCode::InvalidBody,
        detail: "`NaN` is no JSON number".to_owned(),
    });
    LossReport {
        format: "openai".to_owned(),
        detected: Some("This is a ChatGPT export.".to_owned()),
        source: ReportSource { name: "export.zip".to_owned(), sha256: None, bytes: 1_234 },
        dry_run: true,
        outcomes: RowOutcomes { written: 2, known: 0, replaced: 0 },
        account,
    }
}

#[test]
fn report_counts_every_row_once() {
    let LossReport { account, outcomes, .. } = report();
    let known = outcomes.written + outcomes.known + outcomes.replaced;
    assert_eq!(account.read(), known + account.skipped() + account.failed());
}

#[test]
fn report_as_json_has_every_member() {
    expect![[r#"{"format":"openai","detected":"This is a ChatGPT export.","source":{"name":"export.zip","sha256":null,"bytes":1234},"dry_run":true,"read":6,"written":2,"known":0,"replaced":0,"skipped":3,"failed":1,"by_kind":{"message":2},"kept":[{"field":"text","to":"content.text"}],"carried":[{"field":"title","count":2}],"lost":[{"field":"score","count":1,"why":"it is not a stored field"}],"changed":[{"field":"time","count":1,"why":"the file's time was taken"}],"skipped_why":[{"why":"empty","count":3}],"errors":[{"line":7,"error":"INVALID_BODY","detail":"`NaN` is no JSON number"}],"errors_total":1}"#]].assert_eq(&report().to_json_text());
}

#[test]
fn report_as_table_is_readable() {
    expect![[r#"
        export.zip (1234 bytes), format openai
        This is a ChatGPT export.

          read                    6
          would write             2
          known already           0
          replaced                0
          skipped                 3
          failed                  1

        By kind
                   2  message

        Kept
          text -> content.text

        Carried along in origin
                   2  title

        Changed
                   1  time: the file's time was taken

        Lost
                   1  score: it is not a stored field

        Skipped
                   3  empty

        Errors
          line 7: INVALID_BODY `NaN` is no JSON number
    "#]]
    .assert_eq(&report().to_table());
}

#[test]
fn report_of_nothing_says_so() {
    let mut empty = report();
    empty.account = LossAccount::default();
    assert!(empty.to_table().contains("Nothing was found to import."));
}

#[test]
fn report_lists_a_bounded_number_of_fields_and_errors() {
    let mut account = LossAccount::default();
    for number in 0..1_000 {
        account.carry(&format!("field-{number}"));
        account.lose(&format!("field-{number}"), "why");
        let detail = number.to_string();
        account.fail(ReportedError { line: None, code: ErrorCode::InvalidBody, detail });
    }
    assert_eq!(account.carried.len(), FIELDS_SHOWN_MAX + 1);
    assert_eq!(account.carried[OTHER_FIELDS], 800);
    assert_eq!(account.lost.len(), FIELDS_SHOWN_MAX + 1);
    assert_eq!(account.errors().len(), ERRORS_SHOWN_MAX);
    assert_eq!(account.failed(), 1_000);
}
