//! The filters of streams and lists.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| lamina_sim::targets::queries(input));
