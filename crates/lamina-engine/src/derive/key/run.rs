//! Keys of the runs that read events again.

use lamina_types::JobId;

use super::{Key, records, sources};

/// A run.
pub(crate) fn run(tenant: u32, run: JobId) -> Vec<u8> {
    Key::of(tenant, records::RUN).bytes(run.as_bytes()).0
}

/// The bounds of [`run`] for one tenant.
pub(crate) fn runs(tenant: u32) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::RUN).all()
}

/// The run that an entry began.
pub(crate) fn run_at(tenant: u32, offset: u64) -> Vec<u8> {
    Key::of(tenant, sources::RUN_AT).number(offset).0
}
