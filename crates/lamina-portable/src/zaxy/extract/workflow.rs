//! Goals, tasks, decisions, skills and the other events of daily work.

use super::{Extraction, MissingMember, Properties, RuleResult, retention, task_identity};
use crate::json::Value;
use crate::zaxy::coerce::{display, text};
use crate::zaxy::fields::join;

pub(super) fn apply(x: &mut Extraction<'_>) -> Option<RuleResult> {
    match x.event.kind.as_str() {
        "goal.created" => goal_created(x),
        "task.proposed" => task_proposed(x),
        "task.claimed" => {
            let task = x.fields().value_or("taskId", "unknown");
            x.by_actor("claimed_task", task);
        }
        "task.completed" => task_completed(x),
        "decision.made" => decision_made(x),
        "context.policy" => context_policy(x),
        "issue.diagnosed" => {
            let summary = x.fields().join(&["root_cause", "evidence", "fix"]);
            status_rule(x, ["issue", "issue", "diagnosed_issue"], summary, "diagnosed");
        }
        "handoff.created" => {
            let summary = x.fields().join(&["summary", "next_steps", "risks"]);
            status_rule(x, ["title", "handoff", "created_handoff"], summary, "created");
        }
        "verification.recorded" => verification_recorded(x),
        "user.preference_changed" => preference_changed(x),
        "hook.checkpoint" => hook_checkpoint(x),
        "skill.proposed" => return Some(skill_status(x, "proposed")),
        "skill.validated" => return Some(skill_status(x, "validated")),
        "skill.revised" => return Some(skill_status(x, "revised")),
        "skill.deprecated" => return Some(skill_status(x, "deprecated")),
        "skill.contradicted" => return Some(skill_status(x, "contradicted")),
        "skill.applied" => return Some(skill_applied(x)),
        "skill.outcome_recorded" => return Some(skill_outcome(x)),
        _ => return None,
    }
    Some(Ok(()))
}

fn goal_created(x: &mut Extraction<'_>) {
    let p = x.fields();
    let title = p.value_or("title", "untitled");
    x.entity(title.clone(), "goal", p.text("description"), retention(p).or_null());
    x.by_actor("created_goal", title);
}

fn task_proposed(x: &mut Extraction<'_>) {
    let p = x.fields();
    let task = p.value_or("taskId", &format!("task_{}", x.event.seq));
    let properties = task_identity(p).extend(retention(p)).or_null();
    x.entity(task.clone(), "task", p.text_of_any(&["summary", "title"]), properties);
    x.by_actor("proposed_task", task.clone());
    if let Some(goal) = p.text("goalTitle") {
        x.bare(goal.as_str(), "goal");
        x.edge(goal, "has_task", task);
    }
}

fn task_completed(x: &mut Extraction<'_>) {
    let p = x.fields();
    let task = p.text_of_any(&["taskId", "task"]).unwrap_or_else(|| "unknown".to_owned());
    let properties = task_identity(p).extend(retention(p)).or_null();
    x.entity(task.as_str(), "task", p.text("summary"), properties);
    x.by_actor("completed_task", task);
}

fn decision_made(x: &mut Extraction<'_>) {
    let p = x.fields();
    let name = p.text_or("decision", &format!("decision:{}", x.event.seq));
    let summary = p.join(&["summary", "rationale", "alternatives_considered"]);
    x.entity(name.as_str(), "decision", summary, retention(p).or_null());
    x.by_actor("made_decision", name);
}

fn context_policy(x: &mut Extraction<'_>) {
    let p = x.fields();
    let source = p.text_or("source", "context");
    let project = p.text("project");
    let name = match &project {
        Some(project) => format!("{project}:{source}"),
        None => source.clone(),
    };
    let properties =
        Properties::new().put("source", source).text("project", project).extend(retention(p));
    x.entity(name.as_str(), "context_policy", p.join(&["status", "instructions"]), properties);
    x.by_actor("set_context_policy", name);
}

/// A rule with a name, a summary and one fixed status. The words are the member with the name, the type
/// of the entity and the relation.
fn status_rule(x: &mut Extraction<'_>, words: [&str; 3], summary: Option<String>, status: &str) {
    let [member, kind, relation] = words;
    let name = x.fields().text_or(member, &format!("{kind}:{}", x.event.seq));
    x.entity(name.as_str(), kind, summary, Properties::new().put("status", status));
    x.by_actor(relation, name);
}

fn verification_recorded(x: &mut Extraction<'_>) {
    let p = x.fields();
    let name = p.text_or("command", &format!("verification:{}", x.event.seq));
    let outcome = p.text_or("outcome", "unknown");
    let summary = join(&[outcome.as_str().into(), p.value("summary"), p.value("evidence")]);
    x.entity(name.as_str(), "verification", summary, Properties::new().put("outcome", outcome));
    x.by_actor("recorded_verification", name);
}

