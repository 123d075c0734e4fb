//! What an operator is told about who can listen in.

use lamina_env::RealDisk;

use super::*;
use crate::config::{Environment, Flags};

fn config(listen: &str, tls: bool) -> Config {
    let file = tls.then(|| "/x.pem".into());
    let flags = Flags {
        data: Some("/d".into()),
        listen: Some(listen.to_owned()),
        tls_cert: file.clone(),
        tls_key: file,
        ..Flags::default()
    };
    Config::load(&flags, &Environment::default(), &RealDisk).unwrap()
}

#[test]
fn serving_other_machines_in_the_clear_is_warned_of() {
    for (listen, tls, warned) in [
        ("127.0.0.1:1", false, false),
        ("[::1]:1", false, false),
        ("0.0.0.0:1", false, true),
        ("[::]:1", false, true),
        ("192.0.2.1:1", false, true),
        ("192.0.2.1:1", true, false),
    ] {
        assert_eq!(exposure(&config(listen, tls)).is_some(), warned, "{listen} {tls}");
    }
}
