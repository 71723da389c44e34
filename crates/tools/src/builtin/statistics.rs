//! `statistics`: figures over lists of numbers, as scipy and numpy reckon them. The distributions are statrs'.

use super::Answered;
use serde_json::{Map, Value, json};
use statrs::distribution::{ChiSquared, ContinuousCDF, StudentsT};

/// Numbers of one call, at most.
const MAX_NUMBERS: usize = 100_000;

type Numbers = Result<Vec<f64>, (String, &'static str)>;
type Pair = Result<(Vec<f64>, Vec<f64>), (String, &'static str)>;

pub(super) fn statistics(args: &Map<String, Value>) -> Answered {
    match args.get("what").and_then(Value::as_str).unwrap_or_default() {
        "describe" => described(args),
        "quantiles" => quantiles(args),
        "correlation" => correlation(args),
        "t_test" => t_test(args),
        "chi_square" => chi_square(args),
        "regression" => regression(args),
        "confidence_interval" => interval(args),
        other => Err((
            format!("there is no statistic {other:?}"),
            "take describe, quantiles, correlation, t_test, chi_square, regression or confidence_interval",
        )),
    }
}

fn wrong(why: impl Into<String>) -> (String, &'static str) {
    (why.into(), "give other numbers")
}

fn list(value: &Value, name: &str) -> Numbers {
    let items = value
        .as_array()
        .ok_or_else(|| wrong(format!("{name} is a list of numbers")))?;
    if items.len() > MAX_NUMBERS {
        return Err(wrong(format!("{name} has more than {MAX_NUMBERS} numbers")));
    }
    let numbers: Option<Vec<f64>> = items
        .iter()
        .map(|item| item.as_f64().filter(|n| n.is_finite()))
        .collect();
    numbers.ok_or_else(|| wrong(format!("{name} holds something that is no number")))
}

/// A list with at least so many numbers.
fn numbers(args: &Map<String, Value>, name: &str, least: usize) -> Numbers {
    let value = args
        .get(name)
        .ok_or_else(|| wrong(format!("{name} is missing")))?;
    let numbers = list(value, name)?;
    if numbers.len() < least {
        return Err(wrong(format!(
            "{name} needs at least {least} numbers and has {}",
            numbers.len()
        )));
    }
    Ok(numbers)
}

fn pair(args: &Map<String, Value>, least: usize) -> Pair {
    let (x, y) = (numbers(args, "x", least)?, numbers(args, "y", least)?);
    match x.len() == y.len() {
        true => Ok((x, y)),
        false => Err(wrong(format!(
            "x has {} numbers and y {}; they must be pairs",
            x.len(),
            y.len()
        ))),
    }
}

fn flag(args: &Map<String, Value>, name: &str, otherwise: bool) -> bool {
    args.get(name).and_then(Value::as_bool).unwrap_or(otherwise)
}

pub(super) fn size(numbers: &[f64]) -> f64 {
    f64::from(u32::try_from(numbers.len()).unwrap_or(u32::MAX))
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / size(x)
}

/// The mean power of what lies between each number and the mean.
fn moment(x: &[f64], power: i32) -> f64 {
    let m = mean(x);
    x.iter().map(|v| (v - m).powi(power)).sum::<f64>() / size(x)
}

/// Of a sample: divided by n - 1.
fn variance(x: &[f64]) -> f64 {
    moment(x, 2) * size(x) / (size(x) - 1.0)
}

/// The probability of a t so far from 0, on either side.
fn two_sided(t: f64, freedom: f64) -> Result<f64, (String, &'static str)> {
    let students = StudentsT::new(0.0, 1.0, freedom)
        .map_err(|_| wrong("there are too few numbers for a test"))?;
    Ok(2.0 * students.cdf(-t.abs()))
}

fn sorted(x: &[f64]) -> Vec<f64> {
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Between two numbers in proportion, as numpy's default does.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let at = p * (size(sorted) - 1.0);
    let low = at.floor();
    let of = |n: f64| {
        sorted
            .iter()
            .enumerate()
            .find(|(i, _)| f64::from(u32::try_from(*i).unwrap_or(u32::MAX)) >= n)
            .map_or(0.0, |(_, v)| *v)
    };
    let (a, b) = (of(low), of(at.ceil()));
    a + (b - a) * (at - low)
}

fn described(args: &Map<String, Value>) -> Answered {
    let x = numbers(args, "x", 1)?;
    let sorted = sorted(&x);
    let spread = moment(&x, 2);
    let shape = |power: i32, by: f64| {
        if spread > 0.0 {
            Value::from(moment(&x, power) / spread.powf(by))
        } else {
            Value::Null
        }
    };
    let kurtosis = shape(4, 2.0).as_f64().map(|k| k - 3.0);
    let of_sample = (x.len() > 1).then(|| variance(&x));
    Ok(json!({
        "n": x.len(), "min": sorted.first(), "max": sorted.last(), "sum": x.iter().sum::<f64>(), "mean": mean(&x),
        "median": quantile(&sorted, 0.5), "variance": of_sample, "standard_deviation": of_sample.map(f64::sqrt),
        "skewness": shape(3, 1.5), "kurtosis": kurtosis,
    }))
}

fn quantiles(args: &Map<String, Value>) -> Answered {
    let sorted = sorted(&numbers(args, "x", 1)?);
    let at = match args.get("probabilities") {
        Some(given) => list(given, "probabilities")?,
        None => vec![0.25, 0.5, 0.75],
    };
    if at.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return Err(wrong("probabilities lie between 0 and 1"));
    }
    let found: Vec<Value> = at
        .iter()
        .map(|p| json!({"probability": p, "value": quantile(&sorted, *p)}))
        .collect();
    Ok(json!({"quantiles": found}))
}

/// Pearson's r. None: one of the lists does not vary.
fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    let (mx, my) = (mean(x), mean(y));
    let both: f64 = x.iter().zip(y).map(|(a, b)| (a - mx) * (b - my)).sum();
    let (sx, sy) = (moment(x, 2) * size(x), moment(y, 2) * size(y));
    (sx > 0.0 && sy > 0.0).then(|| (both / (sx * sy).sqrt()).clamp(-1.0, 1.0))
}

