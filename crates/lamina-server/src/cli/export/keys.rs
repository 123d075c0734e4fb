//! Keys that sign exports: made here, read from files, never on the command line or in a request.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use lamina_env::disk::read_file;
use lamina_env::rng::draw;
use lamina_env::{Disk as _, Env, RealDisk};
use lamina_portable::sign::{BundleKey, SignatureAlgorithm};

use crate::cli::args::{KeygenArgs, SigningArgs};
use crate::cli::exit::{Exit, Failure};
use crate::cli::{print, say};
use crate::secret::read_secret_file;
use crate::transfer::export::KEY_BYTES_MAX;

/// Said on standard error whenever a key is made or signs.
const NOTICE: &str = "warning: signed exports are EXPERIMENTAL and UNAUDITED; do not rely on them for high-value \
                      secrets or for compliance";

/// Says that signing is experimental.
pub(super) fn say_notice() {
    say(NOTICE);
}

/// Makes a key.
pub(in crate::cli) fn keygen(args: &KeygenArgs) -> Result<Exit, Failure> {
    let algorithm = algorithm(&args.algorithm)?;
    for path in [&args.out_private, &args.out_public] {
        if RealDisk.exists(path) && !args.force {
            return Err(Failure {
                help: Some("--force replaces it".to_owned()),
                ..Failure::usage(anyhow!("{} is there already", path.display()))
            });
        }
    }
    say_notice();
    let key = BundleKey::from_seed(algorithm, &draw(&*Env::real().rng));
    write_new(&args.out_private, key.to_pem().as_bytes())?;
    write_new(&args.out_public, key.public_hex().as_bytes())?;
    print(&format!(
        "keypair {}: private -> {} (chmod 600); public -> {}\n",
        algorithm.name(),
        args.out_private.display(),
        args.out_public.display()
    ))?;
    Ok(Exit::Fine)
}

fn algorithm(name: &str) -> Result<SignatureAlgorithm, Failure> {
    SignatureAlgorithm::from_name(name).ok_or_else(|| {
        let known = SignatureAlgorithm::ALL.map(SignatureAlgorithm::name).join(", ");
        Failure::usage(anyhow!("`{name}` is no algorithm; there are {known}"))
    })
}

/// Writes a file that only its owner can read, in place of one that is there.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let write = || -> std::io::Result<()> {
        if RealDisk.exists(path) {
            // A file that others could read keeps its mode: a new one takes its place.
            RealDisk.remove(path)?;
        }
        let file = RealDisk.create_new(path)?;
        file.write_at(bytes, 0)?;
        file.sync()
    };
    write()
        .with_context(|| format!("{} cannot be written", path.display()))
        .map_err(Failure::unreadable)
}

/// The key of the flags, held against the public key and the algorithm that they name.
pub(super) fn signing_key(args: &SigningArgs) -> Result<Option<BundleKey>, Failure> {
    let Some(path) = &args.private_key else { return Ok(None) };
    let bytes = read_secret_file(&RealDisk, path, KEY_BYTES_MAX).map_err(Failure::unreadable)?;
    let text = std::str::from_utf8(bytes.expose());
    let text = text.with_context(|| format!("{} holds no key", path.display()));
    let key = BundleKey::from_pem(text.map_err(Failure::unreadable)?);
    let key = key.with_context(|| format!("{} cannot be used", path.display()));
    let key = key.map_err(Failure::unreadable)?;
    if let Some(public) = &args.public_key {
        let text = read_file(&RealDisk, public, KEY_BYTES_MAX);
        let text = text.with_context(|| format!("{} cannot be read", public.display()));
        let text = text.map_err(Failure::unreadable)?;
        if String::from_utf8_lossy(&text).trim() != key.public_hex() {
            let (public, private) = (public.display(), path.display());
            return Err(Failure::usage(anyhow!("{public} is not the public key of {private}")));
        }
    }
    if let Some(named) = &args.algorithm
        && algorithm(named)? != key.algorithm()
    {
        let own = key.algorithm().name();
        let error = anyhow!("{} is a key of {own}, not of {named}", path.display());
        return Err(Failure {
            help: Some("leave --algorithm out".to_owned()),
            ..Failure::usage(error)
        });
    }
    Ok(Some(key))
}
