//! The parts of Lamina's log that a proof shows, read without the log: heads of entries, seals, section
//! commitments, tips and signed checkpoints.

use sha2::{Digest as _, Sha256};

/// Bytes of a head before its causes.
const HEAD_START: usize = 81;
/// Bytes of a head after its causes, without its seal.
const HEAD_END: usize = 104;
const HEAD_VERSION: u8 = 1;
/// The kind of entries that are memory events.
const EXPERIENCE: u8 = 1;
const CHECKPOINT_LABEL: &[u8] = b"lamina checkpoint 1\0";
const CHECKPOINT_VERSION: u8 = 1;

/// The members of a head that a proof needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryHead {
    /// The kind of the entry.
    pub kind: u8,
    /// The batch that it was written in.
    pub batch: u64,
    /// The tenant.
    pub tenant: u32,
    /// The number of the scope.
    pub scope: u64,
    /// The position in the chain of the scope, from 1.
    pub scope_seq: u64,
    /// The commitment to the section that says who.
    pub who_commit: [u8; 32],
    /// The commitment to the section that says what.
    pub what_commit: [u8; 32],
    /// The seal before it in the chain.
    pub prev_seal: [u8; 32],
}

impl EntryHead {
    /// Reads a head without its seal.
    pub fn read(bytes: &[u8]) -> Option<EntryHead> {
        let causes = u16::from_le_bytes(array(bytes, 79)?);
        let end = HEAD_START + usize::from(causes) * 8;
        if bytes.len() != end + HEAD_END || bytes.first() != Some(&HEAD_VERSION) {
            return None;
        }
        Some(EntryHead {
            kind: *bytes.get(1)?,
            batch: u64::from_le_bytes(array(bytes, 19)?),
            tenant: u32::from_le_bytes(array(bytes, 27)?),
            scope: u64::from_le_bytes(array(bytes, 39)?),
            scope_seq: u64::from_le_bytes(array(bytes, 47)?),
            who_commit: array(bytes, end + 8)?,
            what_commit: array(bytes, end + 40)?,
            prev_seal: array(bytes, end + 72)?,
        })
    }

    /// Whether the entry is a memory event.
    pub fn is_event(&self) -> bool {
        self.kind == EXPERIENCE
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// The seal of an entry: over the seal before it and its head.
pub fn seal_of(prev_seal: &[u8; 32], head: &[u8]) -> [u8; 32] {
    let hash = Sha256::new().chain_update(b"ent1").chain_update(prev_seal);
    hash.chain_update(head).finalize().into()
}

/// The commitment to a section.
pub fn section_commitment(salt: &[u8; 32], plaintext: &[u8]) -> [u8; 32] {
    let hash = Sha256::new().chain_update(b"sec1").chain_update(salt);
    hash.chain_update(plaintext).finalize().into()
}

/// The tip after a batch with these seals.
pub fn tip_after(previous: &[u8; 32], seals: &[[u8; 32]]) -> [u8; 32] {
    let hash = Sha256::new().chain_update(b"tip1").chain_update(previous);
    seals.iter().fold(hash, |hash, seal| hash.chain_update(seal)).finalize().into()
}

/// A signed checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SignedTip {
    pub(super) log_id: [u8; 16],
    pub(super) epoch: u32,
    pub(super) batch: u64,
    pub(super) tip: [u8; 32],
    pub(super) public_key: [u8; 32],
    pub(super) signature: [u8; 64],
    /// The bytes that were signed.
    pub(super) message: Vec<u8>,
}

impl SignedTip {
    pub(super) fn read(bytes: &[u8]) -> Option<SignedTip> {
        let (unsigned, signature) = bytes.split_at_checked(109)?;
        if unsigned.first() != Some(&CHECKPOINT_VERSION) {
            return None;
        }
        Some(SignedTip {
            log_id: array(unsigned, 1)?,
            epoch: u32::from_le_bytes(array(unsigned, 17)?),
            batch: u64::from_le_bytes(array(unsigned, 21)?),
            tip: array(unsigned, 37)?,
            public_key: array(unsigned, 77)?,
            signature: signature.try_into().ok()?,
            message: [CHECKPOINT_LABEL, unsigned].concat(),
        })
    }
}
