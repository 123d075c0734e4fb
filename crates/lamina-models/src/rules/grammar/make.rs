//! What somebody has, called by its make.

use crate::rules::claims::Draft;
use crate::rules::pattern::Aspect;
use crate::rules::phrase::{Attribute, is_name_token};
use crate::rules::scene::Scene;
use crate::rules::take::{Take, take};
use crate::rules::token::Kind;
use crate::rules::verb::Modal;

/// "My car is a Tesla", "Nina's phone is a Pixel 8": what somebody has, called by its make.
pub(super) fn by_make(scene: &Scene<'_>, attribute: &Attribute, words: &str) -> Option<Vec<Draft>> {
    const HAD: &[&str] = &[
        "car",
        "truck",
        "van",
        "suv",
        "motorbike",
        "motorcycle",
        "scooter",
        "phone",
        "laptop",
        "computer",
        "tablet",
        "camera",
        "watch",
        "bike",
        "bicycle",
        "guitar",
        "piano",
        "printer",
        "tv",
        "console",
        "boat",
        "telescope",
        "violin",
    ];
    const WHICH: &[&str] = &["new", "current", "company", "work", "family", "daily"];
    let verb = scene.clause.verb.as_ref().filter(|verb| verb.modal == Modal::None)?;
    let (which, noun) = words.rsplit_once(' ').map_or((None, words), |(a, b)| (Some(a), b));
    if !HAD.contains(&noun) {
        return None;
    }
    let tokens = scene.tokens;
    let article = scene.skip(verb.end);
    let year = usize::from(tokens.at(article + 1).kind == Kind::Number);
    let (items, _) = take(Take::Name, scene, article + 1 + year)?;
    // "an iPhone" is a name, though it begins small.
    let large = |at: usize| tokens.slice(at, at + 1).contains(char::is_uppercase);
    let item =
        items.first().filter(|item| is_name_token(tokens, item.start) || large(item.start))?;
    // "My dream car is a Tesla": nobody has that one.
    let had = which.is_none_or(|which| WHICH.contains(&which));
    let made = had && tokens.at(article).word(&["a", "an"]);
    made.then(|| vec![Draft::new(attribute.owner.clone(), "owns", item, Aspect::State)])
}
