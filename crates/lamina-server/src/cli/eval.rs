//! `lamina eval`: the command line of measuring recall.

use std::io::{IsTerminal as _, Write as _, stderr};

use anyhow::{Context as _, anyhow};
use lamina_env::Env;

use super::args::EvalArgs;
use super::exit::{Exit, Failure};
use super::print;
use crate::eval::{self, Layout, Plan};

/// Measures and prints tables.
pub(super) fn eval(args: EvalArgs) -> Result<Exit, Failure> {
    let plan = plan(args)?;
    let env = Env::real();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("the runtime cannot start").map_err(Failure::unreadable)?;
    let shows = stderr().is_terminal();
    let mut progress = |line: &str| {
        if shows {
            let _ = write!(stderr(), "\r{line:<60}");
        }
    };
    let tables = runtime.block_on(eval::run(&plan, &env, &mut progress));
    progress("");
    if shows {
        let _ = write!(stderr(), "\r");
    }
    print(&tables.map_err(Failure::unreadable)?)?;
    Ok(Exit::Fine)
}

fn plan(args: EvalArgs) -> Result<Plan, Failure> {
    let EvalArgs {
        locomo,
        corrections,
        beam,
        longmemeval,
        memdaily,
        realmem,
        own,
        stories,
        factconsolidation,
        gatemem,
        url,
        token_file,
        out,
        conversations,
        no_cross,
        halves,
    } = args;
    let given = [
        (Layout::Locomo, locomo),
        (Layout::Beam, beam),
        (Layout::LongMemEval, longmemeval),
        (Layout::MemDaily, memdaily),
        (Layout::RealMem, realmem),
        (Layout::Own, own),
    ];
    let sets: Vec<_> =
        given.into_iter().filter_map(|(layout, path)| Some((layout, path?))).collect();
    let has_answers = stories.is_some() || factconsolidation.is_some() || gatemem.is_some();
    if sets.is_empty() && !has_answers {
        return Err(Failure::usage(anyhow!(
            "give at least one data set; `lamina eval --help` lists them"
        )));
    }
    let token = match token_file {
        None => None,
        Some(path) => {
            let read = lamina_env::disk::read_file(&lamina_env::RealDisk, &path, 1 << 16);
            let read = read.with_context(|| format!("{} cannot be read", path.display()));
            let bytes = read.map_err(Failure::unreadable)?;
            Some(String::from_utf8_lossy(&bytes).trim().to_owned())
        }
    };
    Ok(Plan {
        sets,
        stories,
        factconsolidation,
        gatemem,
        corrections,
        url,
        token,
        out,
        conversations_max: conversations.unwrap_or(usize::MAX),
        elsewhere: !no_cross,
        halves,
    })
}
