//! Files that are no ledger, or one of a later version.

use lamina_types::Micros;

use super::*;
use crate::exit::Exit;

fn key(kid: &str) -> PublicKey {
    PublicKey { kid: kid.to_owned(), key: format!("public {kid}") }
}

fn made() -> (tempfile::TempDir, Ledger) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    Connection::open(&path).unwrap();
    let mut ledger = Ledger::open(&path).unwrap();
    assert!(!ledger.is_ready().unwrap());
    assert!(ledger.create("iss", &key("a"), Micros(0), || Ok(())).unwrap());
    (dir, ledger)
}

#[test]
fn a_file_that_is_not_there_is_not_made() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    assert_eq!(Ledger::open(&path).unwrap_err().exit, Exit::Unreadable);
    assert!(!path.exists());
}

#[test]
fn tables_are_made_once() {
    let (_dir, mut ledger) = made();
    let again = ledger.create("other", &key("b"), Micros(0), || panic!("must not save a key"));
    assert!(!again.unwrap());
    assert_eq!(ledger.iss().unwrap(), "iss");
}

#[test]
fn a_key_that_could_not_be_saved_is_not_current() {
    let (_dir, mut ledger) = made();
    let full = |_| Err(Failure::unreadable(anyhow::anyhow!("no space")));
    assert!(ledger.rotate(&key("b"), Micros(1), full).is_err());
    assert_eq!(ledger.current_key().unwrap().kid, "a");
    assert_eq!(ledger.rotate(&key("b"), Micros(1), |_| Ok(())).unwrap(), 2);
    assert_eq!(ledger.current_key().unwrap().kid, "b");
    assert_eq!(ledger.published(Micros(2)).unwrap(), [key("b")]);
}

#[test]
fn a_later_version_is_told_from_damage() {
    let (dir, ledger) = made();
    ledger.db.pragma_update(None, "user_version", VERSION + 1).unwrap();
    drop(ledger);
    let path = dir.path().join("db");
    assert_eq!(Ledger::open(&path).unwrap_err().exit, Exit::Schema);
    let other = dir.path().join("other");
    let file = lamina_env::Disk::create_new(&lamina_env::RealDisk, &other).unwrap();
    file.write_at(&[b'x'; 8_192], 0).unwrap();
    assert_eq!(Ledger::open(&other).unwrap_err().exit, Exit::Damage);
}
