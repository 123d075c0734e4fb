//! The command line and the configuration: what scripts rely on (issue items 7 and 8, ruling 21).

use std::path::Path;
use std::process::Output;

use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk, RealDisk};
use lamina_sim::process;

use crate::harness::{Own, binary, data, directory, launch};

pub(crate) fn lamina(arguments: &[&str]) -> Output {
    process::run(&binary(), arguments).unwrap()
}

pub(crate) fn with(environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    process::run_with(&binary(), arguments, environment).unwrap()
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
pub(crate) fn code(output: &Output, expected: i32) {
    assert_eq!(output.status.code(), Some(expected), "{}{}", out(output), err(output));
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn help_is_written_for_a_stranger() {
    let help = lamina(&["--help"]);
    code(&help, 0);
    for command in
        ["serve", "check", "rebuild", "repair", "rederive", "models", "eval", "config", "version"]
    {
        assert!(out(&help).contains(command), "{command}");
        let own = lamina(&[command, "--help"]);
        code(&own, 0);
        assert!(out(&own).len() > 60, "{command}: {}", out(&own));
    }
    let serve = out(&lamina(&["serve", "--help"]));
    for flag in ["--data", "--listen", "--preset", "--config"] {
        assert!(serve.contains(flag), "{flag}");
    }
    assert!(serve.contains("127.0.0.1:3141"), "the defaults are named");
    assert!(out(&help).contains("64"), "the exit codes are named");
}

#[test]
fn version_is_one_line() {
    let version = lamina(&["version"]);
    code(&version, 0);
    assert!(out(&version).starts_with("lamina "), "{}", out(&version));
    assert_eq!(out(&version).lines().count(), 1);
    code(&lamina(&["--version"]), 0);
}

#[test]
fn ruling_21_a_wrong_command_line_is_64() {
    for arguments in [
        &["dance"][..],
        &[][..],
        &["serve", "--colour", "red"][..],
        &["check", "--data"][..],
        &["serve", "--listen", "nonsense"][..],
        &["serve", "--listen", "127.0.0.1:99999"][..],
    ] {
        let output = lamina(arguments);
        code(&output, 64);
        assert!(!err(&output).is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_banner_names_address_preset_data_and_a_curl_that_works() {
    let own = Own::start();
    let printed = own.server.printed();
    assert!(
        printed.contains(&format!("listening on http://{}", own.server.address())),
        "{printed}"
    );
    assert!(printed.contains("dev_local"), "{printed}");
    assert!(printed.contains(text(own.server.data())), "{printed}");
    let curl = printed.lines().find(|line| line.contains("curl ")).unwrap().trim();
    let script = curl.trim_start_matches(|c: char| c != 'c');
    let output = std::process::Command::new("sh").args(["-c", script]).output().unwrap();
    if output.status.code() == Some(127) {
        // This machine has no curl; the address in the line must be right all the same.
        assert!(script.contains(&own.server.address().to_string()), "{script}");
        return;
    }
    assert!(output.status.success(), "{script}: {output:?}");
    assert!(out(&output).contains("evt_"), "{script}: {}", out(&output));
}

#[test]
fn port_0_takes_a_free_port_and_two_servers_do_not_meet() {
    let (one, two) = (Own::start(), Own::start());
    assert_ne!(one.server.address(), two.server.address());
    assert_ne!(one.server.address().port(), 0);
}

#[test]
fn a_port_that_is_taken_is_said_plainly() {
    let own = Own::start();
    let other = directory();
    let address = own.server.address().to_string();
    let path = data(other.path());
    let output = lamina(&["serve", "--data", text(&path), "--listen", &address]);
    code(&output, 4);
    assert!(err(&output).contains(&address), "{}", err(&output));
}

#[test]
fn a_second_process_on_the_same_data_is_refused() {
    let own = Own::start();
    let path = own.server.data().to_owned();
    for arguments in [
        &["serve", "--data", text(&path), "--listen", "127.0.0.1:0"][..],
        &["check", "--data", text(&path)][..],
        &["rebuild", "--data", text(&path)][..],
        &["repair", "--data", text(&path)][..],
        &["rederive", "--data", text(&path), "--runs"][..],
    ] {
        let output = lamina(arguments);
        code(&output, 4);
        assert!(err(&output).contains("in use"), "{arguments:?}: {}", err(&output));
    }
    own.api("after").write("the first one goes on");
}

#[test]
fn dev_local_refuses_addresses_beyond_loopback() {
    let place = directory();
    let path = data(place.path());
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:3141"] {
        let output = lamina(&["serve", "--data", text(&path), "--listen", address]);
        code(&output, 64);
        let said = err(&output);
        assert!(said.contains("loopback") && said.contains("dev_local"), "{address}: {said}");
    }
    let server = launch(place.path(), &[]).argument("--listen").argument("[::1]:0").start();
    match server {
        Ok(server) => assert!(server.address().is_ipv6()),
        // A machine without IPv6 says so; what it must not say is that ::1 is not loopback.
        Err(error) => assert!(!format!("{error:#}").contains("dev_local serves"), "{error:#}"),
    }
}

#[test]
fn other_presets_refuse_to_start_and_say_why() {
    let place = directory();
    let path = data(place.path());
    for preset in ["on_prem_enterprise", "cloud_shared_saas", "cloud_private"] {
        let output = lamina(&["serve", "--data", text(&path), "--preset", preset]);
        code(&output, 64);
        assert!(err(&output).contains(preset), "{}", err(&output));
        let output =
            with(&[("CORTEX_DEPLOYMENT_PRESET", preset)], &["serve", "--data", text(&path)]);
        code(&output, 64);
    }
    let output = lamina(&["serve", "--data", text(&path), "--preset", "wild_west"]);
    code(&output, 64);
    assert!(err(&output).contains("dev_local"), "the known ones are named: {}", err(&output));
    assert!(!RealDisk.exists(&path), "a refused start leaves nothing behind");
}

#[test]
fn ruling_19_lamina_preset_wins_over_the_older_name() {
    let environment =
        [("CORTEX_DEPLOYMENT_PRESET", "cloud_private"), ("LAMINA_PRESET", "dev_local")];
    let place = directory();
    let output = with(&environment, &["config", "--data", text(place.path())]);
    code(&output, 0);
    let line = out(&output).lines().find(|line| line.starts_with("preset")).unwrap().to_owned();
    assert!(line.contains("dev_local") && line.contains("LAMINA_PRESET"), "{line}");
}

#[test]
fn config_prints_each_value_and_where_it_came_from() {
    let place = directory();
    let file = place.path().join("my.toml");
    write_atomic(
        &RealDisk,
        &file,
        b"listen = \"127.0.0.1:4000\"\n[limits]\nblob_bytes = 1234\nbody_bytes = 5000\n",
    )
    .unwrap();
    let output = with(
        &[("LAMINA_LISTEN", "127.0.0.1:4001"), ("LAMINA_LIMITS_BODY_BYTES", "6000")],
        &[
            "config",
            "--config",
            text(&file),
            "--listen",
            "127.0.0.1:4002",
            "--data",
            text(place.path()),
        ],
    );
    code(&output, 0);
    let printed = out(&output);
    let line = |key: &str| {
        printed
            .lines()
            .find(|line| line.split_whitespace().next() == Some(key))
            .unwrap_or_else(|| panic!("{key}: {printed}"))
            .to_owned()
    };
    assert!(line("listen").contains("127.0.0.1:4002") && line("listen").contains("--listen"));
    assert!(line("limits.body_bytes").contains("6000"));
    assert!(line("limits.body_bytes").contains("LAMINA_LIMITS_BODY_BYTES"));
    assert!(line("limits.blob_bytes").contains("1234"));
    assert!(line("limits.blob_bytes").contains("my.toml"));
    assert!(line("preset").contains("default"));
}

/// What has several values is listed in the file, and separated by commas elsewhere.
#[test]
fn a_file_lists_what_has_several_values() {
    let place = directory();
    let path = text(place.path()).to_owned();
    let file = place.path().join("my.toml");
    let config = |auth: &str| {
        let toml = format!("preset = \"on_prem_enterprise\"\n[auth]\n{auth}\n");
        write_atomic(&RealDisk, &file, toml.as_bytes()).unwrap();
        lamina(&["config", "--data", &path, "--config", text(&file)])
    };
    for (key, values) in [
        ("trust", ["keys.json", "https://id.example.com"]),
        ("jwks", ["https://a.example=a.json", "https://b.example=b.json"]),
        ("operators", ["acme/user:root", "acme/user:op"]),
    ] {
        let [one, other] = values;
        let listed = config(&format!("{key} = [\"{one}\", \"{other}\"]"));
        code(&listed, 0);
        let joined = config(&format!("{key} = \"{one},{other}\""));
        assert_eq!(out(&listed), out(&joined), "{key}");
        assert!(out(&listed).contains(&format!("{one},{other}")), "{key}: {}", out(&listed));
        for wrong in ["[5]", "[[\"a\"]]"] {
            code(&config(&format!("{key} = {wrong}")), 64);
        }
    }
}

#[test]
fn unknown_settings_are_errors_with_a_suggestion() {
    let place = directory();
    let path = text(place.path()).to_owned();
    let file = place.path().join("my.toml");
    for (text_of_file, meant) in [
        ("lissten = \"127.0.0.1:1\"\n", "listen"),
        ("[limits]\nblob_byte = 5\n", "limits.blob_bytes"),
    ] {
        write_atomic(&RealDisk, &file, text_of_file.as_bytes()).unwrap();
        let output = lamina(&["config", "--data", &path, "--config", text(&file)]);
        code(&output, 64);
        assert!(err(&output).contains(meant), "{}", err(&output));
    }
    let output = with(&[("LAMINA_LISTN", "x")], &["config", "--data", &path]);
    code(&output, 64);
    assert!(err(&output).contains("LAMINA_LISTEN"), "{}", err(&output));
    for bad in ["not toml at all [", "listen = 5\n", "limits = 3\n"] {
        write_atomic(&RealDisk, &file, bad.as_bytes()).unwrap();
        let output = lamina(&["config", "--data", &path, "--config", text(&file)]);
        code(&output, 64);
    }
    let output = lamina(&["config", "--data", &path, "--config", &format!("{path}/missing.toml")]);
    assert_ne!(output.status.code(), Some(0), "a file that was named must be there");
}

#[test]
fn a_file_in_the_data_directory_is_read() {
    let place = directory();
    let path = data(place.path());
    RealDisk.create_dir_all(&path).unwrap();
    write_atomic(&RealDisk, &path.join("lamina.toml"), b"[limits]\nblob_bytes = 777\n").unwrap();
    let output = lamina(&["config", "--data", text(&path)]);
    code(&output, 0);
    assert!(out(&output).contains("777"), "{}", out(&output));
}

#[test]
fn check_reports_a_clean_directory_and_exits_with_0() {
    let own = Own::start();
    let mut api = own.api("check");
    for number in 0..10 {
        api.write(&format!("n{number}"));
    }
    let place = own.stop();
    let output = lamina(&["check", "--data", text(&data(place.path()))]);
    code(&output, 0);
    assert!(!out(&output).is_empty());
    let again = lamina(&["check", "--data", text(&data(place.path()))]);
    code(&again, 0);
}

#[test]
fn ruling_21_a_directory_that_cannot_be_read_is_4() {
    let place = directory();
    let missing = place.path().join("nothing-here");
    for command in ["check", "rebuild", "repair"] {
        let output = lamina(&[command, "--data", text(&missing)]);
        code(&output, 4);
        assert!(err(&output).contains("nothing-here"), "{command}: {}", err(&output));
        assert!(!RealDisk.exists(&missing), "{command} makes no directory");
    }
}

/// Damage in the middle of the log is found, named, and not mended by guessing.
#[test]
fn law_4_a_flipped_byte_is_found_and_the_server_refuses_to_start() {
    let own = Own::start();
    let mut api = own.api("damage");
    for number in 0..40 {
        api.write(&format!("a longer text of event number {number}"));
    }
    let place = own.stop();
    let path = data(place.path());
    let segment = first_segment(&path);
    flip(&segment, 2_000);
    let output = lamina(&["check", "--data", text(&path)]);
    code(&output, 2);
    let name = segment.file_name().unwrap().to_str().unwrap();
    let said = format!("{}{}", out(&output), err(&output));
    assert!(said.contains(name), "the report names the file: {said}");
    let output = lamina(&["serve", "--data", text(&path), "--listen", "127.0.0.1:0"]);
    code(&output, 2);
}

#[test]
fn check_prints_json_for_programs() {
    let own = Own::start();
    own.api("json").write("x");
    let place = own.stop();
    let output = lamina(&["check", "--data", text(&data(place.path())), "--json"]);
    code(&output, 0);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ok"], true, "{report}");
    assert_eq!(report["views_checked"], true, "{report}");
    assert_eq!(report["findings"], serde_json::json!([]), "{report}");
    assert!(report["entries"].as_u64().unwrap() >= 1, "{report}");
}

/// A checkpoint kept elsewhere proves that nothing before it was changed: the log it was taken from
/// passes also after it has grown, every other log does not.
#[test]
fn check_holds_a_log_against_a_kept_checkpoint() {
    let one = Own::start();
    one.api("checkpoint").write("before");
    let place = one.stop();
    let path = data(place.path());
    let kept = place.path().join("kept.json");
    let latest = path.join("checkpoints/latest.json");
    let bytes = read_file(&RealDisk, &latest, 1 << 16).unwrap();
    write_atomic(&RealDisk, &kept, &bytes).unwrap();
    let server = launch(place.path(), &[]).start().unwrap();
    let one = Own { server, directory: place };
    one.api("checkpoint").write("after");
    let place = one.stop();
    let other = Own::start();
    other.api("checkpoint").write("another log");
    let other = other.stop();
    let check = |of: &Path| lamina(&["check", "--data", text(of), "--checkpoint", text(&kept)]);
    code(&check(&path), 0);
    code(&check(&data(other.path())), 2);
    drop(place);
    write_atomic(&RealDisk, &data(other.path()).join("x.json"), b"{}").unwrap();
    let nonsense = data(other.path()).join("x.json");
    let output =
        lamina(&["check", "--data", text(&data(other.path())), "--checkpoint", text(&nonsense)]);
    code(&output, 2);
}

#[test]
fn repair_leaves_a_good_directory_alone_and_does_not_guess_at_a_bad_one() {
    let own = Own::start();
    let mut api = own.api("repair");
    for number in 0..40 {
        api.write(&format!("a longer text of event number {number}"));
    }
    let place = own.stop();
    let path = data(place.path());
    code(&lamina(&["repair", "--data", text(&path)]), 0);
    code(&lamina(&["check", "--data", text(&path)]), 0);
    flip(&first_segment(&path), 2_000);
    let output = lamina(&["repair", "--data", text(&path)]);
    code(&output, 2);
    assert!(!err(&output).is_empty(), "it says why it does nothing");
    code(&lamina(&["check", "--data", text(&path)]), 2);
    flip(&first_segment(&path), 2_000);
    code(&lamina(&["check", "--data", text(&path)]), 0);
}

/// Flips one bit; twice is not at all.
fn flip(file: &Path, position: u64) {
    let file = RealDisk.open(file).unwrap();
    let mut byte = [0u8];
    file.read_at(&mut byte, position).unwrap();
    file.write_at(&[byte[0] ^ 0x40], position).unwrap();
    file.sync().unwrap();
}

/// The first file of the log.
fn first_segment(data: &Path) -> std::path::PathBuf {
    let log = data.join("log");
    let names = RealDisk.list(&log).unwrap();
    let first = names.iter().find(|name| name.ends_with(".seg") || name.ends_with(".log"));
    log.join(first.unwrap_or_else(|| panic!("no segment among {names:?}")))
}

#[test]
fn nothing_said_reaches_the_logs() {
    let place = directory();
    let server = launch(place.path(), &[("LAMINA_LOG", "info")]).start().unwrap();
    let own = Own { server, directory: place };
    let mut api = own.api("quiet");
    api.write_settled("zanzibar-secret-phrase");
    api.post("/v1/experience", &serde_json::json!({"scope": "bad", "content": "zanzibar-two"}))
        .fails(422, "INVALID_SCOPE_GRAMMAR");
    own.server.terminate().unwrap();
    let Own { mut server, directory: _place } = own;
    assert!(server.wait().unwrap().success());
    let logged = format!("{}{}", server.logged(), server.printed());
    assert!(!logged.contains("zanzibar"), "{logged}");
    for line in server.logged().lines() {
        let value: serde_json::Value = serde_json::from_str(line)
            .unwrap_or_else(|_| panic!("JSON when it is not a terminal: {line}"));
        assert!(value.is_object());
    }
}
