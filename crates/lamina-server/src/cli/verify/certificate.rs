//! Certificates of erasures: whether one is authentic, and whether a directory agrees with it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use lamina_api::time;
use lamina_engine::certified::{self, Claims, Point};
use lamina_env::Env;
use lamina_env::disk::read_file;
use lamina_types::Micros;
use lamina_types::stdx::hex;
use serde_json::{Map, Value, json};

use crate::cli::args::{KeysArgs, VerifyArgs};
use crate::cli::exit::{Exit, Failure};
use crate::cli::maintenance::{Progress, must_exist};
use crate::cli::{absent, load, opening, print};

/// Larger than any certificate or manifest.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// What a certificate calls itself.
const TYPE: &str = "lamina-erasure-certificate";

/// Prints the public key of a directory.
pub(in crate::cli) fn keys(args: KeysArgs) -> Result<Exit, Failure> {
    let config = load(args.data.into())?;
    let env = Env::real();
    must_exist(&config, &env)?;
    let key = certified::public_key(&config.data, &env).map_err(opening::failure)?;
    print(&format!("log-signing ed25519 {}\n", hex::encode(&key)))?;
    Ok(Exit::Fine)
}

/// Whether a JSON document is a certificate, alone or in the answer of `GET /v1/erasures/{id}`.
pub(super) fn is_certificate(document: &lamina_portable::json::Value) -> bool {
    let own = document.get("certificate").unwrap_or(document);
    own.get("type").and_then(|value| value.as_str()) == Some(TYPE)
}

/// Checks a certificate.
pub(super) fn check(args: &VerifyArgs) -> Result<Exit, Failure> {
    let VerifyArgs { path, key, data, ledger, absent, manifest, scope, salt, json, .. } =
        args;
    let env = Env::real();
    let read = Read::file(&env, path)?;
    let mut points = Vec::new();
    let config = match data.is_some() {
        true => Some(load(crate::config::Flags { data: data.clone(), ..Default::default() })?),
        false => None,
    };
    let trusted = match (key, &config) {
        (Some(key), _) => Some(public_key(&env, key)?),
        (None, Some(config)) => {
            must_exist(config, &env)?;
            Some(certified::public_key(&config.data, &env).map_err(opening::failure)?)
        }
        (None, None) => None,
    };
    let Some(trusted) = trusted else {
        let help = "name the key with --key (`lamina keys` prints it), or a directory with --data";
        let error = anyhow!("without a key nobody knows who signed this");
        return Err(Failure { help: Some(help.to_owned()), ..Failure::usage(error) });
    };
    points.push(read.signed_by(&trusted));
    points.push(read.says_purged());
    if let Some(path) = manifest {
        points.push(read.is_of(&manifest_hash(&env, path)?));
    }
    if let Some(scope) = scope {
        let salt = salt.as_deref().or(read.salt.as_deref());
        let salt = salt.and_then(hex::decode_array::<32>);
        let salt = salt.ok_or_else(|| {
            Failure::usage(anyhow!("the salt of the scope is needed: 64 hex digits, --salt"))
        })?;
        let own = certified::commitment(&salt, scope);
        let holds = read.text("scope_commitment") == hex::encode(&own);
        points.push(Point { holds, what: "it is about the scope that was given".to_owned() });
    }
    if let Some(config) = &config {
        let mut progress = Progress::new("checking");
        let claims = read.claims().ok_or_else(|| Failure::new(Exit::Schema, unknown()))?;
        let ledger = ledger.as_deref().or(config.ledger.as_deref());
        let found = certified::agrees(&config.data, &env, &claims, ledger, &mut |done, all| {
            progress.show(done, all);
        });
        progress.clear();
        points.extend(found.map_err(opening::failure)?);
        if let Some(strings) = absent {
            let report = absent::look(&config.data, &env, &absent::sought(&env, strings)?)?;
            points.push(Point { holds: report.ok(), what: absent::verdict(&report).to_owned() });
            for what in absent::findings(&report) {
                points.push(Point { holds: false, what });
            }
        }
    }
    let all = points.iter().all(|point| point.holds);
    print(&if *json { read.as_json(&points, all) } else { read.as_text(&points, all) })?;
    Ok(if all { Exit::Fine } else { Exit::Damage })
}

