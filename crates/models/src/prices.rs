//! What an answer costs: a dated table in the repository, and prices that a project gives. An unknown price is unknown,
//! never zero. Pure.

use super::ModelName;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// A token read from the provider's cache; None: like any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// A token put into the provider's cache; None: like any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

/// Tokens of one answer. `input` holds all of them: `cached` and `cache_write` are parts of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub cached: u64,
    pub cache_write: u64,
    pub output: u64,
}

impl Price {
    pub const FREE: Price = Price {
        input: 0.0,
        output: 0.0,
        cached: None,
        cache_write: None,
    };

    pub fn is_sound(&self) -> bool {
        let all = [
            Some(self.input),
            Some(self.output),
            self.cached,
            self.cache_write,
        ];
        all.into_iter().flatten().all(|p| p.is_finite() && p >= 0.0)
    }

    pub fn of(&self, tokens: Tokens) -> f64 {
        let plain = tokens
            .input
            .saturating_sub(tokens.cached)
            .saturating_sub(tokens.cache_write);
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        part(plain, self.input)
            + part(tokens.cached, self.cached.unwrap_or(self.input))
            + part(tokens.cache_write, self.cache_write.unwrap_or(self.input))
            + part(tokens.output, self.output)
    }
}

#[derive(Debug, Deserialize)]
struct Listed {
    as_of: String,
    #[serde(flatten)]
    models: IndexMap<String, Price>,
}

static TABLE: LazyLock<IndexMap<String, Listed>> =
    LazyLock::new(|| toml::from_str(include_str!("prices.toml")).unwrap_or_default());

/// The table, under the prices of a project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    own: IndexMap<String, Price>,
}

impl Prices {
    /// `own` by `provider::model`.
    pub fn with(own: IndexMap<String, Price>) -> Self {
        Prices { own }
    }

    /// `listed_as` is the provider in whose list the model stands; None: an address of one's own, whose price nobody lists.
    pub fn of(&self, name: &ModelName, listed_as: Option<&str>) -> Option<Price> {
        let ModelName::At { model, .. } = name else {
            return Some(Price::FREE);
        };
        if let Some(price) = self.own.get(&name.to_string()) {
            return Some(*price);
        }
        let listed = TABLE.get(listed_as?)?;
        let price = listed.models.get(model);
        price
            .or_else(|| listed.models.get(undated(model)?))
            .copied()
    }

    /// The day on which a provider's list was read.
    pub fn as_of(listed_as: &str) -> Option<&'static str> {
        TABLE.get(listed_as).map(|listed| listed.as_of.as_str())
    }
}

/// A model's name without the date behind it.
fn undated(model: &str) -> Option<&str> {
    for digits in ["20dddddd", "20dd-dd-dd"] {
        let Some(at) = model.len().checked_sub(digits.len()) else {
            continue;
        };
        let (Some(head), Some(tail)) = (model.get(..at), model.get(at..)) else {
            continue;
        };
        let is_date = tail
            .chars()
            .zip(digits.chars())
            .all(|(c, wanted)| match wanted {
                'd' => c.is_ascii_digit(),
                wanted => c == wanted,
            });
        if is_date {
            return head.strip_suffix('-');
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(name: &str, listed_as: Option<&str>) -> Option<f64> {
        let name: ModelName = name.parse().unwrap();
        Prices::default().of(&name, listed_as).map(|p| p.input)
    }

    #[test]
    fn the_table_is_whole_and_dated() {
        assert_eq!(
            TABLE.keys().collect::<Vec<_>>(),
            ["anthropic", "gemini", "openai"]
        );
        for (provider, listed) in TABLE.iter() {
            listed.as_of.parse::<jiff::civil::Date>().unwrap();
            for (model, price) in &listed.models {
                assert!(price.is_sound() && price.input > 0.0, "{provider}::{model}");
            }
        }
    }

    #[test]
    fn a_name_is_found_with_and_without_its_date_and_nothing_else_is_guessed() {
        let openai = Some("openai");
        assert_eq!(price("openai::gpt-4.1", openai), Some(2.0));
        assert_eq!(price("openai::gpt-4.1-2025-04-14", openai), Some(2.0));
        assert_eq!(
            price("anthropic::claude-sonnet-4-5-20250929", Some("anthropic")),
            Some(3.0)
        );
        assert_eq!(price("openai::gpt-4.1-turbo", openai), None);
        assert_eq!(price("openai::gpt-4", openai), None);
        assert_eq!(price("mine::gpt-4.1", None), None);
        assert_eq!(price("offline", None), Some(0.0));
    }

    #[test]
    fn parts_of_the_input_have_their_own_price() {
        let price = Price {
            input: 10.0,
            output: 20.0,
            cached: Some(1.0),
            cache_write: None,
        };
        let tokens = Tokens {
            input: 1_000_000,
            cached: 500_000,
            cache_write: 100_000,
            output: 1_000_000,
        };
        assert_eq!(price.of(tokens), 4.0 + 0.5 + 1.0 + 20.0);
    }
}
