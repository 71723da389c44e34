//! The kinds of words that `knowledge/lang/*/time.tsv` may list, and what the value of each must be.

/// What a value is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Nothing is said by it.
    Any,
    /// A whole number from .. to.
    Int(i32, i32),
    /// `8:30`.
    Clock,
    /// `9-17`: hours.
    Hours,
    /// A unit's name.
    Unit,
    /// `2 week`.
    Count,
    /// `last month`, `first quarter`.
    Edge,
    /// `first` or `last`.
    Side,
}

macro_rules! kinds {
    ($($variant:ident $name:literal $shape:expr, $doc:literal;)*) => {
        /// What a row says a form is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Kind { $(#[doc = $doc] $variant,)* }

        /// Name in the table, kind, and what its value must be.
        pub(super) const KINDS: &[(&str, Kind, Shape)] = &[$(($name, Kind::$variant, $shape),)*];
    };
}

kinds! {
    Num "num" Shape::Int(0, 1000), "a number in words";
    One "one" Shape::Int(1, 1), "an article that counts as one before a unit";
    Few "few" Shape::Int(2, 10), "`a few`, with the number taken for it";
    Half "half" Shape::Any, "`and a half` after a number or a unit";
    Ord "ord" Shape::Int(1, 31), "an ordinal in words";
    Suffix "suffix" Shape::Any, "what makes digits an ordinal";
    Unit "unit" Shape::Unit, "a unit of time";
    Abbr "abbr" Shape::Unit, "a unit that is read only after digits";
    Glued "glued" Shape::Unit, "a unit that is read only glued to digits";
    Span "span" Shape::Int(1, 10_000_000), "a duration of its own, in seconds";
    Day "day" Shape::Int(0, 6), "a weekday";
    Days "days" Shape::Int(0, 6), "a weekday in a form that means each of them";
    DayAbbr "dayabbr" Shape::Int(0, 6), "a short weekday, read only in company";
    Set "set" Shape::Int(1, 123_456), "several weekdays, as digits";
    Sets "sets" Shape::Int(1, 123_456), "several weekdays, in a form that means each of them";
    Workday "workday" Shape::Any, "working day, in `last working day of the month`";
    Month "month" Shape::Int(1, 12), "a month";
    MonthCap "monthcap" Shape::Int(1, 12), "a month only with a capital letter";
    Daytime "daytime" Shape::Clock, "a part of the day, read only beside a day or `every`";
    Part "part" Shape::Clock, "a part of the day with its preposition";
    Parts "parts" Shape::Clock, "a part of the day in a form that means each day";
    ClockWord "clockword" Shape::Clock, "noon, midnight";
    Am "am" Shape::Any, "before noon";
    Pm "pm" Shape::Any, "after noon";
    OClock "oclock" Shape::Int(0, 1), "marks a clock time; 1 = also a unit";
    HourPart "hourpart" Shape::Int(-59, 59), "minutes from the hour that follows";
    Tail "tail" Shape::Int(-59, 59), "minutes from the hour before";
    TailPlus "tailplus" Shape::Int(-1, 1), "joins an hour and the minutes after it";
    Past "past" Shape::Any, "minutes past the hour";
    To "to" Shape::Any, "minutes to the hour";
    Each "each" Shape::Any, "every";
    Other "other" Shape::Any, "every other";
    Alternate "alternate" Shape::Int(2, 2), "one of two, after the day";
    Full "full" Shape::Any, "a full hour";
    Top "top" Shape::Any, "on the hour";
    Freq "freq" Shape::Count, "an adverb of a rhythm";
    FreqAdj "freqadj" Shape::Count, "an adjective of a rhythm: it may only describe a thing";
    Count "count" Shape::Int(1, 10), "once, twice";
    Fold "fold" Shape::Any, "times";
    Per "per" Shape::Any, "per, between a count and a unit";
    PerSlash "perslash" Shape::Any, "per, also after a counted noun";
    Interval "interval" Shape::Any, "a duration before it is a rhythm";
    Edge "edge" Shape::Side, "beginning or end of a period that is named next";
    EdgeWord "edgeword" Shape::Edge, "beginning or end of a month, a quarter, a year";
    At "at" Shape::Any, "before a clock time, also a bare number";
    AtMarked "atmarked" Shape::Any, "before a clock time that is marked as one";
    On "on" Shape::Any, "before a day";
    The "the" Shape::Any, "article";
    Of "of" Shape::Any, "of";
    And "and" Shape::Any, "and";
    Or "or" Shape::Any, "or";
    UpTo "upto" Shape::Any, "until the end of a range";
    Between "between" Shape::Any, "between two clock times";
    From "from" Shape::Any, "from one clock time to another";
    Except "except" Shape::Any, "except";
    Only "only" Shape::Any, "only: a restriction, not a rhythm";
    Inside "inside" Shape::Any, "during, before office hours";
    Outside "outside" Shape::Any, "outside, before a window";
    Office "office" Shape::Hours, "hours of work, on working days";
    After "after" Shape::Any, "from a clock time on";
    Before "before" Shape::Any, "until a clock time";
    Glue "glue" Shape::Any, "says nothing between the parts of a schedule";
    Is "is" Shape::Any, "a day after it is a test, no rhythm";
    DayNo "dayno" Shape::Any, "before the number of a day of the month";
    Older "older" Shape::Any, "more than, of an age";
    Over "over" Shape::Any, "at least; an age only with `old` or `ago`";
    Newer "newer" Shape::Any, "less than, of an age";
    Lead "lead" Shape::Any, "before `last`";
    LastAdj "lastadj" Shape::Any, "last, past";
    LastPost "lastpost" Shape::Any, "last, after the unit";
    This "this" Shape::Any, "this, the current";
    Next "next" Shape::Any, "next";
    NextPost "nextpost" Shape::Any, "next, after the unit";
    For "for" Shape::Any, "for, of a state that lasts";
    In "in" Shape::Any, "in, from now";
    Not "not" Shape::Any, "a negation";
    Idle "idle" Shape::Any, "a state whose duration is an age";
    Old "old" Shape::Any, "old, after a duration";
    Ago "ago" Shape::Any, "ago, after a duration";
    AgoBefore "agobefore" Shape::Any, "ago, before a duration";
    FromNow "fromnow" Shape::Any, "from now, after a duration";
    Since "since" Shape::Any, "since";
    Until "until" Shape::Any, "until";
    RelDay "relday" Shape::Int(-2, 2), "days from today";
    Max "max" Shape::Any, "at most, of a rate";
    Measure "measure" Shape::Any, "a noun after which a bare number is no clock time";
    Noun "noun" Shape::Any, "a determiner: a rhythm after it describes a thing";
    Name "name" Shape::Any, "a thing after which a name stands";
    Cron "cron" Shape::Any, "announces a cron expression";
    ZoneBefore "zonebefore" Shape::Any, "before a place: its time";
    ZoneAfter "zoneafter" Shape::Any, "after a place: its time";
}

