//! The four canonical writers, on values that tell them apart.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::json::{ReadPolicy, Value, parse};

fn read(text: &str) -> Value {
    parse(text.as_bytes(), &ReadPolicy::PYTHON).expect("is JSON")
}

/// The four forms of one value, a line each.
fn check(text: &str, expected: Expect) {
    let value = read(text);
    let show = |form: Result<Vec<u8>, CanonError>| match form {
        Ok(bytes) => String::from_utf8(bytes).expect("canonical forms are UTF-8"),
        Err(error) => format!("({error})"),
    };
    let forms = [
        format!("ascii {}", show(Ok(python_ascii(&value)))),
        format!("utf8  {}", show(python_utf8(&value))),
        format!("jcs   {}", show(jcs(&value))),
        format!("aegx  {}\n", show(aegx(&value))),
    ];
    expected.assert_eq(&forms.join("\n"));
}

#[test]
fn doubles_are_written_in_the_notation_of_each_form() {
    check(
        "[1.0, 1e16, 1e-5, 1e-7, 0.0001, -0.0, 1e21, 5e-324, 1.5e300]",
        expect![[r#"
            ascii [1.0,1e+16,1e-05,1e-07,0.0001,-0.0,1e+21,5e-324,1.5e+300]
            utf8  [1.0,1e+16,1e-05,1e-07,0.0001,-0.0,1e+21,5e-324,1.5e+300]
            jcs   [1,10000000000000000,0.00001,1e-7,0.0001,0,1e+21,5e-324,1.5e+300]
            aegx  [1.0,1e+16,0.00001,1e-7,0.0001,0,1e+21,5e-324,1.5e+300]
        "#]],
    );
}

#[test]
fn equally_near_digits_end_even() {
    // Exactly between two doubles' shortest texts: …049.25.
    assert_eq!(ecma_double(f64::from_bits(0xc310_8b88_03cb_cf85)), "-1164253980718049.2");
    assert_eq!(python_double(f64::from_bits(0xc310_8b88_03cb_cf85)), "-1164253980718049.2");
}

#[test]
fn integers_are_exact_or_refused() {
    check(
        "[-0, 9007199254740991, 9007199254740993]",
        expect![[r#"
            ascii [0,9007199254740991,9007199254740993]
            utf8  [0,9007199254740991,9007199254740993]
            jcs   (the integer 9007199254740993 is not exact in every reader; write it as a string)
            aegx  [0,9007199254740991,9007199254740993]
        "#]],
    );
    check(
        "[18446744073709551615, 18446744073709551616, -9223372036854775809]",
        expect![[r#"
            ascii [18446744073709551615,18446744073709551616,-9223372036854775809]
            utf8  [18446744073709551615,18446744073709551616,-9223372036854775809]
            jcs   (the integer 18446744073709551615 is not exact in every reader; write it as a string)
            aegx  [18446744073709551615,1.8446744073709552e+19,-9.223372036854776e+18]
        "#]],
    );
}

#[test]
fn keys_are_sorted_by_code_point_or_by_unit() {
    check(
        r#"{"\ufb33":1,"\ud83d\ude00":2,"b":3,"a":4}"#,
        expect![[r#"
            ascii {"a":4,"b":3,"\ufb33":1,"\ud83d\ude00":2}
            utf8  {"a":4,"b":3,"דּ":1,"😀":2}
            jcs   {"a":4,"b":3,"😀":2,"דּ":1}
            aegx  {"a":4,"b":3,"דּ":1,"😀":2}
        "#]],
    );
}

#[test]
fn text_is_escaped_raw_or_normalized() {
    check(
        r#"["e\u0301\u007f\u0008\u001f/\"\\\n"]"#,
        expect![[r#"
            ascii ["e\u0301\u007f\b\u001f/\"\\\n"]
            utf8  ["é\b\u001f/\"\\\n"]
            jcs   ["é\b\u001f/\"\\\n"]
            aegx  ["é\u0008\u001f/\"\\\n"]
        "#]],
    );
}

#[test]
fn values_without_a_form_are_refused() {
    check(
        r#"["\ud800", NaN]"#,
        expect![[r#"
            ascii ["\ud800",NaN]
            utf8  (a string holds half of a surrogate pair)
            jcs   (a string holds half of a surrogate pair)
            aegx  (a string holds half of a surrogate pair)
        "#]],
    );
    assert_eq!(jcs(&read("[NaN]")), Err(CanonError::NonFinite("NaN".to_owned())));
    assert_eq!(jcs(&read("1e999")), Err(CanonError::NumberRange("1e999".to_owned())));
    assert_eq!(aegx(&read("1e999")), Err(CanonError::NumberRange("1e999".to_owned())));
    assert_eq!(aegx(&read("-1e-999")), Ok(b"0".to_vec()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn printed_doubles_read_back_equal(number in any::<f64>()) {
        prop_assert_eq!(python_double(number).parse::<f64>().ok(), Some(number).filter(|n| n.is_finite()));
        prop_assert_eq!(ecma_double(number).parse::<f64>(), Ok(number + 0.0));
    }

    #[test]
    fn canonical_form_of_a_canonical_form_is_itself(value in crate::json::tests::value()) {
        for form in [jcs, python_utf8, |value: &Value| Ok(python_ascii(value))] {
            let Ok(first) = form(&value) else { continue };
            let again = parse(&first, &ReadPolicy::PYTHON).expect("canonical JSON is JSON");
            // Integers of doubles may be too large to be safe on a second reading.
            if let Ok(second) = form(&again) {
                prop_assert_eq!(&second, &first);
            }
        }
    }
}
