//! Markers that hold, and those that do not.

use super::verify;

const RECORDS: &[&str] =
    &["The roof of the barn leaks above the hayloft.", "Our cat caught three mice."];

#[test]
fn a_marker_stays_where_its_record_speaks_of_it() {
    let said = "The barn's roof leaks above the hayloft [1]. The cat caught mice [2].";
    let verified = verify(said, "", RECORDS);
    assert_eq!(verified.text, said);
    assert!(verified.removed.is_empty());
    let cited: Vec<usize> = verified.cited.iter().map(|(record, _)| *record).collect();
    assert_eq!(cited, [0, 1]);
}

#[test]
fn a_marker_without_support_is_taken_out() {
    let said = "The roof leaks above the hayloft [2]. Nobody was in Lisbon [1][7]. Cats catch mice [2][1].";
    let verified = verify(said, "", RECORDS);
    assert_eq!(
        verified.text,
        "The roof leaks above the hayloft. Nobody was in Lisbon. Cats catch mice [2]."
    );
    assert_eq!(verified.removed, ["[2]", "[1]", "[7]", "[1]"]);
    assert_eq!(verified.cited.len(), 1);
}

#[test]
fn other_brackets_are_left_alone() {
    for said in ["", "a [b] c", "[", "[]", "[12345]", "x [1", "[S1] is no number here"] {
        let verified = verify(said, "", RECORDS);
        assert_eq!((verified.text.as_str(), verified.removed.len()), (said, 0), "{said}");
    }
    let documented = verify("The roof leaks [S1], again [S9].", "S", RECORDS);
    assert_eq!(documented.text, "The roof leaks [S1], again.");
}
