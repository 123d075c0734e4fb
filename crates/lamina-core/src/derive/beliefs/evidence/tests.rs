//! The weights, as a table, and the law that a second voice beats repetition.

use lamina_types::layer::Confidence;

use lamina_types::layer::SourceClass;

use super::{Heard, trust, weigh};

fn said(here: u32, elsewhere: u32) -> u64 {
    weigh(Confidence::new(9_000), trust(SourceClass::Said), Heard { here, elsewhere })
}

#[test]
fn repetition_counts_less_and_less() {
    assert_eq!(
        [0, 1, 2, 3, 14, 15, u32::MAX].map(|n| said(n, 0)),
        [9000, 4500, 2250, 1125, 0, 0, 0]
    );
    assert_eq!([0, 1, 2, 9, u32::MAX].map(|m| said(0, m)), [9000, 4500, 3000, 900, 0]);
}

#[test]
fn a_second_voice_outweighs_all_repetitions_of_the_first_in_one_conversation() {
    let repeated: u64 = (1..1_000).map(|n| said(n, 0)).sum();
    assert!(repeated < said(0, 0), "{repeated}");
}

#[test]
fn trust_and_confidence_multiply_and_never_exceed_one_unit() {
    for class in SourceClass::ALL {
        let full = weigh(Confidence::FULL, trust(class), Heard::default());
        assert_eq!(full, u64::from(trust(class).get()), "{class:?}");
        assert_eq!(weigh(Confidence::new(0), trust(class), Heard::default()), 0);
    }
    assert!(trust(SourceClass::Assistant) < trust(SourceClass::Imported));
}
