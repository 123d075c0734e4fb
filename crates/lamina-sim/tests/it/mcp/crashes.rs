//! Kills at random: of the server, of `lamina mcp`, of the client. What was acknowledged is there, once.

use std::time::Duration;

use serde_json::Value;

use super::processes::{Ground, kill_server, number, words};

/// Appends in an ordinary run, and where time does not matter.
const APPENDS: u64 = 90;
const APPENDS_SLOW: u64 = 1_000;

/// A small generator: the moments of the kills are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[test]
fn m13_m80_acknowledged_appends_are_there_once_after_kills_of_all_three() {
    let ground = Ground::new();
    let appends = match std::env::var_os("RUN_SLOW_TESTS") {
        Some(_) => APPENDS_SLOW,
        None => APPENDS,
    };
    let mut dice = Dice(20);
    let mut client = ground.client();
    let mut acknowledged: Vec<(u64, Value)> = Vec::new();
    let (mut servers, mut proxies, mut clients) = (0, 0, 0);
    for turn in 0..appends {
        match turn % 15 {
            // The server, while the call is on its way or just before.
            4 => {
                servers += 1;
                let (data, after) = (ground.data(), dice.roll(30));
                let killer = std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(after));
                    kill_server(&data);
                });
                let answer = client.append(&format!("Turn {turn}."));
                killer.join().unwrap();
                if answer["result"]["structuredContent"].is_object() {
                    acknowledged.push((turn, answer));
                } else {
                    let text = answer["error"]["message"].as_str().unwrap();
                    assert!(text.contains("Call again"), "{answer}");
                }
            }
            // The proxy, with a call under way.
            9 => {
                proxies += 1;
                client.send_append(&format!("Turn {turn}."));
                std::thread::sleep(Duration::from_millis(dice.roll(20)));
                client.child.kill().unwrap();
                client.child.wait().unwrap();
                client = ground.client();
            }
            // The client: its pipes close with a call under way.
            14 => {
                clients += 1;
                client.send_append(&format!("Turn {turn}."));
                std::thread::sleep(Duration::from_millis(dice.roll(20)));
                let mut child = client.vanish();
                assert_eq!(child.wait().unwrap().code(), Some(0));
                client = ground.client();
            }
            _ => acknowledged.push((turn, client.append(&format!("Turn {turn}.")))),
        }
    }
    assert!(servers > 0 && proxies > 0 && clients > 0, "{servers} {proxies} {clients}");
    let mut numbers: Vec<u64> = Vec::new();
    for (turn, answer) in &acknowledged {
        numbers.push(number(answer));
        let id = &answer["result"]["structuredContent"]["event_id"];
        assert_eq!(words(&mut client, id), format!("Turn {turn}."));
    }
    let last = number(&client.append("Last."));
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), acknowledged.len());
    // Numbers are dense, so their end is the count: an append that was repeated did not add a second event.
    assert!(last > acknowledged.len() as u64 && last <= appends + 1, "{last} of {appends}");
    assert_eq!(client.end().0, Some(0));
}
