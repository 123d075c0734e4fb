//! The register of skills: every version with its state, its uses and its outcomes, folded from the events of a
//! session in the order of the log. It is kept nowhere, so a replay gives what is live.

use std::collections::BTreeSet;

use lamina_core::read::words::{is_empty_word, stem, words};
use serde_json::{Map, Value, json};

/// The types of the events that the register is folded from.
pub(super) const KINDS: [&str; 7] = [
    "skill.proposed",
    "skill.validated",
    "skill.revised",
    "skill.deprecated",
    "skill.contradicted",
    "skill.applied",
    "skill.outcome_recorded",
];
/// The version of a skill whose events name none.
const FIRST_VERSION: &str = "1";
/// Outcomes from which a version is judged.
const OUTCOMES_MIN: usize = 2;
/// The mean outcome from which a version is worth to be promoted.
const PROMOTION_SCORE: f64 = 0.75;
/// The mean outcome up to which a version is worth to be taken back.
const ROLLBACK_SCORE: f64 = 0.4;
/// Skills that a checkout shows at most.
const SHOWN_MAX: usize = 5;
/// Steps of a procedure that are shown.
const STEPS_MAX: usize = 12;

/// An event of the register.
#[derive(Debug, Clone)]
pub(super) struct SkillEvent {
    pub(super) kind: String,
    pub(super) payload: Map<String, Value>,
    /// The citation with the short seal.
    pub(super) citation: String,
}

/// An outcome of a version.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SkillOutcome {
    /// From 0 to 1, if it was stated.
    pub(super) score: Option<f64>,
    pub(super) citation: String,
}

/// A version of a skill.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SkillVersion {
    pub(super) skill_id: String,
    pub(super) version: String,
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) procedure: Vec<String>,
    pub(super) applicability: Vec<String>,
    pub(super) failure_modes: Vec<String>,
    /// `proposed`, `validated`, `revised`, `deprecated` or `contradicted`.
    pub(super) status: String,
    /// How to go back, or why not to use it.
    pub(super) caution: Option<String>,
    /// The version that took its place.
    pub(super) superseded_by: Option<String>,
    pub(super) contradictions: usize,
    pub(super) applications: usize,
    pub(super) outcomes: Vec<SkillOutcome>,
    /// The event that set its state.
    pub(super) citation: String,
}

/// All versions of all skills, in the order in which they first appear.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SkillRegister {
    pub(super) versions: Vec<SkillVersion>,
}

impl SkillVersion {
    fn new(skill_id: &str, version: &str, citation: &str) -> SkillVersion {
        SkillVersion {
            skill_id: skill_id.to_owned(),
            version: version.to_owned(),
            name: skill_id.to_owned(),
            summary: String::new(),
            procedure: Vec::new(),
            applicability: Vec::new(),
            failure_modes: Vec::new(),
            status: "proposed".to_owned(),
            caution: None,
            superseded_by: None,
            contradictions: 0,
            applications: 0,
            outcomes: Vec::new(),
            citation: citation.to_owned(),
        }
    }

    /// Whether the version may be followed.
    pub(super) fn is_usable(&self) -> bool {
        self.superseded_by.is_none() && !matches!(&*self.status, "deprecated" | "contradicted")
    }

    /// The mean of the outcomes that state a score.
    pub(super) fn mean_score(&self) -> Option<f64> {
        let scores: Vec<f64> = self.outcomes.iter().filter_map(|outcome| outcome.score).collect();
        let count = scores.len();
        (count > 0).then(|| (scores.iter().sum::<f64>() / count as f64 * 100.0).round() / 100.0)
    }

    fn has_history(&self) -> bool {
        !self.outcomes.is_empty() || self.contradictions > 0
    }

    fn is_promotion_candidate(&self) -> bool {
        self.is_usable()
            && self.status != "validated"
            && self.contradictions == 0
            && self.outcomes.len() >= OUTCOMES_MIN
            && self.mean_score().is_some_and(|mean| mean >= PROMOTION_SCORE)
    }

    fn is_rollback_candidate(&self) -> bool {
        let fails = self.outcomes.len() >= OUTCOMES_MIN
            && self.mean_score().is_some_and(|mean| mean <= ROLLBACK_SCORE);
        self.superseded_by.is_none()
            && self.status != "deprecated"
            && (self.contradictions > 0 || fails)
    }

    /// Takes over what an event says about the version.
    fn describe(&mut self, payload: &Map<String, Value>) {
        let set = |target: &mut String, name: &str| {
            if let Some(text) = text(payload, name) {
                *target = text;
            }
        };
        set(&mut self.name, "name");
        set(&mut self.summary, "summary");
        for (target, name) in [
            (&mut self.procedure, "procedure"),
            (&mut self.applicability, "applicability"),
            (&mut self.failure_modes, "failure_modes"),
        ] {
            let list = texts(payload, name);
            if !list.is_empty() {
                *target = list;
            }
        }
    }
}

