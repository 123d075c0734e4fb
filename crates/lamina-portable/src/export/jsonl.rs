//! The lines of our own export.

use lamina_types::{Content, Context, Directives, Experience, Hints, MediaRef};

use super::line::{LINE_MEMBER, LINE_VERSION};
use super::object::ObjectText;
use super::record::{
    ExportBelief, ExportConcept, ExportControl, ExportEpisode, ExportEvent, ExportFact,
    ExportHeader, ExportRecord, ExportTerm, ExportThing,
};
use crate::json::Value;

/// The line of a record, with its end.
pub fn line_of(record: &ExportRecord) -> String {
    let kind = record.kind().as_str();
    let mut mark = ObjectText::new();
    mark.text("line", kind).value("version", &Value::integer(LINE_VERSION));
    let mut line = ObjectText::new();
    match record {
        ExportRecord::Header(header) => write_header(header, &mut mark),
        ExportRecord::Event(event) => {
            let ExportEvent { id, experience, recorded_at, origin } = &**event;
            mark.text("id", id).time("recorded_at", *recorded_at);
            mark.some_raw("origin", origin.as_deref());
            write_envelope(experience, &mut line);
        }
        ExportRecord::Fact(fact) => write_fact(fact, &mut mark, &mut line),
        ExportRecord::Belief(belief) => write_belief(belief, &mut mark, &mut line),
        ExportRecord::Episode(episode) => write_episode(episode, &mut mark, &mut line),
        ExportRecord::Concept(concept) => write_concept(concept, &mut mark, &mut line),
        ExportRecord::Control(ExportControl { kind: _, id, body }) => {
            mark.text("id", id);
            for member in body.as_object().unwrap_or_default() {
                line.value(&member.key.to_lossy(), &member.value);
            }
        }
    }
    // The mark stands first, so that a reader knows the kind of the line at once.
    let comma = if line.is_empty() { "" } else { "," };
    let (mark, line) = (mark.close(), line.close());
    let members = line.strip_prefix('{').unwrap_or(&line);
    format!("{{\"{LINE_MEMBER}\":{mark}{comma}{members}\n")
}

fn write_header(header: &ExportHeader, mark: &mut ObjectText) {
    let ExportHeader { scope, descends, as_of, layers } = header;
    mark.text("scope", scope).value("descends", &Value::Bool(*descends));
    mark.time("as_of", *as_of).texts("layers", layers);
}

/// The body of `POST /v1/experience` that writes this experience.
fn write_envelope(experience: &Experience, line: &mut ObjectText) {
    // Destructured, so that a field added to the experience cannot be forgotten here.
    let Experience {
        scope,
        observed_actor,
        subject,
        modality,
        content,
        context,
        directives,
        source,
        origin: _,
        hints,
        idempotency_key,
    } = experience;
    let Hints { language, scripts, timezone } = hints;
    let mut actor = ObjectText::new();
    actor.text("id", observed_actor.id.as_str());
    actor.some_text("session", observed_actor.session.as_deref());
    let mut about = ObjectText::new();
    about.text("id", subject.as_str());
    line.text("scope", scope.as_str())
        .raw("observed_actor", &actor.close())
        .raw("subject", &about.close())
        .text("modality", modality.as_str())
        .raw("content", &content_text(content))
        .raw("context", &context_text(context, timezone.as_deref()));
    let directives = directives_text(directives);
    line.some_raw("directives", directives.as_deref())
        .some_raw("source", source.as_deref())
        .some_text("language", language.as_deref())
        .texts("scripts", scripts)
        .text("idempotency_key", idempotency_key);
}

fn content_text(content: &Content) -> String {
    let mut out = ObjectText::new();
    out.text("kind", content.kind());
    match content {
        Content::Message { role, text, media: _ } => {
            out.text("role", role.as_str()).text("text", text);
        }
        Content::Text { text, media: _ } => {
            out.text("text", text);
        }
        Content::Json { data, media: _ } => {
            out.raw("data", data);
        }
        Content::BlobRef { blob_id, transcript, media: _ } => {
            out.text("blob_id", &blob_id.to_string())
                .some_text("transcript", transcript.as_deref());
        }
        Content::Triple { triple, media: _ } => {
            out.raw("triple", triple);
        }
    }
    let media: Vec<Value> = content.media().iter().map(media_value).collect();
    if !media.is_empty() {
        out.value("media", &Value::Array(media));
    }
    out.close()
}

fn media_value(media: &MediaRef) -> Value {
    let MediaRef { blob_id } = media;
    Value::object([("blob_id", Value::from(blob_id.to_string()))])
}

fn context_text(context: &Context, timezone: Option<&str>) -> String {
    let Context {
        observed_at,
        source_recorded_at,
        location,
        preceded_by,
        intent,
        labels,
        refers_to,
    } = context;
    let preceded_by: Vec<String> = preceded_by.iter().map(ToString::to_string).collect();
    let mut out = ObjectText::new();
    out.time("observed_at", observed_at.0)
        .some_time("source_recorded_at", source_recorded_at.map(|at| at.0))
        .some_raw("location", location.as_deref())
        .texts("preceded_by", &preceded_by)
        .some_text("intent", intent.as_deref())
        .texts("labels", labels)
        .some_text("timezone", timezone)
        .some_raw("refers_to", refers_to.as_deref());
    out.close()
}

