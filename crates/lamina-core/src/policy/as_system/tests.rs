//! Operators alone write as the system.

use lamina_types::capability::ScopeWrite;

use super::SystemSpeech;
use crate::policy::fixture::{fixture, scope};

/// Whether a caller gets a permit, and whether the permit speaks as the system.
fn permitted(setup: &str, speech: SystemSpeech) -> Option<bool> {
    let fixture = fixture(setup);
    let place = scope("org:acme");
    let permit = fixture.stack.permit::<ScopeWrite>(&fixture.caller, Some(&place)).unwrap();
    let permit = fixture.stack.permit_system_speech(&fixture.caller, permit, speech);
    permit.ok().map(|permit| permit.speaks_as_system())
}

#[test]
fn system_speech_without_operator_stays_a_claim_or_is_denied() {
    let member = "member open owner";
    assert_eq!(permitted(member, SystemSpeech::Role), Some(false), "stored, and no more");
    assert_eq!(permitted(member, SystemSpeech::Actor), None, "refused");
    let shared = "preset cloud_shared_saas\nmember open owner";
    assert_eq!(permitted(shared, SystemSpeech::Role), Some(false));
    assert_eq!(permitted(shared, SystemSpeech::Actor), None);
}

#[test]
fn system_speech_of_operator_is_recorded() {
    for preset in ["on_prem_enterprise", "cloud_shared_saas", "cloud_private"] {
        let setup = format!("preset {preset}\nmember open owner\ncaller user:root operator");
        for speech in [SystemSpeech::Role, SystemSpeech::Actor] {
            assert_eq!(permitted(&setup, speech), Some(true), "{preset}");
        }
    }
    let narrow = "member open owner\ncaller user:root operator\ncaps scope.write";
    assert_eq!(permitted(narrow, SystemSpeech::Role), Some(false), "the token does not have it");
    assert_eq!(permitted("preset dev_local", SystemSpeech::Actor), Some(true));
}
