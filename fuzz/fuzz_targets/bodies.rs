//! The bodies of every route but those that write events.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lamina_sim::targets::bodies(input));