fn unknown() -> anyhow::Error {
    anyhow!("this is no certificate that this version reads")
}

/// A key: in hex, or a file that has it, as `lamina keys` prints it.
/// A public key: 64 hex digits, or a file that `lamina keys` was written to.
pub(super) fn public_key(env: &Env, key: &str) -> Result<[u8; 32], Failure> {
    if let Some(key) = hex::decode_array(key) {
        return Ok(key);
    }
    let path = PathBuf::from(key);
    let text = read_file(&*env.disk, &path, FILE_BYTES_MAX)
        .with_context(|| format!("the key {key} is neither 64 hex digits nor a file"))
        .map_err(Failure::unreadable)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let found = text.split_whitespace().find_map(hex::decode_array);
    found.ok_or_else(|| Failure::usage(anyhow!("there is no key in {key}")))
}

fn parse(env: &Env, path: &Path) -> Result<Value, Failure> {
    let shown = path.display();
    let bytes = read_file(&*env.disk, path, FILE_BYTES_MAX)
        .with_context(|| format!("{shown} cannot be read"))
        .map_err(Failure::unreadable)?;
    serde_json::from_slice(&bytes)
        .with_context(|| format!("{shown} is not JSON"))
        .map_err(|error| Failure::new(Exit::Schema, error))
}

/// The hash of a manifest as the server told it.
fn manifest_hash(env: &Env, path: &Path) -> Result<[u8; 32], Failure> {
    let manifest = parse(env, path)?;
    let mut lines = Vec::new();
    for (field, what) in [
        ("events_to_delete", "delete"),
        ("events_to_redact", "redact"),
        ("events_under_legal_hold", "held"),
    ] {
        let ids = manifest.get(field).and_then(Value::as_array).ok_or_else(|| {
            Failure::new(Exit::Schema, anyhow!("{} is no manifest", path.display()))
        })?;
        lines.extend(ids.iter().filter_map(Value::as_str).map(|id| (what, id.to_owned())));
    }
    Ok(certified::manifest(lines.into_iter()))
}

/// A certificate that was read.
struct Read {
    fields: Map<String, Value>,
    /// Beside it, if the answer of the server was saved whole.
    salt: Option<String>,
}

impl Read {
    /// A certificate, alone or in the answer of `GET /v1/erasures/{id}`.
    fn file(env: &Env, path: &Path) -> Result<Read, Failure> {
        let value = parse(env, path)?;
        let salt = value.get("scope_salt").and_then(Value::as_str).map(str::to_owned);
        let own = value.get("certificate").unwrap_or(&value).as_object();
        let own = own.filter(|own| own.get("type").and_then(Value::as_str) == Some(TYPE));
        let own = own.filter(|own| own.get("version").and_then(Value::as_u64) == Some(1));
        let fields = own.ok_or_else(|| Failure::new(Exit::Schema, unknown()))?.clone();
        Ok(Read { fields, salt })
    }

    fn at(&self, path: &str) -> &Value {
        let mut value = &Value::Null;
        for (index, name) in path.split('.').enumerate() {
            let found = if index == 0 { self.fields.get(name) } else { value.get(name) };
            value = found.unwrap_or(&Value::Null);
        }
        value
    }

    fn text(&self, path: &str) -> &str {
        self.at(path).as_str().unwrap_or_default()
    }

    fn hash(&self, path: &str) -> Option<[u8; 32]> {
        hex::decode_array(self.text(path))
    }

    fn signed_by(&self, trusted: &[u8; 32]) -> Point {
        let mut unsigned = self.fields.clone();
        unsigned.remove("signature");
        let message = canonical(&Value::Object(unsigned));
        let signature = hex::decode_array::<64>(self.text("signature"));
        let holds = self.hash("public_key") == Some(*trusted)
            && message.zip(signature).is_some_and(|(message, signature)| {
                certified::is_signed(message.as_bytes(), trusted, &signature)
            });
        let what = match holds {
            true => "the signature holds, by the key that was given",
            false => "the signature does not hold by the key that was given",
        };
        Point { holds, what: what.to_owned() }
    }

