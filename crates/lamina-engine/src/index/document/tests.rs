//! What of an event can be found.

use super::{parts, plain, speaker};

#[test]
fn a_long_text_is_found_in_parts_that_lose_nothing() {
    let sentence = "The roof of the barn leaks above the hayloft. ";
    let text = sentence.repeat(100);
    let found = parts(&text);
    assert!(found.len() > 2 && found.iter().all(|part| part.len() <= super::PART_BYTES_MAX));
    assert!(found.iter().all(|part| part.ends_with('.')), "cut where a sentence ends");
    assert_eq!(found.join(" "), text.trim());
    let unbroken = "\u{5c4b}".repeat(2_000);
    assert_eq!(parts(&unbroken).concat(), unbroken, "and between characters at the latest");
    assert!(parts("  ").is_empty());
}

#[test]
fn names_are_words_and_nobody_is_none() {
    assert_eq!(speaker("user:ada_lovelace"), "ada lovelace");
    assert_eq!(speaker("user:priya@acme.com"), "priya");
    assert_eq!(speaker("user:default"), "");
    assert_eq!(speaker("agent:planner_v3"), "planner");
}

#[test]
fn the_marks_of_json_are_no_words() {
    let words: Vec<String> = plain(r#"{"city":"Oslo","said":"a \"b\"\nc"}"#)
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    assert_eq!(words, ["city", ":", "Oslo", ",", "said", ":", "a", "\"b\"", "c"]);
}
