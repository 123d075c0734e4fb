//! The formats that `lamina verify` tells apart, in the order in which they are tried. A new format is a row
//! here and a module beside this one.

#[cfg(feature = "aegx")]
use super::evidence;
use super::exhibit::Exhibit;
use super::{certificate, eventloom, pam, zaxy};
use crate::cli::args::VerifyArgs;
use crate::cli::exit::{Exit, Failure};

/// A format that is verified.
pub(super) struct VerifiableFormat {
    /// Its name in messages.
    pub(super) title: &'static str,
    /// Whether a file or a directory has it, by the first look.
    pub(super) matches: fn(&Exhibit) -> bool,
    /// Checks it and prints the report.
    pub(super) check: fn(&VerifyArgs, &Exhibit) -> Result<Exit, Failure>,
}

/// All formats.
pub(super) const FORMATS: &[VerifiableFormat] = &[
    VerifiableFormat {
        title: "certificates of erasures",
        matches: |exhibit| exhibit.document().is_some_and(certificate::is_certificate),
        check: |args, _| certificate::check(args),
    },
    VerifiableFormat {
        title: "bundles of zaxy.portable.v1 and their subsets",
        matches: |exhibit| exhibit.document().is_some_and(zaxy::is_bundle),
        check: zaxy::check,
    },
    #[cfg(feature = "aegx")]
    VerifiableFormat {
        title: "evidence bundles",
        matches: evidence::is_named_bundle,
        check: evidence::check,
    },
    VerifiableFormat { title: "portable memory stores", matches: pam::is_store, check: pam::check },
    // Before logs: its directory has files of lines too. After stores: it takes every other archive.
    #[cfg(feature = "aegx")]
    VerifiableFormat {
        title: "evidence bundles",
        matches: evidence::is_bundle,
        check: evidence::check,
    },
    VerifiableFormat {
        title: "Eventloom logs",
        matches: eventloom::is_log,
        check: eventloom::check,
    },
];

/// The format of a file or a directory.
pub(super) fn format_of(exhibit: &Exhibit) -> Option<&'static VerifiableFormat> {
    FORMATS.iter().find(|format| (format.matches)(exhibit))
}
