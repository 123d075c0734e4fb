//! Envelopes, single and bulk, lenient and strict: never a panic.
#![no_main]

use lamina_api::v1::experience::{AdmitContext, Strictness, identity, read, read_bulk};
use lamina_types::{ActorId, Micros};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let caller: ActorId = "user:fuzz".parse().expect("well formed");
    for strictness in [Strictness::Lenient, Strictness::Strict] {
        let context = AdmitContext {
            caller: &caller,
            now: Micros(1_700_000_000_000_000),
            strictness,
            header_idempotency_key: None,
            generated_key: &|| "generated".to_owned(),
            scope_type_allowed: &|_| true,
        };
        if let Ok(admitted) = read(body, &context) {
            assert!(!identity(&admitted.experience).is_empty());
        }
        let _ = read_bulk(body, &context);
    }
});
