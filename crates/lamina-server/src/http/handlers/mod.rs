//! One function per route that is built. Each reads its request into a value of the contract, asks
//! for a permit, calls the engine, and writes a shape of the contract.

pub(crate) mod experience;
mod bulk;
mod status;
mod events;
pub(crate) mod facts;
mod entities;
mod episodes;
mod exports;
mod claims;
mod conflicts;
mod cost;
mod beliefs;
mod understanding;
pub(crate) mod recall;
mod answer;
mod erasures;
mod forget;
mod retention;
mod clock;
mod vocabularies;
mod phrases;
mod blobs;
mod import;
mod lifecycle;
mod admin;
mod indexed;
mod identity;
mod policy;
mod scopes;
mod audit;
mod tokens;
mod minting;

use lamina_api::{Method, RouteSpec};

use super::answer::Handler;
use super::failure::{Failure, internal};

pub(crate) use beliefs::stance as stance_word;
pub(crate) use entities::kind_word;
pub(super) use experience::admit_only;
pub(crate) use facts::name as term_name;
pub(crate) use understanding::may as understanding_permit;
pub(crate) use vocabularies::{changed as vocabulary_changed, text as vocabulary_text};

/// The handler of a route, if it is built.
pub(crate) fn of(route: &RouteSpec) -> Option<Handler> {
    TABLE
        .iter()
        .find(|(method, path, _)| *method == route.method && *path == route.path)
        .map(|(_, _, handler)| *handler)
}

/// Work that reads many records goes to a thread of its own: others are waiting for this one.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(|error| internal(error.to_string()))
}

macro_rules! table {
    ($($method:ident $path:literal => $handler:path;)*) => {
        /// Every handler there is; a test holds it against the table of the contract.
        pub(super) const TABLE: &[(Method, &str, Handler)] =
            &[$((Method::$method, $path, |call| Box::pin($handler(call)))),*];
    };
}

