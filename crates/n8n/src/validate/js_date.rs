//! Whether n8n can read a text as a date: ISO 8601 (weeks, ordinals and times alone included) or whatever JavaScript's
//! `Date.parse` takes, which is a lot. Only whether, never which date. Pure.

use super::js;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::LazyLock;

use regex::Regex;

/// Years beyond these have no date in JavaScript.
const YEARS: std::ops::RangeInclusive<i64> = -271_821..=275_760;
/// More digits of a number are read and forgotten.
const DIGITS_KEPT: usize = 9;

pub(super) fn is_date(text: &str) -> bool {
    let text = js::trim(text);
    is_iso(text) || Reader::of(text).date()
}

// ---- ISO 8601 beyond what Date.parse takes --------------------------------------------------------------------------

struct IsoForms {
    calendar: Regex,
    ordinal: Regex,
    week: Regex,
    time: Regex,
}

static ISO: LazyLock<Option<IsoForms>> = LazyLock::new(|| {
    let zone = r" ?(?:UTC|GMT|[A-Z][A-Za-z_]+/[A-Za-z_/+-]+)";
    let time = r"([0-9]{2})(?::?([0-9]{2})(?::?([0-9]{2})(?:[.,][0-9]{1,30})?)?)?(?:(?:[Zz])|([+-][0-9]{2})(?::?([0-9]{2}))?)?";
    let with = |date: &str| Regex::new(&format!("^{date}(?:T{time})?$")).ok();
    Some(IsoForms {
        calendar: with(
            r"(?<years>[+-][0-9]{6}|[0-9]{4})(?:-?(?<month>[0-9]{2})(?:-?(?<day>[0-9]{2}))?)?",
        )?,
        ordinal: with(r"(?<year>[0-9]{4})-?(?<of_year>[0-9]{3})")?,
        week: with(r"(?<year>[0-9]{4})-?W(?<week>[0-9]{2})(?:-?(?<weekday>[0-9]))?")?,
        time: Regex::new(&format!(
            "^(?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} )?{time}(?:{zone})?$"
        ))
        .ok()?,
    })
});

