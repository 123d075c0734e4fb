//! What makes two bodies the same body, for idempotency.
//!
//! Left out: the key itself, `context.observed_at` (a client that fills in "now" would never match
//! its own retry) and the hints (ruling 9). Everything else is in, each part with its length in
//! front, so that two different bodies cannot run together into the same bytes. Free JSON is put in
//! its canonical spelling: a retry may order its keys differently.

use lamina_types::{Actor, Content, Context, Directives, Experience, MediaRef};

use crate::json::canonical;

/// The canonical bytes of an experience's identity. Callers hash them under a key.
pub fn identity(experience: &Experience) -> Vec<u8> {
    // Destructured, so that a new field must decide whether it belongs to the identity.
    let Experience {
        scope,
        observed_actor: Actor { id, session },
        subject,
        modality,
        content,
        context,
        directives,
        source,
        // Importers compare rows by an identity of their own.
        origin: _,
        hints: _,
        idempotency_key: _,
    } = experience;
    let mut out = Writer(Vec::with_capacity(256 + content.text().len()));
    out.text("lamina.identity.1");
    out.text(scope.as_str());
    out.text(id.as_str());
    out.option(session.as_deref());
    out.text(subject.as_str());
    out.text(modality.as_str());
    write_content(&mut out, content);
    write_context(&mut out, context);
    write_directives(&mut out, directives);
    out.json(source.as_deref());
    // Last, and only if it is set: bodies without it keep the identity they always had.
    if directives.no_supersede {
        out.text("no_supersede");
    }
    if let Some(ttl) = &directives.ttl_for_event_layer {
        out.text("ttl_for_event_layer");
        out.text(ttl);
    }
    out.0
}

struct Writer(Vec<u8>);

impl Writer {
    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn count(&mut self, count: usize) {
        self.0.extend_from_slice(&(count as u64).to_le_bytes());
    }

    fn option(&mut self, text: Option<&str>) {
        match text {
            None => self.0.push(0),
            Some(text) => {
                self.0.push(1);
                self.text(text);
            }
        }
    }

    fn json(&mut self, json: Option<&str>) {
        self.option(json.map(canonical).as_deref());
    }
}

fn write_content(out: &mut Writer, content: &Content) {
    out.text(content.kind());
    match content {
        Content::Message { role, text, .. } => {
            out.text(role.as_str());
            out.text(text);
        }
        Content::Text { text, .. } => out.text(text),
        Content::Json { data, .. } => out.json(Some(data)),
        Content::BlobRef { blob_id, transcript, .. } => {
            out.text(&blob_id.to_string());
            out.option(transcript.as_deref());
        }
        Content::Triple { triple, .. } => out.json(Some(triple)),
    }
    out.count(content.media().len());
    for MediaRef { blob_id } in content.media() {
        out.text(&blob_id.to_string());
    }
}

fn write_context(out: &mut Writer, context: &Context) {
    let Context {
        observed_at: _,
        source_recorded_at,
        location,
        preceded_by,
        intent,
        labels,
        refers_to,
    } = context;
    let source_recorded_at = source_recorded_at.map(|at| at.0.0.to_string());
    out.option(source_recorded_at.as_deref());
    out.json(location.as_deref());
    out.count(preceded_by.len());
    for id in preceded_by {
        out.text(&id.to_string());
    }
    out.option(intent.as_deref());
    out.count(labels.len());
    for label in labels {
        out.text(label);
    }
    out.json(refers_to.as_deref());
}

fn write_directives(out: &mut Writer, directives: &Directives) {
    let Directives {
        extract,
        consolidate_into,
        confidence_floor,
        ttl_for_belief_layer,
        embed,
        ttl_for_event_layer: _,
        no_supersede: _,
    } = directives;
    match extract {
        None => out.0.push(0),
        Some(stages) => {
            out.0.push(1);
            out.count(stages.len());
            for stage in stages {
                out.text(stage);
            }
        }
    }
    out.option(consolidate_into.as_ref().map(|scope| scope.as_str()));
    let floor = confidence_floor.map(|floor| floor.to_bits().to_string());
    out.option(floor.as_deref());
    out.option(ttl_for_belief_layer.as_deref());
    out.option(embed.as_deref());
}
