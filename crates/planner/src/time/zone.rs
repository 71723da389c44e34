//! Time zones: IANA names, abbreviations in capitals, and places with a word for time beside them.

use super::cursor::Cursor;
use super::kind::Kind;
use super::token::Shape;

/// The IANA name of the zone that is named here, with its row in `timezones.tsv` (0 for an IANA name itself).
pub(super) fn zone(c: &mut Cursor<'_>) -> Option<(String, u32)> {
    c.attempt(iana)
        .or_else(|| c.attempt(code))
        .or_else(|| c.attempt(place))
}

fn written<'r>(c: &Cursor<'r>) -> Option<&'r str> {
    let token = c.token().filter(|t| t.shape == Shape::Word)?;
    c.reader.text.get(token.from..token.to)
}

fn iana(c: &mut Cursor<'_>) -> Option<(String, u32)> {
    let start = c.token()?.from;
    let region = written(c)?;
    c.reader.lexicon.zones.regions.get(region)?;
    c.at += 1;
    let mut end = None;
    while c.glued_mark('/') || c.glued_mark('_') || c.glued_mark('-') {
        end = Some(c.token().filter(|t| t.glued && t.shape == Shape::Word)?.to);
        c.at += 1;
    }
    Some((c.reader.text.get(start..end?)?.to_owned(), 0))
}

fn code(c: &mut Cursor<'_>) -> Option<(String, u32)> {
    let said = written(c)?;
    let (zone, line) = *c.reader.lexicon.zones.codes.get(said)?;
    let glued = c.token().is_some_and(|t| t.glued);
    // one letter is a zone only behind a clock time
    if said.len() < 2 && !glued {
        return None;
    }
    c.at += 1;
    c.eat(Kind::ZoneAfter);
    Some(((*zone).to_owned(), line))
}

fn place(c: &mut Cursor<'_>) -> Option<(String, u32)> {
    let before = c.eat(Kind::ZoneBefore).is_some();
    let places = &c.reader.lexicon.zones.places;
    let place = places
        .iter()
        .filter(|p| {
            p.words.iter().enumerate().all(|(i, word)| {
                c.token_after(i)
                    .is_some_and(|t| t.shape == Shape::Word && t.key == *word)
            })
        })
        .max_by_key(|p| p.words.len())?;
    c.at += place.words.len();
    (c.eat(Kind::ZoneAfter).is_some() || before).then(|| (place.zone.to_owned(), place.line))
}
