//! Conversations: our own messages, and those of other programs.

use lamina_types::ActorId;

use super::PamMapper;
use crate::foreign::fields::role_of;
use crate::foreign::row::{ForeignRow, Place, TimeBasis};
use crate::foreign::sink::{RowSink, actor_id};
use crate::json::{Member, Value};
use crate::pam::{Conversation, Message, NativeRecord, take_message_block};

impl PamMapper {
    pub(super) fn map_conversation(&mut self, document: &Value, place: &Place, sink: &mut RowSink) {
        let Some(talk) = Conversation::read(document) else { return };
        self.index.remove(&talk.id);
        let mut head = Some(head_of(document));
        let agent = actor_id("agent", &talk.platform);
        for (index, message) in talk.messages.iter().enumerate() {
            let place = place.part(format_args!("messages/{index}"));
            let native = NativeRecord::of_message(message);
            if native.is_some_and(|native| self.take_native(&native, &place, sink)) {
                continue;
            }
            let text = message.text.as_deref().unwrap_or_default();
            if text.trim().is_empty() {
                sink.account.skip("the message has no words", 1);
                continue;
            }
            let frame = TalkFrame { id: &talk.id, agent: agent.clone(), place };
            frame.push(message, head.take(), sink);
        }
        if head.is_some() && talk.messages.is_empty() {
            sink.account.lose("conversations", "a conversation without messages");
        }
    }
}

/// Everything of a conversation but its messages.
fn head_of(document: &Value) -> Value {
    let mut head = document.clone();
    for name in ["messages", "schema", "schema_version"] {
        head.take(name);
    }
    head
}

struct TalkFrame<'a> {
    id: &'a str,
    agent: Option<ActorId>,
    place: Place,
}

impl TalkFrame<'_> {
    fn push(self, message: &Message, head: Option<Value>, sink: &mut RowSink) {
        let TalkFrame { id, agent, place } = self;
        let role = role_of(&message.role).unwrap_or(lamina_types::Role::User);
        let text = message.text.clone().unwrap_or_default();
        sink.account.keep("conversations[].messages", "messages of a session");
        let mut row =
            ForeignRow::message(&place, role, text).at(Some(message.created_at), TimeBasis::Stated);
        row.session = Some(id.to_owned());
        if role != lamina_types::Role::User {
            row.actor = agent;
        }
        let mut kept = message.clone();
        take_message_block(&mut kept);
        let mut rest = Value::object([("id", message.id.as_str().into())]);
        rest.push_some("parent_id", message.parent_id.as_deref());
        for Member { key, value } in kept.others {
            if let (Some(key), false) = (key.as_str(), value.is_null()) {
                rest.push(key, value);
            }
        }
        row.origin =
            sink.origin([("conversation", head.unwrap_or(Value::Null)), ("message", rest)]);
        sink.push(row.with_id(format!("{id}/{}", message.id)));
    }
}
