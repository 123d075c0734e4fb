//! Tokens and sets of keys: never a panic, and nothing gets in that no trusted key signed.
#![no_main]

use lamina_auth::{KeySet, Minter, trust_file, verify};
use lamina_env::sim::rng::SimRng;
use lamina_types::Micros;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let minter = Minter::generate("https://fuzz.example", &SimRng::new(1)).expect("one word");
    let mut keys = KeySet::new();
    let file = trust_file(minter.iss(), &[minter.public().clone()]);
    keys.add_trust_file(&file).expect("just made");
    assert!(verify(text, &keys, Micros(1_700_000_000_000_000)).is_err());
    let _ = KeySet::new().add_trust_file(text);
    let _ = KeySet::new().set_jwks("https://fuzz.example", text);
});