fn is_iso(text: &str) -> bool {
    let Some(forms) = ISO.as_ref() else {
        return false;
    };
    let number = |captures: &regex::Captures, name: &str| {
        captures
            .name(name)
            .and_then(|m| m.as_str().parse::<u32>().ok())
    };
    let time_fits = |captures: &regex::Captures, first: usize| {
        let part = |i: usize| {
            captures
                .get(first + i)
                .and_then(|m| m.as_str().parse::<u32>().ok())
                .unwrap_or(0)
        };
        let (hour, minute, second) = (part(0), part(1), part(2));
        let midnight = hour == 24 && minute == 0 && second == 0;
        (hour < 24 || midnight) && minute < 60 && second < 60
    };
    let calendar = || {
        let c = forms.calendar.captures(text)?;
        let year: i64 = c.name("years")?.as_str().parse().ok()?;
        let (month, day) = (
            number(&c, "month").unwrap_or(1),
            number(&c, "day").unwrap_or(1),
        );
        let days = match month {
            4 | 6 | 9 | 11 => 30,
            2 if is_leap(u32::try_from(year.rem_euclid(400)).ok()?) => 29,
            2 => 28,
            _ => 31,
        };
        let fits = (1..=12).contains(&month) && (1..=days).contains(&day);
        Some(YEARS.contains(&year) && fits && time_fits(&c, 4))
    };
    let ordinal = || {
        let c = forms.ordinal.captures(text)?;
        let days = if is_leap(number(&c, "year")?) {
            366
        } else {
            365
        };
        Some((1..=days).contains(&number(&c, "of_year")?) && time_fits(&c, 3))
    };
    let week = || {
        let c = forms.week.captures(text)?;
        let fits = (1..=weeks_in(number(&c, "year")?)).contains(&number(&c, "week")?)
            && number(&c, "weekday").is_none_or(|d| (1..=7).contains(&d));
        Some(fits && time_fits(&c, 4))
    };
    // A text such as 2024-13 is no month, but the time 20:24 at an offset of 13 hours.
    let time = || Some(time_fits(&forms.time.captures(text)?, 1));
    [calendar(), ordinal(), week(), time()].contains(&Some(true))
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// A year has 53 ISO weeks when it starts on a Thursday, or on a Wednesday and is a leap year.
fn weeks_in(year: u32) -> u32 {
    let weekday = |y: u32| (y + y / 4 - y / 100 + y / 400) % 7;
    let starts_late = weekday(year) == 4 || weekday(year.saturating_sub(1)) == 3;
    if starts_late { 53 } else { 52 }
}

// ---- Date.parse: the ISO form first, then the lenient one --------------------------------------------------------------

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    /// Value and how many digits it was written with.
    Number(i64, usize),
    Symbol(char),
    Word(Word),
    Space,
    Other,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Word {
    Month(i64),
    /// 0 or 12 hours to add.
    HalfDay(i64),
    /// Hours from UTC, and whether it is a lone `Z`.
    Zone(i64, bool),
    /// A lone `T`.
    Time,
    Unknown,
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    next: Token,
    day: Vec<i64>,
    month: Option<i64>,
    iso: bool,
    time: Vec<i64>,
    half_day: Option<i64>,
    zone_hour: Option<i64>,
    zone_minute: Option<i64>,
}

/// Why reading stops early: the text is no date.
struct NoDate;

impl<'a> Reader<'a> {
    fn of(text: &'a str) -> Self {
        let mut reader = Reader {
            chars: text.chars().peekable(),
            next: Token::End,
            day: Vec::new(),
            month: None,
            iso: false,
            time: Vec::new(),
            half_day: None,
            zone_hour: None,
            zone_minute: None,
        };
        reader.next = reader.scan();
        reader
    }

    fn date(mut self) -> bool {
        let read = self.iso_part().and_then(|token| self.lenient_part(token));
        read.is_ok() && self.day_fits() && self.time_fits()
    }

    fn scan(&mut self) -> Token {
        let Some(c) = self.chars.peek().copied() else {
            return Token::End;
        };
        if c.is_ascii_digit() {
            return self.scan_number();
        }
        if matches!(c, ':' | '-' | '+' | '.' | ')') {
            self.chars.next();
            return Token::Symbol(c);
        }
        if c >= 'A' && !js::is_space(c) {
            let mut word = String::new();
            while let Some(c) = self.chars.next_if(|c| *c >= 'A' && !js::is_space(*c)) {
                word.push(c.to_ascii_lowercase());
            }
            return Token::Word(keyword(&word));
        }
        if js::is_space(c) {
            while self.chars.next_if(|c| js::is_space(*c)).is_some() {}
            return Token::Space;
        }
        self.chars.next();
        if c == '(' {
            let mut open = 1;
            while open > 0 {
                match self.chars.next() {
                    Some('(') => open += 1,
                    Some(')') => open -= 1,
                    Some(_) => {}
                    None => break,
                }
            }
        }
        Token::Other
    }

    fn scan_number(&mut self) -> Token {
        let (mut value, mut length, mut kept) = (0, 0, 0);
        while let Some(digit) = self.chars.next_if(char::is_ascii_digit) {
            length += 1;
            let digit = i64::from(digit.to_digit(10).unwrap_or(0));
            if kept < DIGITS_KEPT && (kept > 0 || digit > 0) {
                kept += 1;
                value = value * 10 + digit;
            }
        }
        Token::Number(value, length)
    }

    fn take(&mut self) -> Token {
        let next = self.scan();
        std::mem::replace(&mut self.next, next)
    }
    fn skip(&mut self, symbol: char) -> bool {
        let found = self.next == Token::Symbol(symbol);
        if found {
            self.take();
        }
        found
    }
    /// The next number, when it has exactly that many digits.
    fn fixed(&self, digits: usize) -> Option<i64> {
        match self.next {
            Token::Number(value, length) if length == digits => Some(value),
            _ => None,
        }
    }

    /// Reads the ISO form as far as it goes; the token at which the lenient form goes on.
    fn iso_part(&mut self) -> Result<Token, NoDate> {
        if let Token::Symbol(sign @ ('+' | '-')) = self.next {
            let token = self.take();
            let Some(year) = self.fixed(6) else {
                return Ok(token);
            };
            self.take();
            if sign == '-' && year == 0 {
                return Ok(token);
            }
            self.day.push(if sign == '-' { -year } else { year });
        } else if let Some(year) = self.fixed(4) {
            self.take();
            self.day.push(year);
        } else {
            return Ok(self.take());
        }
        for range in [1..=12, 1..=31] {
            if !self.skip('-') {
                break;
            }
            let Some(part) = self.fixed(2).filter(|n| range.contains(n)) else {
                return Ok(self.take());
            };
            self.take();
            self.day.push(part);
        }
        if self.next == Token::Word(Word::Time) {
            self.take();
            self.iso_time()?;
        } else if self.next != Token::End {
            return Ok(self.take());
        }
        self.iso = true;
        Ok(Token::End)
    }

    fn iso_time(&mut self) -> Result<(), NoDate> {
        let hour = self.pair(0..=24)?;
        let rest = if hour == 24 { 0 } else { 59 };
        self.time.push(hour);
        if !self.skip(':') {
            return Err(NoDate);
        }
        let minute = self.pair(0..=rest)?;
        self.time.push(minute);
        if self.skip(':') {
            let second = self.pair(0..=rest)?;
            self.time.push(second);
            if self.skip('.') {
                match self.take() {
                    Token::Number(n, _) if hour < 24 || n == 0 => {}
                    _ => return Err(NoDate),
                }
            }
        }
        if matches!(self.next, Token::Word(Word::Zone(_, true))) {
            self.take();
        } else if self.skip('+') || self.skip('-') {
            if let Some(both) = self.fixed(4) {
                self.take();
                if both / 100 > 23 || both % 100 > 59 {
                    return Err(NoDate);
                }
            } else {
                self.pair(0..=23)?;
                if !self.skip(':') {
                    return Err(NoDate);
                }
                self.pair(0..=59)?;
            }
        }
        match self.next {
            Token::End => Ok(()),
            _ => Err(NoDate),
        }
    }

    fn pair(&mut self, range: std::ops::RangeInclusive<i64>) -> Result<i64, NoDate> {
        let value = self.fixed(2).filter(|n| range.contains(n)).ok_or(NoDate)?;
        self.take();
        Ok(value)
    }

    fn lenient_part(&mut self, first: Token) -> Result<(), NoDate> {
        let mut has_number = !self.day.is_empty();
        let mut token = match first {
            Token::End => self.take(),
            token => token,
        };
        while token != Token::End {
            match token {
                Token::Number(n, _) => {
                    has_number = true;
                    self.number(n)?;
                }
                Token::Word(Word::HalfDay(hours)) if !self.time.is_empty() => {
                    self.half_day = Some(hours);
                }
                Token::Word(Word::Month(month)) => {
                    self.month = Some(month);
                    self.skip('-');
                }
                Token::Word(Word::Zone(hours, _)) if has_number => {
                    self.zone_hour = Some(hours.abs());
                    self.zone_minute = Some(0);
                }
                Token::Word(_) if has_number || matches!(self.next, Token::Number(..)) => {
                    return Err(NoDate);
                }
                Token::Symbol('+' | '-') if self.is_utc() || !self.time.is_empty() => {
                    has_number = true;
                    self.offset()?;
                }
                Token::Symbol('+' | '-' | ')') if has_number => return Err(NoDate),
                _ => {}
            }
            token = self.take();
        }
        Ok(())
    }

    fn is_utc(&self) -> bool {
        self.zone_hour == Some(0) && self.zone_minute == Some(0)
    }

    fn number(&mut self, n: i64) -> Result<(), NoDate> {
        if self.skip(':') {
            if self.skip(':') {
                if !self.time.is_empty() {
                    return Err(NoDate);
                }
                self.time.extend([n, 0]);
                return Ok(());
            }
            if self.time.len() == 4 {
                return Err(NoDate);
            }
            self.time.push(n);
            self.skip('.');
            return Ok(());
        }
        let dot = self.skip('.');
        if dot && self.time_expects(n) {
            self.time.push(n);
            return match self.take() {
                Token::Number(fraction, length) => {
                    self.time.push(thousandths(fraction, length));
                    self.time.resize(4, 0);
                    Ok(())
                }
                _ => Err(NoDate),
            };
        }
        if self.zone_hour.is_some() && self.zone_minute.is_none() && (0..60).contains(&n) {
            self.zone_minute = Some(n);
            return Ok(());
        }
        if self.time_expects(n) {
            self.time.push(n);
            self.time.resize(4, 0);
            return match self.next {
                Token::End
                | Token::Space
                | Token::Word(Word::Zone(_, true))
                | Token::Symbol('+' | '-') => Ok(()),
                _ => Err(NoDate),
            };
        }
        if self.day.len() == 3 {
            return Err(NoDate);
        }
        self.day.push(n);
        self.skip('-');
        Ok(())
    }

    fn time_expects(&self, n: i64) -> bool {
        match self.time.len() {
            1 | 2 => (0..60).contains(&n),
            3 => (0..1000).contains(&n),
            _ => false,
        }
    }

    /// After a sign: `8`, `08`, `0830` or `08:30`.
    fn offset(&mut self) -> Result<(), NoDate> {
        let (n, length) = match self.next {
            Token::Number(n, length) => {
                self.take();
                (n, length)
            }
            _ => (0, 0),
        };
        let (hour, minute) = match (self.next, length) {
            (Token::Symbol(':'), _) => (n, None),
            (_, 1 | 2) => (n, Some(0)),
            (_, 3 | 4) => (n / 100, Some(n % 100)),
            _ => return Err(NoDate),
        };
        self.zone_hour = Some(hour);
        self.zone_minute = minute;
        Ok(())
    }

    fn day_fits(&self) -> bool {
        // Parts that are not written count as 1, the year too.
        let part = |i: usize| self.day.get(i).copied().unwrap_or(1);
        let is_day = |n: i64| (1..=31).contains(&n);
        let (first, second, third) = (part(0), part(1), part(2));
        if self.day.is_empty() {
            return false;
        }
        let (year, month, day) = match self.month {
            None if self.iso || !is_day(first) => (first, second, third),
            None => (third, first, second),
            Some(month) if !is_day(first) => (first, month, second),
            Some(month) => (second, month, first),
        };
        (1..=12).contains(&month) && is_day(day) && YEARS.contains(&year)
    }

    fn time_fits(&self) -> bool {
        let part = |i: usize| self.time.get(i).copied().unwrap_or(0);
        let mut hour = part(0);
        if let Some(half) = self.half_day {
            if !(0..=12).contains(&hour) {
                return false;
            }
            hour = hour % 12 + half;
        }
        let rest = (part(1), part(2), part(3));
        let ordinary = (0..24).contains(&hour)
            && (0..60).contains(&rest.0)
            && (0..60).contains(&rest.1)
            && (0..1000).contains(&rest.2);
        ordinary || (hour == 24 && rest == (0, 0, 0))
    }
}

/// `.5` is 500; digits beyond the third do not count.
fn thousandths(fraction: i64, length: usize) -> i64 {
    let written = length.min(DIGITS_KEPT);
    (3..written).fold(fraction, |n, _| n / 10) * [1, 100, 10].get(written).copied().unwrap_or(1)
}

fn keyword(word: &str) -> Word {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let zone = |hours| Word::Zone(hours, false);
    match word {
        "am" => return Word::HalfDay(0),
        "pm" => return Word::HalfDay(12),
        "t" => return Word::Time,
        "z" => return Word::Zone(0, true),
        "ut" | "utc" | "gmt" => return zone(0),
        "edt" => return zone(-4),
        "est" | "cdt" => return zone(-5),
        "cst" | "mdt" => return zone(-6),
        "mst" | "pdt" => return zone(-7),
        "pst" => return zone(-8),
        _ => {}
    }
    let month = word
        .get(..3)
        .and_then(|start| MONTHS.iter().position(|m| *m == start))
        .and_then(|at| i64::try_from(at).ok());
    month.map_or(Word::Unknown, |at| Word::Month(at + 1))
}

#[cfg(test)]
#[path = "js_date_tests.rs"]
mod js_date_tests;
