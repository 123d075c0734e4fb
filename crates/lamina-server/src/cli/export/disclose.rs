//! `lamina export-disclose`: some entries of a signed bundle, each with the proof that it belongs to it.

use anyhow::{Context as _, anyhow};
use lamina_env::RealDisk;
use lamina_env::disk::read_file;
use lamina_portable::json::{ReadPolicy, parse};
use lamina_portable::zaxy::{EntrySelector, GrainSet, disclose as cut, to_file};

use super::file::OutputFile;
use crate::cli::args::DiscloseArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::{print, say};

/// Bytes of a bundle.
const BUNDLE_BYTES_MAX: u64 = 1 << 30;

/// Discloses entries.
pub(in crate::cli) fn disclose(args: &DiscloseArgs) -> Result<Exit, Failure> {
    let shown = args.bundle.display();
    let bytes = read_file(&RealDisk, &args.bundle, BUNDLE_BYTES_MAX);
    let bytes = bytes.with_context(|| format!("{shown} cannot be read"));
    let bundle = parse(&bytes.map_err(Failure::unreadable)?, &ReadPolicy::PYTHON);
    let bundle = bundle.with_context(|| format!("{shown} is not JSON"));
    let bundle = bundle.map_err(|error| Failure::new(Exit::Schema, error))?;
    let grains = match &args.grains {
        None => GrainSet::BOTH,
        Some(names) => GrainSet::parse(names.iter().map(String::as_str)).map_err(Failure::usage)?,
    };
    let kinds: Vec<String> =
        args.kinds.iter().flatten().filter(|kind| !kind.is_empty()).cloned().collect();
    let selector = EntrySelector {
        grains,
        kinds: (!kinds.is_empty()).then_some(kinds),
        since_seq: args.since,
        max_seq: args.max_seq,
        since_time: args.since_time.clone(),
        until_time: args.until_time.clone(),
    };
    let mut output = OutputFile::open(&args.out, args.force)?;
    let found =
        cut(&bundle, &selector).map_err(|error| Failure::new(Exit::Damage, anyhow!(error)))?;
    let text = to_file(&found.subset).map_err(Failure::unreadable)?;
    output.write(text.as_bytes()).map_err(Failure::unreadable)?;
    output.finish().map_err(Failure::unreadable)?;
    let (some, all) = (found.disclosed_count, found.entries_count);
    let line = format!("disclosed {some} of {all} entries -> {}", args.out);
    match args.out == "-" {
        true => say(&line),
        false => print(&format!("{line}\n"))?,
    }
    if some == 0 {
        say("note: the selection is empty");
    }
    Ok(Exit::Fine)
}
