//! The admin token: where the operator sets one, replay, invalidation and export ask for it beside the capability.

use crate::mcp::tools::{ToolCall, ToolFailure};

/// Refuses a call without the admin token, if there is one.
pub(super) fn check(call: &ToolCall) -> Result<(), ToolFailure> {
    let Some(expected) = &call.app.mcp.admin_token else { return Ok(()) };
    let given = call.arguments.get("admin_token").and_then(serde_json::Value::as_str);
    match given.is_some_and(|given| expected.is(given)) {
        true => Ok(()),
        false => Err(ToolFailure {
            code: "POLICY_DENIED",
            text: "`admin_token` is required for this tool on this server, and is missing or another one. Ask the \
                   operator for it."
                .to_owned(),
            status: 403,
        }),
    }
}
