//! Tokens and sets of keys.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| lamina_sim::targets::token(input));
