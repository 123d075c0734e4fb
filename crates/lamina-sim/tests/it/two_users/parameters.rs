//! Every parameter of a route that changes something: one that names something is in an act of the
//! route's story, and a new one fails until somebody has said which it is.

use std::collections::BTreeSet;
use std::path::Path;

use lamina_api::routes::{Body, RouteSpec};
use lamina_env::RealDisk;
use lamina_env::disk::read_file;
use serde_json::Value;

use super::act::Act;
use super::question::said;

/// Members of bodies and queries that name something of somebody: a scope, a record, an actor, a key.
const NAMING: &[&str] = &[
    "about_entity",
    "about_subject",
    "actor",
    "audit_id",
    "blob_id",
    "consolidate_into",
    "credentials_ref",
    "destination",
    "earlier",
    "filters",
    "from_preview_id",
    "idempotency_key",
    "inherit_from",
    "into",
    "jti",
    "later",
    "members",
    "memory_ids",
    "name",
    "observed_actor",
    "owner",
    "path",
    "preceded_by",
    "record",
    "scope",
    "scope_template",
    "scopes",
    "subject",
    "supports",
    "sweep_id",
    "url",
    "use_pack_id",
    "winner",
];

/// Members of these names that name nothing there: a file within its own source, a place.
const NAMES_NOTHING: &[(&str, &str)] = &[
    ("POST /v1/experience", "path"),
    ("POST /v1/experience", "name"),
    ("POST /v1/experience/bulk", "path"),
    ("POST /v1/experience/bulk", "name"),
];

/// Members that name nothing: times, numbers, words, switches, and objects that hold the others.
const PLAIN: &str = "
    columns format inline map_archival_to map_categories_to map_core_blocks_to
    modified naive_times ontology_mapping options preserve_bi_temporal preserve_timestamps
    base history require_signature restore_erased rows skip_on_conflict action active aliases allow ambiguous answer_instructions answer_max_tokens answer_model as_of
    as_of_recorded as_of_valid audit audit_note auto_register beliefs below_offset block_index
    body boundary brief budgets byte_range candidates caps cardinality cascade category children
    citation_mode citations cite_sources column compaction component confidence confidence_floor
    confirm_all conflict_resolution consolidation content content_fingerprint content_kind context
    data datatype default_retention_days defaults definition deny depth description diagnostics
    directives display_name dry_run email embed end end_ms episodes events exclude_content exp
    expr_original extract facts field file force format fragment_id fragments frame_index from height id
    include include_context instructions intent items kind label labels language layers length
    level lines location locator max_events max_rows max_tokens media message_id modality model
    natural no_supersede object observed_at older_than older_than_secs ordering ordinal page
    pattern per_layer_limits per_source_days pointer policies precision predicate predicates query
    query_variants question question_date question_type reason record_id record_index
    recorded_during records reference_date refers_to region relations relevance_floor repair
    replaced_by rescan resolves_to role row schema_version script scripts seal section_path
    selection selector session session_id sheet skip_answer_llm source source_fingerprint source_id
    source_recorded_at speaker standing start start_ms statement stream structure symbol table
    temporal term terms text time time_range timestamp timezone to topics track transcript triple
    ttl_for_belief_layer ttl_for_event_layer ttl_seconds turn_index type understanding accept_broken
    embeddings pseudonymous
    disclose exclude_sensitivities grains kinds limit max_seq query_limit sign since_seq since_time until_time
    valid_during valid_from valid_to value values view wait width x y zone
";

/// Fails unless the acts of a route use every parameter of it that names something.
pub(super) fn check_use(route: &RouteSpec, title: &str, acts: &[Act]) {
    for parameter in naming(route, title) {
        let forms =
            [format!("?{parameter}="), format!("&{parameter}="), format!("\"{parameter}\":")];
        let is_used = |act: &Act| {
            let said = said(&act.request);
            forms.iter().any(|form| said.contains(form))
        };
        assert!(acts.iter().any(is_used), "no act of {title} uses `{parameter}`");
    }
}

/// The parameters of a route that its story has to use. Fails for one that nobody has sorted.
fn naming(route: &RouteSpec, title: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if let Body::Json(schema) | Body::OptionalJson(schema) | Body::JsonOrBytes(schema) = route.body
    {
        members(&schema_of(schema), &mut found);
    }
    let queries = route.params.iter().filter(|param| !param.header);
    found.extend(queries.map(|param| param.name.to_owned()));
    let sorted: BTreeSet<&str> = NAMING.iter().copied().chain(PLAIN.split_whitespace()).collect();
    let unsorted: Vec<&String> =
        found.iter().filter(|member| !sorted.contains(member.as_str())).collect();
    let advice = "say in `two_users::parameters` what these are";
    assert!(unsorted.is_empty(), "{title}: {advice}: {unsorted:?}");
    let names = |member: &String| {
        NAMING.contains(&member.as_str()) && !NAMES_NOTHING.contains(&(title, member.as_str()))
    };
    found.into_iter().filter(names).collect()
}

fn schema_of(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let path = folder.join(format!("{name}.schema.json"));
    serde_json::from_slice(&read_file(&RealDisk, &path, 1 << 20).unwrap()).unwrap()
}

/// The names of all members of an object, at any depth.
fn members(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                found.extend(properties.keys().cloned());
            }
            fields.values().for_each(|field| members(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| members(item, found)),
        _ => {}
    }
}
