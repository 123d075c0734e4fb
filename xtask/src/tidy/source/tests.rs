//! The corners of Rust's lexical structure that have fooled line-based tools.

use super::Source;

/// Prints `name:line+lines` for each function.
fn check(text: &str, expected: &[&str]) {
    let functions = Source::of(text).functions();
    let shown: Vec<String> =
        functions.iter().map(|f| format!("{}:{}+{}", f.name, f.line, f.lines)).collect();
    assert_eq!(shown, expected, "{text}");
}

#[test]
fn functions_and_their_lines() {
    check("fn a() {}", &["a:1+1"]);
    check("\nfn a(\n  b: u8,\n) -> [u8; 3] {\n  c()\n}\n", &["a:2+5"]);
    check("trait T {\n fn a();\n fn b() {\n }\n}", &["b:3+2"]);
    check("fn a() {\n fn b() {\n }\n}", &["a:1+4", "b:2+2"]);
    check("type F = fn(u8) -> u8;", &[]);
    check("macro_rules! m { () => { fn $name() {} } }", &[]);
    check("fn a() where [u8; { 1 + 1 }]: Sized {\n}", &["a:1+2"]);
}

#[test]
fn braces_in_text_do_not_count() {
    check("fn a() {\n let s = \"}\";\n}", &["a:1+3"]);
    check("fn a() {\n let s = \"\\\"}\";\n}", &["a:1+3"]);
    check("fn a() {\n let s = r#\"}\"\"#;\n}", &["a:1+3"]);
    check("fn a() {\n let s = br##\"}\"#\"##;\n}", &["a:1+3"]);
    check("fn a() {\n let c = '}';\n}", &["a:1+3"]);
    check("fn a() {\n let c = ('\\'', '\\u{7d}', b'}');\n}", &["a:1+3"]);
    check("fn a<'x>(y: &'x str) {\n // }\n /* } /* } */ } */\n}", &["a:1+4"]);
    check("fn r#fn() {\n}", &["r:1+2"]);
}

#[test]
fn comments_and_code_are_told_apart() {
    let source = Source::of("let a = \"// no\"; // yes\n/* also */ b");
    assert_eq!(source.code, "let a =        ;       \n           b");
    assert_eq!(source.comments, "                 // yes\n/* also */  ");
}

#[test]
fn a_file_that_ends_early_is_no_trap() {
    for text in ["\"", "'", "r#\"", "/*", "fn", "fn a", "fn a(", "fn a() {", "'\\"] {
        let source = Source::of(text);
        assert_eq!(source.code.chars().count(), text.chars().count(), "{text}");
        assert!(source.functions().is_empty(), "{text}");
    }
}
