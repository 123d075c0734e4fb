//! The README from top to bottom: every command of its `console` blocks runs in order, in one shell, against the
//! real binary, and its output must be the one that the README shows.
//!
//! Ids, seals, times of recording, floats and `...` match anything of their kind. Ports are replaced by free ones. The
//! commands that build, install or configure another program are left out ([`FOREIGN`]).

use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{binary, directory};

/// First words of commands that belong to other programs.
const FOREIGN: &[&str] = &["cargo", "claude", "codex"];
/// Ports that the README writes to.
const PORTS: &[u16] = &[3141, 3142];
const CONSOLE: &str = "console";
const PYTHON: &str = "python";
/// Stands between the output of a command and its exit code.
const CODE: char = '\u{1f}';
/// Ends the exit code of a command.
const MARK: char = '\u{1e}';
/// The exit code of a `curl` that was told to stop listening to a stream.
const TIMED_OUT: &str = "28";

/// A command of the README and the output shown below it.
#[derive(Debug)]
struct Step {
    line: usize,
    command: String,
    output: Vec<String>,
}

#[test]
fn readme_commands_print_the_output_that_the_readme_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let readme = include_str!("../../../../README.md");
    let directory = directory();
    let ports: Vec<(u16, u16)> = PORTS.iter().map(|port| (*port, free_port())).collect();
    let steps = steps(&with_ports(readme, &ports));
    assert!(steps.len() > 20, "the README has only {} commands", steps.len());
    symlink(root.join("fixtures"), directory.path().join("fixtures")).unwrap();
    put_on_path(directory.path());

    let printed = run(&steps, directory.path(), ports[0].1);
    let mut wrong = Vec::new();
    let mut ran = printed.split(MARK);
    for step in &steps {
        let output = ran.next().unwrap_or_default();
        let Some((output, code)) = output.rsplit_once(CODE) else {
            wrong.push(format!("README.md:{}: did not run: {}", step.line, step.command));
            break;
        };
        println!("$ {}\n{output}", step.command);
        if let Some(difference) = difference(step, code.trim(), output) {
            wrong.push(difference);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Commands of all `console` blocks in order. A `python` block becomes a command that saves it as `loop.py`.
fn steps(readme: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut block = "";
    let mut unfinished = false;
    for (number, text) in readme.lines().enumerate() {
        let line = number + 1;
        if let Some(language) = text.strip_prefix("```") {
            if block == PYTHON {
                append(&mut steps, "PYTHON");
            }
            block = language;
            unfinished = false;
            if block == PYTHON {
                steps.push(Step::new(line, "cat >loop.py <<'PYTHON'"));
            }
        } else if block == PYTHON || unfinished {
            append(&mut steps, text);
            unfinished = block != PYTHON && steps.last().is_some_and(Step::is_unfinished);
        } else if let (CONSOLE, Some(command)) = (block, text.strip_prefix("$ ")) {
            let command = command.split("  # ").next().unwrap_or_default();
            steps.push(Step::new(line, command.trim_end()));
            unfinished = steps.last().is_some_and(Step::is_unfinished);
        } else if let (CONSOLE, Some(step)) = (block, steps.last_mut()) {
            step.output.push(text.to_owned());
        }
    }
    steps.retain(|step| !FOREIGN.contains(&step.command.split(' ').next().unwrap_or_default()));
    steps
}

fn append(steps: &mut [Step], line: &str) {
    let step = steps.last_mut().unwrap();
    step.command.push('\n');
    step.command.push_str(line);
}

impl Step {
    fn new(line: usize, command: &str) -> Step {
        Step { line, command: command.to_owned(), output: Vec::new() }
    }

    /// Whether the shell waits for another line of this command.
    fn is_unfinished(&self) -> bool {
        self.command.ends_with('\\') || self.command.matches('\'').count() % 2 == 1
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn with_ports(text: &str, ports: &[(u16, u16)]) -> String {
    ports.iter().fold(text.to_owned(), |text, (shown, real)| {
        text.replace(&format!(":{shown}"), &format!(":{real}"))
    })
}

/// `lamina` and `lamina-issuer` of this build, under their names.
fn put_on_path(directory: &Path) {
    let lamina = std::path::absolute(binary()).unwrap();
    let bin = directory.join("bin");
    std::fs::create_dir(&bin).unwrap();
    symlink(lamina.with_file_name("lamina-issuer"), bin.join("lamina-issuer")).unwrap();
    symlink(lamina, bin.join("lamina")).unwrap();
}

/// Output of every command, each followed by its exit code and a mark.
fn run(steps: &[Step], directory: &Path, port: u16) -> String {
    let mut script =
        String::from("trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\nexec 2>errors.txt\n");
    for (number, step) in steps.iter().enumerate() {
        script.push_str(&match step.command.strip_suffix(" &") {
            Some(server) if server.contains("lamina serve") => server_in_background(server, number),
            _ => format!("{}\ncode=$?\n", step.command),
        });
        script.push_str(&format!("printf '{CODE}%s{MARK}' $code\n"));
    }
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("bash")
        .arg("-c")
        .arg(script)
        .current_dir(directory)
        .env("PATH", format!("{}:{path}", directory.join("bin").display()))
        .env("HOME", directory)
        .env("LAMINA_LISTEN", format!("127.0.0.1:{port}"))
        .env("LAMINA_URL", format!("http://127.0.0.1:{port}"))
        .env("LAMINA_STORAGE_SEGMENT_BYTES", "4194304")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Starts a server and waits for the line that says where it listens.
fn server_in_background(command: &str, number: usize) -> String {
    format!(
        "{command} >serve-{number}.txt &\nfor i in $(seq 600); do\n\
         if grep -q '^listening on' serve-{number}.txt; then break; fi; sleep 0.1; done\n\
         cat serve-{number}.txt\ncode=0\n"
    )
}

/// How the real output of a command differs from the shown one.
fn difference(step: &Step, code: &str, output: &str) -> Option<String> {
    let stream_was_cut = step.command.contains("--max-time") && code == TIMED_OUT;
    let code_is_right = code == "0" || stream_was_cut;
    let real: Vec<&str> = output.trim_end().lines().collect();
    let shown: Vec<&str> = step.output.iter().map(String::as_str).collect();
    let shown = trim_blank_lines(&shown);
    let same = shown.is_empty() || matches_lines(shown, &real);
    (!code_is_right || !same).then(|| {
        format!(
            "README.md:{}: $ {}\nexit code {code}, shown:\n{}\nreal:\n{}",
            step.line,
            step.command,
            shown.join("\n"),
            real.join("\n")
        )
    })
}

fn trim_blank_lines<'a, 'b>(lines: &'a [&'b str]) -> &'a [&'b str] {
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    &lines[..end]
}

/// A shown line `...` alone stands for any number of lines.
fn matches_lines(shown: &[&str], real: &[&str]) -> bool {
    match (shown.split_first(), real.split_first()) {
        (None, None) => true,
        (Some((&"...", rest)), _) => {
            (0..=real.len()).any(|skipped| matches_lines(rest, &real[skipped..]))
        }
        (Some((shown, shown_rest)), Some((real, real_rest))) => {
            matches_pieces(&pieces(shown), &pieces(real)) && matches_lines(shown_rest, real_rest)
        }
        _ => false,
    }
}

/// Part of a line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(char),
    /// An id or a seal.
    Hex,
    /// A time of recording.
    Time,
    Float,
    /// `...` of the README.
    Anything,
}

/// Replaces ids, times of recording and floats by their kind.
fn pieces(line: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let hex = length_while(rest, |c| c.is_ascii_digit() || ('a'..='f').contains(&c));
        let starts_word = !matches!(pieces.last(), Some(Piece::Text(c)) if c.is_alphanumeric());
        let (piece, length) = if rest.starts_with("...") {
            (Piece::Anything, 3)
        } else if let Some(length) = time_of_recording(rest) {
            (Piece::Time, length)
        } else if hex >= HEX_MIN {
            (Piece::Hex, hex)
        } else if let (true, Some(length)) = (starts_word, float(rest)) {
            (Piece::Float, length)
        } else {
            (Piece::Text(first), first.len_utf8())
        };
        pieces.push(piece);
        rest = &rest[length..];
    }
    pieces
}

/// Shorter runs of hexadecimal digits are words or numbers.
const HEX_MIN: usize = 10;

fn length_while(text: &str, accepts: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accepts(c)).unwrap_or(text.len())
}

