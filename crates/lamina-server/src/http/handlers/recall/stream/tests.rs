//! Texts that are cut into tokens, and put together again.

use serde_json::Value;

use super::words;

#[test]
fn tokens_make_the_text_again() {
    for text in ["", "one", "one two", "  one\n two  three \n", "\u{732b} \u{201c}x\u{201d}"] {
        let events = words(text);
        let whole: String = events
            .iter()
            .map(|(name, data)| {
                assert_eq!(*name, "token");
                let data: Value = serde_json::from_slice(data).unwrap();
                data["text"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(whole, text);
    }
}
