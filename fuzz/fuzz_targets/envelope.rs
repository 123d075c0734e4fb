//! Envelopes, single and bulk, lenient and strict.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lamina_sim::targets::envelope(input));
