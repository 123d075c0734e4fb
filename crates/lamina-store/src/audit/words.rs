//! Rows by their words (R394). Rows are read one after the other and compared: what a row says is short, an
//! index of it would hold the names of people beside the log, and would have to forget them with it.

use lamina_types::{ActorId, AuditRow, AuditWho, ScopePath};

/// The words of a text, as rows are searched by them: letters and digits, folded.
pub fn words_of(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether each of these begins a word of what a row says.
pub(super) fn has_all(row: &AuditRow, wanted: &[String]) -> bool {
    if wanted.is_empty() {
        return true;
    }
    let mut said: Vec<String> = Vec::new();
    let mut take = |text: &str| said.extend(words_of(text));
    for text in [&row.endpoint, &row.capability, &row.decided_by_tier] {
        take(text);
    }
    take(row.decision.as_str());
    take(&row.id.to_string());
    if let Some(event) = row.event_id {
        take(&event.to_string());
    }
    if let Some(status) = row.response_status {
        take(&status.to_string());
    }
    if let Some(who) = &row.who {
        let AuditWho { actor, token_jti, scope, path, client_ip, user_agent, request_id } = who;
        take(actor.as_ref().map_or("", ActorId::as_str));
        take(scope.as_ref().map_or("", ScopePath::as_str));
        for text in [token_jti, client_ip, user_agent].into_iter().flatten() {
            take(text);
        }
        take(path);
        take(request_id);
    }
    wanted.iter().all(|word| said.iter().any(|said| said.starts_with(word.as_str())))
}
