//! `lamina verify`: recognizes the format of a file or a directory and checks it. Each format is one row of
//! the table in `recognise` and one module.

mod certificate;
mod eventloom;
mod exhibit;
#[cfg(feature = "aegx")]
mod evidence;
mod pam;
mod recognise;
mod zaxy;

use anyhow::anyhow;
use lamina_portable::zaxy::BundleKind;

use super::args::{VerifyArgs, VerifyExportArgs};
use super::exit::{Exit, Failure};
pub(super) use certificate::keys;
use exhibit::Exhibit;

/// Verifies a file or a directory.
pub(super) fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    #[cfg(feature = "aegx")]
    if args.reference {
        return evidence::check_path(args);
    }
    let exhibit = Exhibit::open(&args.path)?;
    match recognise::format_of(&exhibit) {
        Some(format) => (format.check)(args, &exhibit),
        None => Err(unrecognized(args)),
    }
}

fn unrecognized(args: &VerifyArgs) -> Failure {
    let mut known: Vec<&str> = recognise::FORMATS.iter().map(|format| format.title).collect();
    known.sort_unstable();
    known.dedup();
    let path = args.path.display();
    let error = anyhow!("{path} has no form that this version verifies");
    let help = format!("it verifies {}", known.join(", "));
    Failure { help: Some(help), ..Failure::new(Exit::Schema, error) }
}

/// `lamina verify-export`: a signed bundle, whatever the file says it is.
pub(super) fn verify_export(args: &VerifyExportArgs) -> Result<Exit, Failure> {
    verify_as(args, BundleKind::Signed)
}

/// `lamina verify-export-subset`: a disclosed subset, whatever the file says it is.
pub(super) fn verify_export_subset(args: &VerifyExportArgs) -> Result<Exit, Failure> {
    verify_as(args, BundleKind::Subset)
}

fn verify_as(args: &VerifyExportArgs, kind: BundleKind) -> Result<Exit, Failure> {
    let exhibit = Exhibit::open(&args.path)?;
    let Some(document) = exhibit.document() else {
        let error = anyhow!("{} is not JSON", args.path.display());
        return Err(Failure::new(Exit::Schema, error));
    };
    zaxy::check_as(document, kind, &args.trust, args.json)
}
