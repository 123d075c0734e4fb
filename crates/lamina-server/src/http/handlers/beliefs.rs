//! `GET /v1/beliefs` and its relatives, and declaring a belief.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::v1::beliefs::{
    BeliefBody, BeliefsBuildRequest, BeliefsPage, BeliefsQuery, BuiltBody, CalibrationBody,
    ClaimBody, ClaimSubject, ContradictionBody, DeclareRequest, EdgeBody, GraphBody, HistoryBody,
    IntervalBody, NamedRecord, NodeBody, RevisionPolicyBody, SupportBody, VersionBody, WhyBody,
    as_of, one,
};
use lamina_api::v1::damaged::ListItem;
use lamina_api::{ApiError, time};
use lamina_core::derive::beliefs::calibration::Calibration;
use lamina_core::derive::beliefs::why::{Graph, NodeId};
use lamina_core::derive::beliefs::{
    Deprecation, Interval, PartialReason, Polarity, Reason, Settings, Stance, SupportId,
};
use lamina_core::policy::Caller;
use lamina_engine::Error as EngineError;
use lamina_engine::read::ReadPermit;
use lamina_engine::read::beliefs::{
    BeliefRecord, BeliefSubject, BeliefVersion, BeliefsQuery as Question, Ground,
};
use lamina_engine::write::{BeliefSupportId, BeliefToDeclare};
use lamina_types::capability::ScopeReadLocal;
use lamina_types::{BeliefId, RecordedAt, ScopeView, ValidAt};

use super::facts::{name, pinned, position, value_of};
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::reply;

/// What wrote a narrative without a model.
const TEMPLATE: &str = "template/1";

/// What is said of a belief that somebody declared and nothing supports.
const UNSUPPORTED: &str = "unsupported_declaration";

/// One page of beliefs.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let query = BeliefsQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let permit = call.desk.permit_read(&caller, &query.scope, query.view).await?;
    let engine = call.app.engine.clone();
    let mac = |bytes: &[u8]| engine.cursor_mac(caller.tenant, bytes);
    let (recorded, after) =
        pinned(query.start(&mac)?, query.times.as_of_recorded, engine.log_time())?;
    let pinned = query.times.as_of_valid.is_some() || query.times.valid_during.is_some();
    let question = Question {
        scope: query.scope.clone(),
        about: query.about.clone(),
        predicate: query.predicate.clone(),
        stance: query.stance.and_then(stance_named),
        min_confidence: query.min_confidence,
        recorded,
        recorded_during: query.times.recorded_during,
        valid: query.times.as_of_valid,
        valid_during: query.times.valid_during,
        // Without an instant: what is not over by now.
        lapsed_by: (!pinned && !query.include_superseded).then(|| ValidAt(engine.now())),
        deprecated: query.include_superseded,
        after,
        limit: query.limit,
    };
    let page = engine.beliefs(permit, question).await?;
    let next = page.next.map(|key| query.next_cursor(&position(recorded, key), &mac));
    let items = ListItem::page(page.items.iter().map(shown), &page.damaged);
    reply::json(StatusCode::OK, &BeliefsPage { items, has_more: next.is_some(), next_cursor: next })
}

/// One belief.
pub(super) async fn get(mut call: Call) -> Result<Response, Failure> {
    let id: BeliefId = call.path_id("belief_id").await?;
    let pairs = call.pairs()?;
    let at = as_of(&Params::new(&pairs))?;
    let (permit, at) = permit(&call.desk, call.caller()?, id, at).await?;
    let belief = call.app.engine.belief(permit, id, at).await?;
    reply::json(StatusCode::OK, &shown(&belief))
}

/// Why a belief is held.
pub(super) async fn why(call: Call) -> Result<Response, Failure> {
    let (id, at) = one(&call.pairs()?)?;
    let (permit, at) = permit(&call.desk, call.caller()?, id, at).await?;
    let why = call.app.engine.belief_why(permit, id, at).await?;
    let body = WhyBody {
        belief: shown(&why.belief),
        support_graph: graph(&why.graph),
        narrative: why.narrative,
        narrative_model: TEMPLATE,
    };
    reply::json(StatusCode::OK, &body)
}

/// How a belief was revised.
pub(super) async fn history(call: Call) -> Result<Response, Failure> {
    let (id, at) = one(&call.pairs()?)?;
    let (permit, at) = permit(&call.desk, call.caller()?, id, at).await?;
    let history = call.app.engine.belief_history(permit, id, at).await?;
    let body = HistoryBody {
        current: shown(&history.current),
        versions: history.versions.iter().map(version).collect(),
        revision_count: history.current.revision_count,
    };
    reply::json(StatusCode::OK, &body)
}

/// What a scope makes beliefs of.
pub(super) async fn build(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let scope = BeliefsBuildRequest::read(&body)?;
    let permit = call.desk.permit_write_to(&caller, &scope).await?;
    let built = call.app.engine.beliefs_build(permit, scope).await?;
    let report = &built.report;
    let body = BuiltBody {
        built: built.built,
        items: built.items.iter().map(shown).collect(),
        facts_scanned: report.facts_scanned,
        groups_considered: report.groups_considered,
        groups_rejected: report.groups_rejected,
        events_scanned: built.events_scanned,
        belief_events_found: report.belief_events_found,
        reasons: report.reasons.iter().map(|(why, count)| (why.as_str(), *count)).collect(),
    };
    reply::json(StatusCode::OK, &body)
}

