//! Acts that remove: forgetting, erasing, lifting what keeps things.

use serde_json::{Value, json};

use super::act::{Act, Scene, Story, Verdict, delete, post, put};
use super::town::KEY;

pub(super) const STORIES: &[Story] = &[
    Story { route: "POST /v1/forget", script: forget },
    Story { route: "POST /v1/forget/preview", script: preview_forget },
    Story { route: "POST /v1/erasures", script: erase },
    Story { route: "POST /v1/erasures/preview", script: preview_erasure },
    Story { route: "POST /v1/erasures/{erasure_id}/cancel", script: cancel_erasure },
    Story { route: "PUT /v1/admin/legal-holds", script: place_hold },
    Story { route: "DELETE /v1/admin/legal-holds", script: lift_hold },
    Story { route: "PUT /v1/admin/retention/policies", script: set_retention },
    Story { route: "DELETE /v1/admin/retention/policies", script: remove_retention },
    Story { route: "POST /v1/admin/retention/sweep", script: sweep },
    Story { route: "POST /v1/admin/clock/confirm", script: confirm_clock },
];

/// A body, and what the rules say about it.
struct Removal {
    body: Value,
    verdict: Verdict,
}

fn removals_to_acts(removals: Vec<Removal>, target: &str) -> Vec<Act> {
    let acts = removals.into_iter();
    acts.map(|it| Act { request: post(target, &it.body), verdict: it.verdict }).collect()
}

/// Ways to forget something of the victim, by every member that names something.
fn forgets(scene: &Scene<'_>) -> Vec<Removal> {
    let (things, own) = (scene.things, scene.tools.scope.as_str());
    let mut all = Vec::new();
    let mut add = |verdict: Verdict, body: Value| all.push(Removal { body, verdict });
    let ids: Vec<&str> = things
        .private_events()
        .into_iter()
        .chain([things.fact.as_str(), things.belief.as_str(), things.concept.as_str()])
        .collect();
    for cascade in ["derived_only", "redact_events"] {
        for scope in things.private() {
            add(Verdict::Refused, json!({"scope": scope, "cascade": cascade, "confirm_all": true}));
            let selector = json!({"memory_ids": ids});
            add(
                Verdict::Refused,
                json!({"scope": scope, "cascade": cascade, "selector": selector}),
            );
        }
        for selector in [
            json!({"memory_ids": ids}),
            json!({"about_subject": "user:alice"}),
            json!({"about_entity": things.entity}),
            json!({"about_subject": "Ada", "predicate": "works_at"}),
        ] {
            let body = json!({"scope": own, "cascade": cascade, "selector": selector,
                "idempotency_key": KEY});
            add(Verdict::Open, body);
        }
        // The evidence of somebody else, where everybody may write.
        for selector in [
            json!({"memory_ids": [things.open_event]}),
            json!({"memory_ids": [things.open_fact]}),
            json!({"about_subject": "Ada"}),
        ] {
            let body = json!({"scope": things.open, "cascade": cascade, "selector": selector});
            add(Verdict::Refused, body);
        }
        add(
            Verdict::Refused,
            json!({"scope": things.open, "cascade": cascade, "confirm_all": true}),
        );
        for scope in [own, &things.person] {
            let body = json!({"scope": scope, "cascade": cascade,
                "selector": {"memory_ids": [things.person_event]},
                "from_preview_id": things.forget_preview});
            add(if scope == own { Verdict::Invalid } else { Verdict::Refused }, body);
        }
    }
    all
}

fn forget(scene: &mut Scene<'_>) -> Vec<Act> {
    removals_to_acts(forgets(scene), "/v1/forget")
}

fn preview_forget(scene: &mut Scene<'_>) -> Vec<Act> {
    let mut previews = forgets(scene);
    for preview in &mut previews {
        if preview.body.get("from_preview_id").is_some() && preview.verdict == Verdict::Invalid {
            preview.verdict = Verdict::Open;
        }
    }
    removals_to_acts(previews, "/v1/forget/preview")
}

