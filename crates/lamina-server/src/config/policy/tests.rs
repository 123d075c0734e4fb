//! Every mistake is found, located, and comes with a way out.

use expect_test::{Expect, expect};
use lamina_core::policy::Effect;
use lamina_env::{Disk as _, RealDisk};

use super::*;

fn check(text: &str, expected: Expect) {
    let Problem { at, rule, help } = document(text).expect_err(text);
    expected.assert_eq(&format!("{at}: {rule}; {help}"));
}

#[test]
fn a_policy_is_read() {
    let text = "# ours\npreset: custom\nallow:\n  - \"*\"\ndeny: [export.*, 'scope.read.cross_tenant']\ndefaults:\n  \
                actor.require_signed: true\n  allowed_scope_types: [ns, verify]\n  audit.retention: \"P2Y\"\n  rate_limit.write: 200/s\n";
    let document = document(text).unwrap();
    assert_eq!(document.opinion("scope.write"), Some(Effect::Allow));
    assert_eq!(document.opinion("export.format.mem0"), Some(Effect::Deny));
    let defaults = document.defaults;
    assert_eq!(defaults.allowed_scope_types, ["ns", "verify"]);
    assert_eq!(defaults.rate_write.unwrap().to_string(), "200/s");
    assert_eq!(defaults.audit_retention_us, Some(2 * 365 * 86_400 * 1_000_000));
    assert_eq!(defaults.auto_register, Some(true), "what is not set is as in the preset");
    assert_eq!(defaults.require_signed, Some(true));
}

/// JSON is YAML too, and the shortest policy is one line.
#[test]
fn other_ways_to_write_it() {
    for text in [
        "allow: ['*']",
        "---\nallow: [\"*\"]\n...\n",
        r#"{"allow": ["*"], "deny": []}"#,
        "\u{feff}allow: [\"*\"]\n",
        "allow:\n- scope.write\n- scope.write\n",
    ] {
        assert!(document(text).is_ok(), "{text:?}: {:?}", document(text));
    }
}

#[test]
fn mistakes_in_the_language() {
    check("", expect!["1:1: the file is empty; begin with `allow:` and a list of rules"]);
    check(
        "# only a remark\n",
        expect!["1:1: the file is empty; begin with `allow:` and a list of rules"],
    );
    check(
        "allow: *\n",
        expect![[
            r#"1:8: this is not YAML (while scanning an anchor or alias, did not find expected alphabetic or numeric character); a star by itself needs quotes: "*""#
        ]],
    );
    check(
        "allow:\n  - *\n",
        expect![[
            r#"2:5: this is not YAML (while scanning an anchor or alias, did not find expected alphabetic or numeric character); a star by itself needs quotes: "*""#
        ]],
    );
    check(
        "allow: [*]\n",
        expect![[
            r#"1:9: this is not YAML (while scanning an anchor or alias, did not find expected alphabetic or numeric character); a star by itself needs quotes: "*""#
        ]],
    );
    check(
        "allow:\n\t- scope.write\n",
        expect![
            "2:2: this is not YAML (tabs disallowed within this context (block indentation)); indent with spaces, not with tabs"
        ],
    );
    check(
        "allow: [scope.write\n",
        expect![
            "2:1: this is not YAML (while parsing a flow sequence, expected ',' or ']'); look at indentation, quotes and colons of this line and the one before"
        ],
    );
    check(
        "allow: \"scope.write\n",
        expect![
            "1:8: this is not YAML (while scanning a quoted scalar, found unexpected end of stream); look at indentation, quotes and colons of this line and the one before"
        ],
    );
    check(
        "allow:\n  - scope.write\n deny:\n  - forget.*\n",
        expect![
            "3:2: this is not YAML (while parsing a block mapping, did not find expected key); look at indentation, quotes and colons of this line and the one before"
        ],
    );
    check(
        "allow: &all [scope.write]\ndeny: *all\n",
        expect![
            "1:8: anchors, aliases and tags are not taken; write the value itself; a text that begins with `&`, `*` or `!` needs quotes"
        ],
    );
    check(
        "allow: !!set [scope.write]\n",
        expect![
            "1:8: anchors, aliases and tags are not taken; write the value itself; a text that begins with `&`, `*` or `!` needs quotes"
        ],
    );
    check(
        "allow: ['*']\n---\nallow: ['*']\n",
        expect!["2:1: a policy is one document; remove what follows the second `---`"],
    );
    check(
        "allow: [[[[[[[[[[x]]]]]]]]]]\n",
        expect![
            "1:16: this is nested too deep; a policy has keys, lists and settings, and nothing below them"
        ],
    );
}

