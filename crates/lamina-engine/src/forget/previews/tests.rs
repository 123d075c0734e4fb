//! Who may refer to a preview, for how long, and which requests agree with it.

use super::*;

/// A preview of a selection that matched records.
fn preview(actor: &str, selection: u8, records: u8) -> Previewed {
    Previewed {
        tenant: 1,
        actor: actor.to_owned(),
        binding: PreviewBinding::for_tests([selection, records]),
    }
}

fn caller(tenant: u32, actor: &str) -> Caller {
    Caller::local(actor.parse().unwrap(), tenant)
}

fn id(number: u8) -> ForgetPreviewId {
    ForgetPreviewId::from_bytes([number; 16])
}

#[test]
fn preview_of_another_caller_tenant_or_time_is_unknown() {
    let previews = Previews::default();
    let until = previews.keep(id(1), preview("user:a", 1, 1), Micros(0));
    assert_eq!(until, Micros(FORGET_PREVIEW_TTL_US));
    previews.binding(id(1), &caller(1, "user:a"), Micros(1)).unwrap();
    let unknown = |caller: &Caller, now: i64| {
        matches!(previews.binding(id(1), caller, Micros(now)), Err(Error::UnknownPreview))
    };
    assert!(unknown(&caller(1, "user:b"), 1), "another caller");
    assert!(unknown(&caller(2, "user:a"), 1), "another tenant");
    assert!(unknown(&caller(1, "user:a"), FORGET_PREVIEW_TTL_US), "expired");
}

#[test]
fn binding_compares_matched_records_and_tells_drift_from_another_selection() {
    let binding = |selection, records| PreviewBinding::for_tests([selection, records]);
    let shown = binding(1, 1);
    shown.check(&binding(1, 1)).unwrap();
    shown.check(&binding(2, 1)).unwrap();
    assert!(matches!(shown.check(&binding(1, 2)), Err(Error::PreviewDrifted)));
    assert!(matches!(shown.check(&binding(2, 2)), Err(Error::OtherSelection)));
}

#[test]
fn oldest_previews_make_room() {
    let previews = Previews::default();
    for number in 1..=3 {
        previews.keep(id(number), preview("user:a", 1, number), Micros(i64::from(number)));
    }
    let known = |number: u8| previews.binding(id(number), &caller(1, "user:a"), Micros(9)).is_ok();
    assert_eq!([1, 2, 3].map(known), [false, true, true]);
}
