//! A start that has to rebuild the views: the port is open at once and says how far it is.

use std::net::TcpListener;
use std::time::Duration;

use lamina_env::{Disk, RealDisk};
use lamina_sim::client::{Client, Request};
use serde_json::{Value, json};

use crate::harness::{Own, check_envelope, data, launch, string};

const BULKS: usize = 30;
const BULK: usize = 100;
const LOOK: Duration = Duration::from_millis(20);

#[test]
fn start_that_rebuilds_the_views_answers_with_its_progress() {
    let own = Own::start();
    let mut api = own.api("faults-start");
    let mut last = String::new();
    for bulk in 0..BULKS {
        let items: Vec<Value> = (0..BULK)
            .map(|number| json!({"scope": api.scope, "content": format!("event {bulk} {number}")}))
            .collect();
        let made = api.post("/v1/experience/bulk", &json!({"items": items})).made();
        last = string(&made["results"][BULK - 1], "event_id");
    }
    let directory = own.stop();
    RealDisk.remove_dir_all(&data(directory.path()).join("views")).unwrap();
    // Free now; nobody else asks for a certain one.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let launch = launch(directory.path(), &[]).argument("--listen").argument(address.to_string());
    let starting = std::thread::spawn(move || launch.start());
    let mut client = Client::new(address);
    let mut told = 0;
    loop {
        let Ok(ready) = client.send(&Request::get("/v1/ready")) else {
            assert!(!starting.is_finished() || told > 0);
            std::thread::sleep(LOOK);
            continue;
        };
        if ready.status == 200 {
            break;
        }
        assert_eq!(ready.status, 503);
        let shown = ready.json().unwrap();
        assert_eq!(shown["ready"], false);
        let values = &shown["checks"]["views"]["values"];
        assert!(values["entries_done"].as_u64() <= values["entries"].as_u64(), "{shown}");
        if values["entries"].as_u64() > Some(0) {
            told += 1;
            let health = client.send(&Request::get("/v1/health")).unwrap();
            if health.status == 503 {
                assert!(health.text().contains("rebuilt"), "{}", health.text());
            }
            let other = client.send(&Request::get(&format!("/v1/events/{last}"))).unwrap();
            if other.status == 503 {
                check_envelope("GET /v1/events", &other);
                assert_eq!(other.json().unwrap()["error_code"], "OVERLOADED");
                assert!(other.header("retry-after").is_some());
            }
        }
        std::thread::sleep(LOOK);
    }
    assert!(told > 0, "a rebuild of {} events takes longer than a look", BULKS * BULK);
    let server = starting.join().unwrap().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("faults-start");
    assert!(string(&api.event(&last)["content"], "text").starts_with("event"));
}
