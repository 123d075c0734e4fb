//! What a text becomes, as tables: one line per case.

use expect_test::{Expect, expect};

use super::{TERM_BYTES_MAX, language, question, terms};

#[expect(clippy::needless_pass_by_value, reason = "reads better in a table")]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&terms(text).join(" "));
}

#[test]
fn words_of_many_languages() {
    check("We were running to the concerts in Oslo", expect![["run concert oslo"]]);
    check("Die Häuser in den kleinen Städten waren alt", expect![["haus klein stadt alt"]]);
    check("Les chansons de la fête étaient très belles", expect![["chanson fet bel"]]);
    check("Las canciones de la fiesta son hermosas", expect!["cancion fiest herm"]);
    check("Мы были в больших городах", expect![["больш город"]]);
    check("Café and naïve résumé", expect!["cafe naiv resume"]);
    check("मैं दिल्ली में रहता हूँ", expect![["मैं दिल्ली में रहता हूँ"]]);
}

#[test]
fn scripts_without_spaces_become_pairs() {
    check("我喜欢猫", expect![["我 我喜 喜 喜欢 欢 欢猫 猫"]]);
    check(
        "東京タワーへ行く",
        expect![["東 東京 京 京タ タ タワ ワ ワー ー ーへ へ へ行 行 行く く"]],
    );
    check("서울에서", expect![["서 서울 울 울에 에 에서 서"]]);
    check("iPhone15很好", expect![["iphone15 i phone 15 很 很好 好"]]);
    check("ภาษา", expect![["ภ ภา า าษ ษ ษา า"]]);
}

#[test]
fn code_is_kept_whole_and_split() {
    check("call getUserName now", expect![["call getusername get user name now"]]);
    check("HTTPServer and parseURLs", expect![["httpserver http server parseurls pars url"]]);
    check("snake_case_name", expect![["snake_case_name snake case name"]]);
    check("open src/main.rs, please", expect![["open src/main.rs src main rs pleas"]]);
    check("version v1.2.3-beta", expect![["version v1.2.3-beta v 1 2 3 beta"]]);
    check("mail maria@example.com", expect!["mail maria@example.com maria exampl com"]);
    check("C++ and F# (not C)", expect!["c++ c f# f c"]);
    check("on 2026-11-16 at 10:30", expect![["2026-11-16 2026 11 16 10:30 10 30"]]);
    check("a1b2c3d4e5f6", expect![["a1b2c3d4e5f6"]]);
}

#[test]
fn function_words_go_unless_they_are_marked_as_names() {
    check("Will met May and the WHO in IT", expect![["met may who it"]]);
    check("I don't think we'll go to Maria's", expect![["think go maria"]]);
    check("THE END OF IT ALL", expect![["end"]]);
    check("O'Brien", expect![["o'brien o brien"]]);
}

#[test]
fn nothing_is_lost_by_a_wrong_guess_of_the_language() {
    // A question of one word tells no language; its terms cover what documents are indexed by.
    for (document, asked) in [
        ("Wir haben die Wohnungen in Berlin gesehen", "Wohnung"),
        ("We have seen the apartments", "apartment"),
        ("Nous avons mangé des pommes", "pomme"),
        ("Vi har sett lägenheterna", "lägenheter"),
        ("Wohnungen", "Wohnungen"),
        ("Café", "cafe"),
    ] {
        let indexed = terms(document);
        let found = question(asked, None);
        let hit = found.iter().any(|asked| asked.terms.iter().any(|term| indexed.contains(term)));
        assert!(hit, "{asked} is not found in {document}: {found:?} {indexed:?}");
    }
}

#[test]
fn languages_are_told_by_function_words_and_script() {
    for (text, code) in [
        ("the cat sat on the mat", "en"),
        ("ich habe das nicht gesehen", "de"),
        ("je ne sais pas où il est", "fr"),
        ("no sé dónde está el perro", "es"),
        ("non so dove sia il cane", "it"),
        ("eu não sei onde ele está", "pt"),
        ("ik weet niet waar hij is", "nl"),
        ("jag vet inte var han är", "sv"),
        ("я не знаю где он", "ru"),
        ("δεν ξέρω πού είναι", "el"),
        ("لا أعرف أين هو", "ar"),
    ] {
        assert_eq!(language(text), super::Language::from_code(code), "{text}");
    }
    assert_eq!(language("Berlin"), None);
    assert_eq!(language(""), None);
}

#[test]
fn questions_have_each_word_once_and_no_single_characters_of_a_run() {
    let words = |text: &str| -> Vec<String> {
        question(text, None).into_iter().map(|asked| asked.word).collect()
    };
    assert_eq!(words("What did the violin and the violins cost?"), ["violin", "cost"]);
    assert_eq!(words("我喜欢猫"), ["我喜", "喜欢", "欢猫"]);
    assert_eq!(words("猫"), ["猫"]);
    assert_eq!(words("the of and"), Vec::<String>::new());
    let many: String = (0..200).map(|number| format!("word{number} ")).collect();
    assert_eq!(words(&many).len(), super::QUESTION_WORDS_MAX);
}

#[test]
fn a_long_term_becomes_a_short_one_and_is_found() {
    let at_the_limit = "q".repeat(TERM_BYTES_MAX);
    assert_eq!(terms(&at_the_limit), [at_the_limit]);
    let long = "q".repeat(TERM_BYTES_MAX + 1);
    let indexed = terms(&long);
    assert_eq!(indexed.len(), 1);
    assert!(indexed[0].len() <= TERM_BYTES_MAX);
    assert!(question(&long, None)[0].terms.contains(&indexed[0]));
}

#[test]
fn a_few_words_that_some_language_happens_to_have_do_not_make_a_text_of_it() {
    // Names and made-up words among which are Danish, Italian and German ones.
    let listed = "Vic sold the fridge, Rome: parvol genstik heldra mor bruntal kestin vonder lasgrep \
                  tunda feskil marbo rilent stovak pendra gulfin der hosken";
    assert_eq!(language(listed), None);
    assert!(terms(listed).contains(&"rome".to_owned()), "{:?}", terms(listed));
    let one_among = |others: usize| format!("because {}", "zorp ".repeat(others));
    assert_eq!(language(&one_among(7)), Some(super::Language::English));
    assert_eq!(language(&one_among(8)), None);
    for (text, code) in [
        (
            "Gestern habe ich mit Peter in der Küche gesessen, und wir haben über den Umzug nach Köln gesprochen.",
            "de",
        ),
        (
            "Dün akşam Ayşe ile birlikte yeni bir restorana gittik ve orada çok güzel bir yemek yedik.",
            "tr",
        ),
        (
            "Eilen kävin kaupassa ja ostin uuden polkupyörän, koska vanha oli rikki eikä sitä voinut korjata.",
            "fi",
        ),
        (
            "Tegnap a piacon vettem egy kosarat, és utána hazamentem, mert nagyon esett az eső.",
            "hu",
        ),
        ("Am fost ieri la piață și am cumpărat un coș nou pentru că cel vechi s-a rupt.", "ro"),
    ] {
        assert_eq!(language(text), super::Language::from_code(code), "{text}");
    }
}
