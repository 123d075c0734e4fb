//! Which words connect which things.

use lamina_types::ActorId;
use lamina_types::layer::extraction::ByteSpan;

use crate::Source;
use crate::rules::tests::NOON;

fn check(text: &str, expected: &[&str]) {
    let ann: ActorId = "user:ann".parse().unwrap();
    let source = Source {
        text,
        speaker: &ann,
        addressee: None,
        role: None,
        observed_at: NOON,
        timezone: None,
    };
    let words = |span: ByteSpan| text[span.start as usize..span.end as usize].to_lowercase();
    let found = crate::extract(&source).bonds;
    let found: Vec<String> = found
        .iter()
        .map(|bond| format!("{} {} {}", words(bond.from), bond.relation, words(bond.to)))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn words_connect_the_things_beside_them() {
    check("Warehouse reports need billing data from Postgres", &["reports depends_on billing"]);
    check("Plan Blue contradicts Plan Red", &["plan blue contradicts plan red"]);
    check("Old backups fill the disk", &["backups causes disk"]);
    check("Falcon is a telescope of the observatory", &["falcon part_of observatory"]);
    check("Yuki runs the gateway deploy", &["gateway depends_on yuki"]);
    check("Trial users churn because onboarding is hard", &["onboarding causes churn"]);
}

#[test]
fn what_is_asked_denied_or_imagined_connects_nothing() {
    check("Does billing depend on MySQL triggers?", &[]);
    check("The importer does not need the cache.", &[]);
    check("If the importer uses the cache, the disk is fine.", &[]);
    check("Billing runs on Postgres", &[]);
}
