//! Which project the client works on: one for all worktrees of a repository, told apart from others of its name.

use std::io;
use std::path::{Path, PathBuf};

use lamina_env::{Disk, RealDisk};
use lamina_types::stdx::hex;
use serde_json::{Map, Value, json};

use crate::cli::call::given;

/// Variables of other programs that name the project, its session, and the place of its log.
const ZAXY_DOMAIN: &str = "ZAXY_DOMAIN";
const EVENTLOOM_THREAD: &str = "EVENTLOOM_THREAD";
const EVENTLOOM_PATH: &str = "EVENTLOOM_PATH";
/// In which Claude Code names the directory of the project.
const CLAUDE_PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";
/// Whether calls of the profile `zaxy` leave events about themselves.
const LIFECYCLE: &str = "MCP_LIFECYCLE_CAPTURE_ENABLED";
/// Bytes of a file of git that is read, and of a row of the registry.
const FILE_BYTES_MAX: u64 = 64 << 10;
/// Characters of a name that is made from a directory.
const SLUG_CHARS_MAX: usize = 100;
/// The registry of names, in the data directory.
const REGISTRY: &str = "projects";
/// In it: which project a linked worktree belongs to.
const WORKTREES: &str = "worktrees";
/// Environment variables in which clients say which conversation they are in.
const CONVERSATIONS: [&str; 2] = ["CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID"];

/// Where the name of the workspace comes from.
#[derive(Debug)]
pub(super) struct WorkspaceFinder {
    pub(super) project: Option<String>,
    pub(super) session: Option<String>,
    /// The directory of a log of Eventloom.
    pub(super) eventloom: Option<String>,
    pub(super) register: bool,
    /// The data directory, where names of projects are given out.
    pub(super) registry: Option<PathBuf>,
}

impl WorkspaceFinder {
    /// Whether calls may leave events about themselves.
    pub(super) fn captures(&self) -> bool {
        let switch = given(None, LIFECYCLE).unwrap_or_default().to_lowercase();
        !matches!(&*switch, "false" | "0" | "no" | "off")
    }

    /// What the server is told with every call.
    pub(super) fn find(&self) -> Map<String, Value> {
        let mut found = Map::new();
        let project = given(self.project.as_deref(), ZAXY_DOMAIN).or_else(|| self.named_by_place());
        if let Some(project) = project {
            found.insert("project".to_owned(), project.into());
        }
        if let Some(session) = given(self.session.as_deref(), EVENTLOOM_THREAD) {
            found.insert("session".to_owned(), session.into());
        }
        let conversation = CONVERSATIONS.iter().find_map(|name| given(None, name));
        if let Some(conversation) = conversation {
            found.insert("conversation".to_owned(), conversation.into());
        }
        if !self.captures() {
            found.insert("lifecycle".to_owned(), Value::Bool(false));
        }
        if !self.register {
            found.insert("register".to_owned(), Value::Bool(false));
        }
        found
    }

    fn named_by_place(&self) -> Option<String> {
        let place = given(self.eventloom.as_deref(), EVENTLOOM_PATH)
            .and_then(|path| std::path::absolute(path).ok()?.parent().map(Path::to_owned))
            .or_else(|| given(None, CLAUDE_PROJECT_DIR).map(PathBuf::from))
            .or_else(|| std::env::current_dir().ok())
            .or_else(|| given(None, "PWD").map(PathBuf::from))?;
        let root = self.root_of(&RealDisk, &place)?;
        if nobodys(&root) {
            return None;
        }
        Some(name_of(&RealDisk, &root, self.registry.as_deref()))
    }
}

impl WorkspaceFinder {
    /// The root of the project of a place. A linked worktree is noted, so that it stays in its project when its
    /// directory is gone.
    fn root_of(&self, disk: &dyn Disk, place: &Path) -> Option<PathBuf> {
        let worktrees = self.registry.as_deref().map(|data| data.join(REGISTRY).join(WORKTREES));
        if let Some(worktrees) = &worktrees
            && !place.is_dir()
            && let Some(root) = noted_root(disk, worktrees, place)
        {
            return Some(root);
        }
        let root = project_root(disk, place)?;
        if let Some(worktrees) = &worktrees
            && let Some(worktree) =
                worktree_of(place).filter(|worktree| !root.starts_with(worktree))
            && let Err(error) = note_worktree(disk, worktrees, &worktree, &root)
        {
            tracing::debug!(%error, "a worktree was not noted");
        }
        Some(root)
    }
}

/// The root of the project that a directory belonged to which is gone.
fn noted_root(disk: &dyn Disk, worktrees: &Path, place: &Path) -> Option<PathBuf> {
    place.ancestors().find_map(|path| {
        let row: Value =
            serde_json::from_str(&read_text(disk, &row_of(worktrees, path)).ok()?).ok()?;
        let is_it = row.get("worktree").and_then(Value::as_str) == path.to_str();
        let root = row.get("root").and_then(Value::as_str).filter(|_| is_it)?;
        Some(PathBuf::from(root))
    })
}

