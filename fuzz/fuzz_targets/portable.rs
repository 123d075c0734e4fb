//! Files of other programs: JSON, bundles, proofs, logs.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lamina_sim::targets::portable(input));
