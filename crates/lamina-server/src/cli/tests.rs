//! The command line is a promise: names, help and exit codes.

use clap::{CommandFactory as _, Parser as _};

use super::args::Arguments;
use super::{Exit, run};

fn words(line: &str) -> Vec<std::ffi::OsString> {
    line.split_whitespace().map(Into::into).collect()
}

#[test]
fn usage_errors_end_with_64_and_help_with_0() {
    for (line, expected) in [
        ("lamina", Exit::Usage),
        ("lamina serv", Exit::Usage),
        ("lamina check --colour", Exit::Usage),
        ("lamina serve extra", Exit::Usage),
        ("lamina rederive", Exit::Usage),
        ("lamina rederive --scope nonsense", Exit::Usage),
        ("lamina rederive --undo nonsense", Exit::Usage),
        ("lamina rederive --scope user:a --apply --dry-run", Exit::Usage),
        ("lamina clock --sweep job_1", Exit::Usage),
        ("lamina config --preset", Exit::Usage),
        ("lamina config --listen nowhere --data x", Exit::Usage),
        ("lamina --help", Exit::Fine),
        ("lamina check --help", Exit::Fine),
        ("lamina --version", Exit::Fine),
        ("lamina version", Exit::Fine),
        ("lamina config --data x", Exit::Fine),
    ] {
        assert_eq!(run(words(line)), expected, "{line}");
    }
}

#[test]
fn the_commands_that_scripts_use_are_there() {
    for line in [
        "lamina serve --data d --listen 127.0.0.1:0 --preset dev_local --config f",
        "lamina check --data d --checkpoint f --json",
        "lamina repair --data d",
        "lamina rebuild --data d",
        "lamina rederive --data d --tenant t --scope user:a --dry-run --json",
        "lamina rederive --data d --scope user:a --apply --replace-model-answers",
        "lamina rederive --undo job_1 --apply",
        "lamina rederive --runs",
        "lamina clock --url http://localhost:1 --token-file f --actor user:a --json",
        "lamina clock --confirm --sweep job_1",
        "lamina config --data d --config f",
        "lamina version",
    ] {
        assert!(Arguments::try_parse_from(words(line)).is_ok(), "{line}");
    }
}

#[test]
fn the_definition_is_sound_and_every_flag_is_explained() {
    let command = Arguments::command();
    command.clone().debug_assert();
    for sub in command.get_subcommands() {
        assert!(sub.get_about().is_some(), "{}", sub.get_name());
        for argument in sub.get_arguments() {
            let name = argument.get_id();
            assert!(argument.get_help().is_some(), "{} {name}", sub.get_name());
        }
    }
}
