//! Prompts: four starts of a conversation that a person chooses, filled with what memory has.

use serde_json::{Map, Value, json};

use super::rpc::{INVALID_PARAMS, RpcError};
use super::tools::{self, ToolAnswer, ToolCall, ToolFailure, session_log};

/// A prompt.
pub(crate) struct Prompt {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [PromptArgument],
    /// What the model is asked to do with what memory has.
    task: &'static str,
    source: PromptSource,
}

/// An argument of a prompt.
struct PromptArgument {
    name: &'static str,
    description: &'static str,
    is_required: bool,
}

/// Where the words of a prompt come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PromptSource {
    /// A checkout about the argument `query`.
    Checkout,
    /// A checkout about what is open.
    Handoff,
    /// Where a record comes from.
    Why,
    /// The events since a time.
    Changes,
}

/// What a handoff asks memory.
const HANDOFF_QUERY: &str = "open goals, tasks, blockers, recent decisions and the last handoff";
/// Characters of an argument.
const ARGUMENT_CHARS_MAX: usize = 4_000;

const SESSION: PromptArgument = PromptArgument {
    name: "session_id",
    description: "a session of this project; without it the whole project",
    is_required: false,
};

/// The prompts, in the order of the list.
pub(crate) const PROMPTS: [Prompt; 4] = [
    Prompt {
        name: "recall",
        title: "Recall",
        description: "What memory knows about a task or a question, with citations.",
        arguments: &[
            PromptArgument {
                name: "query",
                description: "the task or question",
                is_required: true,
            },
            SESSION,
        ],
        task: "Use this record of memory for the task. Cite what you rely on; ask me where it says `ask_user`.",
        source: PromptSource::Checkout,
    },
    Prompt {
        name: "handoff",
        title: "Hand over",
        description: "What is open, decided and next, for whoever goes on.",
        arguments: &[SESSION],
        task: "Write a handoff from this record of memory: goals, decisions, open tasks, blockers, next step. \
               Cite each line.",
        source: PromptSource::Handoff,
    },
    Prompt {
        name: "why",
        title: "Why do you believe this?",
        description: "The events that a fact, a belief or a citation stands on.",
        arguments: &[PromptArgument {
            name: "id",
            description: "citation, fact_, belief_ or evt_ id",
            is_required: true,
        }],
        task: "Explain from this record of memory why it is held to be so, and how certain it is.",
        source: PromptSource::Why,
    },
    Prompt {
        name: "what-changed",
        title: "What changed",
        description: "The events since a time, in a session or a scope of this project.",
        arguments: &[
            PromptArgument {
                name: "since",
                description: "a time such as 2026-05-13T15:00:00Z; without it the latest events",
                is_required: false,
            },
            SESSION,
            PromptArgument {
                name: "scope",
                description: "a scope such as project:zaxy in place of a session",
                is_required: false,
            },
        ],
        task: "Summarise from this record of memory what changed. Cite each change.",
        source: PromptSource::Changes,
    },
];

impl Prompt {
    fn shown(&self) -> Value {
        let arguments: Vec<Value> = self
            .arguments
            .iter()
            .map(|argument| {
                json!({
                    "name": argument.name,
                    "description": argument.description,
                    "required": argument.is_required,
                })
            })
            .collect();
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": arguments,
        })
    }

    /// Whether the prompt has this argument.
    pub(crate) fn takes(&self, argument: &str) -> bool {
        self.arguments.iter().any(|known| known.name == argument)
    }

    /// Holds arguments against those that the prompt has, and returns what a tool would be called with.
    pub(crate) fn checked(
        &self,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, RpcError> {
        let wrong = |text: String| Err(RpcError::bad_request(INVALID_PARAMS, text));
        for (name, value) in &arguments {
            if !self.takes(name) {
                let name: String = name.chars().take(64).collect();
                return wrong(format!("The prompt `{}` has no argument `{name}`.", self.name));
            }
            let fits =
                value.as_str().is_some_and(|text| text.chars().count() <= ARGUMENT_CHARS_MAX);
            if !fits {
                return wrong(format!(
                    "The argument `{name}` must be a text of at most {ARGUMENT_CHARS_MAX} characters."
                ));
            }
        }
        for argument in self.arguments.iter().filter(|argument| argument.is_required) {
            let text = arguments.get(argument.name).and_then(Value::as_str).unwrap_or_default();
            if text.trim().is_empty() {
                return wrong(format!("The argument `{}` is required.", argument.name));
            }
        }
        let mut arguments = arguments;
        if self.source == PromptSource::Handoff {
            arguments.insert("query".to_owned(), HANDOFF_QUERY.into());
        }
        Ok(arguments)
    }

    /// What memory has for it.
    pub(crate) async fn read(&self, call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
        match self.source {
            PromptSource::Checkout | PromptSource::Handoff => tools::checkout(call).await,
            PromptSource::Why => tools::why(call).await,
            PromptSource::Changes => {
                let since = call.text("since").map(str::to_owned);
                session_log::read(&call, since.as_deref()).await
            }
        }
    }

    /// The result of `prompts/get`.
    pub(crate) fn filled(&self, record: &str) -> Value {
        let text = format!("{}\n\n{record}", self.task);
        json!({
            "description": self.description,
            "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
        })
    }
}

/// The prompts, as clients list them.
pub(crate) fn list() -> Value {
    PROMPTS.iter().map(Prompt::shown).collect()
}

/// The prompt of this name.
pub(crate) fn named(name: &str) -> Result<&'static Prompt, RpcError> {
    PROMPTS.iter().find(|prompt| prompt.name == name).ok_or_else(|| {
        let known: Vec<&str> = PROMPTS.iter().map(|prompt| prompt.name).collect();
        let name: String = name.chars().take(64).collect();
        let text = format!("There is no prompt `{name}`; there are {}.", known.join(", "));
        RpcError::new(INVALID_PARAMS, text)
    })
}
