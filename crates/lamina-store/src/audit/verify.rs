//! Verifying the chain of a tenant's rows while the log is in use.

use super::ROWS;
use super::reader::{AuditReader, Chain};
use crate::log::{ChainCheck, ChainHead, LogError};

/// What verifying a chain found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// The chain as it is known to be.
    pub chain: Chain,
    /// The first row that does not hold, counted from 0; `None`: all of them do.
    pub first_broken_index: Option<u64>,
}

impl AuditReader {
    /// Reads every row of a tenant and everything that vouches for it. Takes as long as reading
    /// the audit log takes.
    pub fn verify(&self, tenant: u32, public_key: [u8; 32]) -> Result<Verified, LogError> {
        // First, so that rows written meanwhile are more than is known and not fewer.
        let chain = self.chain(tenant)?;
        let anchor = self.shared.anchor.read().clone();
        let after = anchor.heads.get(&tenant).map(|heads| heads.rows);
        let verdict = self.shared.reader.verify_chain(&ChainCheck {
            tenant,
            scope: ROWS,
            after: after.unwrap_or(ChainHead { seq: 0, seal: [0; 32] }),
            tip: anchor.tip,
            head: ChainHead { seq: chain.length, seal: chain.head },
            public_key,
        })?;
        let first_broken_index = verdict.first_broken.map(|position| position.saturating_sub(1));
        Ok(Verified { chain, first_broken_index })
    }
}

#[cfg(test)]
mod tests;
