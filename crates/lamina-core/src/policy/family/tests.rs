//! A permit for a named format is for that format alone.

use expect_test::expect;
use lamina_types::capability::{ExportFormat, ImportFrom};

use crate::policy::fixture::{fixture, scope, show};

fn import(setup: &str, format: &str) -> String {
    let fixture = fixture(setup);
    let place = scope("org:acme/user:alice");
    let permit = fixture.stack.permit_import(&fixture.caller, Some(&place), format);
    if let Ok(permit) = &permit {
        assert_eq!(permit.capability(), format!("import.from.{format}"));
        assert_eq!(permit.clone().capability(), permit.capability());
        assert!(permit.covers(&place) && !permit.covers(&scope("org:acme")));
        assert!(!permit.covers(&scope("org:acme/user:alice/ws:notes")));
    }
    show(&permit.map(|permit| permit.decided_by()))
}

fn export(setup: &str, format: &str) -> String {
    let fixture = fixture(setup);
    let permit = fixture.stack.permit_export(&fixture.caller, Some(&scope("org:acme")), format);
    if let Ok(permit) = &permit {
        assert_eq!(permit.capability(), format!("export.format.{format}"));
    }
    show(&permit.map(|permit| permit.decided_by()))
}

#[test]
fn named_format_is_decided_as_its_own_capability() {
    expect!["allowed by deployment"].assert_eq(&import("preset cloud_shared_saas", "claude"));
    expect!["allowed by actor"].assert_eq(&import("caps import.from.claude", "claude"));
    expect!["POLICY_DENIED actor import.from.gemini: the token lists its capabilities without this one; ask its issuer for a token with import.from.gemini in caps"].assert_eq(&import("caps import.from.claude", "gemini"));
    expect!["POLICY_DENIED tenant import.from.claude: ask an administrator of the tenant (policy.administer.tenant) to stop denying import.from.claude in the tenant policy"].assert_eq(&import("tenant -import.from.claude", "claude"));
    expect!["NOT_A_MEMBER scope import.from.claude: the scope lists its members; ask an owner of it to make this actor a writer or owner"].assert_eq(&import("member closed reader", "claude"));
    expect!["allowed by scope"].assert_eq(&export("member closed reader", "zep"));
    expect!["POLICY_DENIED tenant export.format.zep: ask an administrator of the tenant (policy.administer.tenant) to stop denying export.format.zep in the tenant policy"].assert_eq(&export("tenant -export.*", "zep"));
}

#[test]
fn unknown_format_is_no_capability() {
    let unknown = "POLICY_DENIED deployment (unknown): there is no capability of this name";
    for format in ["", "*", "floppy", "from.mem0", "mem0.x"] {
        assert!(import("preset dev_local", format).starts_with(unknown), "{format}");
        assert!(export("preset dev_local", format).starts_with(unknown), "{format}");
    }
    assert!(export("preset dev_local", "claude").starts_with(unknown));
}

/// Everything is allowed, and the whole family still is nothing that can be had.
#[test]
fn family_itself_is_no_capability() {
    let fixture = fixture("deployment +*\n caller user:root operator");
    let scope = scope("org:acme");
    assert!(fixture.stack.permit::<ImportFrom>(&fixture.caller, Some(&scope)).is_err());
    assert!(fixture.stack.permit::<ImportFrom>(&fixture.caller, None).is_err());
    assert!(fixture.stack.permit::<ExportFormat>(&fixture.caller, Some(&scope)).is_err());
}
