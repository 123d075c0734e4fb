//! The ratchet turns one way only.

use super::super::tree::Tree;
use super::{Growth, LIST, check, parse, updated};

const FILE: &str = "crates/a/src/x.rs";

fn lines(count: usize) -> String {
    "//! a\n".repeat(count)
}

fn function(count: usize) -> String {
    format!("fn long() {{\n{}}}\n", "    x();\n".repeat(count - 2))
}

/// What the rule says about one file, given the committed list.
fn messages(list: &str, path: &str, text: &str) -> Vec<String> {
    let tree = Tree::of(&[(LIST, list), (path, text)]);
    check(&tree).into_iter().map(|finding| finding.to_string()).collect()
}

#[test]
fn a_file_may_have_600_lines_and_no_more() {
    assert_eq!(messages("", FILE, &lines(600)), Vec::<String>::new());
    assert_eq!(
        messages("", FILE, &lines(601)),
        ["crates/a/src/x.rs: the file has 601 lines, the limit is 600: split it"]
    );
}

#[test]
fn a_function_may_have_70_lines_and_no_more() {
    assert_eq!(messages("", FILE, &function(70)), Vec::<String>::new());
    assert_eq!(
        messages("", FILE, &function(71)),
        ["crates/a/src/x.rs: `fn long` has 71 lines, the limit is 70: split it"]
    );
}

#[test]
fn tests_have_room() {
    for path in ["crates/a/src/x/tests.rs", "crates/lamina-sim/tests/it/write.rs"] {
        assert_eq!(messages("", path, &lines(900)), Vec::<String>::new());
        assert_eq!(messages("", path, &lines(901)).len(), 1);
        assert_eq!(messages("", path, &function(300)), Vec::<String>::new());
    }
}

#[test]
fn what_is_listed_may_shrink_but_not_grow() {
    let list = format!("700 {FILE}\n");
    assert_eq!(messages(&list, FILE, &lines(700)), Vec::<String>::new());
    assert_eq!(messages(&list, FILE, &lines(650)), Vec::<String>::new());
    assert_eq!(
        messages(&list, FILE, &lines(701)),
        ["crates/a/src/x.rs: the file was over the limit of 600 with 700 lines and grew to 701"]
    );
    assert!(messages(&list, FILE, &lines(10))[0].contains("no longer over the limit"));
}

#[test]
fn the_list_is_updated_downwards_only() {
    let update = |count, growth| {
        let list = format!("700 {FILE}\n");
        updated(&Tree::of(&[(LIST, &list), (FILE, &lines(count))]), growth)
    };
    let smaller = update(650, Growth::Refuse).unwrap();
    assert_eq!(parse(&smaller).get(FILE), Some(&650));
    assert!(parse(&update(600, Growth::Refuse).unwrap()).is_empty());
    assert!(update(701, Growth::Refuse).unwrap_err().to_string().contains("only shrink"));
    assert_eq!(parse(&update(701, Growth::Allow).unwrap()).get(FILE), Some(&701));
}