/// Declares a belief.
pub(super) async fn declare(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let declared = DeclareRequest::read(&body)?;
    let permit = call.desk.permit_write_to(&caller, &declared.scope).await?;
    let mut supports = Vec::with_capacity(declared.supports.len());
    for (index, record) in declared.supports.iter().enumerate() {
        supports.push(readable(&call.desk, permit.caller(), index, *record).await?);
    }
    let belief = BeliefToDeclare {
        scope: declared.scope.clone(),
        statement: declared.statement,
        subject: declared.subject,
        predicate: declared.predicate,
        confidence: declared.confidence,
        supports,
        valid_from: declared.valid_from,
    };
    let engine = call.app.engine.clone();
    let id = engine.declare_belief(&permit, belief, &call.noted("")).await?;
    // Whoever may write here is shown what they wrote.
    let made = engine.belief_declared(&permit, id).await?;
    let mut response = reply::json(StatusCode::CREATED, &shown(&made))?;
    if made.is_unsupported() {
        reply::warn(&mut response, UNSUPPORTED);
    }
    Ok(response)
}

/// A record that the caller may read. One that they may not is as unknown to them as one that is not
/// there.
async fn readable(
    desk: &Desk,
    caller: &Caller,
    index: usize,
    record: NamedRecord,
) -> Result<BeliefSupportId, Failure> {
    let support = match record {
        NamedRecord::Event(id) => BeliefSupportId::Event(id),
        NamedRecord::Fact(id) => BeliefSupportId::Fact(id),
    };
    // Where the belief will be: nothing there stands on what is kept elsewhere.
    if let Some(home) = desk.app.engine.support_home(caller.tenant, support).await? {
        let stack = desk.app.stack(caller, Some(&home)).await?;
        if stack.permit::<ScopeReadLocal>(caller, Some(&home)).is_ok() {
            return Ok(support);
        }
    }
    let reason = "there is no such record that you may read";
    Err(ApiError::invalid_shape(format!("supports[{index}]"), reason).into())
}

/// The permit for reading a belief, and the knowledge it is read with. An id that is not there is not
/// found only for those who could have read it anywhere (C35).
async fn permit(
    desk: &Desk,
    caller: Caller,
    id: BeliefId,
    at: Option<RecordedAt>,
) -> Result<(ReadPermit, RecordedAt), Failure> {
    let engine = &desk.app.engine;
    let own = engine.belief_home(caller.tenant, id).await;
    let shared = async |tenant| match engine.belief_home(tenant, id).await? {
        Some(scope) => Ok(scope),
        None => Err(EngineError::NotFound),
    };
    let found = match own {
        Err(missing @ EngineError::NotFound) => {
            let own = Err(missing);
            desk.found::<ScopeReadLocal, _, _>(&caller, own, shared, |scope| scope).await.map(Some)
        }
        own => own,
    };
    let missing = match found {
        Ok(Some(scope)) => {
            desk.alike::<ScopeReadLocal>(&caller, &scope).await?;
            let permit = desk.permit_read(&caller, &scope, ScopeView::Local).await?;
            return Ok((permit, at.unwrap_or(RecordedAt(engine.now()))));
        }
        Ok(None) => EngineError::Deleted,
        Err(error @ EngineError::NotFound) => error,
        Err(error) => return Err(error.into()),
    };
    desk.permit::<ScopeReadLocal>(&caller, None).await?;
    desk.record.forget();
    Err(missing.into())
}

fn stance_named(name: &str) -> Option<Stance> {
    [Stance::Supported, Stance::Contradicted, Stance::Uncertain, Stance::Deprecated]
        .into_iter()
        .find(|known| stance(*known) == name)
}

pub(crate) fn stance(stance: Stance) -> &'static str {
    match stance {
        Stance::Supported => "supported",
        Stance::Contradicted => "contradicted",
        Stance::Uncertain => "uncertain",
        Stance::Deprecated => "deprecated",
    }
}

