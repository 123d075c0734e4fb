//! Scope paths: never a panic, and what is accepted round-trips.
#![no_main]

use lamina_types::ScopePath;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(path) = text.parse::<ScopePath>() {
        assert_eq!(path.as_str(), text);
        assert!(path.self_and_ancestors().iter().all(|ancestor| ancestor.contains(&path)));
    }
});
