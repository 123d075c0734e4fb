//! The `lamina` program. Everything is in the library, so that tests and benchmarks can reach it.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    lamina_server::cli::run(std::env::args_os()).into()
}
