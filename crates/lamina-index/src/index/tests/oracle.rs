//! Search against a scan of everything that was put.

use proptest::prelude::*;

use super::*;
use crate::analyze;
use crate::frequency;

/// What a test does.
#[derive(Debug, Clone)]
enum Step {
    Put { number: u64, scope: usize, words: Vec<usize> },
    Remove(u64),
    Commit,
    Reopen,
    Purge,
}

const SCOPES: [&str; 4] = ["org:a", "org:a/user:x", "org:a/user:x/app:p", "org:a/user:xy"];
const WORDS: [&str; 12] = [
    "violin",
    "concert",
    "Violins",
    "train",
    "the",
    "ticket",
    "Oslo",
    "running",
    "runs",
    "getUserName",
    "user",
    "tomorrow",
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = prop::collection::vec(0..WORDS.len(), 0..8);
    let put = (0_u64..12, 0..SCOPES.len(), words).prop_map(|(number, scope, words)| Step::Put {
        number,
        scope,
        words,
    });
    let step = prop_oneof![
        12 => put,
        3 => (0_u64..12).prop_map(Step::Remove),
        2 => Just(Step::Commit),
        1 => Just(Step::Reopen),
        1 => Just(Step::Purge),
    ];
    prop::collection::vec(step, 1..40)
}

fn text_of(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

/// Slow and obviously right: BM25 over every document, one after the other.
fn scan(
    documents: &BTreeMap<u64, (usize, String)>,
    reach: &Reach,
    question: &str,
    statistics: Statistics,
) -> Vec<(u64, f64)> {
    let seen: Vec<(u64, Vec<String>)> = documents
        .iter()
        .filter(|(_, (place, _))| reach.holds(&scope(SCOPES[*place])))
        .map(|(number, (_, text))| (*number, analyze::terms(text)))
        .collect();
    let (prior, average) = match statistics {
        Statistics::Shipped => (20_000.0, 16.0),
        Statistics::Visible => {
            let len: usize = seen.iter().map(|(_, terms)| terms.len()).sum();
            (50.0, (len as f64 + 16.0 * 50.0) / (seen.len() as f64 + 50.0))
        }
    };
    let counted = if statistics == Statistics::Shipped { 0.0 } else { 1.0 };
    let mut scores: BTreeMap<u64, f64> = BTreeMap::new();
    for asked in analyze::question(question, None) {
        let count =
            |terms: &[String]| terms.iter().filter(|term| asked.terms.contains(term)).count();
        let having = seen.iter().filter(|(_, terms)| count(terms) > 0).count() as f64 * counted;
        let mut spellings = vec![asked.word.as_str()];
        spellings.extend(asked.terms.iter().map(String::as_str));
        let having = having + prior * frequency::share(&spellings);
        let total = seen.len() as f64 * counted + prior;
        let rarity = (1.0 + (total - having + 0.5) / (having + 0.5)).ln();
        for (number, terms) in &seen {
            let count = count(terms) as f64;
            if count > 0.0 {
                let norm = 1.2 * (0.25 + 0.75 * terms.len() as f64 / average);
                *scores.entry(*number).or_default() += rarity * count * 2.2 / (count + norm);
            }
        }
    }
    let mut scores: Vec<(u64, f64)> = scores.into_iter().collect();
    scores.sort_by(|left, right| {
        right.1.total_cmp(&left.1).then_with(|| id(left.0).cmp(&id(right.0)))
    });
    scores
}

/// Slow and obviously right: the cosine of every vector, in floating point.
fn compare(documents: &BTreeMap<u64, (usize, String)>, reach: &Reach, question: &str) -> Vec<u64> {
    let embedder = StaticEmbedder::new();
    let Some(asked) = embedder.embed_one(question) else { return Vec::new() };
    let mut near: Vec<(u64, f32)> = documents
        .iter()
        .filter(|(_, (place, _))| reach.holds(&scope(SCOPES[*place])))
        .filter_map(|(number, (_, text))| Some((*number, embedder.embed_one(text)?)))
        .map(|(number, vector)| (number, asked.cosine(&vector)))
        .collect();
    near.sort_by(|left, right| {
        right.1.total_cmp(&left.1).then_with(|| id(left.0).cmp(&id(right.0)))
    });
    near.into_iter().map(|(number, _)| number).collect()
}

fn check(index: &Index, documents: &BTreeMap<u64, (usize, String)>) -> Result<(), TestCaseError> {
    let reaches = [
        Reach::Exact(scope("org:a/user:x")),
        Reach::Subtree(scope("org:a/user:x")),
        Reach::Subtree(scope("org:a")),
    ];
    for reach in reaches {
        for question in ["violin concert in Oslo", "run for the train", "getUserName"] {
            for statistics in [Statistics::Visible, Statistics::Shipped] {
                let filter = Filter::within(vec![reach.clone()]);
                let query = LexicalQuery {
                    text: question,
                    also: &[],
                    language: None,
                    filter,
                    statistics,
                    limit: 5,
                };
                let answer = index.lexical(1, &query).unwrap();
                let expected = scan(documents, &reach, question, statistics);
                prop_assert_eq!(answer.matched, expected.len() as u64);
                let found: Vec<u64> = answer.hits.iter().map(|hit| hit.offset).collect();
                let first: Vec<u64> = expected.iter().take(5).map(|(number, _)| *number).collect();
                prop_assert_eq!(found, first, "{} in {:?}", question, reach);
                for (hit, (_, score)) in answer.hits.iter().zip(&expected) {
                    prop_assert!((hit.score - score).abs() < 1e-9);
                }
            }
            let filter = Filter::within(vec![reach.clone()]);
            let found = meaning(index, 1, question, filter, 4);
            let mut expected = compare(documents, &reach, question);
            expected.truncate(4);
            prop_assert_eq!(found, expected);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_search_equals_a_scan(steps in steps()) {
        let disk = SimDisk::new();
        let (mut index, _) = open(&disk);
        let mut documents: BTreeMap<u64, (usize, String)> = BTreeMap::new();
        for step in &steps {
            match step {
                Step::Put { number, scope, words } => {
                    let text = text_of(words);
                    index.apply(1, &[put(*number, SCOPES[*scope], &text)], 1).unwrap();
                    documents.insert(*number, (*scope, text));
                }
                Step::Remove(number) => {
                    index.apply(1, &[remove(*number)], 1).unwrap();
                    documents.remove(number);
                }
                Step::Commit => drop(index.commit().unwrap()),
                Step::Purge => drop(index.purge(1).unwrap()),
                Step::Reopen => {
                    index.commit().unwrap();
                    drop(index);
                    index = open(&disk).0;
                }
            }
        }
        check(&index, &documents)?;
        index.commit().unwrap();
        check(&index, &documents)?;
    }
}
