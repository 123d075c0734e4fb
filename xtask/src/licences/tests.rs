//! SPDX expressions as they occur among our dependencies, and some that must not pass.

use super::{allowed_in, satisfied};

const DENY: &str = r#"
[licenses]
allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"]
"#;

fn check(expression: &str, expected: bool) {
    let allowed = allowed_in(DENY).unwrap();
    assert_eq!(satisfied(expression, &allowed), expected, "{expression}");
}

#[test]
fn expressions() {
    check("MIT", true);
    check("GPL-3.0-only", false);
    check("MIT OR GPL-3.0-only", true);
    check("GPL-3.0-only OR MIT", true);
    check("MIT/Apache-2.0", true);
    check("MIT AND GPL-3.0-only", false);
    check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
    check("(MIT OR Apache-2.0) AND GPL-3.0-only", false);
    check("MIT OR GPL-3.0-only AND GPL-2.0-only", true);
    check("Apache-2.0 WITH LLVM-exception", true);
    check("Apache-2.0 WITH Other-exception", false);
    check("Apache-2.0 WITH Other-exception OR MIT", true);
}

#[test]
fn what_cannot_be_read_is_refused() {
    check("", false);
    check("(MIT", false);
    check("MIT Apache-2.0", false);
    check("MIT OR", false);
    check("OR MIT", false);
    assert!(allowed_in("[bans]").is_err());
}
