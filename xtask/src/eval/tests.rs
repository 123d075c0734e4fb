//! The bars that the rules extractor must clear on the half of the table it was tuned on.

use super::{OPEN, evaluate};
use crate::{files, process};

#[test]
fn the_open_half_clears_the_bars() {
    let text = files::read(&process::root().join(OPEN)).unwrap();
    let score = evaluate(&text).unwrap();
    let report = format!("{}{}", score.table(), score.findings());
    assert!(score.precision() >= 0.95, "precision\n{report}");
    assert!(score.recall() >= 0.85, "recall\n{report}");
    assert!(score.negatives_empty() >= 0.95, "negatives\n{report}");
}
