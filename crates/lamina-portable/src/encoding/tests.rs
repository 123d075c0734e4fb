//! Texts in every encoding that is read, and the ones that are refused.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// Gives one byte at a time, so that characters are cut.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut first = &self.0[..self.0.len().min(1)];
        let count = first.read(buffer)?;
        self.0 = &self.0[count..];
        Ok(count)
    }
}

fn decode(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let mut reader = TextReader::new(Drip(bytes)).map_err(|error| error.to_string())?;
    reader.read_to_end(&mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

fn check_refused(bytes: &[u8], expected: Expect) {
    expected.assert_eq(&decode(bytes).expect_err("is refused"));
}

#[test]
fn marks_are_removed_and_utf_16_is_decoded() {
    let text = "{\"a\":\"é😀\"}";
    assert_eq!(decode(text.as_bytes()), Ok(text.as_bytes().to_vec()));
    assert_eq!(decode(format!("\u{feff}{text}").as_bytes()), Ok(text.as_bytes().to_vec()));
    for mark in ["", "\u{feff}"] {
        let marked = format!("{mark}{text}");
        assert_eq!(decode(&utf16(&marked, u16::to_le_bytes)), Ok(text.as_bytes().to_vec()));
        assert_eq!(decode(&utf16(&marked, u16::to_be_bytes)), Ok(text.as_bytes().to_vec()));
    }
    assert_eq!(decode(b""), Ok(Vec::new()));
}

#[test]
fn texts_that_are_broken_or_utf_32_are_refused() {
    check_refused(b"\xff\xfe\0\0[\0\0\0", expect!["the text is UTF-32; convert it to UTF-8"]);
    check_refused(b"\xff\xfe[\0\x3d", expect!["the text is not well-formed UTF-16 at byte 4"]);
    check_refused(
        b"\xff\xfe[\0\x3d\xd8]\0",
        expect!["the text is not well-formed UTF-16 at byte 4"],
    );
}

proptest! {
    #[test]
    fn any_text_survives_utf_16(text in any::<String>()) {
        let bytes = utf16(&format!("\u{feff}{text}"), u16::to_le_bytes);
        // Four zero bytes after the mark look like UTF-32.
        prop_assume!(!text.starts_with('\0'));
        prop_assert_eq!(decode(&bytes), Ok(text.into_bytes()));
    }

    #[test]
    fn reader_survives_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        drop(decode(&bytes));
    }
}
