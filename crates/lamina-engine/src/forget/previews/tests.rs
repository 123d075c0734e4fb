//! Who may refer to a preview, for how long, and when it is out of date.

use super::*;

fn of(actor: &str, asked: u8, shown: u8) -> Previewed {
    Previewed { tenant: 1, actor: actor.to_owned(), asked: [asked; 32], shown: [shown; 32] }
}

fn id(number: u8) -> ForgetPreviewId {
    ForgetPreviewId::from_bytes([number; 16])
}

#[test]
fn a_preview_is_its_callers_and_of_one_request() {
    let previews = Previews::default();
    let until = previews.keep(id(1), of("user:a", 1, 1), Micros(0));
    assert_eq!(until, Micros(FORGET_PREVIEW_TTL_US));
    previews.check(id(1), &of("user:a", 1, 1), Micros(1)).unwrap();
    let unknown = |there: &Previewed, now: i64| {
        matches!(previews.check(id(1), there, Micros(now)), Err(Error::UnknownPreview))
    };
    assert!(unknown(&of("user:b", 1, 1), 1), "another caller");
    assert!(unknown(&Previewed { tenant: 2, ..of("user:a", 1, 1) }, 1), "another tenant");
    assert!(unknown(&of("user:a", 2, 1), 1), "another request");
    assert!(unknown(&of("user:a", 1, 1), FORGET_PREVIEW_TTL_US), "expired");
    let drifted = previews.check(id(1), &of("user:a", 1, 2), Micros(1));
    assert!(matches!(drifted, Err(Error::PreviewDrifted)));
}

#[test]
fn the_oldest_make_room() {
    let previews = Previews::default();
    for number in 1..=3 {
        previews.keep(id(number), of("user:a", 1, number), Micros(i64::from(number)));
    }
    let known =
        |number: u8| previews.check(id(number), &of("user:a", 1, number), Micros(9)).is_ok();
    assert_eq!([1, 2, 3].map(known), [false, true, true]);
}
