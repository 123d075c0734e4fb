//! Lines of the Model Context Protocol: each is answered with JSON on one line, or not at all.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lamina_server::mcp::targets::stream(input));
