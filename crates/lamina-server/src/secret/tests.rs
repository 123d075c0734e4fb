//! Secrets do not print, and files that others can read are not secret.

use lamina_env::sim::SimDisk;

use super::*;

#[test]
fn a_secret_does_not_print() {
    #[derive(Debug)]
    struct Holder {
        _key: Secret<String>,
    }
    let holder = Holder { _key: Secret::new("hunter2".to_owned()) };
    let shown = format!("{holder:?} {holder:#?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(holder._key.expose(), "hunter2");
}

#[test]
fn a_file_is_read_only_if_it_is_its_owners_alone() {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/d")).unwrap();
    let path = Path::new("/d/key.pem");
    disk.create_new(path).unwrap().write_at(b"secret", 0).unwrap();
    for (mode, readable) in [
        (0o600, true),
        (0o400, true),
        (0o700, true),
        (0o640, false),
        (0o620, false),
        (0o644, false),
        (0o604, false),
        (0o601, false),
        (0o777, false),
    ] {
        disk.set_mode(path, mode).unwrap();
        let read = read_secret_file(&disk, path, 64);
        assert_eq!(read.is_ok(), readable, "{mode:o}");
        if let Err(error) = read {
            let text = error.to_string();
            assert!(text.contains("chmod 600 /d/key.pem"), "{text}");
            assert!(text.contains(&format!("{mode:04o}")), "{text}");
        }
    }
    disk.set_mode(path, 0o600).unwrap();
    assert!(read_secret_file(&disk, path, 5).is_err(), "larger than allowed");
    assert!(read_secret_file(&disk, Path::new("/d/absent"), 64).is_err());
}
