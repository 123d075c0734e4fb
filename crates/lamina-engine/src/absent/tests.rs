//! Strings are found wherever they stand; what is not there is not found.

use std::io::Write as _;

use lamina_env::disk::write_atomic;

use super::*;
use crate::{Engine, Settings};

async fn directory() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(Settings::new(dir.path()), Env::real()).unwrap();
    engine.shutdown().await;
    dir
}

fn look(dir: &Path, strings: &str) -> AbsentReport {
    absent(dir, &Env::real(), &Sought::lines(strings).unwrap(), &mut |_, _| {}).unwrap()
}

fn put(dir: &Path, name: &str, bytes: &[u8]) {
    let path = dir.join(name);
    let env = Env::real();
    env.disk.create_dir_all(path.parent().unwrap()).unwrap();
    write_atomic(&*env.disk, &path, bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_searched_to_its_end_and_across_its_pieces() {
    let dir = directory().await;
    assert!(look(dir.path(), "Quaxley").ok());
    // Over the boundary of two pieces, at the end, and in a name.
    let mut bytes = vec![b'.'; (1 << 18) + 100];
    bytes[(1 << 18) - 3..][..7].copy_from_slice(b"Quaxley");
    bytes.extend_from_slice(b"Vimtoburg");
    put(dir.path(), "quarantine/torn", &bytes);
    put(dir.path(), "deep/er/wibblewort", b"");
    let report = look(dir.path(), "Nowhere\nQuaxley\nVimtoburg\nWibblewort");
    let found: Vec<(Option<usize>, &str, u64)> = report
        .traces
        .iter()
        .map(|trace| (trace.line, trace.place.as_str(), trace.position))
        .collect();
    assert_eq!(
        found,
        [
            (Some(4), "deep/er/wibblewort", 0),
            (Some(2), "quarantine/torn", (1 << 18) - 3),
            (Some(3), "quarantine/torn", (1 << 18) + 100),
        ]
    );
    assert!(!report.ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_compressed_in_an_upload_is_looked_into() {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    let dir = directory().await;
    let text = "the deed of Quaxley, ".repeat(50);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(text.as_bytes()).unwrap();
    put(dir.path(), "blobs/1", &gzip.finish().unwrap());
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
    deflate.write_all(text.as_bytes()).unwrap();
    let mut zip = b"PK\x03\x04\x14\0\0\0\x08\0".to_vec();
    zip.extend_from_slice(&[0; 16]);
    zip.extend_from_slice(&[1, 0, 0, 0, b'a']);
    zip.extend(deflate.finish().unwrap());
    put(dir.path(), "blobs/2", &zip);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(text.as_bytes()).unwrap();
    let mut pdf = b"%PDF-1.7\n1 0 obj <</Filter/FlateDecode>>\nstream\r\n".to_vec();
    pdf.extend(zlib.finish().unwrap());
    put(dir.path(), "blobs/3", &pdf);
    let report = look(dir.path(), "deed of quaxley");
    for (place, how) in [("1", "gzip"), ("2", "ZIP"), ("3", "PDF")] {
        let (place, how) = (format!("blobs/{place}"), format!("text, compressed ({how})"));
        assert!(report.traces.iter().any(|it| it.place == place && it.how == how), "{report:?}");
    }
    // What cannot be looked into is said, and is no proof.
    zip[6] = 1;
    put(dir.path(), "blobs/2", &zip);
    let report = look(dir.path(), "Nowhere");
    assert_eq!(report.unread, [("blobs/2".to_owned(), "a file in it is encrypted".to_owned())]);
    assert!(!report.ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_the_views_are_looked_at() {
    let dir = directory().await;
    {
        let kv = FjallKv::open(&dir.path().join("views"), crate::derive::key::placement()).unwrap();
        let mut batch = lamina_store::kv::Batch::default();
        batch.put(Space::Jobs, b"of Quaxley".to_vec(), b"and of Vimtoburg".to_vec());
        kv.write(batch).unwrap();
        kv.persist().unwrap();
    }
    let report = look(dir.path(), "Quaxley\nVimtoburg\nNowhere");
    let rows: Vec<(Option<usize>, &str)> = report
        .traces
        .iter()
        .filter(|trace| trace.place == "views, rows of jobs")
        .map(|trace| (trace.line, trace.how.as_str()))
        .collect();
    assert_eq!(
        rows,
        [(Some(1), "text, in the key of a row"), (Some(2), "text, in the value of a row")]
    );
}
