//! What an operator runs must say what it finds, and a check must leave it as it is.

use super::*;
use crate::Engine;

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
