//! Words: how two names are compared ("customer e-mail" and `customerEmail`), and how a said name becomes a key.
//! Owns the word lists that make German, Spanish, French and English names of common fields meet. Pure text.

pub(crate) use crate::lexicon::capital;

/// Said words that mean the same field, canonical one first.
const SAME: &[&[&str]] = &[
    &[
        "email",
        "mail",
        "correo",
        "courriel",
        "mailadresse",
        "emailadresse",
        "emailaddress",
    ],
    &["name", "nombre", "nom", "fullname"],
    &["subject", "betreff", "asunto", "objet"],
    &[
        "text",
        "body",
        "nachricht",
        "mensaje",
        "message",
        "content",
        "inhalt",
        "contenido",
        "contenu",
        "comment",
    ],
    &["from", "sender", "absender", "remitente", "expediteur"],
    &[
        "phone",
        "telefon",
        "telefono",
        "telephone",
        "mobile",
        "handy",
        "telefonnummer",
        "phonenumber",
    ],
    &["amount", "betrag", "importe", "montant", "summe", "monto"],
    &["number", "nummer", "numero", "nr", "no", "num"],
    &["date", "datum", "fecha", "day"],
    &["url", "link", "href", "enlace", "lien"],
    &["title", "titel", "titulo", "titre", "headline"],
    &["description", "beschreibung", "descripcion", "details"],
    &["customer", "kunde", "cliente", "client", "buyer"],
    &[
        "company",
        "firma",
        "empresa",
        "unternehmen",
        "societe",
        "entreprise",
        "organisation",
        "organization",
    ],
    &["order", "bestellung", "pedido", "commande"],
    &["invoice", "rechnung", "factura", "facture"],
    &["price", "preis", "precio", "prix"],
    &["country", "land", "pais", "pays"],
    &["id", "identifier", "kennung"],
    &["file", "datei", "archivo", "fichier", "attachment"],
    &["status", "state", "estado", "etat"],
    &["author", "autor", "auteur", "pusher", "user"],
    &["total", "gesamt", "gesamtbetrag", "sum"],
    &[
        "due",
        "faellig",
        "faelligkeit",
        "vencimiento",
        "echeance",
        "deadline",
    ],
    &["quantity", "qty", "menge", "cantidad", "quantite"],
    &["owner", "proprietaire", "inhaber", "propietario"],
    &["birthday", "geburtstag", "cumpleanos", "anniversaire"],
    &["priority", "prioritaet", "prioridad", "priorite"],
    &["channel", "kanal", "canal"],
    &["created", "erstellt", "creado", "cree"],
    &["reason", "grund", "motivo", "motif", "purpose"],
];

const EMPTY: &[&str] = &[
    "the", "a", "an", "of", "in", "on", "to", "for", "with", "its", "their", "his", "her", "my",
    "our", "s", "der", "die", "das", "des", "dem", "den", "von", "ein", "eine", "el", "la", "los",
    "las", "de", "del", "le", "les", "du", "un", "una", "une", "l", "d", "new", "and", "und", "y",
    "et", "this", "that", "each", "was", "is",
];

/// Lower case without diacritics; German umlauts as two letters.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        for c in c.to_lowercase() {
            match c {
                'ä' => out.push_str("ae"),
                'ö' => out.push_str("oe"),
                'ü' => out.push_str("ue"),
                'ß' => out.push_str("ss"),
                'á' | 'à' | 'â' | 'ã' => out.push('a'),
                'é' | 'è' | 'ê' | 'ë' => out.push('e'),
                'í' | 'ì' | 'î' | 'ï' => out.push('i'),
                'ó' | 'ò' | 'ô' | 'õ' => out.push('o'),
                'ú' | 'ù' | 'û' => out.push('u'),
                'ñ' => out.push('n'),
                'ç' => out.push('c'),
                other => out.push(other),
            }
        }
    }
    out
}

