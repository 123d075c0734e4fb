//! The issuer: a program that keeps secret keys and mints tokens that servers accept.
//!
//! It is apart from the server on purpose: a server only verifies, and whoever breaks into it finds
//! no key to make tokens with. A directory holds one issuer: the secret key, and an SQLite file that
//! says which keys there were and which tokens were minted, but never the tokens themselves.

mod exit;
mod args;
mod ledger;
mod issuer;
mod cli;

pub use cli::run;
pub use exit::Exit;
