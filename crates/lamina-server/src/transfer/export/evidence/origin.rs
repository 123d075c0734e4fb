//! The origin of an event: the type, the principal and the taints of its record.

use lamina_aegx::{Principal, RecordType, Taint, TaintSet};
use lamina_portable::json::{ReadPolicy, parse};
use lamina_types::{ActorId, Content, EventRecord, Experience, Role};

/// Labels of sources that are channels.
const CHANNEL_LABELS: [&str; 6] =
    ["source:slack", "source:email", "source:teams", "source:discord", "source:sms", "source:chat"];
/// The label that an import gives for each taint.
const TAINT_LABEL: &str = "taint:";
/// The member of a source descriptor that names the source.
const SOURCE_NAME: &str = "source_id";

/// Type, principal and taints of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventOrigin {
    pub(super) kind: RecordType,
    pub(super) principal: Principal,
    pub(super) taint: TaintSet,
}

/// The origin of an event whose words are gone: nobody knows its author.
pub(super) const UNKNOWN_ORIGIN: EventOrigin = EventOrigin {
    kind: RecordType::SessionMessage,
    principal: Principal::External,
    taint: TaintSet::UNTRUSTED,
};

impl EventOrigin {
    /// The origin of an event.
    pub(super) fn of(record: &EventRecord) -> EventOrigin {
        let own = &record.experience;
        let origin = match (own.modality.0.as_str(), role_of(&own.content)) {
            ("tool_result", _) | (_, Some(Role::Tool)) => EventOrigin {
                kind: RecordType::ToolResult,
                principal: Principal::Tool,
                taint: TaintSet::new(&[Taint::ToolOutput, Taint::Untrusted]),
            },
            ("document" | "imported", _) => document(own),
            _ if matches!(own.content, Content::BlobRef { .. }) => document(own),
            (_, role) => message(record, role),
        };
        EventOrigin { taint: origin.taint.union(labelled(&own.context.labels)), ..origin }
    }
}

fn role_of(content: &Content) -> Option<Role> {
    match content {
        Content::Message { role, .. } => Some(*role),
        _ => None,
    }
}

fn document(own: &Experience) -> EventOrigin {
    let kind = RecordType::FileRead;
    match own.source.as_deref().is_some_and(is_from_the_web) {
        true => EventOrigin {
            kind,
            principal: Principal::Web,
            taint: TaintSet::new(&[Taint::Untrusted, Taint::WebDerived]),
        },
        false => EventOrigin {
            kind,
            principal: Principal::External,
            taint: TaintSet::new(&[Taint::Untrusted]),
        },
    }
}

/// The origin of a message. A person is trusted for their own words alone: a quotation by others is untrusted.
fn message(record: &EventRecord, role: Option<Role>) -> EventOrigin {
    let own = &record.experience;
    let actor = &own.observed_actor.id;
    let is_channel = own.context.labels.iter().any(|label| {
        let label = label.to_ascii_lowercase();
        CHANNEL_LABELS.contains(&label.as_str())
    });
    let (principal, taints): (_, &[Taint]) = match (role, actor.kind()) {
        (Some(Role::Assistant), _) | (_, "agent") => {
            (Principal::Skill, &[Taint::Untrusted, Taint::SkillOutput])
        }
        (_, "system") if record.as_system => (Principal::System, &[]),
        _ if is_channel => (Principal::Channel, &[Taint::Untrusted]),
        (_, "user") if record.caller == *actor => (Principal::User, &[]),
        _ => (Principal::External, &[Taint::Untrusted]),
    };
    EventOrigin { kind: RecordType::SessionMessage, principal, taint: TaintSet::new(taints) }
}

/// Taints that an event came with from another bundle.
fn labelled(labels: &[String]) -> TaintSet {
    let named = labels.iter().filter_map(|label| label.strip_prefix(TAINT_LABEL));
    let known = named.filter_map(Taint::from_name);
    known.fold(TaintSet::NONE, |taints, taint| taints.union(TaintSet::new(&[taint])))
}

fn is_from_the_web(source: &str) -> bool {
    let Ok(source) = parse(source.as_bytes(), &ReadPolicy::STRICT) else { return false };
    let name = source.get(SOURCE_NAME).and_then(|name| name.as_str()).unwrap_or_default();
    name.starts_with("https://") || name.starts_with("http://")
}

/// The principal of a caller who changed a state.
pub(super) fn principal_of(caller: Option<&ActorId>) -> Principal {
    match caller.map(ActorId::kind) {
        None | Some("system") => Principal::System,
        Some("user") => Principal::User,
        Some("agent") => Principal::Skill,
        Some(_) => Principal::External,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_source_is_recognized_by_its_address() {
        assert!(is_from_the_web(r#"{"schema_version":2,"source_id":"https://example.org/a"}"#));
        assert!(!is_from_the_web(r#"{"schema_version":2,"source_id":"notes/a.md"}"#));
        assert!(!is_from_the_web("no JSON"));
    }

    #[test]
    fn taint_labels_of_an_import_are_taints_again() {
        let labels = ["taint:WEB_DERIVED", "taint:NONSENSE", "WEB_DERIVED"].map(str::to_owned);
        assert_eq!(labelled(&labels), TaintSet::new(&[Taint::WebDerived]));
    }
}
