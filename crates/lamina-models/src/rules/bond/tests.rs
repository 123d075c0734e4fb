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
    check("Reports need billing from Postgres", &["reports depends_on billing"]);
    check("Plan Blue contradicts Plan Red", &["plan blue contradicts plan red"]);
    check("Old backups fill the disk", &["backups causes disk"]);
    check("Falcon is a telescope of the observatory", &["falcon part_of observatory"]);
    check("Yuki runs the gateway", &["gateway depends_on yuki"]);
    check("Billing runs on Postgres", &["billing depends_on postgres"]);
    check("The importer fails because onboarding is hard", &["onboarding causes importer"]);
    check("Today checkout waits for the cache", &["checkout depends_on cache"]);
}

#[test]
fn what_is_said_of_a_compound_is_said_of_its_things() {
    check(
        "The Corvo scooter relies on the brake sensor",
        &[
            "scooter depends_on brake",
            "scooter depends_on sensor",
            "corvo depends_on brake",
            "corvo depends_on sensor",
        ],
    );
    check(
        "The certificate of Gatekeeper causes the timeouts of the page",
        &[
            "gatekeeper causes timeouts",
            "gatekeeper causes page",
            "certificate causes timeouts",
            "certificate causes page",
        ],
    );
    check(
        "The report by Lysander contradicts Dunn",
        &["lysander contradicts dunn", "report contradicts dunn"],
    );
}

#[test]
fn what_something_is_done_by_is_what_does_it() {
    check("The flood is caused by the beavers", &["beavers causes flood"]);
    check("The gateway is owned by Yuki", &["gateway depends_on yuki"]);
    check("The mill gets its water from the stream", &["mill depends_on stream"]);
    check("Ada gets a letter from Bob", &[]);
}

#[test]
fn what_is_asked_denied_or_imagined_connects_nothing() {
    check("Does billing depend on MySQL triggers?", &[]);
    check("The importer does not need the cache.", &[]);
    check("If the importer uses the cache, the disk is fine.", &[]);
    check("Billing runs at night on Sundays", &[]);
}

#[test]
fn what_is_needed_may_stand_anywhere() {
    check("A panel is what the battery needs", &["battery depends_on panel"]);
    check("The camera cannot work without the compressor", &["camera depends_on compressor"]);
    check("The choir sings without the piano", &[]);
    check("The newsletter is sent with Pigeonpost", &["newsletter depends_on pigeonpost"]);
    check("The ledger reads its totals from the meter", &["ledger depends_on meter"]);
    check("Because of the storm, the ferry is late", &["storm causes ferry"]);
    check("Due to the storm the ferry is late", &["storm causes ferry"]);
}

#[test]
fn any_other_verb_connects_somehow() {
    check("Sentra watches the refrigerator", &["sentra related_to refrigerator"]);
    check("The pump fed the old boiler", &["pump related_to boiler"]);
    check("The pump might feed the boiler", &[]);
    check("The pump never fed the boiler", &[]);
    check("Did the pump feed the boiler?", &[]);
    // What says more is said once.
    check("The ferry needs the pier", &["ferry depends_on pier"]);
}
