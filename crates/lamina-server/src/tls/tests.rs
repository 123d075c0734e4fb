//! Files that cannot be used are named with what is wrong, and what is in them is not repeated. That
//! good ones work, and that renewing them does, is tested from outside with real handshakes.

use lamina_env::disk::write_atomic;
use lamina_env::sim::SimDisk;

use super::*;

/// The first thing a reader of PEM believes: the text inside is checked later.
const CERT: &str = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n";
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nREVG\n-----END PRIVATE KEY-----\n";

fn open(cert: Option<&str>, key: Option<&str>, key_mode: u32) -> TlsError {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/d")).unwrap();
    let files = Files { cert: "/d/cert.pem".into(), key: "/d/key.pem".into() };
    for (path, text, mode) in [(&files.cert, cert, 0o644), (&files.key, key, key_mode)] {
        if let Some(text) = text {
            write_atomic(&disk, path, text.as_bytes()).unwrap();
            disk.set_mode(path, mode).unwrap();
        }
    }
    let error = Tls::open(files, Arc::new(disk)).unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("REVG") && !shown.contains("PRIVATE"), "{shown}");
    error
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let error = open(None, Some(KEY), 0o600);
    assert_eq!(error.to_string(), "the certificate file /d/cert.pem cannot be read");
    for nothing in ["", "words", KEY, &CERT.replace("BEGIN", "BEGINN"), &CERT.replace("QU", "!!")] {
        let error = open(Some(nothing), Some(KEY), 0o600);
        assert_eq!(error.to_string(), "/d/cert.pem holds no certificate in PEM", "{nothing}");
    }
    for nothing in ["", "words", CERT, &KEY.replace("RE", "!!")] {
        let error = open(Some(CERT), Some(nothing), 0o600);
        assert_eq!(error.to_string(), "/d/key.pem holds no key in PEM", "{nothing}");
    }
    let error = open(Some(CERT), None, 0o600);
    assert!(matches!(error, TlsError::Key(SecretFileError::Unreadable { .. })), "{error}");
    let error = open(Some(CERT), Some(KEY), 0o640);
    let exposed = matches!(error, TlsError::Key(SecretFileError::Exposed { mode: 0o640, .. }));
    assert!(exposed, "{error}");
    let error = open(Some(CERT), Some(KEY), 0o600);
    assert!(matches!(error, TlsError::Unusable { .. }), "{error}");
}