#[test]
fn mistakes_in_the_keys() {
    check(
        "- scope.write\n",
        expect![
            "1:1: a policy is a mapping; begin with `allow:` and a list of rules, not with a list"
        ],
    );
    check(
        "scope.write\n",
        expect![
            "1:1: a policy is a mapping; begin with `allow:` and a list of rules, not with a text"
        ],
    );
    check(
        "alow:\n  - scope.write\n",
        expect!["1:1: `alow` is not a key of a policy; did you mean `allow`?"],
    );
    check(
        "allow: ['*']\ndenied: [forget.*]\n",
        expect![
            "2:1: `denied` is not a key of a policy; the keys are preset, allow, deny, defaults"
        ],
    );
    check(
        "allow: ['*']\npermissions: []\n",
        expect![
            "2:1: `permissions` is not a key of a policy; the keys are preset, allow, deny, defaults"
        ],
    );
    check(
        "allow: ['*']\naudit.retention: P1Y\n",
        expect![
            "2:1: `audit.retention` is not a key of a policy; it is a setting: put it under `defaults:`, indented by two spaces"
        ],
    );
    check(
        "allow: ['*']\nscope.write: true\n",
        expect![
            "2:1: `scope.write` is not a key of a policy; it is a rule: put `- scope.write` under `allow:` or `deny:`"
        ],
    );
    check(
        "allow: ['*']\ndeny: []\nallow: [scope.write]\n",
        expect!["3:1: `allow` stands here a second time; put everything under one of them"],
    );
    check(
        "? [a]\n: b\n",
        expect![
            "1:3: a key is a text, not a list; write a word, in quotes if it has other characters than letters, dots and `_`"
        ],
    );
    check(
        "preset: on_prem_enterprise\nallow: ['*']\n",
        expect![
            "1:9: a policy file is a deployment of its own, not `on_prem_enterprise`; to start with it as it is, use `--preset on_prem_enterprise` and no file; otherwise write `preset: custom`"
        ],
    );
    check(
        "preset: ours\nallow: ['*']\n",
        expect![
            "1:9: a policy file is a deployment of its own, not `ours`; write `preset: custom`, or leave the line out"
        ],
    );
}

