//! Bundles that the reference implementation judged, on the command line. They are not part of this repository: the
//! tests read the directory that `LAMINA_INTEROP_DIR` names and pass without it.

use std::path::{Path, PathBuf};

use lamina_env::RealDisk;
use lamina_env::disk::read_file;
use serde_json::Value;

use crate::zaxy::command::{lamina, shown};

fn root() -> Option<PathBuf> {
    let directory = std::env::var_os("LAMINA_INTEROP_DIR")?;
    Some(Path::new(&directory).join("aegx/fixtures"))
}

/// Links do not survive in copies of the fixtures; the tests of the crate make them.
const LINKED: [&str; 2] = ["lenient/l26_blob_is_symlink", "invalid/b06_dangling_symlink_in_blobs"];

#[test]
fn recorded_bundles_get_their_verdict_on_the_command_line() {
    let Some(root) = root() else { return };
    let bytes = read_file(&RealDisk, &root.join("expected.json"), 1 << 24).unwrap();
    let expected: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    let mut judged = 0;
    for item in &expected {
        let name = item["path"].as_str().unwrap();
        if LINKED.contains(&name) {
            continue;
        }
        let path = root.join(name);
        let ended = lamina(&["verify", shown(&path), "--reference"]);
        let code = item["reference_exit"].as_i64().map(|code| i32::try_from(code).unwrap());
        assert_eq!(ended.code, code, "{name}: {}{}", ended.out, ended.err);
        let ended = lamina(&["verify", shown(&path)]);
        let allowed: &[i32] = match (item["group"].as_str().unwrap(), code) {
            // Nothing in these shows what happened to them.
            ("malleable", _) => &[0, 2, 3],
            ("valid", _) => &[0],
            ("spec_only", _) if name.contains("s01_") || name.contains("s02_") => &[0],
            ("spec_only", _) => &[2],
            ("zip", Some(0)) => &[0, 2, 3, 4],
            // The tests of the crate have the exact code of each.
            ("lenient", _) => &[0, 2, 3, 4],
            _ => &[2, 3, 4],
        };
        let code = ended.code.unwrap();
        assert!(allowed.contains(&code), "{name}: {code}, {}{}", ended.out, ended.err);
        judged += 1;
    }
    assert!(judged > 200, "{judged}");
}
