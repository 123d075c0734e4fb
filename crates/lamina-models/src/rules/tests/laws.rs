//! What holds for every text: no panic, the same answer twice, nothing that the gate refuses, limits.

use lamina_types::layer::extraction::{ByteSpan, Object};
use lamina_types::{Micros, Role};
use proptest::prelude::*;

use super::{NOON, actor};
use crate::rules::{CLAIMS_MAX, MENTIONS_MAX, TEXT_BYTES_MAX, TOPICS_MAX, extract};
use crate::{Source, grounded};

fn source<'a>(
    text: &'a str,
    speaker: &'a lamina_types::ActorId,
    observed_at: Micros,
) -> Source<'a> {
    Source {
        text,
        speaker,
        addressee: None,
        role: Some(Role::User),
        observed_at,
        timezone: Some("Asia/Tokyo"),
    }
}

/// Pieces that rules react to, so that random texts are not only noise.
const PIECES: &[&str] = &[
    "I",
    "we",
    "my wife",
    "Bob",
    "Bob's",
    "live in",
    "moved to",
    "Berlin",
    "since",
    "2019",
    "two weeks ago",
    "and",
    ",",
    ".",
    "\n",
    "is",
    "'s",
    "n't",
    "not",
    "no longer",
    "used to",
    "have",
    "a",
    "the",
    "dog",
    "called",
    "Rex",
    "200 seats",
    "$40",
    "per seat",
    "due",
    "on Friday",
    "next",
    "every",
    "morning",
    "always",
    "never",
    "actually",
    "99999999999 years ago",
    "in 99999999 days",
    "31 February",
    "from 3 to 7 June",
    "\"quoted\"",
    "'",
    "\u{1f600}",
    "\u{130}stanbul",
    "e-mail",
    "a@b.co",
    "v2.3",
    "%",
    "if",
    "?",
    "going to",
    "visit",
    "\u{5927}",
    "\u{2019}s",
    "may",
    "at 25:99",
    "Q3",
    "the 6th",
    "who",
    "her",
    "rather have",
    "can",
    "fluent in",
    "allergic to",
    "1,2,3",
    "3-",
    "-",
];

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,200}", at in any::<i64>()) {
        let ann = actor("user:ann");
        let source = source(&text, &ann, Micros(at));
        let found = extract(&source);
        prop_assert_eq!(&found, &extract(&source));
    }

    #[test]
    fn every_claim_passes_the_gate(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
        let text = pieces.join(" ");
        let ann = actor("user:ann");
        let source = source(&text, &ann, NOON);
        for claim in extract(&source).claims {
            prop_assert_eq!(grounded(&claim, &source), Ok(()), "{}: {:?}", text, claim);
        }
    }

    #[test]
    fn a_moved_span_is_refused(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24), by in 1u32..5) {
        let text = pieces.join(" ");
        let ann = actor("user:ann");
        let source = source(&text, &ann, NOON);
        for mut claim in extract(&source).claims {
            // Only where the words are the object is a moved span certain to be another one.
            let Object::Text(object) = &claim.object else { continue };
            let unique = text.matches(object.as_str()).count() == 1;
            if unique && claim.normaliser == lamina_types::layer::extraction::Normaliser::Identity {
                claim.span = ByteSpan { start: claim.span.start + by, end: claim.span.end + by };
                prop_assert!(grounded(&claim, &source).is_err());
            }
        }
    }
}

#[test]
fn limits_hold_for_long_texts() {
    let ann = actor("user:ann");
    let text = "I like tea. I live in Berlin. Bob works at Siemens. ".repeat(2_000);
    let names: String = (0..2_000).map(|n| format!("Name{n}x works at Company{n}y. ")).collect();
    for text in [text, names] {
        assert!(text.len() > TEXT_BYTES_MAX);
        let found = extract(&source(&text, &ann, NOON));
        assert!(!found.claims.is_empty());
        assert!(found.claims.len() <= CLAIMS_MAX);
        assert!(found.mentions.len() <= MENTIONS_MAX);
        assert!(found.topics.len() <= TOPICS_MAX);
        assert!(found.claims.iter().all(|claim| (claim.span.end as usize) <= TEXT_BYTES_MAX));
    }
}

#[test]
fn topics_are_sorted_and_shared_by_texts_about_the_same() {
    let ann = actor("user:ann");
    let one = extract(&source("The deadline for the Atlas report is Friday", &ann, NOON)).topics;
    let two = extract(&source("Are there reports on Atlas deadlines?", &ann, NOON)).topics;
    assert!(one.is_sorted());
    assert!(one.iter().filter(|topic| two.contains(topic)).count() >= 3);
}
