//! When two spellings are the same word: folding of case, accents and punctuation, and the distance
//! between two words.
//!
//! Used where words are compared before a decision is logged; nothing that is folded here is stored.

#[cfg(test)]
mod tests;

/// Longer names are compared by their beginning: the cost of a comparison is bounded.
pub const NAME_CHARS_MAX: usize = 256;

/// The words of a name: lower case, without accents and punctuation. Dots and apostrophes join
/// ("U.S." is "us", "O'Neil" is "oneil"), everything else that is no letter or digit separates.
pub fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for character in text.chars().take(NAME_CHARS_MAX) {
        match character {
            '.' | '\'' | '’' | '‘' | 'ʼ' | '`' | '\u{ad}' | '\u{200b}'..='\u{200d}' => {}
            '\u{300}'..='\u{36f}' => {}
            '&' => {
                words.extend(finished(&mut word));
                words.push("and".to_owned());
            }
            _ => {
                let character = half_width(character);
                if character.is_alphanumeric() {
                    character.to_lowercase().for_each(|lower| push_base(&mut word, lower));
                } else {
                    words.extend(finished(&mut word));
                }
            }
        }
    }
    words.extend(finished(&mut word));
    words
}

fn finished(word: &mut String) -> Option<String> {
    (!word.is_empty()).then(|| std::mem::take(word))
}

/// The letter without its accent.
fn push_base(word: &mut String, letter: char) {
    let base = match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ǎ' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => "o",
        'œ' => "oe",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ț' => "t",
        'þ' => "th",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        // The dot that is left when a Turkish capital is lowered, among others.
        '\u{300}'..='\u{36f}' => "",
        other => return word.push(other),
    };
    word.push_str(base);
}

/// The ASCII character that a wide one stands for.
fn half_width(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character)
        }
        other => other,
    }
}

/// How many letters have to be put in, left out, replaced or swapped with their neighbour to make one
/// word of the other, if not more than `most`.
pub fn distance(one: &str, other: &str, most: usize) -> Option<usize> {
    let one: Vec<char> = one.chars().take(NAME_CHARS_MAX).collect();
    let other: Vec<char> = other.chars().take(NAME_CHARS_MAX).collect();
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let width = other.len() + 1;
    let get = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX);
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..width).collect();
    let mut previous = None;
    for (row, letter) in one.iter().enumerate() {
        let mut current = Vec::with_capacity(width);
        current.push(row + 1);
        for (column, its) in other.iter().enumerate() {
            let replaced = get(&last, column) + usize::from(letter != its);
            let removed = get(&last, column + 1) + 1;
            let added = get(&current, column) + 1;
            let mut best = replaced.min(removed).min(added);
            let left =
                column.checked_sub(1).and_then(|left| other.get(left).map(|its| (left, its)));
            if let (Some(above), Some((left, neighbour))) = (previous, left)
                && above == *its
                && letter == neighbour
            {
                best = best.min(get(&before_last, left).saturating_add(1));
            }
            current.push(best);
        }
        if current.iter().all(|cost| *cost > most) {
            return None;
        }
        before_last = std::mem::replace(&mut last, current);
        previous = Some(*letter);
    }
    last.last().copied().filter(|cost| *cost <= most)
}

/// Whether two words could be one with a slip, and how many. Short words and numbers never: "Iran"
/// is not "Iraq", and 737 is not 747.
pub fn slips(one: &str, other: &str) -> Option<usize> {
    let shorter = one.chars().count().min(other.chars().count());
    let most = match shorter {
        0..=4 => 0,
        5..=8 => 1,
        _ => 2,
    };
    let digits = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>();
    if one.chars().next() != other.chars().next() || digits(one) != digits(other) {
        return None;
    }
    distance(one, other, most)
}