pub(super) fn shown(belief: &BeliefRecord) -> BeliefBody {
    let redacted = belief.shown.redacted_fraction;
    let partial = match belief.shown.partial {
        Some(PartialReason::RevisionInProgress) => Some("revision_in_progress"),
        Some(PartialReason::SupportingEvidenceRedacted) => Some("supporting_evidence_redacted"),
        None if belief.is_unsupported() => Some(UNSUPPORTED),
        None => belief.calibration_stale.then_some("calibration_stale"),
    };
    BeliefBody {
        id: belief.id.to_string(),
        scope: belief.scope.to_string(),
        claim: claim(belief),
        stance: stance(belief.shown.stance),
        confidence: belief.shown.confidence,
        confidence_interval: interval(belief.shown.interval),
        calibration: belief.calibration.map(|found| calibration(&found, belief.shown.mean)),
        supports: belief
            .supports
            .iter()
            .map(|support| {
                let (r#type, id) = match support.id {
                    Ground::Fact(id) => ("fact", id.to_string()),
                    Ground::Event(id) => ("event", id.to_string()),
                };
                let polarity = match support.polarity {
                    Polarity::Supports => "supports",
                    Polarity::Against => "against",
                };
                SupportBody { r#type, id, weight: support.weight, polarity }
            })
            .collect(),
        contradicts: belief
            .contradicts
            .iter()
            .map(|other| ContradictionBody {
                belief_id: other.belief.to_string(),
                tension: other.tension,
                resolution: other.resolution,
            })
            .collect(),
        revision_policy: policy(&belief.settings),
        declared: belief.declared,
        valid_from: time::print(belief.valid_from.0),
        valid_to: belief.valid_to.map(|at| time::print(at.0)),
        recorded_from: time::print(belief.recorded_from.0),
        recorded_to: belief.recorded_to.map(|at| time::print(at.0)),
        last_revised_at: time::print(belief.last_revised.0),
        revision_count: belief.revision_count,
        supporting_evidence_redacted: redacted > 0.0,
        supporting_evidence_redacted_fraction: redacted,
        why_url: format!("/v1/beliefs/why?belief_id={}", belief.id),
        partial: partial.is_some(),
        partial_reason: partial,
    }
}

fn claim(belief: &BeliefRecord) -> ClaimBody {
    let subject = match &belief.subject {
        BeliefSubject::Entity { id, name: term } => {
            ClaimSubject { r#type: "entity", id: Some(id.to_string()), name: name(term) }
        }
        BeliefSubject::Named(name) => {
            ClaimSubject { r#type: "literal", id: None, name: name.clone() }
        }
        BeliefSubject::Scope => {
            let scope = belief.scope.to_string();
            ClaimSubject { r#type: "scope", id: Some(scope.clone()), name: scope }
        }
    };
    let object = value_of(&belief.object, belief.object_entity);
    ClaimBody { subject, predicate: belief.predicate.clone(), object }
}

fn interval(interval: Interval) -> IntervalBody {
    let Interval { lower, upper, level } = interval;
    IntervalBody { lower, upper, method: "beta_posterior", level }
}

fn calibration(found: &Calibration, mean: f64) -> CalibrationBody {
    CalibrationBody {
        model: Calibration::MODEL,
        brier_score_30d: found.brier,
        samples: found.samples,
        last_calibrated_at: time::print(found.at.0),
        calibrated: found.apply(mean),
    }
}

fn policy(settings: &Settings) -> RevisionPolicyBody {
    let seconds = settings.cooldown_us / 1_000_000;
    let cooldown =
        if seconds % 60 == 0 { format!("PT{}M", seconds / 60) } else { format!("PT{seconds}S") };
    RevisionPolicyBody {
        trigger: "new_supporting_evidence_or_contradiction",
        min_evidence_delta: settings.min_evidence_delta.as_f64(),
        cooldown,
        max_revisions_per_hour: settings.revisions_per_hour_max,
    }
}

fn graph(graph: &Graph) -> GraphBody {
    let id = |id: SupportId| match id {
        SupportId::Fact(id) => ("fact", id.to_string()),
        SupportId::Episode(id) => ("episode", id.to_string()),
        SupportId::Event(id) => ("event", id.to_string()),
    };
    let nodes = graph.nodes.iter().map(|node| {
        let (r#type, id) = id(node.id);
        NodeBody { id, r#type, weight: node.weight, summary: node.summary.clone() }
    });
    let edges = graph.edges.iter().map(|edge| EdgeBody {
        from: match edge.from {
            NodeId::Belief(belief) => belief.to_string(),
            NodeId::Support(support) => id(support).1,
        },
        to: id(edge.to).1,
        relation: edge.relation.as_str(),
    });
    GraphBody { nodes: nodes.collect(), edges: edges.collect(), truncated: graph.cut }
}

fn version(version: &BeliefVersion) -> VersionBody {
    VersionBody {
        recorded_from: time::print(version.from.0),
        recorded_to: version.to.map(|at| time::print(at.0)),
        valid_to: version.valid_to.map(|at| time::print(at.0)),
        reason: match version.reason {
            Reason::Created => "created",
            Reason::NewEvidence => "new_evidence",
            Reason::Due => "due",
            Reason::Redacted => "redacted",
            Reason::Deprecated(Deprecation::Decided) => "conflict_resolved",
            Reason::Deprecated(Deprecation::Vocabulary) => "vocabulary_changed",
            Reason::Deprecated(_) => "deprecated",
            Reason::Returned => "vocabulary_restored",
            Reason::Deleted(_) => "deleted",
            Reason::Unshown(_) | Reason::NotHeld => "unshown",
        },
        stance: stance(version.shown.stance),
        confidence: version.shown.confidence,
        confidence_interval: interval(version.shown.interval),
        supports_count: version.counts.0,
        against_count: version.counts.1,
    }
}
