//! Exports of a session beside the real implementation, in one run: a bundle without a signature, one with each
//! algorithm, its verification, and the disclosure of 20 entries.
//!
//! Both are measured in processor time. Ours is that of the whole process, with its start and the reading of its
//! files; theirs is that of the call alone, without the start of the interpreter.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use lamina_portable::json::{ReadPolicy, Value, parse};
use lamina_portable::zaxy::{LogRecord, LogWriter};

use crate::Options;

/// The session that is exported.
const SESSION: &str = "bench";
/// The interpreter that has the real implementation.
const PYTHON: &str = "LAMINA_BENCH_ZAXY_PYTHON";
/// Entries that are disclosed.
const DISCLOSED: u64 = 20;

/// Measures the calls of the real implementation and prints a line for each.
const REFERENCE: &str = r#"
import json, sys, time, warnings
warnings.simplefilter("ignore")
from pathlib import Path
from zaxy.export_view import ExportSelector, build_memory_export, disclose_export_bundle
from zaxy.portable import generate_keypair, verify_export, verify_subset
try:
    from zaxy.retrieval_cache import SessionRetrievalCache
except ImportError:
    import importlib, pkgutil, zaxy
    for module in pkgutil.iter_modules(zaxy.__path__):
        found = importlib.import_module("zaxy." + module.name)
        if hasattr(found, "SessionRetrievalCache"):
            SessionRetrievalCache = found.SessionRetrievalCache
            break
def measure(name, call):
    before = time.process_time()
    result = call()
    print(name, time.process_time() - before, flush=True)
    return result
directory, since = Path(sys.argv[1]), int(sys.argv[2])
def build(key):
    return build_memory_export("bench", retrieval_cache=SessionRetrievalCache(directory), signing_key=key)
measure("unsigned", lambda: build(None))
for algorithm in ["ed25519", "ml-dsa-65"]:
    key = generate_keypair(algorithm)
    bundle = measure("signed." + algorithm, lambda: build(key))
    assert measure("verified." + algorithm, lambda: verify_export(bundle))["ok"]
chosen = ExportSelector(grains=frozenset({"event"}), since_seq=since)
subset = measure("disclosed", lambda: disclose_export_bundle(bundle, chosen))
assert verify_subset(subset)["ok"]
"#;

/// Runs the measurement.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let binary = options.binary.clone().context("`--bin` says which program to measure")?;
    let python = std::env::var(PYTHON)
        .with_context(|| format!("{PYTHON} names a Python that has zaxy-memory[export] 3.2.0"))?;
    let dir = tempfile::tempdir_in(&options.dir)?;
    let logs = dir.path().join(".eventloom");
    std::fs::create_dir(&logs)?;
    let log = logs.join(format!("{SESSION}.jsonl"));
    lamina_env::disk::write_atomic(
        &lamina_env::RealDisk,
        &log,
        log_text(options.events)?.as_bytes(),
    )?;
    let since = options.events.saturating_sub(DISCLOSED).to_string();
    let mut reference = Command::new(python);
    reference.args(["-c", REFERENCE]).arg(&logs).arg(&since);
    let theirs = reference.output()?;
    anyhow::ensure!(theirs.status.success(), "{}", String::from_utf8_lossy(&theirs.stderr));
    let theirs = String::from_utf8(theirs.stdout)?;
    let ours = Ours { binary: &binary, dir: dir.path(), logs: &logs };
    println!("{} events, seconds of processor time, the same log", options.events);
    println!("{:<20} {:>10} {:>10} {:>8}", "", "zaxy 3.2.0", "lamina", "ratio");
    let row = |name: &str, own: f64| -> anyhow::Result<()> {
        let found = theirs.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let found: f64 = found.with_context(|| format!("no time of {name}"))?.trim().parse()?;
        println!("{name:<20} {found:>10.3} {own:>10.3} {:>7.1}x", found / own.max(1e-3));
        Ok(())
    };
    row("unsigned", ours.export("plain.json", None)?)?;
    for algorithm in ["ed25519", "ml-dsa-65"] {
        let (key, out) = (format!("{algorithm}.pem"), format!("{algorithm}.json"));
        ours.run(&[
            "export-keygen",
            "--algorithm",
            algorithm,
            "--out-private",
            &ours.at(&key),
            "--out-public",
            &ours.at(&format!("{algorithm}.pub")),
        ])?;
        row(&format!("signed.{algorithm}"), ours.export(&out, Some(&key))?)?;
        row(&format!("verified.{algorithm}"), ours.run(&["verify-export", &ours.at(&out)])?)?;
    }
    let bundle = ours.at("ml-dsa-65.json");
    let words = ["export-disclose", &bundle, "--out", &ours.at("subset.json"), "--grains", "event"];
    row("disclosed", ours.run(&[&words[..], &["--since", &since]].concat())?)?;
    Ok(())
}

