//! The filters of the lifecycle stream and of the event list: never a panic.
#![no_main]

use lamina_api::v1::events::EventsQuery;
use lamina_api::v1::lifecycle::{LifecycleQuery, StreamQuery};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let pairs: Vec<(String, String)> = text
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let _ = StreamQuery::parse(&pairs, None);
    let _ = StreamQuery::parse(&pairs, Some(text));
    let _ = LifecycleQuery::parse(&pairs);
    let _ = EventsQuery::parse(&pairs);
});
