//! The program as a stranger uses it: words in, text out, with time in our hands.

use std::path::PathBuf;
use std::sync::Arc;

use expect_test::{Expect, expect};
use lamina_auth::{KeySet, verify};
use lamina_env::sim::{SimClock, SimRng};
use lamina_env::{Disk, Env, RealDisk};
use lamina_types::Micros;

use super::*;

const START: Micros = Micros(1_800_000_000_500_000);
const HOUR_US: i64 = 3_600 * 1_000_000;

struct World {
    _root: tempfile::TempDir,
    dir: PathBuf,
    clock: Arc<SimClock>,
    env: Env,
}

struct Outcome {
    exit: Exit,
    out: String,
    err: String,
}

impl World {
    fn new() -> World {
        let root = tempfile::tempdir().unwrap();
        let clock = Arc::new(SimClock::at(START));
        let rng = Arc::new(SimRng::new(1));
        let env = Env { clock: clock.clone(), rng, disk: Arc::new(RealDisk) };
        World { dir: root.path().join("issuer"), _root: root, clock, env }
    }

    /// An issuer with a known name.
    fn issuer() -> World {
        let world = World::new();
        world.fine(&["init", "--iss", "https://auth.example"]);
        world
    }

    /// Runs a command in the directory of this world.
    fn run(&self, words: &[&str]) -> Outcome {
        let mut all: Vec<OsString> = vec!["lamina-issuer".into()];
        all.extend(words.iter().map(OsString::from));
        all.extend(["--dir".into(), self.dir.clone().into()]);
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = super::run(all, &self.env, &mut out, &mut err);
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap().replace(&self.dir.display().to_string(), "DIR")
        };
        Outcome { exit, out: text(out), err: text(err) }
    }

    fn fine(&self, words: &[&str]) -> String {
        let Outcome { exit, out, err } = self.run(words);
        assert_eq!(exit, Exit::Fine, "{words:?}: {err}");
        out
    }

    fn mint(&self, words: &[&str]) -> String {
        let mut all = vec!["mint", "--sub", "user:alice", "--tenant", "acme"];
        all.extend(words);
        self.fine(&all).strip_suffix('\n').unwrap().to_owned()
    }

    /// What a server does with the keys that are published now.
    fn accepts(&self, token: &str) -> Result<lamina_auth::Claims, lamina_auth::TokenError> {
        let mut keys = KeySet::new();
        keys.add_trust_file(&self.fine(&["keys"])).unwrap();
        verify(token, &keys, self.env.clock.wall())
    }

    fn fails(&self, words: &[&str], exit: Exit, expected: Expect) {
        let outcome = self.run(words);
        assert_eq!((outcome.exit, outcome.out.as_str()), (exit, ""), "{words:?}: {}", outcome.err);
        expected.assert_eq(&outcome.err);
    }
}

#[test]
fn two_commands_from_nothing_to_a_token_that_is_accepted() {
    let world = World::new();
    let said = world.fine(&["init"]);
    assert!(said.starts_with("made the issuer urn:lamina:issuer:"), "{said}");
    let token = world.mint(&[]);
    assert!(token.starts_with("v4.public."));
    let claims = world.accepts(&token).unwrap();
    assert_eq!((claims.sub.as_str(), claims.tenant.as_str()), ("user:alice", "acme"));
    assert_eq!(claims.exp.0 - claims.iat.0, HOUR_US);
    assert_eq!((claims.caps, claims.scopes), (None, Vec::new()));
}