/// The plain words of a name, split at case changes, digits kept with their word.
pub(crate) fn plain(text: &str) -> Vec<String> {
    let joined = text
        .replace("e-mail", "email")
        .replace("E-Mail", "Email")
        .replace("E-mail", "Email");
    let mut spaced = String::with_capacity(joined.len() + 8);
    let mut before_lower = false;
    for c in joined.chars() {
        if c.is_uppercase() && before_lower {
            spaced.push(' ');
        }
        before_lower = c.is_lowercase() || c.is_ascii_digit();
        spaced.push(if c.is_alphanumeric() { c } else { ' ' });
    }
    fold(&spaced)
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

fn singular(word: &str) -> String {
    let n = word.chars().count();
    if n > 4 && word.ends_with("ies") {
        return format!("{}y", word.trim_end_matches("ies"));
    }
    if n > 4 && (word.ends_with("sses") || word.ends_with("xes") || word.ends_with("ches")) {
        return word.strip_suffix("es").unwrap_or(word).to_owned();
    }
    if n > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.ends_with("is")
    {
        return word.strip_suffix('s').unwrap_or(word).to_owned();
    }
    word.to_owned()
}

fn canonical(word: &str) -> String {
    for list in SAME {
        if list.contains(&word) {
            return (*list.first().unwrap_or(&word)).to_owned();
        }
    }
    let one = singular(word);
    for list in SAME {
        if list.contains(&one.as_str()) {
            return list.first().map_or(one, |w| (*w).to_owned());
        }
    }
    one
}

/// The words that count, in a common vocabulary.
pub(crate) fn words(text: &str) -> Vec<String> {
    let all = plain(text);
    let kept: Vec<String> = all
        .iter()
        .filter(|w| !EMPTY.contains(&w.as_str()))
        .map(|w| canonical(w))
        .collect();
    if kept.is_empty() { all } else { kept }
}

/// How alike two word lists are, 0 to 1: the share of common words, weighted to the shorter list.
pub(crate) fn alike(a: &[String], b: &[String]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let common = a.iter().filter(|w| b.contains(w)).count() as f64;
    if common == 0.0 {
        // `orderid` and `order id` are one name
        if a.concat() == b.concat() {
            return 1.0;
        }
        return 0.0;
    }
    let (short, long) = if a.len() < b.len() {
        (a.len(), b.len())
    } else {
        (b.len(), a.len())
    };
    0.6 * common / short as f64 + 0.4 * common / long as f64
}

pub(crate) fn similar(a: &str, b: &str) -> f64 {
    if fold(a) == fold(b) {
        return 1.0;
    }
    alike(&words(a), &words(b))
}

/// `customer_email`.
pub(crate) fn snake(text: &str) -> String {
    plain(text)
        .into_iter()
        .filter(|w| !matches!(w.as_str(), "the" | "of" | "s"))
        .collect::<Vec<_>>()
        .join("_")
}

/// `customerEmail`.
pub(crate) fn camel(text: &str) -> String {
    let mut out = String::new();
    for (i, word) in plain(text)
        .into_iter()
        .filter(|w| !matches!(w.as_str(), "the" | "of" | "s"))
        .enumerate()
    {
        if i == 0 {
            out.push_str(&word);
        } else {
            out.push_str(&capital(&word));
        }
    }
    out
}

/// `CustomerEmail`.
pub(crate) fn pascal(text: &str) -> String {
    capital(&camel(text))
}

/// A JavaScript identifier: can follow a dot.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '$')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
}

/// The name already looks like a key of the data (`device_id`, `orderId`), not like words.
pub(crate) fn is_key(text: &str) -> bool {
    is_identifier(text)
        && (text.contains('_')
            || text.chars().skip(1).any(char::is_uppercase)
            || text.chars().all(|c| c.is_ascii_lowercase()))
}

/// A string as a JavaScript literal in single quotes.
pub(crate) fn js_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => {}
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

/// `base` followed by a path of keys: `$json.from.value[0].address`, `$json['First name']`. A path given with dots or
/// brackets is taken as it is when all its parts are plain.
pub(crate) fn js_path(base: &str, path: &str) -> String {
    if path.is_empty() {
        return base.to_owned();
    }
    if path.starts_with('[') {
        return format!("{base}{path}");
    }
    // Several values joined to one: a call, no key.
    let joined = path.ends_with(')') && path.contains("=>");
    let plain = joined
        || path
            .split('.')
            .all(|part| is_identifier(part.split('[').next().unwrap_or("")));
    if plain {
        format!("{base}.{path}")
    } else {
        format!("{base}[{}]", js_string(path))
    }
}
