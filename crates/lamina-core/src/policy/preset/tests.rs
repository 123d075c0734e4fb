//! The presets against the table of the contract, row by row.

use std::collections::BTreeSet;
use std::sync::Arc;

use expect_test::expect;
use lamina_types::capability::NAMES;

use super::Preset;
use crate::policy::{Caller, Defaults, Denial, Document, Stack, Tier};

/// Appendix A row by row (R443-R457), with the rows that C22, C26 and the clients add. `~` is
/// configurable by the tenant, `op` is for operators.
const TABLE: &str = "
    capability                     on_prem shared private dev
    scope.create.global            Y       N      Y       Y
    scope.create.cross_tenant      Y       N      N       Y
    scope.create.org               Y       Y      Y       Y
    scope.create.dept              Y       Y      Y       Y
    scope.create.team              Y       Y      Y       Y
    scope.create.app               Y       Y      Y       Y
    scope.create.user              Y       Y      Y       Y
    scope.create.agent             Y       Y      Y       Y
    scope.create.service           Y       Y      Y       Y
    scope.create.ws                Y       Y      Y       Y
    scope.create.project           Y       Y      Y       Y
    scope.create.session           Y       Y      Y       Y
    scope.create.system            N       N      N       N
    scope.write                    Y       Y      Y       Y
    scope.write.elevated           Y       ~      Y       Y
    scope.write.on_behalf_of       Y       ~      Y       Y
    scope.write.about_other        Y       ~      Y       Y
    scope.write.as_system          op      op     op      Y
    scope.create.custom            Y       N      Y       Y
    scope.read.local               Y       Y      Y       Y
    scope.read.holistic            Y       Y      Y       Y
    scope.read.descend             Y       ~      Y       Y
    scope.read.cross_tenant        Y       N      N       Y
    understanding.read             Y       Y      Y       Y
    understanding.read.cross_scope Y       N      Y       Y
    understanding.synthesize       Y       Y      Y       Y
    forget.cascade.derived_only    Y       Y      Y       Y
    forget.cascade.redact_events   Y       Y      Y       Y
    forget.gdpr                    Y       Y      Y       Y
    forget.gdpr.cross_workspace    Y       Y      Y       Y
    import.from.mem0               Y       Y      Y       Y
    import.from.zep                Y       Y      Y       Y
    import.from.letta              Y       Y      Y       Y
    import.from.openai             Y       Y      Y       Y
    import.from.jsonl              Y       Y      Y       Y
    import.from.claude             Y       Y      Y       Y
    import.from.gemini             Y       Y      Y       Y
    import.from.grok               Y       Y      Y       Y
    import.from.copilot            Y       Y      Y       Y
    import.from.mcp_memory         Y       Y      Y       Y
    import.from.basic_memory       Y       Y      Y       Y
    import.from.langgraph          Y       Y      Y       Y
    import.from.hindsight          Y       Y      Y       Y
    import.from.csv                Y       Y      Y       Y
    import.from.pam                Y       Y      Y       Y
    import.from.eventloom          Y       Y      Y       Y
    import.from.zaxy               Y       Y      Y       Y
    import.from.aegx               Y       Y      Y       Y
    export.format.mem0             Y       Y      Y       Y
    export.format.zep              Y       Y      Y       Y
    export.format.letta            Y       Y      Y       Y
    export.format.pam              Y       Y      Y       Y
    export.format.jsonl            Y       Y      Y       Y
    export.format.zaxy             Y       Y      Y       Y
    export.format.eventloom        Y       Y      Y       Y
    export.format.aegx             Y       Y      Y       Y
    lifecycle.subscribe            Y       Y      Y       Y
    llm.invoke                     Y       Y      Y       Y
    diagnostics.read               Y       ~      Y       Y
    audit.read                     Y       Y      Y       Y
    audit.read.cross_actor         adm     N      adm     Y
    auth.revoke                    Y       Y      Y       Y
    auth.mint                      op      op     op      Y
    temporal.phrases.read          Y       Y      Y       Y
    temporal.phrases.write         Y       Y      Y       Y
    vocabulary.read                Y       Y      Y       Y
    vocabulary.write               Y       Y      Y       Y
    policy.administer.deployment   op      op     op      Y
    policy.administer.tenant       adm     adm    adm     Y
    policy.administer.scope        Y       Y      Y       Y
    policy.administer.actor        Y       Y      Y       Y
    blob.upload                    Y       Y      Y       Y
    blob.read                      Y       Y      Y       Y
    admin.flush                    op      op     op      Y
    admin.compact                  op      op     op      Y
    admin.health                   Y       Y      Y       Y
