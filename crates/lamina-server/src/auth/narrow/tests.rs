//! Nothing is minted wider than what the caller has.

use super::*;

const CAPS: [&str; 2] = ["scope.write", "scope.read.local"];
const PREFIXES: [&str; 3] = ["org:a", "org:a/team:b", "org:c"];
const PATHS: [&str; 4] = ["org:a", "org:a/team:b", "org:a/team:b/user:x", "org:c/user:y"];

fn caps(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn entry(name: &str, prefix: &str) -> (String, ScopePrefix) {
    (name.to_owned(), prefix.parse().unwrap())
}

/// What holds of a token, said slowly.
fn allows(held: &Held, name: &str, path: &str) -> bool {
    let path = path.parse().unwrap();
    let limits: Vec<_> = held.scopes.iter().filter(|(other, _)| other == name).collect();
    held.caps.contains(name)
        && (limits.is_empty() || limits.iter().any(|(_, prefix)| prefix.contains(&path)))
}

fn subset<T: Clone>(items: &[T], bits: usize) -> Vec<T> {
    items
        .iter()
        .enumerate()
        .filter(|(at, _)| bits & (1 << at) != 0)
        .map(|(_, it)| it.clone())
        .collect()
}

/// Every caller and every wish over two capabilities and three parts of a tree.
#[test]
fn whatever_is_asked_for_nothing_is_wider() {
    let entries: Vec<_> =
        CAPS.iter().flat_map(|name| PREFIXES.iter().map(|prefix| entry(name, prefix))).collect();
    let (mut granted, mut refused) = (0, 0);
    for held_caps in 0..4 {
        for held_scopes in 0..64 {
            let held = Held {
                caps: caps(&subset(&CAPS, held_caps)),
                scopes: subset(&entries, held_scopes),
            };
            for wish_caps in 0..5 {
                for wish_scopes in (0..64).step_by(3) {
                    for wish_scope in 0..4 {
                        let wish = Wish {
                            caps: (wish_caps < 4).then(|| caps(&subset(&CAPS, wish_caps))),
                            scopes: subset(&entries, wish_scopes),
                            scope: PREFIXES.get(wish_scope).map(|prefix| prefix.parse().unwrap()),
                        };
                        let Ok(minted) = narrow(&held, &wish) else {
                            refused += 1;
                            continue;
                        };
                        granted += 1;
                        for name in CAPS {
                            for path in PATHS {
                                let wider =
                                    allows(&minted, name, path) && !allows(&held, name, path);
                                assert!(!wider, "{name} {path}: {held:?} {wish:?} {minted:?}");
                                if let Some(scope) = &wish.scope {
                                    let inside = scope.contains(&path.parse().unwrap());
                                    assert!(inside || !allows(&minted, name, path), "{wish:?}");
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(granted > 1_000 && refused > 1_000, "{granted} {refused}");
}

#[test]
fn each_refusal_has_its_reason() {
    let held = Held {
        caps: caps(&["scope.write", "scope.read.local", "auth.mint"]),
        scopes: vec![entry("scope.write", "org:a")],
    };
    let nothing = Wish { caps: None, scopes: Vec::new(), scope: None };
    let all = narrow(&held, &nothing).unwrap();
    assert_eq!(all.caps, caps(&["scope.read.local", "scope.write"]), "minting is not handed on");
    assert_eq!(all.scopes, held.scopes, "limits are");
    let with = |names: &[&str]| Wish { caps: Some(caps(names)), ..nothing.clone() };
    let refused = |wish: &Wish| narrow(&held, wish).unwrap_err();
    assert_eq!(refused(&with(&["auth.mint"])), Refused::Mint);
    assert_eq!(refused(&with(&["forget.gdpr"])), Refused::NotHeld("forget.gdpr".to_owned()));
    let scopes = |entries: Vec<_>| Wish { scopes: entries, ..nothing.clone() };
    assert_eq!(
        refused(&scopes(vec![entry("scope.write", "org:b")])),
        Refused::Outside("scope.write".to_owned())
    );
    assert_eq!(
        refused(&scopes(vec![entry("forget.gdpr", "org:a")])),
        Refused::Stray("forget.gdpr".to_owned())
    );
    let both = Wish {
        scopes: vec![entry("scope.read.local", "org:b")],
        scope: Some("org:a".parse().unwrap()),
        ..nothing.clone()
    };
    assert_eq!(refused(&both), Refused::OutsideOwn("scope.read.local".to_owned()));
    let many = (0..=TOKEN_SCOPES_MAX).map(|n| entry("scope.read.local", &format!("org:x{n}")));
    assert_eq!(refused(&scopes(many.collect())), Refused::TooMany);
}
