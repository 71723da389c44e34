//! How much a number is, as it is written.

/// A number, and one unit of its last place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Amount {
    pub number: f64,
    pub step: f64,
}

/// `12,000` and `12 000`; `german`: `12.000` and `2,5`.
pub(crate) fn amount(text: &str, german: bool) -> Option<Amount> {
    if text.contains(':') {
        return None;
    }
    let (sign, text) = match text.strip_prefix(['-', '−']) {
        Some(text) => (-1.0, text),
        None => (1.0, text),
    };
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let groups = |mark: char| {
        let mut parts = text.split(mark);
        parts
            .next()
            .is_some_and(|first| (1..=3).contains(&first.len()) && first != "0")
            && parts.all(|part| part.len() == 3)
    };
    let plain = match (text.contains(','), text.contains('.')) {
        (true, true) if text.rfind('.') > text.rfind(',') => text.replace(',', ""),
        (true, true) => text.replace('.', "").replace(',', "."),
        (true, false) if !german && groups(',') => text.replace(',', ""),
        (true, false) => text.replace(',', "."),
        (false, true) if german && groups('.') => text.replace('.', ""),
        (false, true) if text.matches('.').count() > 1 => text.replace('.', ""),
        _ => text,
    };
    let places = plain.split_once('.').map_or(0, |(_, places)| places.len());
    Some(Amount {
        number: sign * plain.parse::<f64>().ok()?,
        step: 10f64.powi(-i32::try_from(places).ok()?),
    })
}
