//! Scope paths: what is accepted is what was written.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| lamina_sim::targets::scope(input));
