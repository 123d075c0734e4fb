//! The three places a setting can stand in, and the order in which they are asked.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use lamina_env::Disk;
use lamina_env::disk::read_file;

use super::suggest::nearest;
use super::{KEYS, Key, Origin, PolicyFileError, Shown, value};

/// The flags of the command line that are settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--data`
    pub data: Option<PathBuf>,
    /// `--listen`
    pub listen: Option<String>,
    /// `--idle-exit`
    pub idle_exit: Option<String>,
    /// `--preset`
    pub preset: Option<String>,
    /// `--policy`
    pub policy: Option<PathBuf>,
    /// `--tls-cert`
    pub tls_cert: Option<PathBuf>,
    /// `--tls-key`
    pub tls_key: Option<PathBuf>,
    /// `--trust`, several separated by commas
    pub trust: Option<String>,
    /// `--config`
    pub config: Option<PathBuf>,
}

/// The variables of the process, as a value.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

/// Why there is no configuration to run with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file names a setting that does not exist.
    #[error("unknown key `{key}` in {}{}", path.display(), hint(suggestion))]
    UnknownKey {
        /// What the file says.
        key: String,
        /// Which file.
        path: PathBuf,
        /// What may have been meant.
        suggestion: Option<&'static str>,
    },
    /// A variable starts with `LAMINA_` and is none of ours.
    #[error("unknown environment variable `{name}`{}", hint(suggestion))]
    UnknownVariable {
        /// Its name.
        name: String,
        /// What may have been meant.
        suggestion: Option<&'static str>,
    },
    /// A value cannot be read.
    #[error("`{key}` cannot be `{value}` ({origin}): {reason}")]
    BadValue {
        /// Which setting.
        key: &'static str,
        /// What was written.
        value: String,
        /// Where.
        origin: Origin,
        /// What was expected.
        reason: String,
    },
    /// Two settings go together and one is missing.
    #[error("`{given}` is set and `{missing}` is not; they go together")]
    Alone {
        /// The one that is set.
        given: &'static str,
        /// The one that is not.
        missing: &'static str,
    },
    /// A value that may hold a secret cannot be used, and is not repeated.
    #[error("`{key}` cannot be used: {reason}")]
    Hidden {
        /// Which setting.
        key: &'static str,
        /// What was expected.
        reason: String,
    },
    /// Two settings say the same in two ways.
    #[error("`{one}` and `{other}` are both set; leave one of them out")]
    Both {
        /// The one.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// A setting about tokens where there are none.
    #[error("`{key}` is set, and the preset `dev_local` knows no tokens; choose another preset")]
    NoTokens {
        /// Which setting.
        key: &'static str,
    },
    /// A preset's policy and one of the operator's own.
    #[error(
        "`policy.file` is a deployment of its own, and `preset` names another: leave `preset` out, or \
         set it to custom"
    )]
    TwoPolicies,
    /// The policy file is not taken.
    #[error(transparent)]
    Policy(#[from] PolicyFileError),
    /// The file names a table or a list where a value belongs.
    #[error("`{key}` in {} must be a plain value", path.display())]
    NotAValue {
        /// Which setting.
        key: String,
        /// Which file.
        path: PathBuf,
    },
    /// The file lies in the data directory and names another one.
    #[error(
        "{} lies in the data directory, so it cannot set `data`; use --data or LAMINA_DATA",
        path.display()
    )]
    MovesData {
        /// Which file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("the configuration file {} cannot be read", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("{} is not TOML: {message}", path.display())]
    NotToml {
        /// Which file.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
    /// There is no home to put the data directory in.
    #[error("no data directory: neither HOME nor XDG_DATA_HOME is set; use --data or LAMINA_DATA")]
    NoDataDirectory,
}

fn hint(suggestion: &Option<&'static str>) -> String {
    suggestion.map_or_else(String::new, |known| format!("; did you mean `{known}`?"))
}

/// Larger than any configuration file anybody writes.
const FILE_BYTES_MAX: u64 = 1 << 20;
const FILE_NAME: &str = "lamina.toml";
const CONFIG_VARIABLE: &str = "LAMINA_CONFIG";
/// Variables of our own tools: children of a test inherit them.
const TOOL_VARIABLES: &[&str] = &[
    "LAMINA_BIN",
    "LAMINA_SIM_",
    "LAMINA_BENCH_",
    "LAMINA_URL",
    "LAMINA_TOKEN",
    "LAMINA_SCOPE",
    "LAMINA_ACTOR",
];

impl Environment {
    /// The variables of this process. One that is not UTF-8 is none of ours.
    pub fn of_process() -> Environment {
        let pairs = std::env::vars_os();
        Environment(
            pairs
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
        )
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// An empty variable is one that somebody wanted to unset.
    fn setting(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// A variable that holds a secret: one of the operator's own, not a setting.
    pub(super) fn secret(&self, name: &str) -> Option<String> {
        self.setting(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn check_names(&self) -> Result<(), ConfigError> {
        let known = || KEYS.iter().map(|key| key.variable).chain(std::iter::once(CONFIG_VARIABLE));
        for (name, value) in &self.0 {
            let foreign = !name.starts_with("LAMINA_")
                || TOOL_VARIABLES.iter().any(|tool| name.starts_with(tool))
                || is_of_kubernetes(name, value);
            if foreign || known().any(|variable| variable == name) {
                continue;
            }
            return Err(ConfigError::UnknownVariable {
                name: name.clone(),
                suggestion: nearest(name, known()),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
impl Environment {
    /// These variables.
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Environment {
        let owned = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Environment(owned.collect())
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(pairs: [(&str, &str); N]) -> Environment {
        let owned = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Environment(BTreeMap::from(owned))
    }
}

/// Kubernetes describes a service called `lamina` to every pod in these variables. They are not
/// misspelt settings, and they cannot be switched off one by one.
fn is_of_kubernetes(name: &str, value: &str) -> bool {
    name.starts_with("LAMINA_SERVICE_")
        || name.starts_with("LAMINA_PORT_")
        || (name == "LAMINA_PORT" && value.contains("://"))
}

/// What was written anywhere, and, as it is asked for, what is in force.
#[derive(Debug)]
pub(super) struct Settings {
    written: BTreeMap<&'static str, (String, Origin)>,
    shown: Vec<Shown>,
}

impl Settings {
    pub(super) fn gather(
        flags: &Flags,
        environment: &Environment,
        disk: &dyn Disk,
    ) -> Result<Settings, ConfigError> {
        environment.check_names()?;
        let mut above = BTreeMap::new();
        for key in KEYS {
            let foreign = key.foreign_variable;
            for name in foreign.into_iter().chain(std::iter::once(key.variable)) {
                if let Some(value) = environment.setting(name) {
                    above.insert(key.name, (value.to_owned(), Origin::Variable(name)));
                }
            }
            if let (Some(flag), Some(value)) = (key.flag, flag_value(flags, key)) {
                above.insert(key.name, (value, Origin::Flag(flag)));
            }
        }
        let mut written = file_layer(flags, environment, disk, &above)?;
        written.extend(above);
        if !written.contains_key("data") {
            let home = default_data(environment).ok_or(ConfigError::NoDataDirectory)?;
            written.insert("data", (home, Origin::Default));
        }
        Ok(Settings { written, shown: Vec::new() })
    }

    pub(super) fn text(
        &mut self,
        key: &'static str,
        default: String,
    ) -> Result<String, ConfigError> {
        self.parsed(key, default, |text| Ok(text.to_owned()))
    }

    /// A text that may be left out.
    pub(super) fn optional(&mut self, key: &'static str) -> Result<Option<String>, ConfigError> {
        let given = self.written.contains_key(key);
        let text = self.text(key, "none".to_owned())?;
        Ok(given.then_some(text).filter(|text| !text.is_empty()))
    }

    pub(super) fn number(
        &mut self,
        key: &'static str,
        default: u64,
        bounds: RangeInclusive<u64>,
    ) -> Result<u64, ConfigError> {
        self.parsed(key, default, |text| value::number(text, bounds))
    }

    pub(super) fn switch(
        &mut self,
        key: &'static str,
        default: bool,
        default_origin: Origin,
    ) -> Result<bool, ConfigError> {
        self.written.entry(key).or_insert_with(|| (default.to_string(), default_origin));
        self.parsed(key, default, value::switch)
    }

    pub(super) fn parsed<T>(
        &mut self,
        key: &'static str,
        default: impl Display,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, ConfigError> {
        let written = self.written.remove(key);
        let (value, origin) = written.unwrap_or_else(|| (default.to_string(), Origin::Default));
        match parse(&value) {
            Ok(parsed) => {
                self.shown.push(Shown { key, value, origin });
                Ok(parsed)
            }
            Err(reason) => Err(ConfigError::BadValue { key, value, origin, reason }),
        }
    }

    pub(super) fn into_shown(self) -> Vec<Shown> {
        assert!(self.written.is_empty(), "every key is asked for once");
        self.shown
    }
}

fn flag_value(flags: &Flags, key: &Key) -> Option<String> {
    match key.name {
        "data" => flags.data.as_ref().map(|path| path.to_string_lossy().into_owned()),
        "listen" => flags.listen.clone(),
        "idle_exit" => flags.idle_exit.clone(),
        "preset" => flags.preset.clone(),
        "policy.file" => flags.policy.as_ref().map(|path| path.to_string_lossy().into_owned()),
        "tls.cert" => flags.tls_cert.as_ref().map(|path| path.to_string_lossy().into_owned()),
        "tls.key" => flags.tls_key.as_ref().map(|path| path.to_string_lossy().into_owned()),
        "auth.trust" => flags.trust.clone(),
        _ => None,
    }
}

/// The user's data directory for `lamina`. A relative `XDG_DATA_HOME` is void by its own standard.
fn default_data(environment: &Environment) -> Option<String> {
    let absolute =
        |name: &str| environment.setting(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    Some(base?.join("lamina").to_string_lossy().into_owned())
}

type Layer = BTreeMap<&'static str, (String, Origin)>;

/// The file that was named, or the one that lies in the data directory.
fn file_layer(
    flags: &Flags,
    environment: &Environment,
    disk: &dyn Disk,
    above: &Layer,
) -> Result<Layer, ConfigError> {
    let named =
        flags.config.clone().or_else(|| environment.setting(CONFIG_VARIABLE).map(PathBuf::from));
    if let Some(path) = named {
        return read_layer(&path, disk);
    }
    let data = match above.get("data") {
        Some((data, _)) => data.clone(),
        None => default_data(environment).ok_or(ConfigError::NoDataDirectory)?,
    };
    let path = Path::new(&data).join(FILE_NAME);
    if !disk.exists(&path) {
        return Ok(Layer::new());
    }
    let layer = read_layer(&path, disk)?;
    if layer.contains_key("data") {
        return Err(ConfigError::MovesData { path });
    }
    Ok(layer)
}

fn read_layer(path: &Path, disk: &dyn Disk) -> Result<Layer, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    let bytes = read_file(disk, path, FILE_BYTES_MAX).map_err(unreadable)?;
    let text = String::from_utf8(bytes)
        .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        // The message alone would not say where.
        let line = error.span().map_or(1, |span| {
            let before = text.get(..span.start).unwrap_or_default();
            before.matches('\n').count() + 1
        });
        ConfigError::NotToml {
            path: path.to_owned(),
            message: format!("line {line}: {}", error.message()),
        }
    })?;
    let mut layer = Layer::new();
    flatten(path, "", &table, &mut layer)?;
    Ok(layer)
}

fn flatten(
    path: &Path,
    prefix: &str,
    table: &toml::Table,
    layer: &mut Layer,
) -> Result<(), ConfigError> {
    for (name, value) in table {
        let dotted = format!("{prefix}{name}");
        let key = KEYS.iter().find(|key| key.name == dotted);
        if let (ISSUERS, toml::Value::Table(issuers)) = (dotted.as_str(), value) {
            flatten_issuers(path, issuers, layer)?;
            continue;
        }
        let text = match (key, value) {
            (None, toml::Value::Table(inner)) if is_section(&dotted) => {
                flatten(path, &format!("{dotted}."), inner, layer)?;
                continue;
            }
            (None, _) => {
                return Err(ConfigError::UnknownKey {
                    suggestion: suggestion(&dotted),
                    key: dotted,
                    path: path.to_owned(),
                });
            }
            (Some(_), toml::Value::String(text)) => text.clone(),
            (Some(_), toml::Value::Integer(number)) => number.to_string(),
            (Some(_), toml::Value::Boolean(switch)) => switch.to_string(),
            (Some(_), toml::Value::Float(number)) => number.to_string(),
            (Some(key), toml::Value::Array(items))
                if key.list && items.iter().all(toml::Value::is_str) =>
            {
                let items: Vec<&str> = items.iter().filter_map(toml::Value::as_str).collect();
                items.join(",")
            }
            (Some(_), _) => {
                return Err(ConfigError::NotAValue { key: dotted, path: path.to_owned() });
            }
        };
        if let Some(key) = key {
            add(layer, key.name, text, path);
        }
    }
    Ok(())
}

/// The table of issuers: `[auth.issuers."https://id.example.com"]` with `tenants` and `admin_claim`.
const ISSUERS: &str = "auth.issuers";

/// Reads the table of issuers into the lists that say the same.
fn flatten_issuers(
    path: &Path,
    issuers: &toml::Table,
    layer: &mut Layer,
) -> Result<(), ConfigError> {
    for (issuer, settings) in issuers {
        let dotted = format!("{ISSUERS}.{issuer:?}");
        let not_a_value = |key: String| ConfigError::NotAValue { key, path: path.to_owned() };
        let settings = settings.as_table().ok_or_else(|| not_a_value(dotted.clone()))?;
        for (name, value) in settings {
            let key = format!("{dotted}.{name}");
            match (name.as_str(), value) {
                ("tenants", toml::Value::Array(items)) if items.iter().all(toml::Value::is_str) => {
                    let items = items.iter().filter_map(toml::Value::as_str);
                    for tenant in items {
                        add(layer, "auth.issuer_tenants", format!("{issuer}={tenant}"), path);
                    }
                }
                ("admin_claim", toml::Value::String(claim)) => {
                    add(layer, "auth.admin_claims", format!("{issuer}={claim}"), path);
                }
                ("tenants" | "admin_claim", _) => return Err(not_a_value(key)),
                _ => {
                    let suggestion = nearest(name, ["tenants", "admin_claim"]);
                    return Err(ConfigError::UnknownKey { key, path: path.to_owned(), suggestion });
                }
            }
        }
    }
    Ok(())
}

/// Adds to a setting of the file; a list may be written in two places of it.
fn add(layer: &mut Layer, key: &'static str, text: String, path: &Path) {
    let known = layer.remove(key).map(|(known, _)| format!("{known},{text}"));
    layer.insert(key, (known.unwrap_or(text), Origin::File(path.to_owned())));
}

fn is_section(name: &str) -> bool {
    sections().any(|section| section == name)
}

fn sections() -> impl Iterator<Item = &'static str> {
    // Of `auth.minting.key` both `auth` and `auth.minting`.
    KEYS.iter().flat_map(|key| key.name.match_indices('.').filter_map(|(at, _)| key.name.get(..at)))
}

/// A key in the wrong section is nearer by its last word than as a whole.
fn suggestion(dotted: &str) -> Option<&'static str> {
    let names = || KEYS.iter().map(|key| key.name).chain(sections());
    nearest(dotted, names()).or_else(|| {
        let (_, last) = dotted.rsplit_once('.').unwrap_or(("", dotted));
        KEYS.iter().map(|key| key.name).find(|name| name.rsplit('.').next() == Some(last))
    })
}