/// The program that is measured.
struct Ours<'a> {
    binary: &'a Path,
    dir: &'a Path,
    logs: &'a Path,
}

impl Ours<'_> {
    fn at(&self, name: &str) -> String {
        self.dir.join(name).to_string_lossy().into_owned()
    }

    fn export(&self, out: &str, key: Option<&str>) -> anyhow::Result<f64> {
        let (logs, out) = (self.logs.to_string_lossy(), self.at(out));
        let key = key.map(|key| self.at(key));
        let words = ["export", "--eventloom-path", &logs, "--session-id", SESSION, "--out", &out];
        let signing = key.as_ref().map_or_else(Vec::new, |key| vec!["--private-key", key.as_str()]);
        self.run(&[&words[..], &signing].concat())
    }

    /// Seconds of processor time of one command: the shell says those of its children.
    fn run(&self, words: &[&str]) -> anyhow::Result<f64> {
        let script = r#""$@" >/dev/null 2>&1 && times"#;
        let mut command = Command::new("sh");
        let output = command.args(["-c", script, "sh"]).arg(self.binary).args(words).output()?;
        anyhow::ensure!(output.status.success(), "{words:?} failed");
        let text = String::from_utf8(output.stdout)?;
        let children = text.lines().nth(1).context("the shell tells no times")?;
        children.split_whitespace().map(seconds).sum()
    }
}

/// Seconds of `0m0.123s`.
fn seconds(text: &str) -> anyhow::Result<f64> {
    let (minutes, rest) = text.split_once('m').context("no minutes")?;
    let rest: f64 = rest.trim_end_matches('s').parse()?;
    Ok(minutes.parse::<f64>()? * 60.0 + rest)
}

/// A log of decisions, turns, tasks, commands and observations.
fn log_text(events: u64) -> anyhow::Result<String> {
    let mut writer = LogWriter::new();
    let mut text = String::new();
    for number in 0..events {
        let note = format!("note {number} about the build of the exporter and its tests");
        let (kind, payload) = match number % 5 {
            0 => ("decision.made", format!(r#"{{"decision":"{note}","rationale":"{note}"}}"#)),
            1 => (
                "transcript.turn",
                format!(r#"{{"role":"user","content":"{note}","turn_index":1}}"#),
            ),
            2 => ("task.completed", format!(r#"{{"taskId":"t{number}","summary":"{note}"}}"#)),
            3 => ("command.completed", format!(r#"{{"command":"make","outcome":"{note}"}}"#)),
            _ => ("observation.recorded", format!(r#"{{"content":"{note}"}}"#)),
        };
        let payload: Value = parse(payload.as_bytes(), &ReadPolicy::STRICT)?;
        let event = writer.seal(LogRecord {
            timestamp: format!(
                "2026-03-01T{:02}:{:02}:{:02}Z",
                number / 3_600 % 24,
                number / 60 % 60,
                number % 60
            ),
            kind: kind.to_owned(),
            actor: "assistant".to_owned(),
            thread: SESSION.to_owned(),
            payload,
            sensitivity: "public".to_owned(),
        });
        write!(text, "{}", LogWriter::line(&event))?;
    }
    Ok(text)
}