table! {
    Post "/v1/experience" => experience::write;
    Post "/v1/experience/bulk" => bulk::write;
    Get "/v1/experience/by-idempotency-key/{key}" => status::by_key;
    Get "/v1/experience/status" => status::status;
    Get "/v1/events" => events::list;
    Get "/v1/events/{event_id}" => events::one;
    Get "/v1/episodes" => episodes::list;
    Post "/v1/episodes/build" => episodes::build;
    Get "/v1/facts" => facts::list;
    Get "/v1/facts/timeline" => facts::timeline;
    Get "/v1/entities" => entities::list;
    Post "/v1/entities/{entity_id}/merge" => entities::merge;
    Post "/v1/entities/{entity_id}/split" => entities::split;
    Get "/v1/beliefs" => beliefs::list;
    Post "/v1/beliefs" => beliefs::declare;
    Post "/v1/beliefs/build" => beliefs::build;
    Get "/v1/beliefs/why" => beliefs::why;
    Get "/v1/beliefs/history" => beliefs::history;
    Get "/v1/beliefs/{belief_id}" => beliefs::get;
    Get "/v1/understanding" => understanding::list;
    Get "/v1/understanding/coverage" => understanding::coverage;
    Post "/v1/understanding/synthesize" => understanding::synthesize;
    Get "/v1/understanding/{concept_id}" => understanding::one;
    Get "/v1/understanding/{concept_id}/related" => understanding::related;
    Get "/v1/concepts" => understanding::list;
    Get "/v1/concepts/coverage" => understanding::coverage;
    Get "/v1/concepts/{concept_id}" => understanding::one;
    Get "/v1/concepts/{concept_id}/history" => understanding::history;
    Get "/v1/derivation/status" => facts::status;
    Post "/v1/recall" => recall::recall;
    Post "/v1/answer" => answer::answer;
    Post "/v1/compose" => answer::compose;
    Post "/v1/forget" => forget::forget;
    Post "/v1/forget/preview" => forget::preview;
    Post "/v1/erasures" => erasures::erase;
    Post "/v1/erasures/preview" => erasures::preview;
    Get "/v1/erasures/preview/{preview_id}/manifest" => erasures::preview_manifest;
    Get "/v1/erasures/{erasure_id}" => erasures::status;
    Get "/v1/erasures/{erasure_id}/manifest" => erasures::manifest;
    Post "/v1/erasures/{erasure_id}/cancel" => erasures::cancel;
    Put "/v1/admin/legal-holds" => erasures::hold_put;
    Get "/v1/admin/legal-holds" => erasures::holds;
    Delete "/v1/admin/legal-holds" => erasures::hold_lift;
    Get "/v1/conflicts" => conflicts::list;
    Get "/v1/conflicts/{conflict_id}" => conflicts::one;
    Post "/v1/conflicts/{conflict_id}/resolve" => conflicts::resolve;
    Post "/v1/temporal/phrases" => phrases::register;
    Get "/v1/temporal/phrases" => phrases::list;
    Delete "/v1/temporal/phrases/{name}" => phrases::remove;
    Get "/v1/vocabularies" => vocabularies::list;
    Post "/v1/vocabularies" => vocabularies::register;
    Get "/v1/vocabularies/{name}" => vocabularies::one;
    Put "/v1/vocabularies/{name}" => vocabularies::replace;
    Patch "/v1/vocabularies/{name}" => vocabularies::merge;
    Post "/v1/export" => exports::create;
    Get "/v1/export/{export_id}" => exports::status;
    Get "/v1/export/{export_id}/data" => exports::data;
    Get "/v1/claims" => claims::list;
    Get "/v1/claims/history" => claims::history;
    Get "/v1/cost" => cost::read;
    Post "/v1/import" => import::any;
    Post "/v1/import/mem0" => import::mem0;
    Post "/v1/import/zep" => import::zep;
    Post "/v1/import/letta" => import::letta;
    Post "/v1/import/openai" => import::openai;
    Post "/v1/import/jsonl" => import::jsonl;
    Get "/v1/import/{import_id}" => import::status;
    Post "/v1/import/{import_id}/cancel" => import::cancel;
    Post "/v1/blobs" => blobs::upload;
    Get "/v1/blobs/{blob_id}" => blobs::download;
    Delete "/v1/blobs/{blob_id}" => blobs::delete;
    Get "/v1/lifecycle/stream" => lifecycle::stream;
    Get "/v1/lifecycle" => lifecycle::list;
    Get "/v1/lifecycle/event/{lifecycle_id}" => lifecycle::one;
    Get "/v1/lifecycle/memory-event/{event_id}" => lifecycle::memory_event;
    Post "/v1/lifecycle/memory-event/{event_id}/cancel" => lifecycle::cancel;
    Get "/v1/admin/health" => admin::health;
    Get "/v1/admin/ready" => admin::ready;
    Get "/v1/admin/metrics" => admin::metrics;
    Get "/v1/admin/version" => admin::version;
    Get "/v1/health" => admin::health;
    Get "/v1/ready" => admin::ready;
    Get "/v1/openapi.json" => admin::openapi;
    Get "/v1/auth/whoami" => identity::whoami;
    Get "/v1/policy/effective" => identity::effective;
    Get "/v1/policy/deployment" => identity::deployment;
    Put "/v1/policy/deployment" => policy::put_deployment;
    Get "/v1/policy/tenant/{tenant_id}" => policy::get_tenant;
    Put "/v1/policy/tenant/{tenant_id}" => policy::put_tenant;
    Get "/v1/policy/scope" => policy::get_scope;
    Put "/v1/policy/scope" => policy::put_scope;
    Get "/v1/policy/scope/{scope_path}" => policy::get_scope_path;
    Put "/v1/policy/scope/{scope_path}" => policy::put_scope_path;
    Get "/v1/policy/actor/{actor_id}" => policy::get_actor;
    Put "/v1/policy/actor/{actor_id}" => policy::put_actor;
    Get "/v1/scopes" => scopes::get;
    Post "/v1/scopes" => scopes::register;
    Delete "/v1/scopes" => scopes::remove;
    Get "/v1/scopes/list" => scopes::list;
    Put "/v1/scopes/members" => scopes::members;
    Post "/v1/scopes/prune" => scopes::prune;
    Get "/v1/audit" => audit::list;
    Post "/v1/audit/verify" => audit::verify;
    Get "/v1/audit/chain" => audit::chain;
    Post "/v1/audit/chain/verify" => audit::chain_verify;
    Get "/v1/audit/{audit_id}" => audit::one;
    Post "/v1/auth/revoke" => tokens::revoke;
    Post "/v1/auth/signup" => minting::signup;
    Post "/v1/auth/tokens" => minting::mint;
    Post "/v1/admin/flush-views" => tokens::flush;
    Post "/v1/admin/compact" => tokens::compact;
    Get "/v1/admin/layers/stats" => admin::layers;
    Post "/v1/admin/index-audit" => indexed::audit;
    Get "/v1/admin/retention" => retention::status;
    Get "/v1/admin/retention/policies" => retention::get;
    Put "/v1/admin/retention/policies" => retention::set;
    Delete "/v1/admin/retention/policies" => retention::remove;
    Post "/v1/admin/retention/sweep" => retention::sweep;
    Get "/v1/admin/clock" => clock::status;
    Post "/v1/admin/clock/confirm" => clock::confirm;
    Get "/v1/admin/wal" => retention::wal;
    Post "/v1/admin/wal/compact" => retention::compact;
    Get "/v1/admin/events/{event_id}/chunks" => indexed::chunks;
}
