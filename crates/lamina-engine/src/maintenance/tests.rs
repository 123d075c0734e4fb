//! What an operator runs must say what it finds, and a check must leave it as it is.

use std::collections::BTreeMap;

use lamina_types::capability::ScopeWrite;

use super::*;
use crate::Engine;
use crate::absent::{Sought, absent};
use crate::admin::testing::{path, permit_of, written};

#[tokio::test(flavor = "multi_thread")]
async fn a_check_says_that_the_views_are_damaged_and_leaves_them() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(Settings::new(dir.path()), Env::real()).unwrap();
    engine.shutdown().await;
    drop(engine);
    let env = Env::real();
    let views = dir.path().join("views");
    let mut damaged = Vec::new();
    for name in env.disk.list(&views).unwrap() {
        let path = views.join(&name);
        if let Ok(file) = env.disk.open(&path) {
            file.set_len(3).unwrap();
            damaged.push(path);
        }
    }
    let report = check(dir.path(), &env, None, &mut |_, _| {}).unwrap();
    assert!(report.findings.iter().any(|finding| finding.file == "views"), "{report:?}");
    assert!(report.ok(), "views can be made anew: {report:?}");
    for path in damaged {
        assert_eq!(env.disk.open_read(&path).unwrap().len().unwrap(), 3, "{}", path.display());
    }
}

/// Every file and directory below a directory, and what is in them.
fn all_in(env: &Env, dir: &Path, found: &mut BTreeMap<std::path::PathBuf, Option<Vec<u8>>>) {
    for name in env.disk.list(dir).unwrap() {
        let path = dir.join(&name);
        if env.disk.list(&path).is_ok() {
            found.insert(path.clone(), None);
            all_in(env, &path, found);
        } else {
            let bytes = lamina_env::disk::read_file(&*env.disk, &path, u64::MAX).unwrap();
            found.insert(path, Some(bytes));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_does_not_change_a_byte() {
    let (dir, env) = (tempfile::tempdir().unwrap(), Env::real());
    let (data, crashed) = (dir.path().join("data"), dir.path().join("crashed"));
    let (engine, _) = Engine::open(Settings::new(&data), Env::real()).unwrap();
    let scope = path("user:a");
    for number in 0..20 {
        let permit = permit_of::<ScopeWrite>(1, "user:a", Some(&scope));
        let write = written(&engine, "user:a", "user:a", &format!("event {number}"));
        engine.experience(&permit, write).await.unwrap();
    }
    engine.inner.caught_up().await;
    // As a crash would leave it: the journals of the views are not closed.
    let taken = scratch::Scratch::make(&env, &crashed).unwrap();
    let copy = taken.copied(&data, "data").unwrap();
    engine.shutdown().await;
    drop(engine);
    for data in [&data, &copy] {
        let tree = |data: &Path| {
            let mut found = BTreeMap::new();
            all_in(&env, data, &mut found);
            found
        };
        let (before, beside) = (tree(data), env.disk.list(data.parent().unwrap()).unwrap());
        assert!(before.keys().any(|path| path.starts_with(data.join("views"))));
        let report = check(data, &env, None, &mut |_, _| {}).unwrap();
        assert!(report.ok() && report.entries > 20, "{report:?}");
        let sought = Sought::lines("nowhere at all").unwrap();
        let absent = absent(data, &env, &sought, &mut |_, _| {}).unwrap();
        assert!(absent.rows > 20 && absent.unread.is_empty(), "{absent:?}");
        let after = tree(data);
        assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
        assert!(before == after, "a file has other bytes");
        assert_eq!(env.disk.list(data.parent().unwrap()).unwrap(), beside, "nothing is left");
    }
}

/// A directory with a few audit rows over two lives of the server.
async fn audited(dir: &Path) -> Vec<u8> {
    let env = Env::real();
    let mut kept = Vec::new();
    for _ in 0..2 {
        let (engine, _) = Engine::open(Settings::new(dir), Env::real()).unwrap();
        for _ in 0..20 {
            engine.audit(crate::audit::testing::row(&engine, 1, "user:a"));
        }
        engine.shutdown().await;
        let path = dir.join("audit/checkpoints/latest.json");
        kept = lamina_env::disk::read_file(&*env.disk, &path, 65_536).unwrap();
    }
    kept
}

fn only_segment(dir: &Path, env: &Env) -> std::path::PathBuf {
    let names = env.disk.list(&dir.join("audit/log")).unwrap();
    assert_eq!(names.len(), 1);
    dir.join("audit/log").join(&names[0])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_finds_damage_in_the_audit_log_and_says_where() {
    let dir = tempfile::tempdir().unwrap();
    let kept = audited(dir.path()).await;
    let env = Env::real();
    let sound = check(dir.path(), &env, Some(kept.clone()), &mut |_, _| {}).unwrap();
    assert_eq!((sound.findings, sound.audit_segments), (Vec::new(), 1));
    assert!(sound.audit_entries >= 40);
    let segment = only_segment(dir.path(), &env);
    let file = env.disk.open(&segment).unwrap();
    let mut byte = [0];
    file.read_at(&mut byte, 1_000).unwrap();
    file.write_at(&[byte[0] ^ 1], 1_000).unwrap();
    let report = check(dir.path(), &env, None, &mut |_, _| {}).unwrap();
    assert!(!report.ok());
    assert!(report.findings.iter().all(|finding| finding.file.starts_with("audit/")), "{report:?}");
    assert!(report.views_checked, "the log itself is sound");
    let (engine, _) = Engine::open(Settings::new(dir.path()), Env::real()).unwrap();
    engine.shutdown().await;
    assert!(env.disk.exists(&dir.path().join("audit.damaged-1")), "it is kept beside the new one");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_log_that_was_cut_is_given_away_by_a_kept_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let kept = audited(dir.path()).await;
    let env = Env::real();
    // Somebody deletes the audit log; the next start begins another one.
    env.disk.remove_dir_all(&dir.path().join("audit")).unwrap();
    let (engine, _) = Engine::open(Settings::new(dir.path()), Env::real()).unwrap();
    engine.shutdown().await;
    drop(engine);
    assert!(check(dir.path(), &env, None, &mut |_, _| {}).unwrap().ok(), "it looks well by itself");
    assert!(!check(dir.path(), &env, Some(kept), &mut |_, _| {}).unwrap().ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_tail_of_the_audit_log_is_repaired() {
    let dir = tempfile::tempdir().unwrap();
    audited(dir.path()).await;
    let env = Env::real();
    let segment = only_segment(dir.path(), &env);
    let file = env.disk.open(&segment).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_at(&mut bytes, 0).unwrap();
    let written = bytes.iter().rposition(|byte| *byte != 0).unwrap() as u64 + 1;
    file.write_at(&[7; 100], written).unwrap();
    let report = check(dir.path(), &env, None, &mut |_, _| {}).unwrap();
    assert!(report.ok() && !report.findings.is_empty(), "{report:?}");
    let report = repair(dir.path(), &env, LostTail::Refuse).unwrap();
    assert_eq!(report.actions.len(), 1);
    assert!(report.actions[0].contains("audit/"), "{report:?}");
    let clean = check(dir.path(), &env, None, &mut |_, _| {}).unwrap();
    assert_eq!(clean.findings, []);
}
