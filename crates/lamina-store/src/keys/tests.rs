//! Keys are made once, guarded, and never silently replaced.

use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use lamina_env::sim::{SimDisk, SimRng};
use lamina_env::{Disk, Rng};
use lamina_types::stdx::hex;
use zeroize::Zeroizing;

use super::{KeyError, KeyedHash, Keys};

const DIR: &str = "/data/keys";

fn open(disk: &SimDisk, seed: u64, fresh: bool) -> Result<Keys, KeyError> {
    let rng: Arc<dyn Rng> = Arc::new(SimRng::new(seed));
    Keys::open(Arc::new(disk.clone()), Path::new(DIR), rng, fresh)
}

#[test]
fn keys_are_made_once_and_read_back() {
    let disk = SimDisk::new();
    let first = open(&disk, 1, true).unwrap();
    let tenant = first.create_tenant(3).unwrap();
    disk.crash_losing_all();
    for fresh in [true, false] {
        let again = open(&disk, 2, fresh).unwrap();
        assert_eq!(again.public(), first.public());
        assert_eq!(again.cursor().mac("x", &[]), first.cursor().mac("x", &[]));
        let same = again.tenant(3).unwrap();
        assert_eq!(same.mac("x", &[]), tenant.mac("x", &[]));
        assert_eq!(again.create_tenant(3).unwrap().mac("x", &[]), tenant.mac("x", &[]));
        assert!(matches!(again.tenant(4), Err(KeyError::Missing { .. })));
    }
}

#[test]
fn the_file_says_what_it_is() {
    let disk = SimDisk::new();
    open(&disk, 1, true).unwrap().create_tenant(1).unwrap();
    let mut text = String::new();
    for file in disk.files() {
        text.push_str(&String::from_utf8(disk.contents(&file).unwrap()).unwrap());
    }
    expect![[r#"
        lamina-key v1 cursor-mac b9b501d1d854bb7180021590ff0b4dc3a53c36d76cec99e0758527120fbbe785
        lamina-key v1 log-signing c15c0289ec2d0a9167ec8e65a18debbe5e5532fbeea293f80bc942ee9086c171
        lamina-key v1 tenant-1 a83d7e35de181749966761748e5c43cb614f560177dc7567fe8bcf144dd4fc9a
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_missing_key_of_an_existing_log_is_refused_and_not_replaced() {
    for name in ["log-signing", "cursor-mac"] {
        let disk = SimDisk::new();
        open(&disk, 1, true).unwrap();
        disk.remove(&Path::new(DIR).join(name)).unwrap();
        let error = open(&disk, 2, false).unwrap_err();
        assert!(matches!(&error, KeyError::Missing { name: n, .. } if n == name), "{error:?}");
        assert!(error.to_string().contains("without it"));
        assert!(!disk.exists(&Path::new(DIR).join(name)));
    }
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    for mode in [0o640, 0o604, 0o660, 0o677] {
        let disk = SimDisk::new();
        open(&disk, 1, true).unwrap();
        disk.set_mode(&Path::new(DIR).join("log-signing"), mode).unwrap();
        let error = open(&disk, 1, false).unwrap_err();
        assert!(matches!(error, KeyError::Exposed { .. }), "{error:?}");
    }
}

#[test]
fn a_damaged_key_is_refused() {
    let disk = SimDisk::new();
    open(&disk, 1, true).unwrap();
    let path = Path::new(DIR).join("log-signing");
    let text = disk.contents(&path).unwrap();
    for (position, wrong) in [(0, b'x'), (12, b'2'), (14, b'x'), (40, b'z'), (89, b' ')] {
        let fork = disk.fork();
        assert_ne!(text[position], wrong);
        fork.poke(&path, position as u64, &[wrong]).unwrap();
        let error = open(&fork, 1, false).unwrap_err();
        assert!(matches!(error, KeyError::Malformed { .. }), "{position} {error:?}");
        assert!(!format!("{error:?}").contains(&hex::encode(&text[26..30])));
    }
    disk.cut(&path, 50).unwrap();
    assert!(matches!(open(&disk, 1, false), Err(KeyError::Malformed { .. })));
}

#[test]
fn making_keys_can_be_interrupted_anywhere() {
    let calls = {
        let disk = SimDisk::new();
        open(&disk, 1, true).unwrap().create_tenant(1).unwrap();
        disk.calls()
    };
    for stop in 0..calls {
        for seed in 0..4 {
            let disk = SimDisk::new();
            disk.power_off_after_calls(stop);
            let _ = open(&disk, 1, true).and_then(|keys| keys.create_tenant(1));
            disk.crash(&SimRng::new(seed));
            open(&disk, 2, true).unwrap().create_tenant(1).unwrap();
            open(&disk, 3, false).unwrap().tenant(1).unwrap();
        }
    }
}

#[test]
fn no_two_lists_of_parts_hash_alike() {
    let key = KeyedHash::new(Zeroizing::new([1; 32]));
    let hashes = [
        key.mac("a", &[b"b", b"c"]),
        key.mac("a", &[b"bc"]),
        key.mac("a", &[b"b", b"c", b""]),
        key.mac("ab", &[b"c"]),
        key.mac("", &[b"a", b"b", b"c"]),
        KeyedHash::new(Zeroizing::new([2; 32])).mac("a", &[b"b", b"c"]),
    ];
    for (at, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..at].contains(hash), "{at}");
    }
}

#[test]
fn nothing_secret_is_printed() {
    let disk = SimDisk::new();
    let keys = open(&disk, 1, true).unwrap();
    let tenant = keys.create_tenant(1).unwrap();
    let printed = format!("{keys:?} {tenant:?}");
    expect![[r#"Keys { dir: "/data/keys", .. } KeyedHash"#]].assert_eq(&printed);
}

#[test]
fn a_directory_that_others_can_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("keys");
    let open = |fresh| {
        let rng = Arc::new(SimRng::new(1));
        Keys::open(Arc::new(lamina_env::RealDisk), &dir, rng, fresh)
    };
    open(true).unwrap();
    for (mode, fine) in [(0o700, true), (0o755, true), (0o775, false), (0o702, false)] {
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(mode)).unwrap();
        match open(false) {
            Ok(_) => assert!(fine, "{mode:o}"),
            Err(error) => {
                assert!(matches!(error, KeyError::Open { .. }) && !fine, "{mode:o} {error:?}");
                assert!(error.to_string().contains("chmod 700"), "{error}");
            }
        }
    }
}