fn note_worktree(
    disk: &dyn Disk,
    worktrees: &Path,
    worktree: &Path,
    root: &Path,
) -> io::Result<()> {
    let row = row_of(worktrees, worktree);
    let text = json!({"worktree": worktree.to_str(), "root": root.to_str()}).to_string();
    if read_text(disk, &row).is_ok_and(|known| known == text) {
        return Ok(());
    }
    disk.create_dir_all(worktrees)?;
    lamina_env::disk::write_atomic(disk, &row, text.as_bytes())
}

fn row_of(worktrees: &Path, worktree: &Path) -> PathBuf {
    worktrees.join(format!("{:016x}.json", path_hash(worktree)))
}

/// The linked worktree around a place: its `.git` is a file.
fn worktree_of(place: &Path) -> Option<PathBuf> {
    let place = place.canonicalize().ok()?;
    let found = place.ancestors().find(|path| path.join(".git").exists())?;
    found.join(".git").is_file().then(|| found.to_owned())
}

/// The person at this machine, as an actor.
pub(super) fn person() -> String {
    let login = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| given(None, name));
    let login = login.unwrap_or_else(|| "local".to_owned());
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let login: String = login.chars().map(|c| if plain(c) { c } else { '-' }).collect();
    format!("user:{login}")
}

/// Directories that hold many things and are no project: the home of the person, the root, temporary ones.
fn nobodys(root: &Path) -> bool {
    let canonical = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let mut places = vec![PathBuf::from("/"), PathBuf::from("/tmp"), PathBuf::from("/var/tmp")];
    places.push(canonical(std::env::temp_dir()));
    places.extend(given(None, "HOME").map(|home| canonical(PathBuf::from(home))));
    places.iter().any(|place| place == root)
}

/// The directory that a project is known by: the one that holds the repository, whichever of its worktrees this is;
/// without a repository the directory itself, or the nearest one above it that is there.
pub(super) fn project_root(disk: &dyn Disk, place: &Path) -> Option<PathBuf> {
    let place = place.ancestors().find(|path| path.is_dir())?;
    let place = place.canonicalize().ok()?;
    for directory in place.ancestors() {
        let git = directory.join(".git");
        if git.is_dir() {
            return Some(directory.to_owned());
        }
        if git.is_file() {
            return common_root(disk, directory, &git).or_else(|| Some(directory.to_owned()));
        }
    }
    Some(place)
}

/// The repository of a linked worktree, or of a submodule, whose `.git` is a file.
fn common_root(disk: &dyn Disk, directory: &Path, git: &Path) -> Option<PathBuf> {
    let text = read_text(disk, git).ok()?;
    let git_dir = directory.join(text.trim().strip_prefix("gitdir:")?.trim());
    let common = read_text(disk, &git_dir.join("commondir"));
    let Ok(common) = common else { return Some(directory.to_owned()) };
    let common = git_dir.join(common.trim()).canonicalize().ok()?;
    match common.file_name() {
        Some(name) if name == ".git" => common.parent().map(Path::to_owned),
        _ => Some(common),
    }
}

/// The name of a project: that of its directory, if no other project has it, or with a part of the hash of its path.
fn name_of(disk: &dyn Disk, root: &Path, registry: Option<&Path>) -> String {
    let slug = slug(root);
    let Some(registry) = registry else { return slug };
    match owns_name(disk, registry, &slug, root) {
        Ok(true) => slug,
        Ok(false) | Err(_) => format!("{slug}-{}", short_hash(root)),
    }
}

/// Whether the name is given to this directory; the first that asks gets it.
fn owns_name(disk: &dyn Disk, data: &Path, slug: &str, root: &Path) -> io::Result<bool> {
    let directory = data.join(REGISTRY);
    disk.create_dir_all(&directory)?;
    let row = directory.join(format!("{slug}.json"));
    let root = root.to_string_lossy().into_owned();
    if let Ok(text) = read_text(disk, &row) {
        return Ok(is_root(&text, &root));
    }
    // Written whole under a name of its own first: who finds a row finds all of it.
    let draft = directory.join(format!("{slug}.{}.tmp", std::process::id()));
    let file = disk.create_new(&draft)?;
    file.write_at(json!({"root": root}).to_string().as_bytes(), 0)?;
    file.sync()?;
    let linked = std::fs::hard_link(&draft, &row);
    disk.remove(&draft)?;
    match linked {
        Ok(()) => Ok(true),
        Err(_) => Ok(is_root(&read_text(disk, &row)?, &root)),
    }
}

fn is_root(row: &str, root: &str) -> bool {
    let row: Option<Value> = serde_json::from_str(row).ok();
    row.is_some_and(|row| row.get("root").and_then(Value::as_str) == Some(root))
}

fn read_text(disk: &dyn Disk, path: &Path) -> io::Result<String> {
    let bytes = lamina_env::disk::read_file(disk, path, FILE_BYTES_MAX)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn slug(root: &Path) -> String {
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| "project".to_owned()).to_lowercase();
    let mut slug = String::new();
    for c in name.chars().take(SLUG_CHARS_MAX) {
        let kept = if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        if kept != '-' || !slug.ends_with('-') {
            slug.push(kept);
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "project".to_owned() } else { slug.to_owned() }
}

/// Enough of the FNV-1a hash of the path to tell two projects of one name apart.
fn short_hash(root: &Path) -> String {
    hex::encode(path_hash(root).to_be_bytes().get(..4).unwrap_or_default())
}

fn path_hash(path: &Path) -> u64 {
    path.to_string_lossy().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