#[test]
fn what_init_says() {
    let world = World::new();
    expect![[r#"
        made the issuer https://auth.example
        with the key    k4.pid.cl8wcaMkTOZIOaVkaSA7d4L6LpXOIMU_gYyrEMxxzopy

        To have a server trust it:
          lamina-issuer keys --dir DIR > keys.json
          lamina serve --preset on_prem_enterprise --trust keys.json

        To make a token:
          lamina-issuer mint --dir DIR --sub user:alice --tenant default
    "#]]
    .assert_eq(&world.fine(&["init", "--iss", "https://auth.example"]));
    world.fails(
        &["init"],
        Exit::Usage,
        expect![[r#"
        lamina-issuer: DIR is an issuer already
                       `rotate` makes a new key for it
    "#]],
    );
}

#[test]
fn everything_is_for_its_owner_only() {
    let world = World::issuer();
    world.mint(&[]);
    let mode = |name: &str| RealDisk.mode(&world.dir.join(name)).unwrap() & 0o777;
    assert_eq!((mode(""), mode("key-1"), mode("issuer.db")), (0o700, 0o600, 0o600));
    // An empty directory that was there is closed to others.
    let other = World::new();
    RealDisk.create_dir_all(&other.dir).unwrap();
    chmod(&other.dir, 0o755);
    other.fine(&["init"]);
    assert_eq!(RealDisk.mode(&other.dir).unwrap() & 0o777, 0o700);
}

#[test]
fn what_others_can_read_is_refused() {
    let world = World::issuer();
    chmod(&world.dir.join("key-1"), 0o640);
    let mint = ["mint", "--sub", "user:alice", "--tenant", "acme"];
    world.fails(&mint, Exit::Unreadable, expect![[r#"
        lamina-issuer: the key file has mode 640; it must not be readable by group or others: `chmod 600` it, and replace the key if others were there
    "#]]);
    chmod(&world.dir.join("key-1"), 0o600);
    chmod(&world.dir, 0o750);
    world.fails(
        &mint,
        Exit::Unreadable,
        expect![[r#"
        lamina-issuer: DIR has mode 750; others must not get into it
                       chmod 700 DIR
    "#]],
    );
    world.fails(
        &["keys"],
        Exit::Unreadable,
        expect![[r#"
        lamina-issuer: DIR has mode 750; others must not get into it
                       chmod 700 DIR
    "#]],
    );
    chmod(&world.dir, 0o700);
    world.mint(&[]);
}

#[test]
fn narrowing_reaches_the_token() {
    let world = World::issuer();
    let token = world.mint(&[
        "--cap",
        "scope.write",
        "--cap",
        "scope.read.local",
        "--scope",
        "scope.write:org:acme/*",
        "--ttl",
        "60",
    ]);
    let claims = world.accepts(&token).unwrap();
    assert_eq!(claims.caps.unwrap().len(), 2);
    assert_eq!(claims.scopes.len(), 1);
    assert_eq!(claims.exp.0 - claims.iat.0, 60_000_000);
    let odd = world.run(&["mint", "--sub", "user:a", "--tenant", "t", "--cap", "scope.wirte"]);
    assert_eq!(odd.exit, Exit::Fine);
    assert_eq!(odd.err, "note: this version knows no capability `scope.wirte`\n");
    assert_eq!(odd.out.lines().count(), 1, "only the token is printed");
}

#[test]
fn what_cannot_be_minted_is_said() {
    let world = World::issuer();
    let fails = |words: &[&str], expected: Expect| {
        let mut all = vec!["mint"];
        all.extend(words);
        world.fails(&all, Exit::Usage, expected);
    };
    fails(
        &["--sub", "alice", "--tenant", "acme"],
        expect![[r#"
        lamina-issuer: --sub: an actor is `type:id` with type [a-z][a-z0-9_]* and id [A-Za-z0-9._@+-]+, at most 256 characters
    "#]],
    );
    fails(
        &["--sub", "user:alice", "--tenant", "a/b"],
        expect![[r#"
        lamina-issuer: --tenant: the name of a tenant is 1 to 64 characters of [A-Za-z0-9_-], the first a letter or digit
    "#]],
    );
    let right = ["--sub", "user:alice", "--tenant", "acme"];
    let with = |flag, value| [&right[..], &[flag, value]].concat();
    fails(
        &with("--scope", "scope.write"),
        expect![[r#"
        lamina-issuer: --scope: `scope.write` is not CAPABILITY:PREFIX
                       for example scope.write:org:acme/team:ops/*
    "#]],
    );
    fails(
        &with("--cap", "scope.*"),
        expect![[r#"
        lamina-issuer: no server would accept this token: the claim `caps` of the token must be a list of at most 128 capabilities, without wildcards
    "#]],
    );
    fails(
        &with("--ttl", "86401"),
        expect![[r#"
        lamina-issuer: no server would accept this token: the token lives too long: at most 24 h between `iat` and `exp`, 720 h for a `service:`
    "#]],
    );
    for ttl in ["0", "2592001", "1h"] {
        let outcome = world.run(&[&["mint"], &with("--ttl", ttl)[..]].concat());
        assert_eq!(outcome.exit, Exit::Usage, "{ttl}");
    }
    assert_eq!(world.run(&["mint", "--sub", "user:a"]).exit, Exit::Usage);
    assert_eq!(world.run(&["mint", "--ttl", "-1"]).exit, Exit::Usage);
    assert_eq!(world.run(&["unknown"]).exit, Exit::Usage);
    // Nothing of it is on record.
    expect![[""]].assert_eq(&world.fine(&["list", "--all"]));
    world.fine(&["mint", "--sub", "service:importer", "--tenant", "acme", "--ttl", "2592000"]);
}

#[test]
fn tokens_are_listed_until_they_end() {
    let world = World::issuer();
    let short = world.mint(&["--ttl", "60"]);
    world.fine(&["mint", "--sub", "service:importer", "--tenant", "globex", "--ttl", "90000"]);
    expect![[r#"
        JTI                                   SUB               TENANT  EXPIRES               STATE
        tok_01a3185c51f4700080021590ff0b4dc3  user:alice        acme    2027-01-15T08:01:00Z  active
        tok_01a3185c51f47000a53c36d76cec99e0  service:importer  globex  2027-01-16T09:00:00Z  active
    "#]]
    .assert_eq(&world.fine(&["list"]));
    world.clock.advance(HOUR_US);
    assert!(world.accepts(&short).is_err());
    expect![[r#"
        JTI                                   SUB               TENANT  EXPIRES               STATE
        tok_01a3185c51f47000a53c36d76cec99e0  service:importer  globex  2027-01-16T09:00:00Z  active
    "#]]
    .assert_eq(&world.fine(&["list"]));
    expect![[r#"
        JTI                                   SUB               TENANT  EXPIRES               STATE
        tok_01a3185c51f4700080021590ff0b4dc3  user:alice        acme    2027-01-15T08:01:00Z  expired
        tok_01a3185c51f47000a53c36d76cec99e0  service:importer  globex  2027-01-16T09:00:00Z  active
    "#]].assert_eq(&world.fine(&["list", "--all"]));
    // The token is not on record.
    let db = lamina_env::disk::read_file(&RealDisk, &world.dir.join("issuer.db"), 1 << 20).unwrap();
    let (_, body) = short.rsplit_once("v4.public.").unwrap();
    assert!(!String::from_utf8_lossy(&db).contains(body.get(..40).unwrap()));
}

#[test]
fn a_revoked_token_stays_revoked_and_says_how_to_tell_a_server() {
    let world = World::issuer();
    let token = world.mint(&[]);
    let jti = world.accepts(&token).unwrap().jti;
    expect![[r#"
        revoked tok_01a3185c51f4700080021590ff0b4dc3 of user:alice in acme

        A server refuses it from the moment it is told, with a token of an operator:
          printf 'Authorization: Bearer %s\n' "$TOKEN" | curl -X POST -H @- -H 'Content-Type: application/json' -d '{"jti":"tok_01a3185c51f4700080021590ff0b4dc3","reason":"it'\''s lost"}' http://127.0.0.1:3141/v1/auth/revoke
    "#]].assert_eq(&world.fine(&["revoke", &jti, "--reason", "it's lost"]));
    assert!(world.fine(&["list", "--all"]).contains("revoked"));
    expect![[r#"
        [
          {
            "jti": "tok_01a3185c51f4700080021590ff0b4dc3",
            "sub": "user:alice",
            "tenant": "acme",
            "exp": 1800003600,
            "revoked_at": 1800000000,
            "reason": "it's lost"
          }
        ]
    "#]]
    .assert_eq(&world.fine(&["revoked"]));
    // The first reason stays.
    assert!(world.fine(&["revoke", &jti, "--reason", "other"]).contains("lost"));
    world.fails(
        &["revoke", "tok_unknown"],
        Exit::Usage,
        expect![[r#"
        lamina-issuer: this issuer has made no token with this id
                       `list --all` shows the ids
    "#]],
    );
    world.clock.advance(2 * HOUR_US);
    expect!["[]\n"].assert_eq(&world.fine(&["revoked"]));
    assert!(world.fine(&["revoke", &jti]).ends_with("no server accepts it any more.\n"));
}

#[test]
fn an_old_key_is_published_until_its_last_token_ends() {
    let world = World::issuer();
    let old = world.mint(&["--ttl", "7200"]);
    let kid = |index: usize| {
        let file: serde_json::Value = serde_json::from_str(&world.fine(&["keys"])).unwrap();
        file["keys"][index]["kid"].as_str().map(str::to_owned)
    };
    let first = kid(0).unwrap();
    let said = world.fine(&["rotate"]);
    assert!(said.starts_with(&format!("the current key is now {}", kid(0).unwrap())), "{said}");
    assert_eq!(kid(1), Some(first));
    let new = world.mint(&["--ttl", "10000"]);
    assert!(world.accepts(&old).is_ok() && world.accepts(&new).is_ok());
    assert!(!world.dir.join("key-1").exists(), "the old secret is gone");
    assert!(world.dir.join("key-2").exists());
    world.clock.advance(2 * HOUR_US);
    assert_eq!(kid(1), None);
    assert!(world.accepts(&new).is_ok());
    world.fine(&["rotate"]);
    world.fine(&["rotate"]);
    assert_eq!(world.accepts(&new).unwrap().sub.as_str(), "user:alice");
}

#[test]
fn a_lost_key_is_not_replaced_by_itself() {
    let world = World::issuer();
    RealDisk.remove(&world.dir.join("key-1")).unwrap();
    let mint = ["mint", "--sub", "user:alice", "--tenant", "acme"];
    world.fails(&mint, Exit::Unreadable, expect![[r#"
        lamina-issuer: the disk failed while reading the key file: No such file or directory (os error 2)
    "#]]);
    world.fine(&["rotate"]);
    world.mint(&[]);
    // The key of another issuer is not ours.
    let stranger = World::new();
    stranger.fine(&["init", "--iss", "https://stranger.example"]);
    lamina_env::disk::write_atomic(
        &RealDisk,
        &world.dir.join("key-2"),
        &lamina_env::disk::read_file(&RealDisk, &stranger.dir.join("key-1"), 4_096).unwrap(),
    )
    .unwrap();
    world.fails(
        &mint,
        Exit::Damage,
        expect![[r#"
        lamina-issuer: the key file key-2 is not the key that the record names
                       put the right file back, or make a new key with `rotate`
    "#]],
    );
}

#[test]
fn a_directory_that_is_no_issuer_is_told_so() {
    let world = World::new();
    for words in [&["keys"][..], &["list"], &["rotate"], &["revoked"], &["revoke", "tok_1"]] {
        assert_eq!(world.run(words).exit, Exit::Unreadable, "{words:?}");
    }
    world.fails(
        &["keys"],
        Exit::Unreadable,
        expect![[r#"
        lamina-issuer: DIR is not the directory of an issuer
                       make one: lamina-issuer init --dir DIR
    "#]],
    );
    // A key whose record is lost is not overwritten.
    let lost = World::issuer();
    RealDisk.remove(&lost.dir.join("issuer.db")).unwrap();
    lost.fails(
        &["init"],
        Exit::Damage,
        expect![[r#"
        lamina-issuer: DIR holds a key but no record of it
                       put issuer.db back from a backup, or take another directory
    "#]],
    );
    assert!(lost.dir.join("key-1").exists());
    // An init that was interrupted before anything was recorded can be done again.
    let half = World::issuer();
    RealDisk.remove(&half.dir.join("issuer.db")).unwrap();
    RealDisk.create_new(&half.dir.join("issuer.db")).unwrap();
    assert_eq!(half.run(&["keys"]).exit, Exit::Unreadable);
    half.fine(&["init"]);
    half.mint(&[]);
}

#[test]
fn help_is_an_answer() {
    let world = World::new();
    for words in [&["--help"][..], &["mint", "--help"], &["--version"]] {
        let outcome = world.run(words);
        assert_eq!((outcome.exit, outcome.err.as_str()), (Exit::Fine, ""), "{words:?}");
        assert!(outcome.out.contains("lamina-issuer"));
    }
}

fn chmod(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
