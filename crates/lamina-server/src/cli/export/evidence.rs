//! Evidence bundles on this machine: a directory, or the archive as the server made it.

use anyhow::anyhow;
use serde_json::Value;

use super::bundle::{BundlePlace, FetchedBundle, fetch, unpack};
use super::door::ExportDoor;
use super::session::is_selection;
use super::show;
use crate::cli::args::ExportArgs;
use crate::cli::exit::{Exit, Failure};

pub(super) const FORMAT: &str = "aegx";

/// Exports a scope into a directory or a ZIP.
pub(super) fn export(args: &ExportArgs, order: &Value) -> Result<Exit, Failure> {
    if is_selection(&args.selector) {
        let error =
            anyhow!("evidence is the chain of a whole scope; a selection is for other formats");
        return Err(Failure::usage(error));
    }
    if args.key.private_key.is_some() {
        let error =
            anyhow!("a bundle of evidence leads to a checkpoint that the server has signed");
        return Err(Failure::usage(error));
    }
    let place = BundlePlace::open(args, lamina_aegx::MANIFEST)?;
    let door = ExportDoor::open(&args.door.server, args.door.data.as_deref())?;
    let done = fetch(args, &door, order).and_then(|FetchedBundle { job, archive }| {
        match &place {
            BundlePlace::Archive(_) => place.write_archive(&archive)?,
            BundlePlace::Directory(_) => place.write(&unpack(archive)?)?,
        }
        show(args, &job)
    });
    door.close();
    done
}