#[test]
fn mistakes_in_the_rules() {
    check(
        "deny: [forget.*]\n",
        expect![[
            r#"1:1: nothing is allowed, so nobody could do anything; what `allow` does not name is denied; write `allow: ["*"]` or name capabilities"#
        ]],
    );
    check(
        "preset: custom\nallow: []\n",
        expect![[
            r#"2:1: nothing is allowed, so nobody could do anything; what `allow` does not name is denied; write `allow: ["*"]` or name capabilities"#
        ]],
    );
    check("allow: '*'\n", expect![[r#"1:8: `allow` is a list of rules; write `allow: ["*"]`"#]]);
    check(
        "allow:\n",
        expect![[r#"1:6: `allow` is a list of rules; write `allow: ["*"]`, or name capabilities"#]],
    );
    check(
        "allow:\n  scope.write: true\n",
        expect![
            "2:3: `allow` is a list of rules; write each rule on a line of its own, as `- scope.write`"
        ],
    );
    check(
        "allow:\n  - scope.write\n  - scope.wirte\n",
        expect!["3:5: `scope.wirte` matches no capability; did you mean `scope.write`?"],
    );
    check(
        "allow: ['*']\ndeny:\n  - memory.delete\n",
        expect![
            "3:5: `memory.delete` matches no capability; docs/POLICY.md lists them, and so does GET /v1/policy/effective"
        ],
    );
    check(
        "allow:\n  - scope.*.local\n",
        expect![[
            r#"2:5: `scope.*.local`: `*` stands alone or after a last dot, as in `scope.read.*`; write one capability, a branch such as `scope.read.*`, or `"*"`"#
        ]],
    );
    check(
        "allow:\n  - Scope Write\n",
        expect![[
            r#"2:5: `Scope Write` is not words of a-z, 0-9 and _ with dots between them; write one capability, a branch such as `scope.read.*`, or `"*"`"#
        ]],
    );
    check(
        "allow:\n  - ''\n",
        expect![[
            r#"2:5: a pattern is a capability, a branch like `scope.read.*`, or `*`; write one capability, a branch such as `scope.read.*`, or `"*"`"#
        ]],
    );
    check(
        "allow:\n  - scope: write\n",
        expect![
            "2:5: a rule is a text, not a mapping; write a word, in quotes if it has other characters than letters, dots and `_`"
        ],
    );
    check(
        "allow:\n  - [scope.write]\n",
        expect![
            "2:5: a rule is a text, not a list; write a word, in quotes if it has other characters than letters, dots and `_`"
        ],
    );
    check(
        "allow:\n  -\n",
        expect![
            "2:4: a rule is a text, not nothing; write a word, in quotes if it has other characters than letters, dots and `_`"
        ],
    );
    let many = format!("allow:\n{}", "  - scope.write\n".repeat(POLICY_PATTERNS_MAX + 1));
    check(
        &many,
        expect!["258:5: `allow` has at most 256 rules; use branches such as `scope.read.*`"],
    );
    let most = format!("allow:\n{}", "  - scope.write\n".repeat(POLICY_PATTERNS_MAX));
    assert!(document(&most).is_ok());
}

#[test]
fn mistakes_in_the_settings() {
    let with = |settings: &str| format!("allow: ['*']\ndefaults:\n{settings}");
    check(
        "allow: ['*']\ndefaults: none\n",
        expect![
            "2:11: `defaults` is a mapping of settings; write each on a line of its own, as `audit.retention: P1Y`"
        ],
    );
    check(
        &with("  audit.retension: P1Y\n"),
        expect!["3:3: `audit.retension` is not a setting; did you mean `audit.retention`?"],
    );
    check(
        &with("  colour: red\n"),
        expect![
            "3:3: `colour` is not a setting; the keys are actor.require_signed, scope.auto_register, scope.person_private, forget.cascade.default, audit.retention, audit.store_body_bytes, audit.pepper_rotation_period, audit.pepper_retention_buffer, rate_limit.write, rate_limit.read, rate_limit.importer, confidence_floor, allowed_scope_types"
        ],
    );
    check(
        &with("  audit:\n    retention: P1Y\n"),
        expect![
            "4:5: `audit` is no group of settings; write `audit.retention: …` with a dot, on one line"
        ],
    );
    check(
        &with("  logs:\n    retention: P1Y\n"),
        expect![
            "4:5: `logs` is no group of settings; the keys are actor.require_signed, scope.auto_register, scope.person_private, forget.cascade.default, audit.retention, audit.store_body_bytes, audit.pepper_rotation_period, audit.pepper_retention_buffer, rate_limit.write, rate_limit.read, rate_limit.importer, confidence_floor, allowed_scope_types"
        ],
    );
    check(
        &with("  audit.retention: 1 year\n"),
        expect![
            "3:20: `audit.retention` is not a period: a period is written like P1Y, P3M, P2W, P7D or PT12H, in whole numbers; for example `P1Y` for a year"
        ],
    );
    check(
        &with("  audit.retention:\n"),
        expect!["3:18: `audit.retention` has no value; write one, or leave the line out"],
    );
    check(
        &with("  scope.auto_register: yes\n"),
        expect![
            "3:24: `scope.auto_register` is true or false; write true or false, without quotes"
        ],
    );
    check(
        &with("  forget.cascade.default: all\n"),
        expect![
            "3:27: `forget.cascade.default` is derived_only or redact_events; write one of the two words"
        ],
    );
    check(
        &with("  rate_limit.write: fast\n"),
        expect![
            "3:21: `rate_limit.write` is not a rate: a rate is written like 100/s, 30/m or 500/h, from 1 to 10000000; for example `100/s`"
        ],
    );
    check(
        &with("  allowed_scope_types: [Ns]\n"),
        expect![
            "3:24: `allowed_scope_types`: `Ns` does not match [a-z][a-z0-9_]*, or is longer than 64 characters; for example `[ns, verify]`"
        ],
    );
    check(
        &with("  actor.require_signed: false\n"),
        expect![
            "3:25: a deployment with a policy of its own needs tokens; write true, or leave the line out; without tokens there is only `--preset dev_local`, on loopback"
        ],
    );
    check(
        &with("  audit.retention: P1Y\n  audit.retention: P2Y\n"),
        expect!["4:3: `audit.retention` is set twice; keep one of them"],
    );
    check(
        &with("  audit.retention: [P1Y, {}]\n"),
        expect![
            "3:26: an item of the list is a text, not a mapping; write a word, in quotes if it has other characters than letters, dots and `_`"
        ],
    );
}

/// The message that an operator sees.
#[test]
fn the_file_is_named_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.yaml");
    let put = |bytes: &[u8]| {
        let _ = RealDisk.remove(&path);
        RealDisk.create_new(&path).unwrap().write_at(bytes, 0).unwrap();
        let error = read(&path, &RealDisk).unwrap_err();
        error.to_string().replace(&*folder.path().to_string_lossy(), "DIR")
    };
    expect![
        "DIR/policy.yaml:2:5: `scope.wirte` matches no capability; did you mean `scope.write`?"
    ]
    .assert_eq(&put(b"allow:\n  - scope.wirte\n"));
    expect!["DIR/policy.yaml:2:1: the line is not UTF-8; save the file as UTF-8"]
        .assert_eq(&put(b"allow:\n  - \xff\n"));
    expect!["the policy file DIR/policy.yaml cannot be read"].assert_eq(&put(&vec![b'#'; 300_000]));
    RealDisk.remove(&path).unwrap();
    assert!(read(&path, &RealDisk).unwrap_err().to_string().contains("cannot be read"));
}

/// Nothing that anybody writes makes it panic.
#[test]
fn any_cut_of_a_policy_is_read_or_refused() {
    let text = "preset: custom\nallow: [\"*\"]\ndeny:\n  - export.*\ndefaults:\n  audit.retention: \"P2Y\"\n  allowed_scope_types: [ns, {a: b}]\n";
    for end in 0..text.len() {
        for start in [0, end / 3, end / 2] {
            let _ = document(&text[start..end]);
        }
    }
}
