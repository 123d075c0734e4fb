//! The `lamina-issuer` program. Everything is in the library, so that tests can reach it.

use std::process::ExitCode;

use lamina_env::Env;

fn main() -> ExitCode {
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr().lock());
    lamina_issuer::run(std::env::args_os(), &Env::real(), &mut out, &mut err).into()
}
