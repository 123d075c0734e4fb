//! The request that the flags make.

use clap::Parser as _;

use super::*;
use crate::cli::args::{Arguments, Command};

fn asked(flags: &[&str]) -> Value {
    let words = ["lamina", "export"].iter().chain(flags);
    let parsed = Arguments::try_parse_from(words).expect("is a command line");
    let Command::Export(args) = parsed.command else { panic!("is an export") };
    order(&args, args.format.as_deref()).expect("has a scope")
}

#[test]
fn flags_become_the_request() {
    let plain = asked(&["--scope", "user:a", "--out", "-"]);
    assert_eq!(plain, json!({"scope": "user:a"}));
    let all = asked(&[
        "--scope",
        "user:a",
        "--out",
        "a.af",
        "--format",
        "letta",
        "--layers",
        "events,facts",
        "--as-of",
        "2026-01-01T00:00:00Z",
        "--view",
        "descend",
    ]);
    let expected = json!({"scope": "user:a", "format": "letta", "layers": ["events", "facts"],
        "as_of": "2026-01-01T00:00:00Z", "view": "descend"});
    assert_eq!(all, expected);
    let layers = asked(&["--scope", "user:a", "--out", "-", "--layers", "all"])["layers"].clone();
    assert_eq!(layers, json!(["events", "facts", "beliefs", "episodes", "concepts"]));
}
