//! The table that is compiled in, how texts are cut for it, and what its vectors are good for.

use sha2::{Digest as _, Sha256};

use super::table::vocabulary;
use super::{Embedder as _, Side, StaticEmbedder, wordpiece};

/// Changing the table changes every vector that is stored: the name of the model in it must change too.
#[test]
fn the_table_is_the_one_that_was_made() {
    let bytes = include_bytes!("../../assets/embedder.bin");
    let sum: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    expect_test::expect!["00054c897345ef940c9a2590d64086b3665fc5d6be1595fd328969cfbedd908f"]
        .assert_eq(&sum);
    let space = StaticEmbedder::new().space().clone();
    assert_eq!((space.model.as_str(), space.dims), ("lamina-static-1", 256));
}

fn pieces(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    wordpiece::tokens(text, vocabulary(), &mut |token| found.push(token));
    found
}

#[test]
fn texts_are_cut_as_the_model_was_taught() {
    // From the tokenizer of the model itself.
    assert_eq!(pieces("Hello, World!"), [7592, 1010, 2088, 999]);
    assert_eq!(pieces("unaffable"), [14477, 20961, 3468]);
    assert_eq!(pieces("Café"), pieces("cafe"));
    assert_eq!(pieces(""), Vec::<u32>::new());
    assert_eq!(pieces("\u{0}\u{1f600} \u{200b}"), Vec::<u32>::new());
    assert_eq!(pieces(&"x".repeat(1_000)), Vec::<u32>::new());
}

#[test]
fn near_in_meaning_is_near_in_space() {
    let embedder = StaticEmbedder::new();
    let cosine = |left: &str, right: &str| {
        embedder.embed_one(left).unwrap().cosine(&embedder.embed_one(right).unwrap())
    };
    for (question, near, far) in [
        ("a musical instrument", "she plays the violin", "he repaired the engine"),
        ("where does she live", "her apartment is in Lisbon", "the soup was too salty"),
        ("the dog is ill", "we took the puppy to the vet", "the meeting moved to Monday"),
        ("cost of the car", "the price of the vehicle", "a walk in the forest"),
    ] {
        let (near, far) = (cosine(question, near), cosine(question, far));
        assert!(near > far + 0.05, "{question}: {near} against {far}");
    }
    assert!(embedder.embed_one("").is_none());
    assert!((cosine("the same words", "the same words") - 1.0).abs() < 1e-5);
}

#[test]
fn the_same_text_has_the_same_bytes() {
    let embedder = StaticEmbedder::new();
    let one = embedder.embed_one("Maria moved to Oslo in March").unwrap();
    let many = embedder.embed(&["x", "Maria moved to Oslo in March"], Side::Stored).unwrap();
    assert_eq!(many[1].as_ref(), Some(&one));
    let sum: i64 = (1..).zip(one.bytes()).map(|(place, value)| place * i64::from(*value)).sum();
    expect_test::expect!["-29368"].assert_eq(&sum.to_string());
}
