//! The tools of the profile `zaxy`, with the schemas that Zaxy gives them.

use super::tools::Tool;

/// The documented tools of Zaxy, in the order of its list.
pub(crate) const ZAXY_TOOLS: &[Tool] = &[];

/// Tools that only the profile `full` lists.
pub(crate) const FULL_TOOLS: &[Tool] = &[];
