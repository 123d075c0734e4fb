//! The words of a ChatGPT message, by its content type.

use super::super::fields::text_of;
use super::super::sink::RowSink;
use crate::json::Value;

/// The content of a message.
pub(super) enum MessageText {
    /// Words, perhaps none.
    Words(String),
    /// Thoughts of the model.
    Reasoning,
    /// Custom instructions: the user's profile and wishes for answers.
    Instructions { profile: String, instructions: String },
}

pub(super) fn message_text(message: &Value, sink: &mut RowSink) -> MessageText {
    let metadata = message.get("metadata");
    if let Some(files) = metadata.and_then(|metadata| metadata.get("attachments")?.as_array()) {
        for _ in files {
            sink.account.lose(
                "attachments",
                "the bytes of files are not imported; their names are in the origin",
            );
        }
    }
    let Some(content) = message.get("content").filter(|content| !content.is_null()) else {
        return MessageText::Words(String::new());
    };
    match text_of(content, &["content_type"]).unwrap_or("text") {
        "user_editable_context" => MessageText::Instructions {
            profile: text_of(content, &["user_profile"]).unwrap_or_default().to_owned(),
            instructions: text_of(content, &["user_instructions"]).unwrap_or_default().to_owned(),
        },
        "thoughts" | "reasoning_recap" => MessageText::Reasoning,
        "code" | "execution_output" | "system_error" | "model_editable_context" => {
            let names = ["text", "result", "model_set_context"];
            MessageText::Words(text_of(content, &names).unwrap_or_default().to_owned())
        }
        "tether_browsing_display" | "tether_quote" => MessageText::Words(part_text(content, sink)),
        _ => MessageText::Words(join_parts(content, sink)),
    }
}

fn join_parts(content: &Value, sink: &mut RowSink) -> String {
    let Some(parts) = content.get("parts").and_then(Value::as_array) else {
        return text_of(content, &["text", "result"]).unwrap_or_default().to_owned();
    };
    let texts = parts.iter().map(|part| match part {
        Value::String(text) => text.to_lossy().into_owned(),
        part => part_text(part, sink),
    });
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}

/// The words of a part that is an object.
fn part_text(part: &Value, sink: &mut RowSink) -> String {
    match text_of(part, &["content_type"]).unwrap_or_default() {
        "image_asset_pointer" => sink.account.lose("parts.image", "media is not imported"),
        "audio_asset_pointer"
        | "real_time_user_audio_video_asset_pointer"
        | "video_container_asset_pointer" => {
            sink.account.lose("parts.audio_or_video", "media is not imported");
        }
        _ => {}
    }
    let title = text_of(part, &["title"]).map(|title| format!("{title}\n")).unwrap_or_default();
    match text_of(part, &["text", "result", "snippet"]) {
        Some(text) => format!("{title}{text}"),
        None => String::new(),
    }
}
