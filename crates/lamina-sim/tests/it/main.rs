//! The one integration-test program: the HTTP contract and the command line, from outside.
//!
//! Every module is one area of the contract; names of tests and comments cite the numbered lines of
//! the acceptance checklist (`r101_…`, `c34`), and `docs/ACCEPTANCE.md` lists which test shows which
//! line. The tests start the real binary and know nothing of its insides.

#[cfg(test)]
mod harness;
#[cfg(test)]
mod experience;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod envelope;
#[cfg(test)]
mod source;
#[cfg(test)]
mod bulk;
#[cfg(test)]
mod idempotency;
#[cfg(test)]
mod events;
#[cfg(test)]
mod echo;
#[cfg(test)]
mod prompt_text;
#[cfg(test)]
mod filtered;
#[cfg(test)]
mod instructions;
#[cfg(test)]
mod standing;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod full_disk;
#[cfg(test)]
mod upgrades;
#[cfg(test)]
mod feedback;
#[cfg(test)]
mod still;
#[cfg(test)]
mod asking;
#[cfg(test)]
mod facts;
#[cfg(test)]
mod erasures;
#[cfg(test)]
mod forget;
#[cfg(test)]
mod deletes;
#[cfg(test)]
mod erasure_reach;
#[cfg(test)]
mod entities;
#[cfg(test)]
mod beliefs;
#[cfg(test)]
mod episodes;
#[cfg(test)]
mod understanding;
#[cfg(test)]
mod conflicts;
#[cfg(test)]
mod dependencies;
#[cfg(test)]
mod citations;
#[cfg(test)]
mod checkout;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod embeddings;
#[cfg(test)]
mod models;
#[cfg(test)]
mod export;
#[cfg(test)]
mod vocabularies;
#[cfg(test)]
mod zaxy;
#[cfg(test)]
mod zaxy_tools;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod rederive;
#[cfg(test)]
mod replaced;
#[cfg(test)]
mod ownership;
#[cfg(test)]
mod paging;
#[cfg(test)]
mod pam;
#[cfg(test)]
mod aegx;
#[cfg(test)]
mod import;
#[cfg(test)]
mod import_laws;
#[cfg(test)]
mod import_bad_input;
#[cfg(test)]
mod blobs;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod stream;
#[cfg(test)]
mod admin;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod conventions;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod estimate;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod stability;
#[cfg(test)]
mod http2;
#[cfg(test)]
mod rate;
#[cfg(test)]
mod recall;
#[cfg(test)]
mod chains;
#[cfg(test)]
mod closest;

#[cfg(test)]
mod answers;
#[cfg(test)]
mod quality;
#[cfg(test)]
mod cors;
#[cfg(test)]
mod certificate;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod shared;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod restart;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod provider;
#[cfg(test)]
mod jwks;
#[cfg(test)]
mod deployment;
#[cfg(test)]
mod minting;
#[cfg(test)]
mod policies;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod rights;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod clock;
#[cfg(test)]
mod placeholders;
#[cfg(test)]
mod scopes;
#[cfg(test)]
mod traversal;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod tampering;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod authorization;
#[cfg(test)]
mod backup;
#[cfg(test)]
mod erased_bytes;
#[cfg(test)]
mod certified;
#[cfg(test)]
mod cursors;
#[cfg(test)]
mod isolation;
#[cfg(test)]
mod two_users;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod acceptance;
