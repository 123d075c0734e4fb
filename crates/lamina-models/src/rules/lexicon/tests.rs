//! Words and the forms of verbs.

use super::{Class, Form, is, look_up};

#[test]
fn verbs_are_found_in_all_forms() {
    for (word, lemma, form) in [
        ("lives", "live", Form::THIRD),
        ("living", "live", Form::ING),
        ("moved", "move", Form::PAST),
        ("studies", "study", Form::THIRD),
        ("studied", "study", Form::PARTICIPLE),
        ("stopped", "stop", Form::PAST),
        ("running", "run", Form::ING),
        ("preferred", "prefer", Form::PAST),
        ("went", "go", Form::PAST),
        ("written", "write", Form::PARTICIPLE),
        ("quit", "quit", Form::PAST),
        ("watches", "watch", Form::THIRD),
        ("lying", "lie", Form::ING),
    ] {
        let (_, verb) = look_up(word);
        let verb = verb.unwrap_or_else(|| panic!("{word} is no verb"));
        assert_eq!(verb.lemma, lemma);
        assert!(verb.forms.has(form), "{word}");
    }
}

#[test]
fn classes_overlap() {
    assert!(is("may", Class::MONTH) && is("may", Class::MODAL));
    assert!(is("sister", Class::KIN) && !is("sister", Class::ANIMAL));
    assert!(!is("sisterhood", Class::KIN));
}
