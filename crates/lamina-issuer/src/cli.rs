//! One command from its words to what it prints.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write;

use anyhow::anyhow;
use clap::Parser as _;
use clap::error::ErrorKind;
use lamina_auth::{parse_scope_entry, trust_file};
use lamina_env::Env;
use lamina_types::Micros;
use lamina_types::capability::NAMES;
use lamina_types::limits::AUDIT_NOTE_CHARS_MAX;
use serde_json::json;

use crate::args::{Arguments, Command, InitArgs, ListArgs, MintArgs, RevokeArgs};
use crate::exit::{Exit, Failure};
use crate::issuer::{Issuer, Order};
use crate::ledger::Minted;

/// Runs one command and says how it ended. What a script wants goes to `out`, what a person should
/// know to `err`.
pub fn run(
    words: impl IntoIterator<Item = OsString>,
    env: &Env,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Exit {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error, out, err),
    };
    let done = dispatch(arguments.command, env, err).and_then(|text| {
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::unreadable)
    });
    match done {
        Ok(()) => Exit::Fine,
        Err(Failure { exit, error, help }) => {
            say(err, &format!("lamina-issuer: {error:#}"));
            if let Some(help) = help {
                say(err, &format!("               {help}"));
            }
            exit
        }
    }
}

/// Help and version are answers; everything else that the parser says is a usage error.
fn explain(error: &clap::Error, out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    let is_answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    // A closed pipe must not turn help into a failure.
    let _ = if is_answer { write!(out, "{error}") } else { write!(err, "{error}") };
    if is_answer { Exit::Fine } else { Exit::Usage }
}

/// One line; a closed pipe is nobody's problem.
fn say(err: &mut dyn Write, line: &str) {
    let _ = writeln!(err, "{line}");
}

fn dispatch(command: Command, env: &Env, err: &mut dyn Write) -> Result<String, Failure> {
    match command {
        Command::Init(args) => init(args, env),
        Command::Mint(args) => mint(args, env, err),
        Command::Keys(args) => {
            let issuer = Issuer::open(env, &args.dir)?;
            Ok(trust_file(&issuer.iss()?, &issuer.published()?))
        }
        Command::List(args) => list(&args, env, err),
        Command::Revoke(args) => revoke(args, env),
        Command::Revoked(args) => {
            let tokens = Issuer::open(env, &args.dir)?.tokens()?;
            Ok(revoked(&tokens, env.clock.wall()))
        }
        Command::Rotate(args) => {
            let kid = Issuer::open(env, &args.dir)?.rotate()?;
            let dir = args.dir.display();
            Ok(format!(
                "the current key is now {kid}\n\nServers accept its tokens when they have the keys \
                 again:\n  lamina-issuer keys --dir {dir} > keys.json\n"
            ))
        }
    }
}

fn init(args: InitArgs, env: &Env) -> Result<String, Failure> {
    let issuer = Issuer::init(env, &args.dir.dir, args.iss.as_deref())?;
    let dir = args.dir.dir.display();
    Ok(format!(
        "made the issuer {}\nwith the key    {}\n\nTo have a server trust it:\n  lamina-issuer keys \
         --dir {dir} > keys.json\n  lamina serve --preset on_prem_enterprise --trust keys.json\n\n\
         To make a token:\n  lamina-issuer mint --dir {dir} --sub user:alice --tenant default\n",
        issuer.iss()?,
        issuer.kid()?
    ))
}

fn mint(args: MintArgs, env: &Env, err: &mut dyn Write) -> Result<String, Failure> {
    let MintArgs { dir, sub, tenant, ttl, caps, scopes } = args;
    let sub = sub.parse().map_err(|error| wrong("--sub", error))?;
    let tenant = tenant.parse().map_err(|error| wrong("--tenant", error))?;
    let entry = |text: &String| {
        parse_scope_entry(text).ok_or_else(|| {
            let error = anyhow!("--scope: `{text}` is not CAPABILITY:PREFIX");
            Failure::usage(error).with_help("for example scope.write:org:acme/team:ops/*")
        })
    };
    let scopes = scopes.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    for name in caps.iter().chain(scopes.iter().map(|(name, _)| name)) {
        if !NAMES.contains(&name.as_str()) && !name.contains('*') {
            say(err, &format!("note: this version knows no capability `{name}`"));
        }
    }
    let order = Order { sub, tenant, ttl_s: ttl, caps, scopes };
    let token = Issuer::open(env, &dir.dir)?.mint(order)?;
    Ok(format!("{token}\n"))
}

