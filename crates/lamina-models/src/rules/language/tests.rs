//! Languages are told apart by script and common words.

use super::detect;
use crate::rules::token::Tokens;

#[test]
fn languages_are_told_apart() {
    for (text, expected) in [
        ("I live in Berlin and work at Siemens.", "en"),
        ("bought a Fujifilm X100", "en"),
        ("My manager is Frau Lindner.", "en"),
        ("", "en"),
        ("Ich wohne in Berlin und arbeite bei Siemens.", "de"),
        ("J'habite à Paris avec ma femme et mes enfants.", "fr"),
        ("Mi hermana vive en Lima con su perro.", "es"),
        ("Eu não como carne e minha cor favorita é azul.", "pt"),
        ("Abito a Roma con mia moglie e lavoro in una banca.", "it"),
        ("Ik woon in Gent en werk bij een bank.", "nl"),
        ("来月、大阪に引っ越す予定です。", "ja"),
        ("我在上海工作", "zh"),
        ("Я живу в Москве", "ru"),
    ] {
        assert_eq!(detect(&Tokens::of(text)), expected, "{text}");
    }
}