fn preference_changed(x: &mut Extraction<'_>) {
    let p = x.fields();
    let user = p.value_or("userId", &x.event.actor);
    let key = p.value_or("key", "preference");
    let title = text(Some(&key)).unwrap_or_else(|| "preference".to_owned());
    let summary = match p.text("value") {
        Some(value) => format!("{title}={value}"),
        None => title,
    };
    let name = format!("{}:{}", display(&user), display(&key));
    x.bare(user.clone(), "user");
    x.entity(name.as_str(), "preference", Some(summary), Value::Null);
    x.edge(user, &format!("has_{}", display(&key)), name);
}

fn hook_checkpoint(x: &mut Extraction<'_>) {
    let p = x.fields();
    let session = text(Some(&x.event.thread.as_str().into())).or_else(|| p.text("session_id"));
    let session = session.unwrap_or_else(|| "default".to_owned());
    let name = format!("{session}:checkpoint:{}", x.event.seq);
    let properties = Properties::new()
        .put("session_id", session.as_str())
        .put("source", p.text_or("source", "hook"))
        .put("reason", p.text_or("reason", "checkpoint"))
        .integer("turn_count", &p.positive("turn_count", 0))
        .text("workspace", p.text("workspace"));
    x.bare(session.as_str(), "session");
    x.entity(name.as_str(), "hook_checkpoint", p.text("summary"), properties);
    x.edge(session, "recorded_checkpoint", name.as_str());
    x.by_task("has_checkpoint", &name);
}

/// The names of a skill and of one version of it.
struct SkillNames {
    id: String,
    version: String,
    skill: String,
    skill_version: String,
}

/// Adds the skill and its version.
fn skill_entities(x: &mut Extraction<'_>, status: &str) -> Result<SkillNames, MissingMember> {
    let p = x.fields();
    let id = p.text("skill_id").ok_or(MissingMember("skill_id"))?;
    let version = p.text_or("version", "1");
    let skill = format!("skill:{id}");
    let skill_version = format!("skill:{id}:v{version}");
    let title = p.text_or("name", &id);
    x.entity(skill.as_str(), "skill", Some(title), Properties::new().put("skill_id", id.as_str()));
    let properties = Properties::new()
        .put("skill_id", id.as_str())
        .put("version", version.as_str())
        .texts("procedure", &p.texts("procedure"))
        .texts("applicability", &p.texts("applicability"))
        .texts("citations", &p.texts("citations"))
        .texts("failure_modes", &p.texts("failure_modes"))
        .text("rollback", p.text("rollback"))
        .text("contradiction_reason", p.text("contradiction_reason"))
        .texts("evidence", &p.texts("evidence"))
        .put("status", status)
        .compact();
    x.entity(skill_version.as_str(), "skill_version", p.text("summary"), properties);
    Ok(SkillNames { id, version, skill, skill_version })
}

fn skill_status(x: &mut Extraction<'_>, status: &str) -> RuleResult {
    let names = skill_entities(x, status)?;
    let actor = x.event.actor.as_str();
    x.bare(actor, "actor");
    x.edge(names.skill, "has_version", names.skill_version.as_str());
    x.edge(actor, &format!("{status}_skill"), names.skill_version);
    Ok(())
}

fn skill_applied(x: &mut Extraction<'_>) -> RuleResult {
    let SkillNames { id, version, skill, skill_version } = skill_entities(x, "applied")?;
    let p = x.fields();
    let name = format!("{skill_version}:application:{}", x.event.seq);
    let properties = Properties::new()
        .put("skill_id", id)
        .put("version", version)
        .text("task", p.text("task"))
        .text("task_id", p.text_of_any(&["task_id", "taskId"]))
        .text("context", p.text("context"))
        .compact();
    x.entity(name.as_str(), "skill_application", p.join(&["task", "summary"]), properties);
    x.edge(skill, "has_version", skill_version.as_str());
    x.edge(skill_version, "applied_to_task", name);
    Ok(())
}

fn skill_outcome(x: &mut Extraction<'_>) -> RuleResult {
    let SkillNames { id, version, skill, skill_version } = skill_entities(x, "outcome_recorded")?;
    let p = x.fields();
    let name = format!("{skill_version}:outcome:{}", x.event.seq);
    let properties = Properties::new()
        .put("skill_id", id)
        .put("version", version)
        .text("task", p.text("task"))
        .double("success_score", p.unit("success_score"))
        .text("feedback", p.text("feedback"))
        .texts("evidence", &p.texts("evidence"))
        .compact();
    x.entity(name.as_str(), "skill_outcome", p.join(&["task", "feedback"]), properties);
    x.edge(skill, "has_version", skill_version.as_str());
    x.edge(skill_version, "recorded_outcome", name);
    Ok(())
}