fn wrong(flag: &str, error: impl Into<anyhow::Error>) -> Failure {
    Failure::usage(error.into().context(flag.to_owned()))
}

fn list(args: &ListArgs, env: &Env, err: &mut dyn Write) -> Result<String, Failure> {
    let now = env.clock.wall();
    let tokens = Issuer::open(env, &args.dir.dir)?.tokens()?;
    let shown: Vec<&Minted> =
        tokens.iter().filter(|token| args.all || token.state(now) == "active").collect();
    if shown.is_empty() {
        say(
            err,
            if args.all {
                "no token was made yet"
            } else {
                "no token is valid; --all shows the others"
            },
        );
        return Ok(String::new());
    }
    let rows = shown
        .iter()
        .map(|token| [&*token.jti, &token.sub, &token.tenant, &token.expires, token.state(now)]);
    Ok(table(&["JTI", "SUB", "TENANT", "EXPIRES", "STATE"], &rows.collect::<Vec<_>>()))
}

/// Columns as wide as their widest cell.
fn table(head: &[&str; 5], rows: &[[&str; 5]]) -> String {
    let mut widths = head.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.len());
        }
    }
    let mut text = String::new();
    for row in std::iter::once(head).chain(rows) {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row) {
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn revoke(args: RevokeArgs, env: &Env) -> Result<String, Failure> {
    let RevokeArgs { dir, jti, reason } = args;
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > AUDIT_NOTE_CHARS_MAX) {
        return Err(Failure::usage(anyhow!("--reason: at most {AUDIT_NOTE_CHARS_MAX} characters")));
    }
    let token = Issuer::open(env, &dir.dir)?.revoke(&jti, reason.as_deref())?;
    let Minted { jti, sub, tenant, exp_s, reason, .. } = &token;
    let mut text = format!("revoked {jti} of {sub} in {tenant}\n");
    if Micros(exp_s.saturating_mul(1_000_000)) <= env.clock.wall() {
        text.push_str("\nIt has expired: no server accepts it any more.\n");
        return Ok(text);
    }
    let body = match reason {
        Some(reason) => json!({ "jti": jti, "reason": reason }),
        None => json!({ "jti": jti }),
    };
    // Single quotes keep a shell from reading anything in it, except a single quote.
    let body = body.to_string().replace('\'', r"'\''");
    // The token goes through a pipe: words of a command are visible to everybody on the machine.
    let _ = write!(
        text,
        "\nA server refuses it from the moment it is told, with a token of an operator:\n  \
         printf 'Authorization: Bearer %s\\n' \"$TOKEN\" | curl -X POST -H @- -H 'Content-Type: \
         application/json' -d '{body}' http://127.0.0.1:3141/v1/auth/revoke\n"
    );
    Ok(text)
}

fn revoked(tokens: &[Minted], now: Micros) -> String {
    let valid = |token: &&Minted| token.exp_s.saturating_mul(1_000_000) > now.0;
    let list: Vec<_> = tokens
        .iter()
        .filter(valid)
        .filter_map(|token| {
            let revoked_at = token.revoked_s?;
            let Minted { jti, sub, tenant, exp_s, reason, .. } = token;
            Some(json!({
                "jti": jti, "sub": sub, "tenant": tenant, "exp": exp_s,
                "revoked_at": revoked_at, "reason": reason,
            }))
        })
        .collect();
    format!("{:#}\n", serde_json::Value::Array(list))
}

#[cfg(test)]
mod tests;
