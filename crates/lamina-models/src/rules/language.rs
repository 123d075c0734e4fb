//! Which language a text is in, from its script and its commonest words. Coarse on purpose: it only
//! decides whether the English rules may speak.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::lexicon::Class;
use super::token::{Kind, Tokens};

pub(crate) const ENGLISH: &str = "en";

/// Words of a language that English does not use.
const PROFILES: &[(&str, &str)] = &[
    (
        "de",
        "ich du er sie es wir ihr und oder aber nicht ist bin sind war waren habe hat haben ein eine einen einem der die das den dem des mit bei für auf aus nach von zu zum zur im mein meine meinen meiner dein sein seit noch auch nur schon sehr wie wenn dass weil bitte jeden jahr wohne arbeite kann heiße heisse heißt mag liebe hasse komme spreche plane planen allergisch gegen beschlossen immer nie niemals lieber antworte schreibe verwende benutze nenne jetzt gezogen wohnt arbeitet",
    ),
    (
        "fr",
        "je tu il elle nous vous ils elles le la les un une des du et ou mais pas ne est suis sont était ai as avons ont avec pour dans sur chez mon ma mes ton ta son sa ses ce cette qui que très aussi depuis c'est j'ai j'adore d'un l'on aux au on à de m'appelle j'habite vis travaille viens parle j'aime déteste n'aime allergique préfère vais allons décidé réponds utilise toujours jamais habite désormais dorénavant maintenant",
    ),
    (
        "es",
        "yo tú él ella nosotros ellos el los las un una unos y o pero no es soy son está estoy era tengo tiene tenemos con para por en mi mis tu tus su sus que muy también desde como cuando vivo trabajo me se le lo al del de la mañana hola llamo nombre hablo gusta gustan encanta encantan odio detesto prefiero alérgico alérgica voy vamos decidimos hemos decidido responde siempre nunca mudé ahora",
    ),
    (
        "pt",
        "eu tu ele ela nós eles o os as um uma e ou mas não é sou são está estou era tenho tem temos com para por em no na nos nas meu minha meus minhas seu sua que muito também desde como quando moro trabalho de do da dos das chamo falo gosto adoro odeio detesto prefiro alérgico alérgica vou vamos decidimos decidi responda sempre nunca agora à mudei",
    ),
    (
        "it",
        "io tu lui lei noi loro il lo gli un una e o ma non è sono sei era ho ha abbiamo con per in mio mia miei mie tuo suo sua che molto anche da come quando vivo lavoro di del della nel nella sono chiamo abito vengo parlo piace piacciono adoro odio detesto preferisco allergico allergica deciso rispondi sempre mai alle agli d'ora",
    ),
    (
        "nl",
        "ik jij hij zij wij jullie het een en of maar niet ben bent zijn was heb heeft hebben met voor op uit naar van mijn jouw zijn haar dat die ook nog wel zeer als omdat woon werk sinds de heet naam kom spreek hou houd haat allergisch liever besloten antwoord altijd nooit gebruik schrijf voortaan vanaf nu verhuisd bij",
    ),
    (
        "sv",
        "jag du han hon vi ni de och eller men inte är var har hade med för på från till min mitt mina din sin som också bara mycket när att det den ett en",
    ),
    (
        "pl",
        "ja ty on ona my wy oni i lub ale nie jest jestem są był mam ma mamy z dla na od do mój moja moje że bardzo też jak kiedy w się",
    ),
];

/// The language as a code, empty if the words do not tell.
pub(crate) fn detect(tokens: &Tokens<'_>) -> &'static str {
    let (mut english, mut words, mut foreign_script) = (0usize, 0usize, 0usize);
    let mut scores = [0usize; PROFILES.len()];
    for at in 0..tokens.len() {
        let token = tokens.at(at);
        if token.kind != Kind::Word {
            continue;
        }
        words += 1;
        if token.fold.chars().any(|c| c.is_alphabetic() && c as u32 > 0x24f) {
            foreign_script += 1;
            continue;
        }
        english += usize::from(token.is(Class::STOP.or(Class::BE).or(Class::PRONOUN)));
        let speakers = speakers_of(&token.fold);
        for (bit, score) in scores.iter_mut().enumerate() {
            *score += usize::from(speakers & (1 << bit) != 0);
        }
    }
    if foreign_script * 2 > words {
        return script(tokens);
    }
    let best = PROFILES.iter().zip(scores).max_by_key(|(_, score)| *score);
    match best {
        Some(((code, _), score)) if score > english && score >= 2 => code,
        _ => ENGLISH,
    }
}

/// The languages that use a word, one bit per profile.
fn speakers_of(word: &str) -> u8 {
    static WORDS: OnceLock<HashMap<&'static str, u8>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let mut words = HashMap::new();
        for (bit, (_, profile)) in PROFILES.iter().enumerate() {
            for word in profile.split(' ') {
                *words.entry(word).or_default() |= 1 << bit;
            }
        }
        words
    });
    words.get(word).copied().unwrap_or(0)
}

fn script(tokens: &Tokens<'_>) -> &'static str {
    let any = |range: std::ops::RangeInclusive<char>| {
        (0..tokens.len()).any(|at| tokens.at(at).fold.chars().any(|c| range.contains(&c)))
    };
    if any('\u{3040}'..='\u{30ff}') {
        "ja"
    } else if any('\u{ac00}'..='\u{d7af}') {
        "ko"
    } else if any('\u{4e00}'..='\u{9fff}') {
        "zh"
    } else if any('\u{400}'..='\u{4ff}') {
        "ru"
    } else if any('\u{600}'..='\u{6ff}') {
        "ar"
    } else if any('\u{900}'..='\u{97f}') {
        "hi"
    } else if any('\u{370}'..='\u{3ff}') {
        "el"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests;
