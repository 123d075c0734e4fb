//! A log whose bytes were changed.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lamina_sim::targets::log(input));
