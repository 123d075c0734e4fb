//! Every code has its own words.

use std::collections::BTreeSet;

use lamina_types::ErrorCode;

use super::help;

#[test]
fn every_code_is_explained_in_sentences_of_its_own() {
    let mut meanings = BTreeSet::new();
    for code in ErrorCode::ALL {
        let text = help(*code);
        let name = code.as_str();
        assert!(meanings.insert(text.meaning), "{name} shares its meaning");
        assert!(text.meaning.ends_with('.') && text.remedy.ends_with('.'), "{name}");
        assert!(!text.when.is_empty() && !text.example.is_empty(), "{name}");
    }
}
