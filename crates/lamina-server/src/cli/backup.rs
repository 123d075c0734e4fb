//! `lamina backup` and `lamina restore`: a copy of a data directory, and its way back.

use std::fmt::Write as _;

use anyhow::anyhow;
use lamina_engine::backup::{self, BackupReport, Erasures, RestoreReport};
use lamina_env::Env;
use lamina_types::stdx::hex;
use serde_json::{Value, json};

use super::args::{BackupArgs, RestoreArgs};
use super::exit::{Exit, Failure};
use super::maintenance::{Progress, must_exist};
use super::{load, opening, print};

/// Copies what cannot be made again.
pub(super) fn backup(args: BackupArgs) -> Result<Exit, Failure> {
    let BackupArgs { data, to, json } = args;
    let config = load(data.into())?;
    let env = Env::real();
    must_exist(&config, &env)?;
    let mut progress = Progress::new("copied");
    let made = backup::make(&config.data, &to, &env, &mut |bytes| progress.show_bytes(bytes));
    progress.clear();
    let BackupReport { files, bytes, copied, copied_bytes, removed, entries, tip } =
        made.map_err(opening::failure)?;
    let facts = [
        ("entries", entries.into()),
        ("tip", hex::encode(&tip).into()),
        ("files", files.into()),
        ("bytes", bytes.into()),
        ("files_copied", copied.into()),
        ("bytes_copied", copied_bytes.into()),
        ("files_removed", removed.into()),
    ];
    let place = to.display().to_string();
    show(&place, &facts, "the backup verifies", json)
}

/// Puts a backup in place.
pub(super) fn restore(args: RestoreArgs) -> Result<Exit, Failure> {
    let RestoreArgs { data, from, ledger, without_ledger, json } = args;
    let config = load(data.into())?;
    let erasures = match (ledger.or(config.ledger), without_ledger) {
        (_, true) => Erasures::Unknown,
        (Some(path), false) => Erasures::Ledger(path),
        (None, false) => {
            let help = "name it with --ledger, or say --without-ledger: then what was erased after \
                        the backup was made is there again, and has to be erased again by hand";
            let error = anyhow!("without its ledger nobody knows what was erased since");
            return Err(Failure { help: Some(help.to_owned()), ..Failure::usage(error) });
        }
    };
    let env = Env::real();
    let mut progress = Progress::new("restoring");
    let done = backup::restore(&from, &config.data, &erasures, &env, &mut |done, all| {
        progress.show(done, all);
    });
    progress.clear();
    let RestoreReport { files, bytes, entries, epoch, erased, noted, blobs } =
        done.map_err(opening::failure)?;
    let facts = [
        ("entries", entries.into()),
        ("epoch", epoch.into()),
        ("files", files.into()),
        ("bytes", bytes.into()),
        ("erased_again", erased.into()),
        ("noted_again", noted.into()),
        ("blobs_removed_again", blobs.into()),
    ];
    let verdict = match erasures {
        Erasures::Ledger(_) => "restored, and everything in the ledger is taken back again",
        Erasures::Unknown => {
            "restored WITHOUT a ledger: what was erased after the backup was made is there again"
        }
    };
    show(&config.data.display().to_string(), &facts, verdict, json)
}

fn show(place: &str, facts: &[(&str, Value)], verdict: &str, json: bool) -> Result<Exit, Failure> {
    if json {
        let mut shape = serde_json::Map::new();
        shape.insert("place".to_owned(), place.into());
        shape.insert("verdict".to_owned(), verdict.into());
        shape.extend(facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        print(&format!("{:#}\n", json!(shape)))?;
        return Ok(Exit::Fine);
    }
    let mut text = format!("{place}\n");
    for (name, value) in facts {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(text, "  {:20} {value}", name.replace('_', " "));
    }
    let _ = writeln!(text, "{verdict}");
    print(&text)?;
    Ok(Exit::Fine)
}
