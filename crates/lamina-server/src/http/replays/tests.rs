//! Who may resume a stream, from where, and for how long.

use std::sync::Arc;

use lamina_core::policy::Caller;
use lamina_types::{LifecycleId, Micros, ScopePath};

use crate::http::packs::tests::kept;

use super::{Gone, Next, Replays, Source as _, base, numbered};

fn caller(name: &str) -> Caller {
    Caller::local(format!("user:{name}").parse().unwrap(), 1)
}

#[tokio::test]
async fn a_stream_goes_on_after_the_last_event_that_was_seen() {
    let replays = Replays::default();
    let pack = Arc::new(kept("where?", 1));
    let first = LifecycleId::mint(Micros(1), [7; 8]);
    let events = [("plan", b"{}".to_vec()), ("layer", b"1".to_vec()), ("done", b"2".to_vec())];
    let mut stream = replays.keep(&caller("ada"), &pack, (first, Micros(0)), &events);
    let mut seen = Vec::new();
    loop {
        match stream.next().await {
            Next::Frame(frame) => seen.push(frame),
            Next::Last(frame) => {
                seen.push(frame);
                break;
            }
            Next::Done => panic!("the last one says so"),
        }
    }
    assert_eq!(seen.len(), 3);
    let second = numbered(base(first), 1);
    let text = String::from_utf8(seen[1].to_vec()).unwrap();
    assert_eq!(text, format!("id: {second}\nevent: layer\ndata: 1\n\n"));
    let mut rest = replays.after(&caller("ada"), second, Micros(59_999_999)).unwrap();
    assert!(matches!(rest.next().await, Next::Last(frame) if frame == seen[2]));
    assert!(replays.after(&caller("ben"), second, Micros(1)).is_none(), "somebody else's");
    assert!(replays.after(&caller("ada"), first, Micros(1)).is_none(), "no event of it");
    let end = numbered(base(first), 2);
    let mut nothing = replays.after(&caller("ada"), end, Micros(1)).unwrap();
    assert!(matches!(nothing.next().await, Next::Done));
    assert!(replays.after(&caller("ada"), second, Micros(60_000_000)).is_none());
    replays.keep(&caller("ada"), &pack, (first, Micros(0)), &events);
    let gone = |scope: &str| {
        let scope: ScopePath = scope.parse().unwrap();
        replays.forget(&Gone { tenant: 1, scope: &scope, id: "evt_1" });
    };
    gone("user:ben");
    assert!(replays.after(&caller("ada"), second, Micros(1)).is_some(), "it has nothing of that");
    gone("user:ada/project:x");
    assert!(replays.after(&caller("ada"), second, Micros(1)).is_none());
}
