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
    check("Without the freezer the samples are useless", &["samples depends_on freezer"]);
    check("Without the freezer, the samples are useless", &["samples depends_on freezer"]);
    check("The flour goes into the oven", &["flour related_to oven"]);
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

#[test]
fn verbs_are_known_by_what_they_say() {
    check("The storm killed half of the bees", &["storm causes bees"]);
    check("The drought weakened the oaks", &["drought causes oaks"]);
    check("Sand clogged the filter", &["sand causes filter"]);
    check("The flood tore down the bridge", &["flood causes bridge"]);
    check("The lamp was knocked out by the surge", &["surge causes lamp"]);
    check("The ice makes the road dangerous", &["ice causes road"]);
    check("The outage left the hall dark", &["outage causes hall"]);
    check("The orchard suffers from the hail", &["hail causes orchard"]);
    check("The turbine powers the village", &["village depends_on turbine"]);
    check("The wedding clashes with the regatta", &["wedding contradicts regatta"]);
    check("The route depends entirely on the tide", &["route depends_on tide"]);
    check("The set is made up of the kettle", &["kettle part_of set"]);
}

#[test]
fn a_verb_that_is_meant_or_a_noun_connects_nothing() {
    check("The committee decided to postpone the gala", &[]);
    check("Lucie stopped playing the cello", &[]);
    check("The horse lives on a farm", &[]);
    check("The delay of the ferry", &[]);
    check("The vaccines are on the lower shelf", &[]);
    check("We saw the bees before closing the hives", &[]);
    check("The fans of the derby fill the trams", &["derby causes trams", "fans causes trams"]);
}

#[test]
fn what_is_always_handed_on_is_needed() {
    check("The shop sends every parcel to the depot", &["shop depends_on depot"]);
    check("The shop sent a parcel to the depot", &["shop related_to parcel"]);
    check("The leaflet is printed on the press", &["leaflet depends_on press"]);
    check("The market does not open until the ferry lands", &["market depends_on ferry"]);
    check("The market opens only after the auction", &["market depends_on auction"]);
    check("The gate is closed as long as the guard sleeps", &["gate depends_on guard"]);
    check("The shop keeps its stock in the barn", &["shop depends_on barn"]);
    check("It was the mixer that the podcast needs", &["podcast depends_on mixer"]);
}

#[test]
fn what_is_done_by_something_hangs_together_with_it() {
    check("The refrigerator is watched by Sentra", &["sentra related_to refrigerator"]);
    check("Careva pays for the crown", &["careva related_to crown"]);
    check("Sentra always watches the refrigerator", &["sentra related_to refrigerator"]);
}
