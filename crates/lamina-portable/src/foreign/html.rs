//! Words out of HTML: tags removed, blocks on their own lines, entities decoded. For the answers of
//! activity pages, not for whole sites.

/// Elements that end a line.
const BLOCKS: &[&str] =
    &["p", "br", "div", "li", "ul", "ol", "tr", "pre", "h1", "h2", "h3", "h4", "hr"];

/// The words of a piece of HTML.
pub(super) fn to_text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        out.push_str(&decode_entities(before));
        let Some(end) = tag.find('>') else {
            rest = "";
            break;
        };
        let name: String = tag
            .trim_start_matches(['<', '/'])
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        if BLOCKS.contains(&name.as_str()) && !out.ends_with('\n') {
            out.push('\n');
        }
        if name == "li" && !tag.starts_with("</") {
            out.push_str("- ");
        }
        rest = tag.get(end + 1..).unwrap_or_default();
    }
    out.push_str(&decode_entities(rest));
    let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    lines.join("\n").trim().to_owned()
}

/// Replaces the entities that such pages use.
pub(super) fn decode_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, entity) = rest.split_at(at);
        out.push_str(before);
        // Entities are short; anything else is an ampersand.
        let end = entity.bytes().take(12).position(|byte| byte == b';');
        let decoded = end.and_then(|end| decode_entity(entity.get(1..end)?).map(|c| (c, end)));
        match decoded {
            Some((c, end)) => {
                out.push(c);
                rest = entity.get(end + 1..).unwrap_or_default();
            }
            None => {
                out.push('&');
                rest = entity.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn decode_entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        _ => return None,
    })
}