/// The units by their names in the table, shortest first; a value holds the index.
pub(super) const UNITS: [&str; 8] = [
    "second", "minute", "hour", "day", "week", "month", "quarter", "year",
];

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Unit {
    /// The unit of an index of [`UNITS`].
    pub(super) fn of(index: i32) -> Unit {
        match index {
            0 => Unit::Second,
            1 => Unit::Minute,
            2 => Unit::Hour,
            3 => Unit::Day,
            4 => Unit::Week,
            5 => Unit::Month,
            6 => Unit::Quarter,
            _ => Unit::Year,
        }
    }

    /// Seconds; a month is 30 days, a quarter 90, a year 365.
    pub(super) fn seconds(self) -> u64 {
        match self {
            Unit::Second => 1,
            Unit::Minute => 60,
            Unit::Hour => 3600,
            Unit::Day => 86_400,
            Unit::Week => 604_800,
            Unit::Month => 2_592_000,
            Unit::Quarter => 7_776_000,
            Unit::Year => 31_536_000,
        }
    }
}

/// Reads a value, or says what it should be.
pub(super) fn value(shape: Shape, text: &str) -> Result<[i32; 2], String> {
    let unit = |name: &str| {
        UNITS
            .iter()
            .position(|u| *u == name)
            .and_then(|i| i32::try_from(i).ok())
            .ok_or_else(|| format!("`{name}` is no unit; use one of {}", UNITS.join(", ")))
    };
    let side = |name: &str| match name {
        "first" => Ok(1),
        "last" => Ok(0),
        other => Err(format!("`{other}` is neither `first` nor `last`")),
    };
    let int = |t: &str, from: i32, to: i32| {
        t.parse::<i32>()
            .ok()
            .filter(|n| (from..=to).contains(n))
            .ok_or_else(|| format!("`{t}` is no whole number from {from} to {to}"))
    };
    let halves = |by: char, say: &str| {
        text.split_once(by)
            .ok_or_else(|| format!("`{text}` is not of the form {say}"))
    };
    match shape {
        Shape::Any => Ok([0, 0]),
        Shape::Int(from, to) => Ok([int(text, from, to)?, 0]),
        Shape::Clock => {
            let (h, m) = halves(':', "8:30")?;
            Ok([int(h, 0, 23)?, int(m, 0, 59)?])
        }
        Shape::Hours => {
            let (from, to) = halves('-', "9-17")?;
            Ok([int(from, 0, 23)?, int(to, 1, 24)?])
        }
        Shape::Unit => Ok([unit(text)?, 0]),
        Shape::Count => {
            let (n, name) = halves(' ', "2 week")?;
            Ok([int(n, 1, 1000)?, unit(name)?])
        }
        Shape::Edge => {
            let (which, name) = halves(' ', "last month")?;
            Ok([side(which)?, unit(name)?])
        }
        Shape::Side => Ok([side(text)?, 0]),
    }
}
