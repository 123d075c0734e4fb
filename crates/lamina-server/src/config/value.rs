//! Values as people write them: addresses, sizes, yes or no.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use lamina_core::policy::{Preset, PresetError, Rate, RateError};
use lamina_outbound::{Endpoint, PlainHttp};
use lamina_types::{ActorId, TenantName};

use crate::auth::Source;

/// Where to listen. `localhost` is 127.0.0.1, whatever the resolver of the machine says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// An address of the network.
    Tcp(SocketAddr),
    /// A socket in the file system, for processes of its owner.
    Unix(PathBuf),
}

impl Listen {
    /// Whether only processes of this machine can reach it.
    pub fn is_loopback(&self) -> bool {
        match self {
            Listen::Tcp(address) => address.ip().is_loopback(),
            Listen::Unix(_) => true,
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Tcp(address) => address.fmt(f),
            Listen::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people on a terminal, for programs otherwise.
    Auto,
    /// Coloured lines.
    Human,
    /// One JSON object per line.
    Json,
}

pub(super) fn listen(text: &str) -> Result<Listen, String> {
    if let Some(port) = text.strip_prefix("localhost:") {
        let port = port
            .parse()
            .map_err(|_| "the port after `localhost:` is not a number up to 65535".to_owned())?;
        return Ok(Listen::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)));
    }
    if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
        return Ok(Listen::Unix(PathBuf::from(path)));
    }
    text.parse().map(Listen::Tcp).map_err(|_| {
        "expected ADDRESS:PORT, for example 127.0.0.1:3141, [::1]:3141 or localhost:3141, or unix:PATH"
            .to_owned()
    })
}

/// A time as people write it, `90s`, `15m` or `2h`; `never` is none.
pub(super) fn time(text: &str) -> Result<Option<Duration>, String> {
    let wrong = || "expected a whole number with s, m or h, for example 15m, or never".to_owned();
    if text == "never" {
        return Ok(None);
    }
    let (number, seconds) = [("s", 1), ("m", 60), ("h", 3_600)]
        .iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)))
        .ok_or_else(wrong)?;
    let number: u32 = number.parse().map_err(|_| wrong())?;
    match number {
        0 => Err(wrong()),
        number => Ok(Some(Duration::from_secs(u64::from(number) * seconds))),
    }
}

/// What `preset` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    Preset(Preset),
    /// A policy file.
    File(PathBuf),
}

pub(super) fn preset(text: &str) -> Result<Named, String> {
    if text.ends_with(".yaml") || text.ends_with(".yml") {
        return Ok(Named::File(PathBuf::from(text)));
    }
    text.parse().map(Named::Preset).map_err(|error: PresetError| error.to_string())
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "auto" => Ok(LogFormat::Auto),
        "human" => Ok(LogFormat::Human),
        "json" => Ok(LogFormat::Json),
        _ => Err("expected auto, human or json".to_owned()),
    }
}

/// A rate such as `100/s`, or `none`.
pub(super) fn rate(text: &str) -> Result<Option<Rate>, String> {
    match text {
        "none" => Ok(None),
        text => text.parse().map(Some).map_err(|error: RateError| error.to_string()),
    }
}

/// Origins of web pages, separated by commas, or `none`. They are compared as they are written, so
/// one that no browser would send is a mistake.
pub(super) fn origins(text: &str) -> Result<Vec<String>, String> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    let items: Vec<String> = items.map(str::to_owned).collect();
    if items == ["none"] {
        return Ok(Vec::new());
    }
    match items.iter().find(|item| !is_origin(item)) {
        None => Ok(items),
        Some(bad) => Err(format!(
            "`{bad}` is not an origin: expected scheme and host as a browser sends them, for example \
             https://console.example.com or http://localhost:8080, without a path and never `*`"
        )),
    }
}

/// The address of a web page without a query, or `none`.
pub(super) fn web_address(text: &str) -> Result<Option<String>, String> {
    if text == "none" {
        return Ok(None);
    }
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_sound = |rest: &str| {
        let unfit = |c: char| !c.is_ascii_graphic() || "?#\"\\<>".contains(c);
        !rest.is_empty() && !rest.starts_with('/') && !rest.contains(unfit)
    };
    match rest.is_some_and(is_sound) {
        true => Ok(Some(text.to_owned())),
        false => Err("expected an address such as https://example.com/lamina/docs, or none".into()),
    }
}

/// Host names, separated by commas, or `none`.
pub(super) fn hosts(text: &str) -> Result<Vec<String>, String> {
    let items: Vec<String> = list(text).map(str::to_ascii_lowercase).collect();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    match items.iter().find(|item| !item.chars().all(plain)) {
        None => Ok(items),
        Some(bad) => Err(format!(
            "`{bad}` is not a host name: expected a name without scheme and port, for example \
             memory.example.com"
        )),
    }
}

fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let Some(host) = host else { return false };
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.:[]_".contains(c);
    !host.is_empty() && host.chars().all(plain)
}

/// Texts separated by commas.
pub(super) fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty() && *item != "none")
}

/// Where the keys of an issuer are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Keys {
    /// A file that names its issuer.
    TrustFile(PathBuf),
    /// A key set in a file.
    JwksFile(String, PathBuf),
    /// A key set to be fetched.
    Remote(String, Source),
}

