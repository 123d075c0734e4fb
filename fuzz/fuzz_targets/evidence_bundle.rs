//! An evidence bundle of any bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lamina_sim::targets::evidence_bundle(input));
