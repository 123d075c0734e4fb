//! Which crate may name which. A crate exists to forbid, to quarantine or to promise something; the
//! tables below are what makes that true.

use toml::{Table, Value};

use super::Finding;
use super::tree::Tree;

/// Who may depend on whom. A new edge is an architecture decision: it changes this table and
/// `docs/ARCHITECTURE.md` in the same commit.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("lamina-types", &[]),
    ("lamina-env", &["lamina-types"]),
    ("lamina-core", &["lamina-types"]),
    ("lamina-store", &["lamina-types", "lamina-env"]),
    // A language model is asked over the network; nothing else in it leaves the machine.
    ("lamina-models", &["lamina-types", "lamina-outbound"]),
    // Search can be deleted and made again: it sees no log and no view.
    ("lamina-index", &["lamina-types", "lamina-env"]),
    ("lamina-api", &["lamina-types"]),
    ("lamina-auth", &["lamina-types", "lamina-env"]),
    // Codecs of foreign formats: bytes to values and back, without an engine behind them.
    ("lamina-portable", &["lamina-types"]),
    // One format whose licence lets a build leave it out: a crate of its own.
    ("lamina-aegx", &["lamina-types", "lamina-portable"]),
    // Calls other servers, and knows nothing of what it is asked to fetch.
    ("lamina-outbound", &[]),
    // A program of its own: it holds secret keys, and the server must be able to do without them.
    ("lamina-issuer", &["lamina-types", "lamina-env", "lamina-auth"]),
    (
        "lamina-engine",
        &[
            "lamina-types",
            "lamina-env",
            "lamina-core",
            "lamina-store",
            "lamina-models",
            "lamina-index",
        ],
    ),
    // The server names the core for permits only.
    (
        "lamina-server",
        &[
            "lamina-types",
            "lamina-env",
            "lamina-core",
            "lamina-engine",
            "lamina-models",
            "lamina-api",
            "lamina-auth",
            "lamina-outbound",
            "lamina-portable",
            // Behind the feature `aegx`.
            "lamina-aegx",
        ],
    ),
];

/// Crates that stand above the product and may name anything; nothing may name them.
const DEVELOPMENT: &[&str] = &["lamina-sim", "lamina-bench", "xtask"];

/// Third-party crates with consequences, and the only product crates that may name each.
const QUARANTINE: &[(&[&str], &[&str])] = &[
    (&["axum", "tower", "futures-util"], &["lamina-server"]),
    (&["hyper", "hyper-util", "http", "http-body-util"], &["lamina-server", "lamina-outbound"]),
    (
        &["toml", "saphyr-parser", "tracing-subscriber", "metrics-exporter-prometheus"],
        &["lamina-server"],
    ),
    (&["clap", "anyhow"], &["lamina-server", "lamina-issuer"]),
    (&["fjall", "hmac"], &["lamina-store"]),
    (&["crc32c"], &["lamina-store", "lamina-index"]),
    (&["tantivy", "rust-stemmers"], &["lamina-index"]),
    (&["ndarray"], &["lamina-models"]),
    (&["ed25519-dalek"], &["lamina-store", "lamina-auth", "lamina-portable"]),
    (&["ml-dsa"], &["lamina-portable"]),
    (&["pasetors", "jsonwebtoken"], &["lamina-auth"]),
    (&["p256", "p384", "rsa"], &["lamina-portable"]),
    (&["rusqlite"], &["lamina-issuer"]),
    (&["rustls", "tokio-rustls"], &["lamina-server", "lamina-outbound"]),
    (&["rustls-native-certs"], &["lamina-outbound"]),
    (&["governor"], &["lamina-server"]),
    (&["rustix", "getrandom"], &["lamina-env"]),
    (&["serde"], &["lamina-api", "lamina-server", "lamina-auth", "lamina-issuer"]),
    (
        &["serde_json"],
        &["lamina-api", "lamina-server", "lamina-auth", "lamina-issuer", "lamina-models"],
    ),
    (&["serde_path_to_error"], &["lamina-api", "lamina-server"]),
    (&["jiff"], &["lamina-api", "lamina-server", "lamina-models"]),
    (&["schemars"], &["lamina-api", "lamina-server"]),
    (&["tokio"], &["lamina-engine", "lamina-server", "lamina-outbound"]),
    (&["tracing", "metrics"], &["lamina-engine", "lamina-server"]),
    (&["image"], &["lamina-engine"]),
    (&["flate2"], &["lamina-engine", "lamina-portable"]),
];

