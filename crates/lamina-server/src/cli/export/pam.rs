//! Portable memory stores on this machine: the archive that a server made becomes a directory or stays a ZIP,
//! signed with a key that never leaves this machine.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use lamina_env::RealDisk;
use lamina_env::disk::read_file;
use lamina_portable::pam::{BundleFile, sign_store};
use lamina_portable::sign::SigningKey;
use serde_json::Value;
use zeroize::Zeroizing;

use super::bundle::{BundlePlace, FetchedBundle, fetch, unpack};
use super::door::ExportDoor;
use super::session::is_selection;
use super::show;
use crate::cli::args::ExportArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::say;

pub(super) const FORMAT: &str = "pam";
const STORE_FILE: &str = "memory-store.json";
/// Bytes of a file that holds a key.
const KEY_BYTES_MAX: u64 = 64 << 10;

/// Exports a scope into a directory or a ZIP.
pub(super) fn export(args: &ExportArgs, order: &Value) -> Result<Exit, Failure> {
    if is_selection(&args.selector) {
        let error = anyhow!("a selection of events is for the formats zaxy and eventloom");
        return Err(Failure::usage(error));
    }
    let place = BundlePlace::open(args, STORE_FILE)?;
    let key = args.key.private_key.as_deref().map(read_key).transpose()?;
    let door = ExportDoor::open(&args.door.server, args.door.data.as_deref())?;
    let done = fetch(args, &door, order).and_then(|FetchedBundle { job, archive }| {
        let mut files = unpack(archive)?;
        if let Some(key) = &key {
            sign(&mut files, key)?;
        }
        place.write(&files)?;
        say_id(&files);
        show(args, &job)
    });
    door.close();
    done
}

fn read_key(path: &Path) -> Result<SigningKey, Failure> {
    let unreadable = || format!("{} cannot be read", path.display());
    let bytes = read_file(&RealDisk, path, KEY_BYTES_MAX).with_context(unreadable);
    let bytes = Zeroizing::new(bytes.map_err(Failure::unreadable)?);
    let text = std::str::from_utf8(&bytes).with_context(unreadable).map_err(Failure::unreadable)?;
    SigningKey::from_pem(text).map_err(Failure::usage)
}

fn sign(files: &mut [BundleFile], key: &SigningKey) -> Result<(), Failure> {
    let store = files.iter_mut().find(|file| file.name == STORE_FILE);
    let store = store.ok_or_else(|| Failure::unreadable(anyhow!("there is no {STORE_FILE}")))?;
    store.bytes = sign_store(&store.bytes, key).map_err(Failure::unreadable)?;
    Ok(())
}

/// Says the id that a delta names.
fn say_id(files: &[BundleFile]) {
    let store = files.iter().find(|file| file.name == STORE_FILE);
    let store: Option<Value> = store.and_then(|file| serde_json::from_slice(&file.bytes).ok());
    let text = |name: &str| store.as_ref()?.get(name)?.as_str();
    if let (Some(id), Some("full")) = (text("export_id"), text("export_type")) {
        say(&format!("export {id}; `--base {id}` exports later changes alone"));
    }
}
