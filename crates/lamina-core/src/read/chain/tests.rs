//! Chains over small graphs.

use std::collections::BTreeMap;
use std::convert::Infallible;

use proptest::prelude::*;

use super::{Chain, ChainStart, ChainStep, FactGraph, HOPS_MAX, find_chain};
use crate::read::answer::Meaning;
use crate::read::words::words;

/// Facts as `subject | relation | value`.
struct Graph {
    names: Vec<String>,
    facts: Vec<(usize, Vec<String>, String)>,
    read: usize,
}

impl Graph {
    fn of(facts: &[&str]) -> Graph {
        let mut names: Vec<String> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut number = |name: &str| {
            *known.entry(name.to_owned()).or_insert_with(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        };
        let mut all = Vec::new();
        for fact in facts {
            let parts: Vec<&str> = fact.split(" | ").collect();
            number(parts[2]);
            all.push((number(parts[0]), words(parts[1]), parts[2].to_owned()));
        }
        Graph { names, facts: all, read: 0 }
    }

    fn number(&self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap()
    }
}

impl FactGraph for Graph {
    type Error = Infallible;

    fn steps(&mut self, entity: usize) -> Result<Vec<ChainStep>, Infallible> {
        self.read += 1;
        let about = self.facts.iter().enumerate().filter(|(_, fact)| fact.0 == entity);
        let step =
            |(fact, (_, relation, value)): (usize, &(usize, Vec<String>, String))| ChainStep {
                fact,
                side: 0,
                source: fact,
                relation: relation.clone(),
                also: Vec::new(),
                value: words(value),
                entity: Some(self.number(value)),
            };
        Ok(about.map(step).collect())
    }
}

struct Alike(&'static [(&'static str, &'static str)]);

impl Meaning for Alike {
    fn words(&mut self, one: &str, other: &str) -> f64 {
        let alike = |(a, b): &(&str, &str)| (*a, *b) == (one, other) || (*b, *a) == (one, other);
        if self.0.iter().any(alike) { 0.8 } else { 0.0 }
    }

    fn question(&mut self, _: &str) -> f64 {
        0.0
    }
}

/// The values along the chain, and what is missing.
fn walked(graph: &mut Graph, question: &str, name: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (asked, named) = (words(question), words(name));
    let from = asked.windows(named.len()).position(|window| window == named).unwrap();
    let start = ChainStart { entity: graph.number(name), words: (from, from + named.len()) };
    let chain: Option<Chain> =
        find_chain(question, &[start], graph, &mut Alike(&[("faith", "religion")])).unwrap();
    chain.map(|chain| {
        let values = chain.hops.iter().map(|hop| graph.facts[hop.fact].2.clone());
        (values.collect(), chain.missing)
    })
}

fn library() -> Graph {
    Graph::of(&[
        "Dune | author | Frank",
        "Dune | publisher | Chilton",
        "Frank | spouse | Beverly",
        "Frank | born in | Tacoma",
        "Beverly | religion | Zen",
        "Chilton | headquarters | Boston",
    ])
}

#[test]
fn chain_of_two_hops_gives_the_value_of_the_last() {
    let found = walked(&mut library(), "Who is the spouse of the author of Dune?", "Dune");
    let (values, missing) = found.unwrap();
    assert_eq!(values, ["Frank", "Beverly"]);
    assert!(missing.is_empty());
}

#[test]
fn chain_of_three_hops_meets_words_of_the_same_meaning() {
    let question = "What is the faith of the wife of the author of Dune?";
    let (values, missing) = walked(&mut library(), question, "Dune").unwrap();
    assert_eq!(values, ["Frank", "Beverly", "Zen"]);
    assert!(missing.is_empty());
}

#[test]
fn chain_with_a_missing_hop_names_its_words() {
    let question = "What is the salary of the author of Dune?";
    let (values, missing) = walked(&mut library(), question, "Dune").unwrap();
    assert_eq!(values, ["Frank"]);
    assert_eq!(missing, ["salary"]);
}

#[test]
fn question_of_other_matters_walks_nowhere() {
    assert_eq!(walked(&mut library(), "What is the weather on Dune?", "Dune"), None);
}

proptest! {
    #[test]
    fn walk_is_bounded_in_hops_and_cost(
        edges in proptest::collection::vec((0usize..12, 0usize..5, 0usize..12), 1..80),
    ) {
        let relations = ["author", "spouse", "manager", "owner", "founder"];
        let facts: Vec<String> = edges
            .iter()
            .map(|(from, relation, to)| format!("n{from} | {} | n{to}", relations[*relation]))
            .collect();
        let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
        let mut graph = Graph::of(&facts);
        let start = ChainStart { entity: 0, words: (9, 10) };
        let question = "the author of the spouse of the manager of n0";
        let chain = find_chain(question, &[start], &mut graph, &mut Alike(&[])).unwrap();
        prop_assert!(graph.read <= super::ENTITIES_READ_MAX);
        if let Some(chain) = chain {
            prop_assert!(chain.hops.len() <= HOPS_MAX);
            let mut facts: Vec<usize> = chain.hops.iter().map(|hop| hop.fact).collect();
            facts.dedup();
            prop_assert_eq!(facts.len(), chain.hops.len());
        }
    }
}
