//! The client asks its user before anything is forgotten, where it says that it can: the first answer requires input
//! (`resultType: "input_required"`), and the call comes again with what the user said. The state that travels with it
//! carries a keyed hash over the caller, the scope, the arguments and the preview, so it stands for nothing else.

use lamina_types::stdx::hex;
use serde_json::{Map, Value, json};

use super::era::{Era, META_CAPABILITIES, meta};
use super::rpc::{INVALID_PARAMS, RpcError};
use super::tools::ToolCall;

/// The name of the one question.
const QUESTION: &str = "confirm";
/// The member of the answer that says yes.
const AGREES: &str = "forget";

/// What a request says about questions to the user.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfirmDialogue {
    /// The client can show a form to its user.
    pub(crate) can_ask: bool,
    state: Option<Value>,
    responses: Option<Value>,
}

/// What the user said about a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UserWord {
    /// Nothing yet, or nothing that can be understood.
    Silent,
    /// To carry out this preview.
    Agreed(String),
    /// Not to.
    Declined,
}

impl ConfirmDialogue {
    /// Reads the parameters of a call.
    pub(crate) fn read(params: &Map<String, Value>, era: Era) -> ConfirmDialogue {
        let capabilities = meta(params).and_then(|meta| meta.get(META_CAPABILITIES));
        let elicitation = capabilities.and_then(|all| all.get("elicitation")?.as_object());
        // An empty object stands for forms, as in the versions before.
        let has_forms =
            elicitation.is_some_and(|modes| modes.is_empty() || modes.contains_key("form"));
        ConfirmDialogue {
            can_ask: era == Era::Modern && has_forms,
            state: params.get("requestState").cloned(),
            responses: params.get("inputResponses").cloned(),
        }
    }

    /// What the user said. A state that this server did not make for this very call is refused.
    pub(crate) fn user_word(&self, call: &ToolCall) -> Result<UserWord, RpcError> {
        let Some(state) = &self.state else { return Ok(UserWord::Silent) };
        let preview = state.as_str().and_then(|state| {
            let (preview, _) = state.split_once('.')?;
            (sealed_state(call, preview) == state).then(|| preview.to_owned())
        });
        let preview = preview.ok_or_else(|| {
            let text = "`requestState` was not made for this call. Call without it to begin again.";
            RpcError::bad_request(INVALID_PARAMS, text)
        })?;
        let response = self.responses.as_ref().and_then(|responses| responses.get(QUESTION));
        let agrees = response.and_then(|response| response.get("content")?.get(AGREES)?.as_bool());
        let action = response.and_then(|response| response.get("action")?.as_str());
        Ok(match (action, agrees) {
            (Some("accept"), Some(true)) => UserWord::Agreed(preview),
            (Some("accept"), Some(false)) | (Some("decline" | "cancel"), _) => UserWord::Declined,
            _ => UserWord::Silent,
        })
    }
}

/// The result that has the client ask its user.
pub(crate) fn question(call: &ToolCall, preview: &str, message: &str) -> Value {
    json!({
        "resultType": "input_required",
        "inputRequests": {
            QUESTION: {
                "method": "elicitation/create",
                "params": {
                    "mode": "form",
                    "message": message,
                    "requestedSchema": {
                        "type": "object",
                        "properties": {
                            AGREES: {
                                "type": "boolean",
                                "title": "Forget it",
                                "description": "It cannot be brought back.",
                            },
                        },
                        "required": [AGREES],
                    },
                },
            },
        },
        "requestState": sealed_state(call, preview),
    })
}

/// A preview with the keyed hash of what it stands for.
fn sealed_state(call: &ToolCall, preview: &str) -> String {
    let bound = json!([
        "mcp-confirm",
        call.caller.actor.as_str(),
        call.place.scope.as_str(),
        call.arguments,
        preview,
    ]);
    let mac = call.app.engine.cursor_mac(call.caller.tenant, bound.to_string().as_bytes());
    format!("{preview}.{}", hex::encode(&mac))
}