/// The directives that were given; `None` if there are none.
fn directives_text(directives: &Directives) -> Option<String> {
    let Directives {
        extract,
        consolidate_into,
        confidence_floor,
        ttl_for_belief_layer,
        ttl_for_event_layer,
        embed,
        no_supersede,
    } = directives;
    let mut out = ObjectText::new();
    if let Some(extract) = extract {
        out.value("extract", &Value::strings(extract));
    }
    out.some_text("consolidate_into", consolidate_into.as_ref().map(|scope| scope.as_str()));
    if let Some(floor) = confidence_floor {
        out.value("confidence_floor", &Value::double(*floor));
    }
    out.some_text("ttl_for_belief_layer", ttl_for_belief_layer.as_deref())
        .some_text("ttl_for_event_layer", ttl_for_event_layer.as_deref())
        .some_text("embed", embed.as_deref());
    if *no_supersede {
        out.value("no_supersede", &Value::Bool(true));
    }
    (!out.is_empty()).then(|| out.close())
}

fn thing_value(thing: &ExportThing) -> Value {
    let ExportThing { id, name, kind } = thing;
    let mut value = Value::object([
        ("type", Value::from("entity")),
        ("id", Value::from(id.as_str())),
        ("name", Value::from(name.as_str())),
    ]);
    value.push_some("kind", kind.as_deref());
    value
}

fn term_value(term: &ExportTerm) -> Value {
    match term {
        ExportTerm::Thing(thing) => thing_value(thing),
        ExportTerm::Literal { datatype, value } => Value::object([
            ("type", Value::from("literal")),
            ("datatype", Value::from(datatype.as_str())),
            ("value", value.clone()),
        ]),
    }
}

fn write_fact(fact: &ExportFact, mark: &mut ObjectText, line: &mut ObjectText) {
    let ExportFact {
        id,
        scope,
        subject,
        predicate,
        object,
        negated,
        sentence,
        valid_from,
        valid_to,
        recorded_from,
        recorded_to,
        confidence,
        extractor,
        supports,
        superseded_by,
    } = fact;
    mark.text("id", id);
    line.text("scope", scope)
        .value("subject", &thing_value(subject))
        .text("predicate", predicate)
        .value("object", &term_value(object));
    if *negated {
        line.value("negated", &Value::Bool(true));
    }
    line.text("sentence", sentence)
        .some_time("valid_from", *valid_from)
        .some_time("valid_to", *valid_to)
        .time("recorded_from", *recorded_from)
        .some_time("recorded_to", *recorded_to)
        .value("confidence", &Value::double(*confidence))
        .text("extractor", extractor)
        .texts("supports", supports)
        .some_text("superseded_by", superseded_by.as_deref());
}

fn write_belief(belief: &ExportBelief, mark: &mut ObjectText, line: &mut ObjectText) {
    let ExportBelief {
        id,
        scope,
        statement,
        subject,
        predicate,
        object,
        stance,
        confidence,
        valid_from,
        valid_to,
        recorded_from,
        recorded_to,
        supports,
        contradicts,
    } = belief;
    let supports = supports.iter().map(|support| {
        let weight = Value::double(support.weight);
        Value::object([("id", Value::from(support.id.as_str())), ("weight", weight)])
    });
    mark.text("id", id);
    line.text("scope", scope)
        .text("statement", statement)
        .text("subject", subject)
        .text("predicate", predicate)
        .text("object", object)
        .text("stance", stance)
        .value("confidence", &Value::double(*confidence))
        .time("valid_from", *valid_from)
        .some_time("valid_to", *valid_to)
        .time("recorded_from", *recorded_from)
        .some_time("recorded_to", *recorded_to)
        .value("supports", &Value::Array(supports.collect()))
        .texts("contradicts", contradicts);
}

fn write_episode(episode: &ExportEpisode, mark: &mut ObjectText, line: &mut ObjectText) {
    let ExportEpisode { id, scope, name, summary, supports, started_at, ended_at, state, actors } =
        episode;
    mark.text("id", id);
    line.text("scope", scope)
        .text("name", name)
        .text("summary", summary)
        .texts("supports", supports)
        .time("started_at", *started_at)
        .some_time("ended_at", *ended_at)
        .text("state", state)
        .texts("actors", actors);
}

fn write_concept(concept: &ExportConcept, mark: &mut ObjectText, line: &mut ObjectText) {
    let ExportConcept {
        id,
        scope,
        name,
        summary,
        version,
        stance,
        confidence,
        valid_from,
        recorded_from,
        supports,
    } = concept;
    let mut stands_on = ObjectText::new();
    stands_on
        .texts("facts", &supports.facts)
        .texts("episodes", &supports.episodes)
        .texts("beliefs", &supports.beliefs);
    mark.text("id", id);
    line.text("scope", scope)
        .text("name", name)
        .text("summary", summary)
        .value("version", &Value::count(u64::from(*version)))
        .text("stance", stance)
        .value("confidence", &Value::double(*confidence))
        .time("valid_from", *valid_from)
        .time("recorded_from", *recorded_from)
        .raw("supports", &stands_on.close());
}
