//! Every way of writing a string is found, and what is too short to mean anything is refused.

use super::*;

fn found(strings: &str, bytes: &[u8]) -> Vec<(usize, &'static str)> {
    let sought = Sought::lines(strings).unwrap();
    let mut found = Vec::new();
    Needles::of(&sought).find(bytes, &mut |hit| found.push((sought.line(hit.string), hit.how)));
    found.dedup();
    found
}

#[test]
fn a_string_is_found_however_it_is_written() {
    let check = |bytes: &[u8], how: &'static str| {
        assert_eq!(found("nobody\nZoë \"Q\" Quax", bytes), [(2, how)], "{bytes:?}");
    };
    check("... Zoë \"Q\" Quax ...".as_bytes(), "text");
    check("zOË \"q\" quAX".to_uppercase().as_bytes(), "text");
    check("{\"name\":\"Zoë \\\"Q\\\" Quax\"}".as_bytes(), "JSON");
    check(b"{\"name\":\"Zo\\u00EB \\\"Q\\\" Quax\"}", "JSON");
    let wide = "Zoë \"Q\" Quax".encode_utf16();
    check(&wide.clone().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(), "UTF-16");
    check(&wide.flat_map(u16::to_be_bytes).collect::<Vec<u8>>(), "UTF-16");
    check(b"?name=Zo%C3%AB%20%22Q%22%20Quax&", "percent-encoded");
    check(b"?name=Zo%c3%ab+%22Q%22+Quax&", "percent-encoded");
    check(b"0x5a6fc3ab202251222051756178", "hex");
    // `Zoë "Q" Quax` after none, one and two bytes of something else.
    for text in ["Wm/DqyAiUSIgUXVheA==", "LVpvw6sgIlEiIFF1YXg=", "LS1ab8OrICJRIiBRdWF4"] {
        check(text.as_bytes(), "base64");
    }
    assert_eq!(found("Zoë \"Q\" Quax", b"Zoe Q Quax, Zo\xC3\xAB, Quax"), []);
}

#[test]
fn what_cannot_be_looked_for_is_refused() {
    let refused = |text: &str| Sought::lines(text).unwrap_err();
    assert_eq!(refused(" \n\n"), SoughtError::Nothing);
    assert_eq!(refused("Quaxley\nAnn"), SoughtError::TooShort(2));
    assert_eq!(refused(&"x".repeat(STRING_BYTES_MAX + 1)), SoughtError::TooLong(1));
    assert_eq!(Sought::lines(&"x".repeat(STRING_BYTES_MAX)).unwrap().count(), 1);
    assert_eq!(refused(&"Quaxley\n".repeat(STRINGS_MAX + 1)), SoughtError::TooMany);
}