/// Ways to erase something of the victim.
fn erasures(scene: &Scene<'_>) -> Vec<Removal> {
    let (things, own) = (scene.things, scene.tools.scope.as_str());
    let mut all = Vec::new();
    let mut add = |verdict: Verdict, body: Value| all.push(Removal { body, verdict });
    for scope in things.scopes() {
        add(Verdict::Refused, json!({"scope": scope, "confirm_all": true}));
        let selector = json!({"memory_ids": [things.person_event, things.open_event]});
        add(Verdict::Refused, json!({"scope": scope, "selector": selector}));
    }
    let private: Vec<&str> =
        things.private_events().into_iter().chain([things.open_event.as_str()]).collect();
    for id in private {
        let body = json!({"scope": own, "selector": {"memory_ids": [id]}, "idempotency_key": KEY});
        add(Verdict::Open, body);
    }
    for preview in [&things.erasure_preview, &things.forget_preview] {
        add(Verdict::Refused, json!({"scope": things.person, "from_preview_id": preview}));
        add(Verdict::Invalid, json!({"scope": own, "from_preview_id": preview}));
    }
    // What is above, and what is beside.
    add(Verdict::Open, json!({"scope": "org:acme", "confirm_all": true}));
    add(Verdict::Open, json!({"scope": format!("{}/ws:none", things.person), "confirm_all": true}));
    all
}

fn erase(scene: &mut Scene<'_>) -> Vec<Act> {
    removals_to_acts(erasures(scene), "/v1/erasures")
}

fn preview_erasure(scene: &mut Scene<'_>) -> Vec<Act> {
    let mut previews = erasures(scene);
    for preview in &mut previews {
        if preview.verdict == Verdict::Invalid {
            preview.verdict = Verdict::Open;
        }
    }
    removals_to_acts(previews, "/v1/erasures/preview")
}

fn cancel_erasure(scene: &mut Scene<'_>) -> Vec<Act> {
    vec![Act::refused(
        post(&format!("/v1/erasures/{}/cancel", scene.things.erasure), &json!({}))
            .bytes(Vec::new()),
    )]
}

fn place_hold(scene: &mut Scene<'_>) -> Vec<Act> {
    let scopes = scene.things.scopes().map(|scope| {
        let body = json!({"scope": scope, "reason": "mine", "idempotency_key": KEY});
        Act::refused(put("/v1/admin/legal-holds", &body))
    });
    scopes.into()
}

fn lift_hold(scene: &mut Scene<'_>) -> Vec<Act> {
    let scopes = scene.things.scopes();
    scopes.map(|scope| Act::refused(delete(&format!("/v1/admin/legal-holds?scope={scope}")))).into()
}

fn set_retention(scene: &mut Scene<'_>) -> Vec<Act> {
    let scopes = scene.things.scopes().map(|scope| {
        let body = json!({"scope": scope, "default_retention_days": 1, "idempotency_key": KEY});
        Act::refused(put("/v1/admin/retention/policies", &body))
    });
    scopes.into()
}

fn remove_retention(scene: &mut Scene<'_>) -> Vec<Act> {
    let target = |scope: &str| format!("/v1/admin/retention/policies?scope={scope}");
    scene.things.scopes().map(|scope| Act::refused(delete(&target(scope)))).into()
}

fn sweep(scene: &mut Scene<'_>) -> Vec<Act> {
    let target = "/v1/admin/retention/sweep";
    let mut acts = Vec::new();
    for scope in scene.things.scopes() {
        let body = json!({"scope": scope, "older_than_secs": 0, "dry_run": false, "rescan": true,
            "idempotency_key": KEY});
        acts.push(Act::refused(post(target, &body)));
    }
    for scope in scene.things.private() {
        // How much there is to remove is told to those who may look.
        let body = json!({"scope": scope, "older_than_secs": 0, "dry_run": true});
        acts.push(Act::refused(post(target, &body)));
    }
    acts.push(Act::open(post(target, &json!({"dry_run": true}))));
    acts
}

/// Believing the clock lets what is past its time go.
fn confirm_clock(_: &mut Scene<'_>) -> Vec<Act> {
    let sweep = format!("job_{}", "0".repeat(32));
    let bodies = [json!({"idempotency_key": KEY}), json!({"sweep_id": sweep})];
    bodies.map(|body| Act::refused(post("/v1/admin/clock/confirm", &body))).into()
}