/// `FILE`, `ISSUER=URL` or the URL of an issuer that describes itself, several separated by commas.
pub(super) fn trust(text: &str, plain: PlainHttp) -> Result<Vec<Keys>, String> {
    let one = |item: &str| {
        if let Some((iss, url)) = split_url(item) {
            return remote(iss, url, plain);
        }
        if !is_url(item) {
            return Ok(Keys::TrustFile(PathBuf::from(item)));
        }
        if item.contains("/.well-known/") || item.ends_with(".json") {
            return Err(format!("say whose keys these are: ISSUER={item}"));
        }
        let source = Source::discovery(item, plain).map_err(|error| error.to_string())?;
        Ok(Keys::Remote(item.to_owned(), source))
    };
    list(text).map(one).collect()
}

/// `ISSUER=FILE` or `ISSUER=URL`, several separated by commas. The issuer is a URL and may hold `=`
/// itself, so before a file the last one counts.
pub(super) fn jwks(text: &str, plain: PlainHttp) -> Result<Vec<Keys>, String> {
    const EXPECTED: &str = "expected ISSUER=FILE or ISSUER=URL, for example \
                            https://id.example.com=https://id.example.com/keys";
    let one = |item: &str| {
        if let Some((iss, url)) = split_url(item) {
            return remote(iss, url, plain);
        }
        let (iss, file) = item.rsplit_once('=').ok_or(EXPECTED)?;
        if iss.trim().is_empty() || file.trim().is_empty() {
            return Err(EXPECTED.to_owned());
        }
        Ok(Keys::JwksFile(iss.trim().to_owned(), PathBuf::from(file.trim())))
    };
    list(text).map(one).collect()
}

fn is_url(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// What stands before and after the `=` that a URL follows.
fn split_url(item: &str) -> Option<(&str, &str)> {
    let at = ["=https://", "=http://"].iter().filter_map(|mark| item.find(mark)).min()?;
    Some((item.get(..at)?.trim(), item.get(at + 1..)?.trim()))
}

fn remote(iss: &str, url: &str, plain: PlainHttp) -> Result<Keys, String> {
    if iss.is_empty() {
        return Err("expected the name of the issuer before `=`".to_owned());
    }
    let endpoint = Endpoint::parse(url, plain).map_err(|error| error.to_string())?;
    Ok(Keys::Remote(iss.to_owned(), Source::Jwks(endpoint)))
}

/// An actor with an office: an operator, an administrator of its tenant, or a delegate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedActor {
    /// Whose tokens may name it; `None` is any issuer that is trusted for the tenant.
    pub issuer: Option<String>,
    /// Its tenant.
    pub tenant: String,
    /// Who.
    pub actor: ActorId,
}

/// `TENANT/ACTOR` or `ISSUER=TENANT/ACTOR`, several separated by commas. An issuer may hold `=` itself,
/// so the last one counts.
pub(super) fn named_actors(text: &str) -> Result<Vec<NamedActor>, String> {
    let named = |item: &str| {
        let (issuer, actor) = match item.rsplit_once('=') {
            Some((issuer, actor)) => (Some(issuer.trim().to_owned()), actor.trim()),
            None => (None, item),
        };
        let (tenant, actor) = actor.split_once('/')?;
        let tenant: TenantName = tenant.parse().ok()?;
        let known = issuer.as_ref().is_none_or(|issuer| !issuer.is_empty());
        let tenant = tenant.as_str().to_owned();
        known.then_some(NamedActor { issuer, tenant, actor: actor.parse().ok()? })
    };
    let expected = "expected TENANT/ACTOR or ISSUER=TENANT/ACTOR, for example acme/user:root";
    list(text).map(|item| named(item).ok_or_else(|| expected.to_owned())).collect()
}

/// `ISSUER=TENANT`, several separated by commas.
pub(super) fn issuer_tenants(text: &str) -> Result<Vec<(String, TenantName)>, String> {
    let one = |item: &str| {
        let (issuer, tenant) = item.rsplit_once('=')?;
        let issuer = Some(issuer.trim()).filter(|issuer| !issuer.is_empty())?;
        Some((issuer.to_owned(), tenant.trim().parse().ok()?))
    };
    let expected = "expected ISSUER=TENANT, for example https://id.example.com=acme";
    list(text).map(|item| one(item).ok_or_else(|| expected.to_owned())).collect()
}

/// `ISSUER=CLAIM`, several separated by commas.
pub(super) fn issuer_claims(text: &str) -> Result<Vec<(String, String)>, String> {
    let one = |item: &str| {
        let (issuer, claim) = item.rsplit_once('=')?;
        let (issuer, claim) = (issuer.trim(), claim.trim());
        let good = !issuer.is_empty() && !claim.is_empty();
        good.then(|| (issuer.to_owned(), claim.to_owned()))
    };
    let expected = "expected ISSUER=CLAIM, for example https://id.example.com=lamina_admin";
    list(text).map(|item| one(item).ok_or_else(|| expected.to_owned())).collect()
}

/// The name of a tenant, or `none`.
pub(super) fn tenant(text: &str) -> Result<Option<TenantName>, String> {
    match text {
        "none" => Ok(None),
        text => text.parse().map(Some).map_err(|_| "expected the name of a tenant".to_owned()),
    }
}

pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err("expected true or false".to_owned()),
    }
}

/// A whole number, or one with `KiB`, `MiB` or `GiB` behind it.
pub(super) fn number(text: &str, bounds: RangeInclusive<u64>) -> Result<u64, String> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    let unit =
        units.into_iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (digits, factor) = unit.unwrap_or((text, 1));
    let value = digits
        .trim_end()
        .replace('_', "")
        .parse::<u64>()
        .ok()
        .and_then(|value| value.checked_mul(factor))
        .ok_or("expected a whole number, for example 4194304 or 4MiB")?;
    if !bounds.contains(&value) {
        return Err(format!("expected a number from {} to {}", bounds.start(), bounds.end()));
    }
    Ok(value)
}
