//! A clock that is wrong at the start deletes nothing: directories from other times, served by the real binary.

use std::path::PathBuf;
use std::time::Duration;

use lamina_api::time;
use lamina_env::{Clock, Disk, RealDisk, SystemClock};
use lamina_sim::client::Deadline;
use lamina_sim::past::{date_newest_segment, write_directory};
use lamina_types::Micros;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::{code, err, lamina, out};
use crate::coverage::check_schema;
use crate::harness::{Api, Own, data, directory, envelope, launch, string};
use crate::permissions::denied;
use crate::tokens::Team;

const CLOCK: &str = "/v1/admin/clock";
const CONFIRM: &str = "/v1/admin/clock/confirm";
const SWEEP: &str = "/v1/admin/retention/sweep";
const SCOPE: &str = "user:alice";
const TEXTS: [&str; 3] = ["one", "two", "three"];
const DAY: i64 = 24 * 3_600 * 1_000_000;

fn now() -> Micros {
    SystemClock::default().wall()
}

/// A directory that was last written so long ago, and its events.
struct Past {
    directory: TempDir,
    at: Micros,
    events: Vec<String>,
}

impl Past {
    fn days_ago(days: i64) -> Past {
        let (directory, at) = (directory(), now().plus(-days * DAY));
        let scope = SCOPE.parse().unwrap();
        let ids = write_directory(&data(directory.path()), at, &scope, &TEXTS).unwrap();
        date_newest_segment(&data(directory.path()), at).unwrap();
        Past { directory, at, events: ids.iter().map(ToString::to_string).collect() }
    }

    /// Where the system would say that its clock is synchronized.
    fn synchronized(&self) -> PathBuf {
        self.directory.path().join("synchronized")
    }

    /// Serves it with a retention of a year and a sweep in every second.
    fn serve(self) -> Served {
        let synchronized = self.synchronized();
        let environment = [
            ("LAMINA_RETENTION_DAYS", "365"),
            ("LAMINA_RETENTION_SWEEP_EVERY_S", "1"),
            ("LAMINA_CLOCK_SYNCHRONIZED_FILE", synchronized.to_str().unwrap()),
        ];
        let server = launch(self.directory.path(), &environment).start().unwrap();
        let Past { directory, at, events } = self;
        let own = Own { server, directory };
        let api = own.api("clock");
        Served { own, api, at, events }
    }
}

struct Served {
    own: Own,
    api: Api,
    at: Micros,
    events: Vec<String>,
}

impl Served {
    fn clock(&mut self) -> Value {
        let clock = self.api.get(CLOCK).ok(200);
        check_schema("clock_status", &clock);
        clock
    }

    fn health(&mut self) -> Value {
        self.api.get("/v1/admin/health").ok(200)
    }

    /// Waits for several sweeps that must not come, and looks whether everything is there.
    #[track_caller]
    fn keeps_everything(&mut self) {
        std::thread::sleep(Duration::from_secs(3));
        for id in &self.events {
            let event = self.api.get(&format!("/v1/events/{id}"));
            assert_eq!(event.response.status, 200, "{}", event.response.text());
        }
    }

    /// Writes an event and gives the time that it was recorded at.
    fn write(&mut self) -> Micros {
        let id = self.api.write_envelope(&envelope(SCOPE, "written now"));
        let event = self.api.event(&id);
        time::parse(&string(&event["context"], "recorded_at")).unwrap()
    }