pub(super) fn edges(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in members(tree, &mut found) {
        if DEVELOPMENT.contains(&member.name.as_str()) {
            continue;
        }
        let row = MAY_DEPEND_ON.iter().find(|(name, _)| *name == member.name);
        let Some((_, allowed)) = row else {
            let message = format!(
                "`{}` is not in the table of crate edges (xtask/src/tidy/edges.rs)",
                member.name
            );
            found.push(Finding::of_file(&member.path, message));
            continue;
        };
        for (dependency, _) in member.dependencies(&["dependencies", "build-dependencies"]) {
            if dependency.starts_with("lamina-") && !allowed.contains(&dependency.as_str()) {
                let message = format!(
                    "`{}` may not depend on `{dependency}`; a new edge is an architecture \
                     decision: xtask/src/tidy/edges.rs and docs/ARCHITECTURE.md",
                    member.name
                );
                found.push(Finding::of_file(&member.path, message));
            }
        }
    }
    found
}

pub(super) fn quarantine(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in members(tree, &mut Vec::new()) {
        if DEVELOPMENT.contains(&member.name.as_str()) {
            continue;
        }
        for (dependency, _) in member.dependencies(&["dependencies", "build-dependencies"]) {
            let cell = QUARANTINE.iter().find(|(names, _)| names.contains(&dependency.as_str()));
            if let Some((_, allowed)) = cell
                && !allowed.contains(&member.name.as_str())
            {
                let message = format!(
                    "`{}` may not name `{dependency}`; only {} may",
                    member.name,
                    allowed.join(" and ")
                );
                found.push(Finding::of_file(&member.path, message));
            }
        }
    }
    found
}

/// Versions, lints and package fields are decided once, at the root.
pub(super) fn inheritance(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in members(tree, &mut Vec::new()) {
        let sections = ["dependencies", "build-dependencies", "dev-dependencies"];
        for (dependency, value) in member.dependencies(&sections) {
            if value.get("workspace").and_then(Value::as_bool) != Some(true) {
                let message = format!("`{dependency}` does not say `workspace = true`");
                found.push(Finding::of_file(&member.path, message));
            }
        }
        let lints = member.manifest.get("lints").and_then(|lints| lints.get("workspace"));
        if lints.and_then(Value::as_bool) != Some(true) {
            let message = "add `[lints] workspace = true`: lints are the same everywhere";
            found.push(Finding::of_file(&member.path, message));
        }
        let package = member.manifest.get("package");
        for field in ["version", "edition", "rust-version", "license", "publish"] {
            let value = package.and_then(|package| package.get(field));
            if value.and_then(|value| value.get("workspace")).is_none() {
                let message = format!("`package.{field}` is not taken from the workspace");
                found.push(Finding::of_file(&member.path, message));
            }
        }
    }
    found
}

struct Member {
    path: String,
    /// The name of the package, which is the name of its folder.
    name: String,
    manifest: Table,
}

impl Member {
    /// Names and values in the given sections, those for one platform included.
    fn dependencies(&self, sections: &[&str]) -> Vec<(String, Value)> {
        let platforms = self.manifest.get("target").and_then(Value::as_table);
        let tables = std::iter::once(&self.manifest)
            .chain(platforms.into_iter().flat_map(Table::values).filter_map(Value::as_table));
        tables
            .flat_map(|table| sections.iter().filter_map(|section| table.get(*section)))
            .filter_map(Value::as_table)
            .flatten()
            .map(|(name, value)| {
                // `alias = { package = "name" }` names the package, whatever it calls it.
                let package = value.get("package").and_then(Value::as_str);
                (package.unwrap_or(name).to_owned(), value.clone())
            })
            .collect()
    }
}

fn members(tree: &Tree, found: &mut Vec<Finding>) -> Vec<Member> {
    let mut members = Vec::new();
    for (path, text) in tree.texts() {
        let Some(folder) = path.strip_suffix("/Cargo.toml") else { continue };
        // What is not a member (fuzz targets need another compiler) decides for itself.
        let folder = folder.strip_prefix("crates/").unwrap_or(folder);
        let is_member = path.starts_with("crates/") && !folder.contains('/') || folder == "xtask";
        if !is_member {
            continue;
        }
        let manifest: Table = match text.parse() {
            Ok(manifest) => manifest,
            Err(error) => {
                found.push(Finding::of_file(path, format!("is not TOML: {}", error.message())));
                continue;
            }
        };
        let name = manifest.get("package").and_then(|package| package.get("name"));
        let name = name.and_then(Value::as_str).unwrap_or_default().to_owned();
        if name != folder {
            let message = format!("the folder `{folder}` holds the package `{name}`");
            found.push(Finding::of_file(path, message));
        }
        members.push(Member { path: path.to_owned(), name, manifest });
    }
    members
}
