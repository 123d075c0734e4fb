//! Ids print and parse per kind, and sort by the instant they were minted at.

use super::*;

#[test]
fn r108_r122_every_prefix_round_trips_and_refuses_the_others() {
    let bytes = uuid_v7(Micros(1_700_000_000_123_456), [7; 8]);
    for expected in PREFIXES {
        for given in PREFIXES {
            let text = format!("{given}_{}", hex::encode(&bytes));
            let parsed = parse(expected, &text);
            if expected == given {
                assert_eq!(parsed, Ok(bytes));
            } else {
                assert!(parsed.is_err(), "{text} must not be an {expected} id");
            }
        }
    }
}

#[test]
fn ruling_7_hyphens_are_accepted_and_not_printed() {
    let id: EventId = "evt_018bcfe5-6800-7000-8000-000000000001".parse().unwrap();
    assert_eq!(id.to_string(), "evt_018bcfe5680070008000000000000001");
}

#[test]
fn bad_ids_say_what_was_expected() {
    for bad in [
        "",
        "evt_",
        "evt_1",
        "fact_018bcfe5680070008000000000000001",
        "evt_018bcfe568007000800000000000000g",
        "evt_018bcfe56800700080000000000000011",
        "evt_../../etc/passwd",
        "EVT_018bcfe5680070008000000000000001",
    ] {
        assert!(bad.parse::<EventId>().is_err(), "{bad}");
    }
}

#[test]
fn ids_sort_by_microsecond() {
    let mut last = EventId::mint(Micros(0), [0xFF; 8]);
    for micros in 1..5_000 {
        let next = EventId::mint(Micros(micros), [0; 8]);
        assert!(next > last, "at {micros}");
        last = EventId::mint(Micros(micros), [0xFF; 8]);
    }
}
