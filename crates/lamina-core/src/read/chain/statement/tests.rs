//! Sentences that say one thing of a name.

use super::statement_about;

#[track_caller]
fn check(sentence: &str, name: &str, relation: &str, value: &str) {
    let found = statement_about(sentence, name).unwrap();
    assert_eq!((found.relation.join(" ").as_str(), found.value.as_str()), (relation, value));
}

#[test]
fn statement_of_a_noun_phrase_gives_relation_and_value() {
    check("The author of Dune is Frank Herbert.", "Dune", "author", "Frank Herbert");
    check("The capital of Norway is Oslo.", "Norway", "capital", "Oslo");
    check("The author of My Antonia is Willa Cather.", "My Antonia", "author", "Willa Cather");
    check(
        "The school where Ada Byron was taught is University of Kent, Medway.",
        "Ada Byron",
        "school taught",
        "University of Kent, Medway",
    );
    check(
        "The firm that built Blue Harbour is Acme Ltd.",
        "Blue Harbour",
        "firm built",
        "Acme Ltd",
    );
}

#[test]
fn statement_of_a_name_gives_what_stands_after_its_verb() {
    check("Mara Lind was born in the town of Aarhus.", "Mara Lind", "born town", "Aarhus");
    check("Atlas runs on Hetzner.", "Atlas", "runs", "Hetzner");
    check("Owen plays the position of left back.", "Owen", "plays position", "left back");
    check("kelp is grown off the coast of Chile", "kelp", "grown off coast", "Chile");
}

#[test]
fn sentence_that_depends_on_its_speaker_or_a_condition_says_nothing() {
    for sentence in [
        "I think Ada lives in Rome.",
        "Does Ada live in Rome?",
        "If Ada moves, she lives in Rome.",
        "My boss says the capital of Norway is Bergen.",
        "We met Ada in Rome.",
        "Ada.",
    ] {
        assert_eq!(statement_about(sentence, "Ada"), None, "{sentence}");
    }
    assert_eq!(statement_about("Frank is the author of Dune.", "Dune"), None, "no subject");
}
