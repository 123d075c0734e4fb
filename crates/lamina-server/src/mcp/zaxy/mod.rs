//! The profile `zaxy`: the tools that agents and people know who come from Zaxy, with its schemas and the members of
//! its answers, on the same memory as every other way in.

mod admin;
mod append;
mod assemble;
mod bounds;
mod checkout;
mod contexts;
mod contract;
mod export;
mod feedback;
mod invalidate;
mod layout;
pub(crate) mod lifecycle;
mod query;
mod redact;
mod refs;
mod reminder;
mod replay;
mod schemas;
mod session;
mod skill;
mod skill_register;
mod verbatim;

use super::tools::Tool;

/// The tools of the profile, in the order of its list.
pub(crate) const ZAXY_TOOLS: &[Tool] = &[
    checkout::TOOL,
    append::TOOL,
    query::TOOL,
    assemble::ASSEMBLE_TOOL,
    feedback::TOOL,
    invalidate::TOOL,
    contract::CAPABILITIES_TOOL,
    verbatim::TOOL,
    export::TOOL,
    skill::TOOL,
    replay::TOOL,
    contract::BOOTSTRAP_TOOL,
    assemble::AFTER_TURN_TOOL,
    assemble::CLEANUP_TOOL,
];

/// Tools that only the profile `full` lists.
pub(crate) const FULL_TOOLS: &[Tool] = &[];