/// Length of a time with a fraction of a second, or of a minute followed by `UTC`; others are set by the example.
fn time_of_recording(text: &str) -> Option<usize> {
    let length = length_while(text, |c| c.is_ascii_digit() || "-T:.Z".contains(c));
    let time = &text[..length];
    if time.len() > 20 && time.contains('T') && time.contains('.') && time.ends_with('Z') {
        return Some(length);
    }
    let date = length_while(text, |c| c.is_ascii_digit() || c == '-');
    (date == 10 && text[date..].get(6..10) == Some(" UTC")).then_some(20)
}

fn float(text: &str) -> Option<usize> {
    let whole = length_while(text, |c| c.is_ascii_digit());
    let fraction = length_while(text[whole..].strip_prefix('.')?, |c| c.is_ascii_digit());
    (whole > 0 && fraction > 0).then_some(whole + 1 + fraction)
}

fn matches_pieces(shown: &[Piece], real: &[Piece]) -> bool {
    match shown.split_first() {
        None => real.is_empty(),
        Some((Piece::Anything, rest)) => {
            (0..=real.len()).any(|skipped| matches_pieces(rest, &real[skipped..]))
        }
        Some((piece, rest)) => real
            .split_first()
            .is_some_and(|(first, others)| first == piece && matches_pieces(rest, others)),
    }
}

#[test]
fn readme_comparison_accepts_other_ids_and_times_and_nothing_else() {
    let same = |shown: &str, real: &str| matches_pieces(&pieces(shown), &pieces(real));
    assert!(same(
        "{\"id\":\"evt_01a1e1c56ef078459d\",...}",
        "{\"id\":\"evt_99a1e1c56ef0784500\",\"b\":1}"
    ));
    assert!(same("[2026-11-17 06:15 UTC] [fact]", "[2027-01-01 00:00 UTC] [fact]"));
    assert!(same("at 2026-11-18T21:07:42.433737Z", "at 2026-11-19T01:00:00.1Z"));
    assert!(same("0.96", "0.9"));
    assert!(!same("2026-03-02T09:00:00Z", "2026-03-03T09:00:00Z"));
    assert!(!same("seats 200", "seats 201"));
    assert!(!same("Maria works", "Maria worked"));
}