impl SkillRegister {
    /// Folds events, in the order of the log.
    pub(super) fn fold(events: &[SkillEvent]) -> SkillRegister {
        let mut register = SkillRegister::default();
        for event in events {
            register.apply(event);
        }
        register
    }

    fn apply(&mut self, event: &SkillEvent) {
        let Some(skill_id) = text(&event.payload, "skill_id") else { return };
        let version = text(&event.payload, "version").unwrap_or_else(|| FIRST_VERSION.to_owned());
        let replaced = text(&event.payload, "supersedes_version");
        let at = self.place(&skill_id, &version, &event.citation);
        let Some(known) = self.versions.get_mut(at) else { return };
        known.describe(&event.payload);
        match event.kind.as_str() {
            "skill.applied" => known.applications += 1,
            "skill.outcome_recorded" => {
                let score = event.payload.get("success_score").and_then(Value::as_f64);
                let score = score.map(|score| score.clamp(0.0, 1.0));
                known.outcomes.push(SkillOutcome { score, citation: event.citation.clone() });
            }
            kind => {
                let status = kind.strip_prefix("skill.").unwrap_or(kind);
                known.status = status.to_owned();
                known.citation = event.citation.clone();
                known.contradictions += usize::from(status == "contradicted");
                let said = ["contradiction_reason", "rollback", "reason"];
                known.caution = said.iter().find_map(|name| text(&event.payload, name));
            }
        }
        let replaced = replaced.filter(|replaced| *replaced != version);
        for other in &mut self.versions {
            if other.skill_id == skill_id && Some(&other.version) == replaced.as_ref() {
                other.superseded_by = Some(version.clone());
            }
        }
    }

    fn place(&mut self, skill_id: &str, version: &str, citation: &str) -> usize {
        let known = self
            .versions
            .iter()
            .position(|known| known.skill_id == skill_id && known.version == version);
        known.unwrap_or_else(|| {
            let mut new = SkillVersion::new(skill_id, version, citation);
            // What a new version leaves out is as in the one before it.
            let before = self.versions.iter().rev().find(|known| known.skill_id == skill_id);
            if let Some(before) = before {
                new.name = before.name.clone();
                new.summary = before.summary.clone();
                new.applicability = before.applicability.clone();
            }
            self.versions.push(new);
            self.versions.len() - 1
        })
    }

    /// The versions that may be followed and bear on a question, the best first.
    pub(super) fn applicable(&self, query: &str) -> Vec<&SkillVersion> {
        let asked = content_words(query);
        let mut found: Vec<(usize, &SkillVersion)> = Vec::new();
        for version in self.versions.iter().filter(|version| version.is_usable()) {
            let mut told = vec![version.skill_id.as_str(), &version.name, &version.summary];
            told.extend(version.applicability.iter().map(String::as_str));
            let known = content_words(&told.join(" "));
            let shared = asked.intersection(&known).count();
            if shared > 0 {
                found.push((shared, version));
            }
        }
        found.sort_by(|one, other| {
            let by_state = |version: &SkillVersion| version.status == "validated";
            other.0.cmp(&one.0).then_with(|| by_state(other.1).cmp(&by_state(one.1)))
        });
        found.into_iter().take(SHOWN_MAX).map(|(_, version)| version).collect()
    }

    /// The block `skills` of the diagnostics.
    pub(super) fn skills_block(shown: &[&SkillVersion]) -> Value {
        let items: Vec<Value> = shown
            .iter()
            .map(|skill| {
                json!({
                    "skill_id": skill.skill_id,
                    "version": skill.version,
                    "status": skill.status,
                    "name": skill.name,
                    "summary": skill.summary,
                    "procedure": skill.procedure.iter().take(STEPS_MAX).collect::<Vec<_>>(),
                    "applicability": skill.applicability,
                    "failure_modes": skill.failure_modes,
                    "citation": skill.citation,
                })
            })
            .collect();
        json!({"count": items.len(), "items": items})
    }