    /// Asks until the log of the server has these words.
    #[track_caller]
    fn logs(&self, words: &[&str]) {
        let deadline = Deadline::after(Duration::from_secs(30));
        loop {
            let logged = self.own.server.logged();
            if words.iter().all(|word| logged.contains(word)) {
                return;
            }
            assert!(deadline.left().is_ok(), "{words:?} in {logged}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn sweep(&mut self) -> Value {
        self.api.post(SWEEP, &json!({"dry_run": false})).ok(200)
    }
}

/// The finding: a retention of a year, and a clock that is 400 days ahead of the log.
#[test]
fn clock_400_days_ahead_deletes_nothing_until_it_is_confirmed() {
    let mut served = Past::days_ago(400).serve();
    served.keeps_everything();
    let ended = time::print(served.at);
    let (date, today) = (&ended[..10], &time::print(now())[..10].to_owned());
    served.logs(&["45 days ahead", date, today, "lamina clock --confirm"]);
    let health = served.health();
    assert_eq!(health["status"], "degraded", "{health}");
    let reason = health["reasons"].to_string();
    assert!(reason.contains(date) && reason.contains(today.as_str()), "both times: {reason}");
    assert_eq!(health["checks"]["clock"]["status"], "degraded");
    let clock = served.clock();
    assert_eq!((&clock["doubt"], &clock["confirmed_by"]), (&json!("ahead"), &Value::Null));
    let deletion = json!({"allowed": false, "reason": "clock", "wait_secs": null});
    assert_eq!(clock["automatic_deletion"], deletion);
    assert!(string(&clock, "segment_modified_at").starts_with(date));
    assert!(served.write() < served.at.plus(DAY), "the log does not follow the clock");

    let clock = served.api.post(CONFIRM, &json!({})).ok(200);
    check_schema("clock_status", &clock);
    assert_eq!((&clock["doubt"], &clock["confirmed_by"]), (&Value::Null, &json!("operator")));
    assert_eq!(clock["automatic_deletion"]["reason"], "pause", "the first hour is not over");
    assert_eq!(served.health()["status"], "healthy");
    served.logs(&["an operator confirmed the clock", "the clock is believed again"]);
    assert!(served.write() > now().plus(-DAY), "the log follows the clock");
    served.keeps_everything();
    // What a person asks for needs no wait, and what was written before the confirmation is not a year old.
    let done = served.sweep();
    assert_eq!((&done["expired"], &done["erased"]), (&json!(3), &json!(3)), "{done}");
}

#[test]
fn clock_stays_in_doubt_after_writes_and_restarts() {
    let past = Past::days_ago(60);
    let synchronized = past.synchronized();
    let environment = [("LAMINA_CLOCK_SYNCHRONIZED_FILE", synchronized.to_str().unwrap())];
    for _ in 0..2 {
        let server = launch(past.directory.path(), &environment).start().unwrap();
        let mut client = server.client();
        let write = lamina_sim::client::Request::post("/v1/experience", &envelope(SCOPE, "hello"));
        assert_eq!(client.send(&write).unwrap().status, 202);
        let clock = client.send(&lamina_sim::client::Request::get(CLOCK)).unwrap().json().unwrap();
        assert_eq!(clock["doubt"], "ahead", "{clock}");
        assert!(server.stop().unwrap().success());
    }
    let mut served = past.serve();
    served.keeps_everything();
    served.api.post(CONFIRM, &json!({})).ok(200);
    // The confirmation is in the log: nobody has to say it again.
    let server = served.own.server;
    assert!(server.stop().unwrap().success());
    let server = launch(served.own.directory.path(), &environment).start().unwrap();
    let own = Own { server, directory: served.own.directory };
    let clock = own.api("clock").get(CLOCK).ok(200);
    // The file of the log was last written by the right clock too.
    assert_eq!((&clock["doubt"], &clock["confirmed_by"]), (&Value::Null, &Value::Null), "{clock}");
    assert_eq!(clock["automatic_deletion"]["reason"], "start");
}

#[test]
fn synchronized_system_vouches_for_the_clock() {
    let past = Past::days_ago(400);
    let synchronized = past.synchronized();
    let mut served = past.serve();
    assert_eq!(served.clock()["doubt"], "ahead");
    RealDisk.create_new(&synchronized).unwrap();
    let clock = served.clock();
    assert_eq!((&clock["doubt"], &clock["confirmed_by"]), (&Value::Null, &json!("system")));
    assert_eq!(served.health()["status"], "healthy");
    assert!(served.write() > now().plus(-DAY));
    served.keeps_everything();
}

#[test]
fn server_off_over_a_weekend_is_healthy_and_waits_an_hour() {
    let mut served = Past::days_ago(3).serve();
    served.logs(&["ended more than a day ago", "in the first hour"]);
    assert_eq!(served.health()["status"], "healthy");
    let clock = served.clock();
    assert_eq!(
        (&clock["doubt"], &clock["automatic_deletion"]["reason"]),
        (&Value::Null, &json!("pause"))
    );
    let wait = clock["automatic_deletion"]["wait_secs"].as_u64().unwrap();
    assert!((3_000..=3_600).contains(&wait), "{clock}");
    assert!(served.write() > now().plus(-DAY));
}

#[test]
fn first_ten_minutes_pass_without_automatic_deletion() {
    let mut served = Past::days_ago(0).serve();
    let mut short = served.api.envelope("Ada works at Initech.");
    short["directives"] = json!({"ttl_for_event_layer": "PT1S"});
    let short = served.api.post("/v1/experience?wait=settled", &short).ok(200);
    served.events.push(string(&short, "event_id"));
    served.keeps_everything();
    let clock = served.clock();
    assert_eq!(clock["automatic_deletion"]["reason"], "start", "{clock}");
    let wait = clock["automatic_deletion"]["wait_secs"].as_u64().unwrap();
    assert!((500..=600).contains(&wait), "{clock}");
    assert_eq!(served.sweep()["erased"], 1);
}

#[test]
fn clock_behind_the_log_is_degraded_and_shown_until_confirmed() {
    let mut served = Past::days_ago(-2).serve();
    let ended = time::print(served.at);
    served.logs(&["behind the log", &ended[..10]]);
    let health = served.health();
    assert_eq!(health["status"], "degraded", "{health}");
    assert!(health["reasons"].to_string().contains(&ended[..10]), "{health}");
    let ahead = health["checks"]["clock"]["values"]["log_ahead_secs"].as_u64().unwrap();
    assert!(ahead > 86_400, "{health}");
    assert_eq!(served.clock()["doubt"], "behind");
    assert!(served.write() > served.at, "entries keep their order");
    let clock = served.api.post(CONFIRM, &json!({})).ok(200);
    assert_eq!(clock["doubt"], Value::Null);
    assert!(clock["log_ahead_secs"].as_u64().unwrap() > 86_400, "it is still shown");
    assert_eq!(served.health()["status"], "healthy");
    // A log that is ahead makes nothing older.
    let rule = json!({"scope": SCOPE, "default_retention_days": 1});
    let put = lamina_sim::client::Request::new("PUT", "/v1/admin/retention/policies").json(&rule);
    served.api.send(&put).ok(200);
    assert_eq!(served.sweep()["expired"], 0);
}

#[test]
fn old_file_of_the_log_alone_is_reason_for_doubt() {
    let past = Past::days_ago(0);
    date_newest_segment(&data(past.directory.path()), now().plus(-60 * DAY)).unwrap();
    let mut served = past.serve();
    assert_eq!(served.clock()["doubt"], "ahead");
    assert_eq!(served.health()["status"], "degraded");
    assert!(served.write() > now().plus(-DAY), "the last entry agrees with the clock");
}

#[test]
fn confirmation_of_the_clock_is_for_operators() {
    let team =
        Team::start_with("on_prem_enterprise", &[("LAMINA_AUTH_OPERATORS", "default/user:root")]);
    let team = team.restart_with(&[("LAMINA_CLOCK_SYNCHRONIZED_FILE", "none")], |directory| {
        RealDisk.remove_dir_all(&data(directory)).unwrap();
        let at = now().plus(-400 * DAY);
        write_directory(&data(directory), at, &SCOPE.parse().unwrap(), &TEXTS).unwrap();
    });
    let mut alice = team.caller("default", "user:alice");
    let mut root = team.caller("default", "user:root");
    denied(alice.get(CLOCK), "diagnostics.read", "deployment");
    denied(alice.post(CONFIRM, &json!({})), "admin.compact", "deployment");
    assert_eq!(root.get(CLOCK).ok(200)["doubt"], "ahead", "a new file time is no proof");
    let unknown = json!({"sweep_id": format!("job_{}", "0".repeat(32))});
    root.post(CONFIRM, &unknown).fails(404, "NOT_FOUND");
    root.post(CONFIRM, &json!({"sweep_id": "7"})).fails_at(422, "INVALID_ID", "sweep_id");
    root.post(CONFIRM, &json!({"wall": "now"})).fails_at(422, "INVALID_BODY", "wall");
    assert_eq!(root.get(CLOCK).ok(200)["doubt"], "ahead");
    assert_eq!(root.post(CONFIRM, &json!({})).ok(200)["doubt"], Value::Null);
}

#[test]
fn command_shows_the_clock_and_confirms_it() {
    let served = Past::days_ago(400).serve();
    let url = format!("http://{}", served.api.client.address());
    let shown = lamina(&["clock", "--url", &url]);
    code(&shown, 0);
    assert!(out(&shown).contains("lamina clock --confirm"), "{}", out(&shown));
    assert!(out(&shown).contains(&time::print(served.at)[..10]), "{}", out(&shown));
    let confirmed = lamina(&["clock", "--url", &url, "--confirm"]);
    code(&confirmed, 0);
    assert!(out(&confirmed).contains("the clock is believed"), "{}", out(&confirmed));
    let shown: Value =
        serde_json::from_str(&out(&lamina(&["clock", "--url", &url, "--json"]))).unwrap();
    assert_eq!(shown["confirmed_by"], "operator");
    let id = format!("job_{}", "0".repeat(32));
    let unknown = lamina(&["clock", "--url", &url, "--confirm", "--sweep", &id]);
    code(&unknown, 4);
    assert!(err(&unknown).contains("NOT_FOUND"), "{}", err(&unknown));
}
