//! Which layer wins, where a value is said to come from, and how a mistake is reported.

use std::path::Path;

use expect_test::{Expect, expect};
use lamina_env::{Disk, RealDisk};

use super::{Config, Environment, Flags};

/// A configuration file on a real disk, removed at the end.
struct File(tempfile::TempDir);

impl File {
    fn new(text: &str) -> File {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lamina.toml");
        RealDisk.create_new(&path).unwrap().write_at(text.as_bytes(), 0).unwrap();
        File(directory)
    }

    fn data(&self) -> &Path {
        self.0.path()
    }
}

fn report(file: &File, flags: &Flags, environment: &Environment) -> String {
    let folder = file.data().to_string_lossy().into_owned();
    let text = match Config::load(flags, environment, &RealDisk) {
        Ok(config) => config
            .shown()
            .iter()
            .map(|shown| format!("{} = {} ({})\n", shown.key, shown.value, shown.origin))
            .collect(),
        Err(error) => format!("{error}\n"),
    };
    text.replace(&folder, "DIR")
}

fn check_file(text: &str, expected: Expect) {
    let file = File::new(text);
    let flags = Flags { data: Some(file.data().to_owned()), ..Flags::default() };
    expected.assert_eq(&report(&file, &flags, &Environment::default()));
}

#[test]
fn flags_win_over_environment_over_file_over_defaults() {
    let file = File::new(
        "listen = \"127.0.0.1:1111\"\npreset = \"cloud_private\"\n[limits]\nbody_bytes = \"2MiB\"\n\
         connections = 7\n[log]\nfilter = \"debug\"\n",
    );
    let flags = Flags {
        data: Some(file.data().to_owned()),
        listen: Some("localhost:3333".to_owned()),
        ..Flags::default()
    };
    let environment = Environment::from([
        ("LAMINA_LISTEN", "127.0.0.1:2222"),
        ("LAMINA_PRESET", "dev_local"),
        ("CORTEX_DEPLOYMENT_PRESET", "on_prem_enterprise"),
        ("LAMINA_LIMITS_CONNECTIONS", "9"),
        ("LAMINA_LOG_FORMAT", ""),
        ("PATH", "/bin"),
    ]);
    expect![[r#"
        data = DIR (flag --data)
        listen = localhost:3333 (flag --listen)
        idle_exit = never (default)
        policy.file = none (default)
        preset = dev_local (environment LAMINA_PRESET)
        outbound.ca = none (default)
        outbound.plain_http = false (default)
        auth.trust = none (default)
        auth.jwks = none (default)
        auth.operators = none (default)
        auth.tenant_admins = none (default)
        auth.delegates = none (default)
        auth.issuer_tenants = none (default)
        auth.admin_claims = none (default)
        auth.session_claim = zaxy_session (default)
        auth.minting.key = none (default)
        auth.minting.ttl_s_max = 86400 (default)
        auth.minting.signup_tenant = none (default)
        auth.minting.signup_ttl_s = 86400 (default)
        auth.minting.signup_rate = 10/h (default)
        models.provider = none (default)
        models.model = none (default)
        models.base_url = none (default)
        models.key_file = none (default)
        models.key_variable = none (default)
        models.timeout_ms = 60000 (default)
        models.output_tokens_max = 4096 (default)
        models.batch_events = 16 (default)
        models.attempts = 5 (default)
        models.pause_ms = 1000 (default)
        models.price_input = 0 (default)
        models.price_output = 0 (default)
        models.budget_scope_tokens = none (default)
        models.budget_scope_money = none (default)
        models.budget_tokens = none (default)
        models.budget_money = none (default)
        models.answers = false (default)
        models.embed.provider = none (default)
        models.embed.model = none (default)
        models.embed.directory = none (default)
        models.embed.base_url = none (default)
        models.embed.key_file = none (default)
        models.embed.key_variable = none (default)
        models.embed.dimensions = none (default)
        models.embed.text_prefix = none (default)
        models.embed.question_prefix = none (default)
        models.embed.timeout_ms = 30000 (default)
        models.embed.question_timeout_ms = 1000 (default)
        models.embed.batch_texts = 32 (default)
        models.embed.pause_ms = 1000 (default)
        models.embed.cache_texts = 10000 (default)
        log.filter = debug (file DIR/lamina.toml)
        log.format = auto (default)
        tls.cert = none (default)
        tls.key = none (default)
        http.cors_origins = none (default)
        http.hosts = none (default)
        limits.rate_read = none (default)
        limits.rate_write = none (default)
        limits.rate_importer = none (default)
        limits.rate_bad_tokens = 600/m (default)
        limits.body_bytes = 2MiB (file DIR/lamina.toml)
        limits.bulk_body_bytes = 16777216 (default)
        limits.blob_bytes = 104857600 (default)
        limits.import_bytes = 10737418240 (default)
        limits.reads_in_flight = 512 (default)
        limits.connections = 9 (environment LAMINA_LIMITS_CONNECTIONS)
        limits.header_timeout_ms = 30000 (default)
        limits.body_timeout_ms = 30000 (default)
        limits.handshake_timeout_ms = 10000 (default)
        limits.write_timeout_ms = 60000 (default)
        limits.stream_lag_ms = 30000 (default)
        limits.shutdown_timeout_ms = 10000 (default)
        envelope.lenient = true (default of preset dev_local)
        experimental.enabled = true (default of preset dev_local)
        retention.days = 0 (default)
        retention.sweep_every_s = 3600 (default)
        retention.sweep_share_max = 20 (default)
        clock.synchronized_file = /run/systemd/timesync/synchronized (default)
        storage.segment_bytes = 67108864 (default)
        storage.free_bytes_min = 67108864 (default)
        storage.ledger = none (default)
        export.destinations = none (default)
        import.sources = none (default)
        transfer.credentials = none (default)
        export.signing_private_key_file = none (default)
        export.signing_public_key_file = none (default)
        export.signing_algorithm = none (default)
        mcp.profile = slim (default)
        mcp.lifecycle_capture = true (default)
        mcp.sse = false (default)
        mcp.admin_token_file = none (default)
        mcp.remote_token_file = none (default)
        mcp.session_header = x-zaxy-session-id (default)
        mcp.remote_tenant = default (default)
        mcp.remote_actor = user:mcp (default)
        mcp.resource = none (default)
        mcp.authorization_servers = none (default)
        docs.base_url = none (default)
        process.core_dumps = false (default)
    "#]]
    .assert_eq(&report(&file, &flags, &environment));
}

#[test]
fn existing_deployments_keep_their_variables() {
    let environment = Environment::from([
        ("HOME", "/someone"),
        ("CORTEX_DEPLOYMENT_PRESET", "cloud_shared_saas"),
        ("CORTEX_ENABLE_EXPERIMENTAL", "1"),
    ]);
    let config = Config::load(&Flags::default(), &environment, &RealDisk).unwrap();
    assert_eq!(config.preset.as_str(), "cloud_shared_saas");
    assert!(config.experimental_enabled);
    assert!(!config.envelope_lenient, "strict unless dev_local");
    assert_eq!(config.data, Path::new("/someone/.local/share/lamina"));
}

#[test]
fn the_data_directory_follows_the_standard_for_user_data() {
    let at = |environment: Environment| {
        Config::load(&Flags::default(), &environment, &RealDisk)
            .map(|config| config.data.to_string_lossy().into_owned())
            .map_err(|error| error.to_string())
    };
    assert_eq!(at([("HOME", "/h"), ("XDG_DATA_HOME", "/x")].into()), Ok("/x/lamina".to_owned()));
    assert_eq!(
        at([("HOME", "/h"), ("XDG_DATA_HOME", "relative")].into()),
        Ok("/h/.local/share/lamina".to_owned())
    );
    assert!(at([("PATH", "/bin")].into()).is_err());
}

#[test]
fn unknown_names_in_the_file_are_refused_with_a_suggestion() {
    check_file(
        "[limits]\nbody_byte = 3\n",
        expect![[r#"
            unknown key `limits.body_byte` in DIR/lamina.toml; did you mean `limits.body_bytes`?
        "#]],
    );
    check_file(
        "[limit]\nbody_bytes = 3\n",
        expect![[r#"
            unknown key `limit` in DIR/lamina.toml; did you mean `limits`?
        "#]],
    );
    check_file(
        "segment_bytes = 3\n",
        expect![[r#"
            unknown key `segment_bytes` in DIR/lamina.toml; did you mean `storage.segment_bytes`?
        "#]],
    );
    check_file(
        "[embedding]\nmodel = \"x\"\n",
        expect![[r#"
            unknown key `embedding` in DIR/lamina.toml
        "#]],
    );
}

#[test]
fn values_that_cannot_be_read_name_their_source() {
    check_file(
        "listen = \"everywhere\"\n",
        expect![[r#"
            `listen` cannot be `everywhere` (file DIR/lamina.toml): expected ADDRESS:PORT, for example 127.0.0.1:3141, [::1]:3141 or localhost:3141, or unix:PATH
        "#]],
    );
    check_file(
        "[limits]\nconnections = 0\n",
        expect![[r#"
            `limits.connections` cannot be `0` (file DIR/lamina.toml): expected a number from 1 to 65536
        "#]],
    );
    check_file(
        "[limits]\nbody_bytes = \"99999999999999 GiB\"\n",
        expect![[r#"
            `limits.body_bytes` cannot be `99999999999999 GiB` (file DIR/lamina.toml): expected a whole number, for example 4194304 or 4MiB
        "#]],
    );
    check_file(
        "[envelope]\nlenient = \"maybe\"\n",
        expect![[r#"
            `envelope.lenient` cannot be `maybe` (file DIR/lamina.toml): expected true or false
        "#]],
    );
    check_file(
        "preset = [1]\n",
        expect![[r#"
            `preset` in DIR/lamina.toml must be a plain value
        "#]],
    );
    check_file(
        "preset = \"dev\"\n",
        expect![[r#"
            `preset` cannot be `dev` (file DIR/lamina.toml): unknown preset; it is one of dev_local, on_prem_enterprise, cloud_shared_saas, cloud_private, or custom with a policy file
        "#]],
    );
    check_file(
        "preset = \"dev_local\"\nlisten = \n",
        expect![[r#"
            DIR/lamina.toml is not TOML: line 2: string values must be quoted, expected literal string
        "#]],
    );
}

#[test]
fn rates_and_origins_are_read_or_refused() {
    let file = File::new(
        "[http]\ncors_origins = [\"https://a.example\", \"http://localhost:8080\"]\n[limits]\nrate_write = \"100/s\"\n",
    );
    let flags = Flags { data: Some(file.data().to_owned()), ..Flags::default() };
    let config = Config::load(&flags, &Environment::default(), &RealDisk).unwrap();
    assert_eq!(config.cors_origins, ["https://a.example", "http://localhost:8080"]);
    assert_eq!(config.quotas.write.map(|rate| rate.to_string()).as_deref(), Some("100/s"));
    assert_eq!(config.quotas.read, None);
    for origin in
        ["*", "null", "https://a.example/", "https://*.a.example", "a.example", "HTTPS://A"]
    {
        let environment = Environment::from([("LAMINA_HTTP_CORS_ORIGINS", origin)]);
        let refused = Config::load(&flags, &environment, &RealDisk).unwrap_err().to_string();
        assert!(refused.contains("is not an origin"), "{refused}");
    }
    check_file(
        "[limits]\nrate_write = \"0/s\"\n",
        expect![[r#"
            `limits.rate_write` cannot be `0/s` (file DIR/lamina.toml): a rate is written like 100/s, 30/m or 500/h, from 1 to 10000000
        "#]],
    );
    check_file(
        "[tls]\ncert = \"/c.pem\"\n",
        expect![[r#"
            `tls.cert` is set and `tls.key` is not; they go together
        "#]],
    );
}

#[test]
fn a_file_in_the_data_directory_cannot_move_it() {
    check_file(
        "data = \"/elsewhere\"\n",
        expect![[r#"
            DIR/lamina.toml lies in the data directory, so it cannot set `data`; use --data or LAMINA_DATA
        "#]],
    );
}

#[test]
fn a_named_file_must_exist_and_may_name_the_data_directory() {
    let file = File::new("data = \"/elsewhere\"\n");
    let path = file.data().join("lamina.toml").to_string_lossy().into_owned();
    let environment = Environment::from([("LAMINA_CONFIG", path.as_str())]);
    let config = Config::load(&Flags::default(), &environment, &RealDisk).unwrap();
    assert_eq!(config.data, Path::new("/elsewhere"));

    let flags = Flags { config: Some(file.data().join("absent.toml")), ..Flags::default() };
    expect![[r#"
        the configuration file DIR/absent.toml cannot be read
    "#]]
    .assert_eq(&report(&file, &flags, &environment));
}

#[test]
fn unknown_variables_are_refused_and_foreign_ones_are_not_ours() {
    let refused = |name: &str| {
        let environment = Environment::from([("HOME", "/h"), (name, "tcp://10.0.0.1:3141")]);
        Config::load(&Flags::default(), &environment, &RealDisk)
            .err()
            .map(|error| error.to_string())
    };
    expect!["unknown environment variable `LAMINA_LISTNE`; did you mean `LAMINA_LISTEN`?"]
        .assert_eq(&refused("LAMINA_LISTNE").unwrap());
    expect!["unknown environment variable `LAMINA_EMBEDDING_PROVIDER`; did you mean `LAMINA_MODELS_PROVIDER`?"]
        .assert_eq(&refused("LAMINA_EMBEDDING_PROVIDER").unwrap());
    for name in [
        "LAMINA_SERVICE_HOST",
        "LAMINA_PORT",
        "LAMINA_PORT_3141_TCP",
        "LAMINA_BIN",
        "CORTEX_LLM_URL",
    ] {
        assert_eq!(refused(name), None, "{name}");
    }
}

#[test]
fn loopback_is_told_from_the_rest() {
    for (text, expected) in [
        ("127.0.0.1:0", true),
        ("127.8.8.8:80", true),
        ("[::1]:3141", true),
        ("localhost:3141", true),
        ("0.0.0.0:3141", false),
        ("[::]:3141", false),
        ("192.168.1.2:3141", false),
        ("[::ffff:127.0.0.1]:3141", false),
    ] {
        let listen = super::value::listen(text).unwrap();
        assert_eq!(listen.is_loopback(), expected, "{text}");
    }
    for text in ["3141", "localhost", "localhost:http", "example.org:80", ""] {
        assert!(super::value::listen(text).is_err(), "{text}");
    }
}

#[test]
fn issuers_of_the_file_are_bound_to_tenants_and_claims() {
    let text = r#"
        [auth]
        operators = ["https://id.test=acme/user:root"]
        delegates = ["acme/service:backend"]
        [auth.issuers."https://id.test"]
        tenants = ["acme", "globex"]
        admin_claim = "lamina_admin"
        [auth.issuers."https://other.test?a=b"]
        tenants = ["other"]
    "#;
    let file = File::new(text);
    let flags = Flags { data: Some(file.data().to_owned()), ..Flags::default() };
    let config = Config::load(&flags, &Environment::default(), &RealDisk).unwrap();
    let tenants: Vec<String> = config
        .auth
        .issuer_tenants
        .iter()
        .map(|(issuer, tenant)| format!("{issuer} {tenant}"))
        .collect();
    let expected =
        ["https://id.test acme", "https://id.test globex", "https://other.test?a=b other"];
    assert_eq!(tenants, expected);
    let claims = [("https://id.test".to_owned(), "lamina_admin".to_owned())];
    assert_eq!(config.auth.admin_claims, claims);
    let [root] = &config.auth.operators[..] else { panic!("{:?}", config.auth.operators) };
    assert_eq!(root.issuer.as_deref(), Some("https://id.test"));
    assert_eq!((root.tenant.as_str(), root.actor.as_str()), ("acme", "user:root"));
    let [backend] = &config.auth.delegates[..] else { panic!("{:?}", config.auth.delegates) };
    assert_eq!((backend.issuer.as_deref(), backend.actor.as_str()), (None, "service:backend"));
    check_file(
        "[auth.issuers.\"https://id.test\"]\ntenant = [\"acme\"]",
        expect![[r#"
            unknown key `auth.issuers."https://id.test".tenant` in DIR/lamina.toml; did you mean `tenants`?
        "#]],
    );
}