fn of_r(r: f64, n: f64) -> Result<f64, (String, &'static str)> {
    if n < 3.0 {
        return Ok(1.0);
    }
    if 1.0 - r * r <= 0.0 {
        return Ok(0.0);
    }
    two_sided(r * ((n - 2.0) / (1.0 - r * r)).sqrt(), n - 2.0)
}

/// Ranks from 1; equal numbers share theirs.
fn ranks(x: &[f64]) -> Vec<f64> {
    let of = |v: &f64| {
        let below = size(&x.iter().filter(|o| *o < v).copied().collect::<Vec<_>>());
        let same = size(&x.iter().filter(|o| *o == v).copied().collect::<Vec<_>>());
        below + (same + 1.0) / 2.0
    };
    x.iter().map(of).collect()
}

fn correlation(args: &Map<String, Value>) -> Answered {
    let (x, y) = pair(args, 2)?;
    if x.len() > 5000 {
        return Err(wrong("a correlation takes at most 5000 pairs"));
    }
    let still = || wrong("one of the lists has the same number everywhere");
    let r = pearson(&x, &y).ok_or_else(still)?;
    let rho = pearson(&ranks(&x), &ranks(&y)).ok_or_else(still)?;
    let n = size(&x);
    Ok(
        json!({"n": x.len(), "pearson": {"r": r, "p": of_r(r, n)?}, "spearman": {"rho": rho, "p": of_r(rho, n)?}}),
    )
}

fn t_test(args: &Map<String, Value>) -> Answered {
    let x = numbers(args, "x", 2)?;
    let one = |x: &[f64], of: f64| (mean(x) - of, (variance(x) / size(x)).sqrt(), size(x) - 1.0);
    let (kind, (difference, error, freedom)) = if !args.contains_key("y") {
        (
            "one sample",
            one(
                &x,
                args.get("mean").and_then(Value::as_f64).unwrap_or_default(),
            ),
        )
    } else if flag(args, "paired", false) {
        let (x, y) = pair(args, 2)?;
        (
            "paired",
            one(
                &x.iter().zip(&y).map(|(a, b)| a - b).collect::<Vec<_>>(),
                0.0,
            ),
        )
    } else {
        let y = numbers(args, "y", 2)?;
        let equal = flag(args, "equal_variances", false);
        (
            if equal { "equal variances" } else { "Welch" },
            two_samples(&x, &y, equal),
        )
    };
    if error <= 0.0 {
        return Err(wrong(
            "the numbers do not vary, so there is no test of them",
        ));
    }
    let t = difference / error;
    Ok(
        json!({"test": kind, "t": t, "degrees_of_freedom": freedom, "p": two_sided(t, freedom)?, "difference": difference}),
    )
}

/// The difference of the means, its standard error, and the degrees of freedom.
fn two_samples(x: &[f64], y: &[f64], equal: bool) -> (f64, f64, f64) {
    let (n, m) = (size(x), size(y));
    let difference = mean(x) - mean(y);
    if equal {
        let freedom = n + m - 2.0;
        let pooled = ((n - 1.0) * variance(x) + (m - 1.0) * variance(y)) / freedom;
        return (difference, (pooled * (1.0 / n + 1.0 / m)).sqrt(), freedom);
    }
    let (a, b) = (variance(x) / n, variance(y) / m);
    let freedom = (a + b).powi(2) / (a * a / (n - 1.0) + b * b / (m - 1.0));
    (difference, (a + b).sqrt(), freedom)
}

