//! What of a text is kept if not all of it may be.

use super::*;

const TEXT: &str = "We had soup. The cat slept. The roof of the barn leaks above the hayloft. \
                    The roofer comes on Monday. Then it rained.";

#[test]
fn the_sentence_that_is_asked_about_comes_first() {
    let kept = |tokens| {
        let (from, to) = excerpt(TEXT, "Where does the roof leak?", tokens)?;
        TEXT.get(from..to)
    };
    assert_eq!(kept(1_000), Some(TEXT), "all of it fits");
    assert_eq!(kept(13), Some("The roof of the barn leaks above the hayloft."));
    let two = "The roof of the barn leaks above the hayloft. The roofer comes on Monday.";
    let more = kept(estimate(two)).expect("two sentences fit");
    assert!(more.starts_with("The roof") && more.ends_with("Monday."), "{more}");
    let part = kept(5).expect("a part of it");
    assert!(part.starts_with("The roof") && estimate(part) <= 5, "{part}");
    assert_eq!(kept(0), None);
}

#[test]
fn every_bound_is_one_of_the_text() {
    let text = "Über den Wolken muß die Freiheit wohl grenzenlos sein. 山上的雾很大。路也不好走。";
    for tokens in 0..60 {
        if let Some((from, to)) = excerpt(text, "雾", tokens) {
            assert!(text.get(from..to).is_some_and(|part| estimate(part) <= tokens), "{tokens}");
        }
    }
}

#[test]
fn the_nearest_of_several_texts() {
    let texts = ["We had soup.", "The roof leaks.", "The roof leaks above the hayloft."];
    assert_eq!(nearest(&texts, "Does the hayloft roof leak?"), 2);
    assert_eq!(nearest(&texts, "Nothing in common"), 0);
}
