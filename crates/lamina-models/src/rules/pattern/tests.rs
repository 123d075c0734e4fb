//! Every row of the tables compiles and can speak.

use super::{Part, Slot, patterns};
use crate::relation::{RELATIONS, relation};
use crate::rules::table::{TRAITS, rows};
use crate::rules::take::Take;

#[test]
fn every_row_names_known_kinds_and_relations() {
    for row in rows() {
        let verbs = row.says.split_whitespace().next().unwrap();
        for verb in verbs.split('|') {
            assert!(
                patterns(verb).iter().any(|pattern| pattern.row.says == row.says),
                "{}",
                row.says
            );
        }
        assert!(!row.means.is_empty(), "{} states nothing", row.says);
        for means in row.means {
            let known = RELATIONS.iter().any(|relation| relation.predicate == means.predicate);
            assert!(known, "{}: {}", row.says, means.predicate);
        }
    }
    for known in TRAITS {
        assert!(relation(known.predicate).is_some(), "{known:?}");
        assert!(Take::named(known.takes).is_some(), "{known:?}");
    }
}

#[test]
fn no_row_points_at_a_value_it_does_not_take() {
    for row in rows() {
        let verb = row.says.split(['|', ' ']).next().unwrap();
        let pattern = patterns(verb).iter().find(|pattern| pattern.row.says == row.says).unwrap();
        let takes = pattern.parts.iter().filter(|part| matches!(part, Part::Take(_))).count();
        for means in row.means {
            for slot in [means.subject, means.object] {
                if let Slot::Taken(n) = slot {
                    assert!(n < takes, "{}", row.says);
                }
            }
        }
    }
}