    fn says_purged(&self) -> Point {
        let holds = ["purge.log_verified", "purge.index_verified"]
            .iter()
            .all(|path| self.at(path) == &Value::Bool(true));
        Point { holds, what: "it says that everything was read again and is gone".to_owned() }
    }

    fn is_of(&self, manifest: &[u8; 32]) -> Point {
        let holds = self.hash("manifest_sha256") == Some(*manifest);
        Point { holds, what: "it is of the manifest that was given".to_owned() }
    }

    fn claims(&self) -> Option<Claims> {
        let seals = self.at("erased.entries").as_array()?.iter();
        Some(Claims {
            certificate: canonical(&Value::Object(self.fields.clone()))?,
            previous: self.hash("previous"),
            log_id: hex::decode_array(self.text("log_id"))?,
            checkpoints: [
                self.hash("before.checkpoint_sha256")?,
                self.hash("after.checkpoint_sha256")?,
            ],
            begun: self.hash("before.seal")?,
            erased: seals
                .map(|seal| seal.as_str().and_then(hex::decode_array))
                .collect::<Option<_>>()?,
            sections: self.at("erased.sections").as_u64()?,
        })
    }

    fn instant(&self, path: &str) -> String {
        let micros = self.at(path).as_i64().unwrap_or_default();
        time::print(Micros(micros))
    }

    fn as_text(&self, points: &[Point], all: bool) -> String {
        let mut text = format!(
            "certificate {} of {}\n  {:16} {}\n  {:16} {}\n",
            self.at("number"),
            self.text("erasure_id"),
            "began",
            self.instant("began_at_us"),
            "issued",
            self.instant("issued_at_us"),
        );
        for (name, path) in [
            ("events deleted", "counts.deleted_events"),
            ("events redacted", "counts.redacted_events"),
            ("kept by a hold", "kept.events_under_legal_hold"),
            ("facts deleted", "counts.deleted_facts"),
            ("beliefs deleted", "counts.deleted_beliefs"),
            ("beliefs demoted", "counts.demoted_beliefs"),
            ("sections erased", "erased.sections"),
            ("audit row", "audit_id"),
        ] {
            let value = self.at(path);
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(text, "  {name:16} {value}");
        }
        for Point { holds, what } in points {
            let _ = writeln!(text, "  {} {what}", if *holds { "ok  " } else { "FAIL" });
        }
        let verdict =
            if all { "the certificate verifies" } else { "the certificate does NOT verify" };
        let _ = writeln!(text, "{verdict}");
        text
    }

    fn as_json(&self, points: &[Point], all: bool) -> String {
        let points: Vec<Value> =
            points.iter().map(|point| json!({"holds": point.holds, "what": point.what})).collect();
        let report = json!({
            "ok": all, "erasure_id": self.text("erasure_id"), "number": self.at("number"),
            "points": points,
        });
        format!("{report:#}\n")
    }
}

/// The canonical form of RFC 8785, of what a certificate may have: no fractions. `None` for anything else.
fn canonical(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => number.as_u64().map(|number| number.to_string()),
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(canonical).collect();
            Some(format!("[{}]", items?.join(",")))
        }
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_by(|one, other| one.encode_utf16().cmp(other.encode_utf16()));
            let field = |name: &&String| {
                let value = canonical(fields.get(*name)?)?;
                Some(format!("{}:{value}", Value::String((*name).clone())))
            };
            let fields: Option<Vec<String>> = names.iter().map(field).collect();
            Some(format!("{{{}}}", fields?.join(",")))
        }
        // As serde writes them: what must be escaped is, and nothing else.
        Value::String(_) | Value::Bool(_) | Value::Null => Some(value.to_string()),
    }
}
