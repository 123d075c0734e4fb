//! What holds for everything that a look shows, whatever was said.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::look::Pins;
use super::story::Story;
use crate::harness::{string, strings};

/// The layers that events carry directly.
pub(super) struct Layers<'a> {
    pub(super) events: &'a [Value],
    pub(super) episodes: &'a [Value],
    pub(super) facts: &'a [Value],
}

/// What holds whatever was said.
impl Story {
    /// Every record stands on events, and none of them was withdrawn.
    pub(super) fn stands(&self, layers: &Layers<'_>) {
        let stand = |record: &Value, on: &Value| {
            let on = strings(on);
            assert!(!on.is_empty(), "without support: {record}");
            for id in on {
                assert!(
                    !self.cancelled.contains(&id),
                    "{} was withdrawn: {record}",
                    self.name(&id)
                );
            }
        };
        for event in layers.events {
            assert!(!self.cancelled.contains(&string(event, "id")), "withdrawn: {event}");
        }
        for episode in layers.episodes {
            stand(episode, &episode["events"]);
        }
        for fact in layers.facts {
            stand(fact, &fact["supports"]);
        }
    }

    /// Every belief stands on facts that are there, or on events that were not withdrawn; and `why` goes
    /// down without coming back.
    pub(super) fn believed(&mut self, beliefs: &[Value], pins: &Pins) {
        let known = Pins { valid: None, known: pins.known.clone() }.asked();
        let ever = self.page("facts", "items", &format!("{known}&include_superseded=true"));
        let there: BTreeSet<String> = ever.iter().map(|fact| string(fact, "id")).collect();
        for belief in beliefs {
            let supports = belief["supports"].as_array().unwrap();
            let declared = belief["declared"] == true;
            assert!(declared || !supports.is_empty(), "without support: {belief}");
            for support in supports {
                let id = string(support, "id");
                assert!(!self.cancelled.contains(&id), "withdrawn: {belief}");
                assert!(!id.starts_with("fact_") || there.contains(&id), "{id}: {belief}");
            }
            let why = self.api.get(&format!("{}{known}", string(belief, "why_url")));
            if why.response.status == 200 {
                leads_down(&why.ok(200)["support_graph"]);
            }
        }
    }

    /// What is understood now stands on episodes and facts that are there now.
    pub(super) fn understood(&mut self, concepts: &[Value], pins: &Pins) {
        if pins.known.is_some() || pins.valid.is_some() {
            return;
        }
        let episodes = self.page("episodes", "items", "");
        let episodes: BTreeSet<String> = episodes.iter().map(|one| string(one, "id")).collect();
        let facts = self.page("facts", "items", "&include_superseded=true");
        let facts: BTreeSet<String> = facts.iter().map(|one| string(one, "id")).collect();
        for concept in concepts.iter().filter(|one| one["stance"] != "deprecated") {
            let by = &concept["supported_by"];
            let (on, of) = (strings(&by["episodes"]), strings(&by["facts"]));
            assert!(on.len() >= 2 && on.len() + of.len() >= 3, "too little: {concept}");
            assert!(on.iter().all(|id| episodes.contains(id)), "{concept}");
            assert!(of.iter().all(|id| facts.contains(id)), "{concept}");
        }
    }
}

/// No record supports itself: every way down ends.
fn leads_down(graph: &Value) {
    let mut below: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for edge in graph["edges"].as_array().unwrap() {
        below.entry(string(edge, "from")).or_default().push(string(edge, "to"));
    }
    let mut left: BTreeSet<String> = below.keys().cloned().collect();
    while !left.is_empty() {
        let leaves = |id: &String| below[id].iter().all(|to| !left.contains(to));
        let ended: Vec<String> = left.iter().filter(|id| leaves(id)).cloned().collect();
        assert!(!ended.is_empty(), "in a circle: {graph}");
        left.retain(|id| !ended.contains(id));
    }
}
