//! The files of the checkout as values. Rules see paths and text only, never the file system.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::files;

/// Paths relative to the root, with `/`; the text is absent for files that are not UTF-8.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// What git tracks or would track, or every file outside build output where git is absent (an
    /// unpacked archive).
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut files = BTreeMap::new();
        let paths = match listed_by_git(root) {
            Some(paths) => paths,
            None => walked(root)?,
        };
        for path in paths {
            match files::read(&root.join(&path)) {
                Ok(text) => files.insert(path, Some(text)),
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    files.insert(path, None)
                }
                // Deleted but not yet committed.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
            };
        }
        Ok(Self { files })
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), Some((*text).to_owned()));
        Self { files: files.iter().map(owned).collect() }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Every file with text, in path order.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    pub(crate) fn rust_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| path.ends_with(".rs"))
    }

    /// Whether a file or a folder with at least one file is there.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        if self.files.contains_key(path) {
            return true;
        }
        let folder = format!("{path}/");
        let next = self.files.range(folder.clone()..).next();
        next.is_some_and(|(first, _)| first.starts_with(&folder))
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> =
        text.split('\0').filter(|p| !p.is_empty()).map(str::to_owned).collect();
    (!paths.is_empty()).then_some(paths)
}

fn walked(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in files::list(&folder)? {
            let relative = path.strip_prefix(root).expect("a walk stays below its root");
            let relative = relative.to_string_lossy().replace('\\', "/");
            if relative == "target" || relative == ".git" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                paths.push(relative);
            }
        }
    }
    Ok(paths)
}
