//! Every package that is linked into the product has a licence that `deny.toml` allows. The file is
//! in the format of cargo-deny, so that people who have that tool can use it; this check needs
//! nothing but cargo.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::files;
use crate::process::{self, cargo};

pub(crate) fn run() -> anyhow::Result<()> {
    let deny = files::read(&process::root().join("deny.toml")).context("cannot read deny.toml")?;
    let allowed = allowed_in(&deny)?;
    // Only what is built here: packages for other platforms are not even downloaded.
    let host = host()?;
    let arguments = ["metadata", "--locked", "--format-version", "1", "--filter-platform", &host];
    let metadata = process::output_of(&mut cargo(&arguments))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata is not JSON")?;
    let packages =
        metadata.get("packages").and_then(Value::as_array).context("metadata has no packages")?;
    let refused: Vec<String> =
        packages.iter().filter_map(|package| refusal(package, &allowed)).collect();
    if !refused.is_empty() {
        bail!("licences that deny.toml does not allow:\n  {}", refused.join("\n  "));
    }
    println!("{} packages, every licence allowed by deny.toml", packages.len());
    Ok(())
}

/// The platform of the compiler, as in `x86_64-unknown-linux-gnu`.
fn host() -> anyhow::Result<String> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = process::output_of(Command::new(compiler).arg("-vV"))?;
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.context("`rustc -vV` names no host")?.to_owned())
}

/// `[licenses] allow` of a cargo-deny configuration.
fn allowed_in(deny: &str) -> anyhow::Result<BTreeSet<String>> {
    let table: toml::Table = deny.parse().context("deny.toml is not TOML")?;
    let list = table
        .get("licenses")
        .and_then(|licences| licences.get("allow"))
        .and_then(toml::Value::as_array)
        .context("deny.toml has no `licenses.allow`")?;
    Ok(list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

fn refusal(package: &Value, allowed: &BTreeSet<String>) -> Option<String> {
    let name = package.get("name").and_then(Value::as_str).unwrap_or("(unnamed)");
    let expression = package.get("license").and_then(Value::as_str).unwrap_or("");
    if satisfied(expression, allowed) {
        return None;
    }
    Some(format!("{name}: {}", if expression.is_empty() { "no licence given" } else { expression }))
}

/// Whether an SPDX expression can be satisfied with allowed licences only. `AND` binds tighter than
/// `OR`; the old spelling `MIT/Apache-2.0` means `OR`. What cannot be read is not satisfied.
fn satisfied(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest, allowed) == Some(true) && rest.is_empty()
}

/// `None`: not an expression.
fn any_of(rest: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let mut verdict = all_of(rest, allowed)?;
    while let Some((&"OR", after)) = rest.split_first() {
        *rest = after;
        // Both sides are read, also when the first one already decides.
        verdict |= all_of(rest, allowed)?;
    }
    Some(verdict)
}

fn all_of(rest: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let mut verdict = one(rest, allowed)?;
    while let Some((&"AND", after)) = rest.split_first() {
        *rest = after;
        verdict &= one(rest, allowed)?;
    }
    Some(verdict)
}

fn one(rest: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let (word, after) = rest.split_first()?;
    *rest = after;
    if *word == "(" {
        let verdict = any_of(rest, allowed)?;
        let (&")", after) = rest.split_first()? else {
            return None;
        };
        *rest = after;
        return Some(verdict);
    }
    let mut name = (*word).to_owned();
    if let Some((&"WITH", [exception, after @ ..])) = rest.split_first() {
        name = format!("{name} WITH {exception}");
        *rest = after;
    }
    Some(allowed.contains(&name))
}