";

const COLUMNS: [Preset; 4] =
    [Preset::OnPremEnterprise, Preset::CloudSharedSaas, Preset::CloudPrivate, Preset::DevLocal];

fn rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let rows = TABLE.lines().map(str::split_whitespace).skip(2);
    rows.filter_map(|mut words| Some((words.next()?, words.collect()))).collect()
}

fn caller(operator: bool) -> Caller {
    Caller { operator, ..Caller::plain("user:alice".parse().unwrap(), 1) }
}

#[test]
fn the_table_names_every_capability_once() {
    let named: Vec<_> = rows().into_iter().map(|(name, _)| name).collect();
    let unique: BTreeSet<_> = named.iter().copied().collect();
    assert_eq!(named.len(), unique.len());
    assert_eq!(unique, NAMES.iter().copied().collect());
}

/// What no policy takes from an operator, which everybody is under `dev_local`.
const KEPT: &[&str] = &[
    "policy.administer.deployment",
    "policy.administer.tenant",
    "policy.administer.scope",
    "policy.administer.actor",
    "auth.revoke",
    "admin.health",
];

/// R443-R457, C22, C25, C26, C50.
#[test]
fn presets_are_the_table() {
    for (name, marks) in rows() {
        assert_eq!(marks.len(), COLUMNS.len(), "{name}");
        for (preset, mark) in COLUMNS.into_iter().zip(marks) {
            let mut stack = Stack::of_preset(preset);
            let plain = stack.allows(&caller(false), name, None);
            let operator = stack.allows(&caller(true), name, None);
            let administrator = Caller { administrator: true, ..caller(false) };
            let administrator = stack.allows(&administrator, name, None);
            stack.tenant = Some(Arc::new(Document::from_lists(&[], &[name]).unwrap()));
            let narrowed = stack.allows(&caller(false), name, None);
            let denied =
                |result: Result<Tier, Denial>| result.unwrap_err().tier == Tier::Deployment;
            match mark {
                "Y" | "~" => {
                    assert_eq!(plain, Ok(Tier::Deployment), "{name} under {preset}");
                    let kept = preset == Preset::DevLocal && KEPT.contains(&name);
                    let narrowed = narrowed.map_err(|denial| denial.tier);
                    let denies = if kept { Ok(Tier::Deployment) } else { Err(Tier::Tenant) };
                    assert_eq!(narrowed, denies, "{name} under {preset}");
                }
                "adm" => {
                    assert!(denied(plain), "{name} under {preset}");
                    assert_eq!(administrator, Ok(Tier::Deployment), "{name} under {preset}");
                    assert_eq!(operator, Ok(Tier::Deployment), "{name} under {preset}");
                }
                "op" => {
                    assert!(denied(plain), "{name} under {preset}");
                    assert_eq!(operator, Ok(Tier::Deployment), "{name} under {preset}");
                }
                "N" => {
                    assert!(denied(plain), "{name} under {preset}");
                    assert!(denied(operator), "{name} under {preset}, for operators too");
                    assert!(denied(narrowed), "the outermost denial is cited");
                }
                other => panic!("{name}: {other}"),
            }
        }
    }
}

