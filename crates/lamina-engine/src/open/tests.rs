//! Views are dropped when they are damaged, and only then.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lamina_env::Disk;
use lamina_store::kv::{Batch, Space};
use lamina_store::view::LAYOUT;

use super::*;

async fn written(dir: &Path) -> Env {
    let (engine, _) = Engine::open(Settings::new(dir), Env::real()).unwrap();
    engine.shutdown().await;
    Env::real()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_in_the_place_of_the_views_is_reported_and_left() {
    let dir = tempfile::tempdir().unwrap();
    let env = written(dir.path()).await;
    let views = dir.path().join("views");
    env.disk.remove_dir_all(&views).unwrap();
    env.disk.create_new(&views).unwrap().write_at(b"somebody's", 0).unwrap();
    let refused = Engine::open(Settings::new(dir.path()), Env::real());
    assert!(matches!(refused, Err(OpenError::ViewStore(_))), "{refused:?}");
    assert_eq!(read_file(&*env.disk, &views, 64).unwrap(), b"somebody's");
}

/// A file of every name in the store, cut short or gone: whichever error that gives, the views are made anew.
#[test]
fn damaged_views_are_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let env = Env::real();
    drop(open_kv(&env, dir.path()).unwrap());
    let mut damaged = 0;
    for cut in [None, Some(3)] {
        for path in files(&*env.disk, &dir.path().join("views")).into_values() {
            // Made anew before its turn came, under another name.
            if !env.disk.exists(&path) {
                continue;
            }
            match cut {
                None => env.disk.remove(&path).unwrap(),
                Some(len) => env.disk.open(&path).unwrap().set_len(len).unwrap(),
            }
            damaged += 1;
            let opened = open_kv(&env, dir.path());
            assert!(opened.is_ok(), "{cut:?} {}: {opened:?}", path.display());
        }
    }
    assert!(damaged > 3, "{damaged}");
}

/// Their tables too: the engine keeps how it was told to make them.
#[test]
fn views_of_another_layout_are_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let env = Env::real();
    let number = |layout: u32| layout.to_be_bytes().to_vec();
    for (layout, stays) in [(LAYOUT, true), (LAYOUT - 1, false)] {
        let kv = open_kv(&env, dir.path()).unwrap();
        let mut batch = Batch::default();
        batch.put(Space::Meta, b"layout", number(layout));
        batch.put(Space::Events, b"a row", *b"of it");
        kv.write(batch).unwrap();
        kv.persist().unwrap();
        drop(kv);
        let kv = open_kv(&env, dir.path()).unwrap();
        assert_eq!(kv.get(Space::Events, b"a row").unwrap().is_some(), stays, "{layout}");
        assert_eq!(kv.get(Space::Meta, b"layout").unwrap().is_some(), stays, "{layout}");
    }
}

/// By name: the keyspaces have the same files.
fn files(disk: &dyn Disk, dir: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for name in disk.list(dir).unwrap() {
        let path = dir.join(&name);
        match disk.list(&path) {
            Ok(_) => found.extend(files(disk, &path)),
            Err(_) => drop(found.insert(name, path)),
        }
    }
    found
}
