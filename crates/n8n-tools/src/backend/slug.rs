//! From a workflow's name to a file name that every file system takes: lower-case ASCII letters, digits and single dashes.

/// Longer slugs are cut at a dash where there is one.
const MAX_LENGTH: usize = 60;

/// Names that some systems keep for devices, with or without an extension.
const DEVICE_NAMES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The slug of a name; `workflow` when nothing of it can be written in ASCII.
pub fn slug(name: &str) -> String {
    let mut out = String::new();
    let mut gap = false;
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            if gap && !out.is_empty() {
                out.push('-');
            }
            gap = false;
            out.push(c);
            continue;
        }
        match ascii(c) {
            Some(text) => {
                if gap && !out.is_empty() {
                    out.push('-');
                }
                gap = false;
                out.push_str(text);
            }
            // An apostrophe or a combining accent joins what stands around it.
            None if matches!(c, '\'' | '’' | '\u{300}'..='\u{36f}') => {}
            None => gap = true,
        }
    }
    let mut out = shorten(out);
    let device = DEVICE_NAMES.contains(&out.as_str())
        || ["com", "lpt"].iter().any(|p| {
            out.strip_prefix(p)
                .is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
        });
    if out.is_empty() {
        out.push_str("workflow");
    } else if device {
        out.push_str("-workflow");
    }
    out
}

fn shorten(text: String) -> String {
    if text.len() <= MAX_LENGTH {
        return text;
    }
    // Only ASCII was pushed, so every byte is a character.
    let head: String = text.chars().take(MAX_LENGTH).collect();
    let cut_inside_word = text.chars().nth(MAX_LENGTH).is_some_and(|c| c != '-');
    match head.rsplit_once('-') {
        Some((kept, _)) if cut_inside_word && kept.len() >= MAX_LENGTH / 2 => kept.to_owned(),
        _ => head.trim_end_matches('-').to_owned(),
    }
}

/// The ASCII spelling of a lower-case letter of the Latin script, by the custom of the languages that use it.
fn ascii(c: char) -> Option<&'static str> {
    Some(match c {
        'ä' | 'æ' => "ae",
        'ö' | 'œ' | 'ø' => "oe",
        'ü' => "ue",
        'ß' => "ss",
        'þ' => "th",
        'å' | 'à' | 'á' | 'â' | 'ã' | 'ā' | 'ă' | 'ą' => "a",
        'ç' | 'ć' | 'č' | 'ĉ' | 'ċ' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì' | 'í' | 'î' | 'ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ō' | 'ŏ' | 'ő' => "o",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ţ' | 'ť' | 'ț' => "t",
        'ù' | 'ú' | 'û' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        '€' => "eur",
        '&' => "and",
        _ => return None,
    })
}