/// R181-R186, R431, R435.
#[test]
fn the_settings_of_presets() {
    let mut shown = String::new();
    for preset in Preset::ALL {
        let document = preset.document();
        let pairs: Vec<_> = document
            .defaults
            .to_pairs()
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let (allow, deny) = (document.allow.len(), document.deny.len());
        shown += &format!("{preset}: {allow} allow, {deny} deny\n  {}\n", pairs.join("\n  "));
    }
    expect![[r#"
        dev_local: 1 allow, 0 deny
          actor.require_signed=false
          scope.auto_register=true
          forget.cascade.default=derived_only
          audit.retention=P7D
          audit.store_body_bytes=true
          audit.pepper_rotation_period=P90D
          audit.pepper_retention_buffer=P90D
        on_prem_enterprise: 1 allow, 0 deny
          actor.require_signed=true
          scope.auto_register=true
          forget.cascade.default=derived_only
          audit.retention=P1Y
          audit.store_body_bytes=true
          audit.pepper_rotation_period=P90D
          audit.pepper_retention_buffer=P90D
        cloud_shared_saas: 44 allow, 6 deny
          actor.require_signed=true
          scope.auto_register=true
          forget.cascade.default=derived_only
          audit.retention=P2Y
          audit.store_body_bytes=true
          audit.pepper_rotation_period=P90D
          audit.pepper_retention_buffer=P90D
          rate_limit.write=100/s
          rate_limit.read=500/s
        cloud_private: 1 allow, 2 deny
          actor.require_signed=true
          scope.auto_register=true
          forget.cascade.default=derived_only
          audit.retention=P3Y
          audit.store_body_bytes=true
          audit.pepper_rotation_period=P90D
          audit.pepper_retention_buffer=P90D
    "#]]
    .assert_eq(&shown);
}

const GUIDE: &str = include_str!("../../../../../docs/POLICY.md");

/// Rows of the guide's tables with a name and four cells.
fn guide_rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let cells = GUIDE.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows = cells.filter_map(|line| {
        let (name, rest) = line.split_once("` | ")?;
        let cells: Vec<_> = rest.trim_end_matches('|').split('|').map(str::trim).collect();
        (cells.len() == COLUMNS.len()).then_some((name, cells))
    });
    rows.collect()
}

/// The tables that administrators read are the ones in force.
#[test]
fn the_guide_shows_the_tables() {
    let rows_of =
        |name: &str| guide_rows().into_iter().filter(|row| row.0 == name).collect::<Vec<_>>();
    for row in rows() {
        assert_eq!(rows_of(row.0), vec![row.clone()], "{}", row.0);
    }
    let settings = COLUMNS.map(|preset| preset.document().defaults.to_pairs());
    for key in Defaults::KEYS {
        let value = |pairs: &Vec<(&str, String)>| {
            let pair = pairs.iter().find(|(name, _)| name == key);
            pair.map_or_else(String::new, |(_, value)| value.clone())
        };
        let values = settings.each_ref().map(value);
        if values.iter().any(|value| !value.is_empty()) {
            assert_eq!(rows_of(key), [(*key, values.iter().map(String::as_str).collect())]);
        }
        assert!(GUIDE.contains(&format!("`{key}`")), "{key} is not explained");
    }
}

/// The fenced examples of a language.
fn examples(language: &str) -> Vec<&'static str> {
    let fences = GUIDE.split("```").skip(1).step_by(2);
    fences.filter_map(|fence| fence.strip_prefix(language)).collect()
}

/// The words of an example that are rules or settings, whatever the language.
fn words(example: &str) -> impl Iterator<Item = &str> {
    let words = example.split(|c: char| !(c.is_ascii_lowercase() || "._*".contains(c)));
    words.filter(|word| word.contains('.') || *word == "*")
}

#[test]
fn the_examples_of_the_guide_are_taken() {
    assert_eq!((examples("yaml").len(), examples("json").len()), (2, 4));
    let policies = examples("json").into_iter().filter(|text| !text.contains("error_code"));
    for example in policies.chain(examples("yaml")) {
        let (settings, rules): (Vec<_>, Vec<_>) =
            words(example).partition(|word| Defaults::KEYS.contains(word));
        assert!(!rules.is_empty(), "{example}");
        Document::from_lists(&rules, &[]).unwrap();
        for key in settings {
            let (_, rest) = example.split_once(key).unwrap();
            let value = rest.split(['\n', '}']).next().unwrap();
            Defaults::default().set(key, value.trim_matches([' ', ':', '"', ','])).unwrap();
        }
    }
}

/// R180.
#[test]
fn names_are_read_back() {
    for preset in Preset::ALL {
        assert_eq!(preset.as_str().parse(), Ok(*preset));
    }
    assert!("production".parse::<Preset>().is_err());
}

/// Without the operator's document nothing is allowed, and nobody is let in unsigned.
#[test]
fn custom_alone_allows_nothing() {
    assert_eq!("custom".parse(), Ok(Preset::Custom));
    let document = Preset::Custom.document();
    for name in lamina_types::capability::NAMES {
        assert_eq!(document.opinion(name), None, "{name}");
    }
    assert_eq!(document.defaults.require_signed, Some(true));
    assert!(!Preset::ALL.contains(&Preset::Custom));
}