fn beyond(chi: f64, freedom: f64) -> Result<f64, (String, &'static str)> {
    let squared =
        ChiSquared::new(freedom).map_err(|_| wrong("the table is too small for a test"))?;
    Ok(squared.sf(chi))
}

fn chi_square(args: &Map<String, Value>) -> Answered {
    if let Some(table) = args.get("table") {
        return independence(table, flag(args, "correction", true));
    }
    let seen = numbers(args, "x", 2)?;
    let expected = match args.contains_key("y") {
        true => pair(args, 2)?.1,
        false => vec![mean(&seen); seen.len()],
    };
    let (a, b): (f64, f64) = (seen.iter().sum(), expected.iter().sum());
    if seen.iter().any(|n| *n < 0.0) {
        return Err(wrong("what was seen is counted, so no number is below 0"));
    }
    if expected.iter().any(|e| *e <= 0.0) || (a - b).abs() > 1e-8 * a.abs().max(b.abs()) {
        return Err(wrong(
            "what is expected is more than 0 each, and in all as much as what was seen",
        ));
    }
    let chi: f64 = seen
        .iter()
        .zip(&expected)
        .map(|(o, e)| (o - e).powi(2) / e)
        .sum();
    let freedom = size(&seen) - 1.0;
    Ok(
        json!({"test": "goodness of fit", "chi_square": chi, "degrees_of_freedom": freedom, "p": beyond(chi, freedom)?}),
    )
}

/// Whether rows and columns of a table depend on one another; of two by two with Yates' correction, as scipy does unless it is told not to.
fn independence(table: &Value, correction: bool) -> Answered {
    let rows = table
        .as_array()
        .ok_or_else(|| wrong("table is a list of rows"))?;
    let rows: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| list(row, "a row"))
        .collect::<Result<_, _>>()?;
    let width = rows.first().map_or(0, Vec::len);
    if rows.len() < 2
        || width < 2
        || rows
            .iter()
            .any(|row| row.len() != width || row.iter().any(|n| *n < 0.0))
    {
        return Err(wrong(
            "a table has at least two rows and two columns, each row as long, and no number below 0",
        ));
    }
    let of_rows: Vec<f64> = rows.iter().map(|row| row.iter().sum()).collect();
    let of_columns: Vec<f64> = (0..width)
        .map(|c| rows.iter().filter_map(|row| row.get(c)).sum())
        .collect();
    let all: f64 = of_rows.iter().sum();
    if of_rows.iter().chain(&of_columns).any(|sum| *sum <= 0.0) {
        return Err(wrong("a row or a column holds nothing"));
    }
    let freedom = (size(&of_rows) - 1.0) * (size(&of_columns) - 1.0);
    let yates = correction && freedom == 1.0;
    let mut chi = 0.0;
    for (row, of_row) in rows.iter().zip(&of_rows) {
        for (seen, of_column) in row.iter().zip(&of_columns) {
            let expected = of_row * of_column / all;
            let off = (seen - expected).abs();
            let off = if yates { off - off.min(0.5) } else { off };
            chi += off * off / expected;
        }
    }
    Ok(
        json!({"test": "independence", "chi_square": chi, "degrees_of_freedom": freedom, "p": beyond(chi, freedom)?, "corrected": yates}),
    )
}

fn regression(args: &Map<String, Value>) -> Answered {
    let (x, y) = pair(args, 3)?;
    let n = size(&x);
    let still = || wrong("one of the lists has the same number everywhere");
    let r = pearson(&x, &y).ok_or_else(still)?;
    let (vx, vy) = (moment(&x, 2), moment(&y, 2));
    let slope = r * (vy / vx).sqrt();
    let intercept = mean(&y) - slope * mean(&x);
    let error = ((1.0 - r * r) * vy / vx / (n - 2.0)).sqrt();
    let of_intercept = error * (vx + mean(&x).powi(2)).sqrt();
    Ok(json!({
        "n": x.len(), "slope": slope, "intercept": intercept, "r": r, "r_squared": r * r, "p": of_r(r, n)?,
        "standard_error": error, "intercept_standard_error": of_intercept,
    }))
}

fn interval(args: &Map<String, Value>) -> Answered {
    let x = numbers(args, "x", 2)?;
    let level = args.get("level").and_then(Value::as_f64).unwrap_or(0.95);
    if !(level > 0.0 && level < 1.0) {
        return Err(wrong("level lies between 0 and 1"));
    }
    let students =
        StudentsT::new(0.0, 1.0, size(&x) - 1.0).map_err(|_| wrong("there are too few numbers"))?;
    let half = students.inverse_cdf(0.5 + level / 2.0) * (variance(&x) / size(&x)).sqrt();
    Ok(json!({"mean": mean(&x), "level": level, "low": mean(&x) - half, "high": mean(&x) + half}))
}