    /// The block `skill_analytics` of the diagnostics: the history of the skills that bear on a question.
    pub(super) fn analytics_block(&self, query: &str) -> Option<Value> {
        let asked = content_words(query);
        let versions: Vec<&SkillVersion> = self
            .versions
            .iter()
            .filter(|version| version.has_history())
            .filter(|version| {
                let told = format!(
                    "{} {} {} {}",
                    version.skill_id,
                    version.name,
                    version.summary,
                    version.applicability.join(" ")
                );
                asked.intersection(&content_words(&told)).next().is_some()
            })
            .take(SHOWN_MAX)
            .collect();
        if versions.is_empty() {
            return None;
        }
        let row = |skill: &&SkillVersion| {
            let mut citations: Vec<&str> = vec![&skill.citation];
            citations.extend(skill.outcomes.iter().map(|outcome| outcome.citation.as_str()));
            citations.dedup();
            json!({
                "skill_id": skill.skill_id,
                "version": skill.version,
                "status": skill.status,
                "superseded_by": skill.superseded_by,
                "outcome_count": skill.outcomes.len(),
                "mean_success_score": skill.mean_score(),
                "application_count": skill.applications,
                "contradiction_count": skill.contradictions,
                "caution": skill.caution,
                "citations": citations,
            })
        };
        let named = |fits: fn(&SkillVersion) -> bool| -> Vec<Value> {
            let found = versions.iter().filter(|skill| fits(skill));
            found
                .map(|skill| json!({"skill_id": skill.skill_id, "version": skill.version}))
                .collect()
        };
        let sum = |count: fn(&SkillVersion) -> usize| -> usize {
            versions.iter().map(|skill| count(skill)).sum()
        };
        Some(json!({
            "versions": versions.iter().map(row).collect::<Vec<_>>(),
            "promotion_candidates": named(SkillVersion::is_promotion_candidate),
            "rollback_candidates": named(SkillVersion::is_rollback_candidate),
            "outcome_count": sum(|skill| skill.outcomes.len()),
            "contradiction_count": sum(|skill| skill.contradictions),
            "read_only": true,
        }))
    }
}

fn content_words(text: &str) -> BTreeSet<String> {
    let plain = text.replace(['-', '_'], " ");
    words(&plain).iter().filter(|word| !is_empty_word(word)).map(|word| stem(word)).collect()
}

fn text(payload: &Map<String, Value>, name: &str) -> Option<String> {
    let text = match payload.get(name)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

fn texts(payload: &Map<String, Value>, name: &str) -> Vec<String> {
    let list = payload.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|item| Some(item.as_str()?.trim().to_owned()))
        .filter(|text| !text.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: usize, kind: &str, payload: Value) -> SkillEvent {
        let Value::Object(payload) = payload else { panic!("a payload is an object") };
        SkillEvent { kind: kind.to_owned(), payload, citation: format!("c{number}") }
    }

    fn story() -> Vec<SkillEvent> {
        let about = json!({"skill_id": "py-tdd", "name": "Python TDD", "summary": "test first",
            "procedure": ["write a failing test", "run pytest"], "applicability": ["python"]});
        vec![
            event(1, "skill.proposed", about),
            event(2, "skill.applied", json!({"skill_id": "py-tdd", "task": "fix"})),
            event(3, "skill.outcome_recorded", json!({"skill_id": "py-tdd", "success_score": 0.9})),
            event(4, "skill.outcome_recorded", json!({"skill_id": "py-tdd", "success_score": 0.8})),
        ]
    }

    #[test]
    fn good_outcomes_make_a_promotion_candidate() {
        let register = SkillRegister::fold(&story());
        let shown = register.applicable("fix the python test");
        assert_eq!(shown.len(), 1);
        assert_eq!((shown[0].applications, shown[0].mean_score()), (1, Some(0.85)));
        let analytics = register.analytics_block("python").unwrap();
        assert_eq!(
            analytics["promotion_candidates"],
            json!([{"skill_id": "py-tdd", "version": "1"}])
        );
        assert_eq!(analytics["rollback_candidates"], json!([]));
        assert!(register.analytics_block("cooking").is_none());
    }

    #[test]
    fn revision_supersedes_and_contradiction_asks_for_rollback() {
        let mut events = story();
        let revised = json!({"skill_id": "py-tdd", "version": "2", "supersedes_version": "1",
            "procedure": ["skip tests"], "applicability": ["python"]});
        events.push(event(5, "skill.revised", revised));
        let contradicted =
            json!({"skill_id": "py-tdd", "version": "2", "contradiction_reason": "it broke"});
        events.push(event(6, "skill.contradicted", contradicted));
        let register = SkillRegister::fold(&events);
        assert_eq!(register.versions[0].superseded_by.as_deref(), Some("2"));
        assert!(register.applicable("python").is_empty());
        let analytics = register.analytics_block("python").unwrap();
        assert_eq!(
            analytics["rollback_candidates"],
            json!([{"skill_id": "py-tdd", "version": "2"}])
        );
        assert_eq!(analytics["contradiction_count"], 1);
        // A prefix of the log gives the register of that time.
        assert_eq!(SkillRegister::fold(&events[..4]), SkillRegister::fold(&story()));
    }
}
