//! Writes the files of the contract, or checks that the committed ones are current.
//!
//! `lamina-contract docs` writes; `lamina-contract --check docs` fails and names every file that is
//! stale, missing, or no longer part of the contract.
#![expect(
    clippy::disallowed_methods,
    reason = "a development tool that writes source files; nothing here runs in the server"
)]

use std::io;
use std::path::Path;
use std::process::ExitCode;

use lamina_api::contract;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args.as_slice() {
        ["--check", docs] => check(Path::new(docs)).map(|stale| report(&stale)),
        [docs] if !docs.starts_with('-') => write(Path::new(docs)).map(|()| ExitCode::SUCCESS),
        _ => {
            eprintln!("usage: lamina-contract [--check] <docs directory>");
            return ExitCode::from(64);
        }
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("lamina-contract: {error}");
        ExitCode::FAILURE
    })
}

fn report(stale: &[String]) -> ExitCode {
    if stale.is_empty() {
        return ExitCode::SUCCESS;
    }
    for file in stale {
        eprintln!("stale: {file}");
    }
    eprintln!("run `cargo run -p lamina-api --bin lamina-contract -- docs` and read the diff");
    ExitCode::FAILURE
}

fn write(docs: &Path) -> io::Result<()> {
    for (path, text) in contract::files() {
        let path = docs.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    for path in leftovers(docs)? {
        std::fs::remove_file(docs.join(path))?;
    }
    Ok(())
}

/// The files that differ from the contract, by path under `docs`.
fn check(docs: &Path) -> io::Result<Vec<String>> {
    let mut stale = leftovers(docs)?;
    for (path, text) in contract::files() {
        match std::fs::read(docs.join(&path)) {
            Ok(found) if found == text.as_bytes() => {}
            Ok(_) => stale.push(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => stale.push(path),
            Err(error) => return Err(error),
        }
    }
    Ok(stale)
}

/// Files in the generated folders that no longer belong to the contract.
fn leftovers(docs: &Path) -> io::Result<Vec<String>> {
    let files = contract::files();
    let mut leftovers = Vec::new();
    for folder in ["schemas", "errors"] {
        let entries = match std::fs::read_dir(docs.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = format!("{folder}/{}", entry?.file_name().to_string_lossy());
            if !files.contains_key(&path) {
                leftovers.push(path);
            }
        }
    }
    leftovers.sort();
    Ok(leftovers)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_committed_contract_is_current() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        assert_eq!(super::check(&docs).unwrap(), Vec::<String>::new());
    }
}
