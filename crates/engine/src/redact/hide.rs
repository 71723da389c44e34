//! Redaction of a whole value in place, in two passes over it. The first lays all its texts end to end and looks once for
//! anything that may have to be hidden; the second changes what there is. A document that has nothing to hide, which is the usual
//! one, is neither copied nor built again. Pure.

use super::{Redactor, is_literal, is_secret_pair, names_secret_text};
use agentctl_base::secrets;
use agentctl_base::untrusted;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

/// Larger lists of texts are looked at one by one only.
const MAX_SPLIT: usize = 64 * 1024;

/// What is done to a value's texts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// Secrets are hidden.
    Hidden,
    /// And what would steer a terminal or hide text is marked.
    HiddenAndHarmless,
}

impl Redactor {
    /// True when something was changed.
    pub(super) fn hide(&self, value: &mut Value, texts: Texts) -> bool {
        let mut all = String::with_capacity(512);
        gather(value, &mut all);
        let mut pass = Pass {
            redactor: self,
            texts,
            suspects: self.suspects(&all, texts),
            at: 0,
            changed: false,
        };
        pass.over(value);
        pass.changed
    }

    /// The places where a text may have to be changed, joined and in order. Everything that may be secret has one of these
    /// signs, but for codes and for what a key names.
    fn suspects(&self, all: &str, texts: Texts) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = self.known_in(all).collect();
        found.extend(secrets::signs(all));
        if texts == Texts::HiddenAndHarmless {
            found.extend(untrusted::suspects(all));
        }
        found.sort_unstable_by_key(|range| range.start);
        let mut joined: Vec<Range<usize>> = Vec::with_capacity(found.len());
        for range in found {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        joined
    }

    fn one(&self, text: &str, texts: Texts) -> String {
        let hidden = self.text(text);
        match texts {
            Texts::Hidden => hidden,
            Texts::HiddenAndHarmless => match untrusted::text(&hidden) {
                Cow::Borrowed(_) => hidden,
                Cow::Owned(harmless) => harmless,
            },
        }
    }
}

/// The texts of a list or an object that stand directly in it, end to end, since a secret may be split over them; then its
/// keys, each on a line of its own; then what is in the lists and objects in it.
fn gather(value: &Value, all: &mut String) {
    fn inside<'v>(items: impl Iterator<Item = &'v Value>, all: &mut String) {
        for item in items.filter(|item| item.is_object() || item.is_array()) {
            gather(item, all);
        }
    }
    fn direct<'v>(items: impl Iterator<Item = &'v Value>, all: &mut String) {
        for text in items.filter_map(Value::as_str) {
            all.push_str(text);
        }
        all.push('\n');
    }
    match value {
        Value::String(text) => {
            all.push_str(text);
            all.push('\n');
        }
        Value::Array(items) => {
            direct(items.iter(), all);
            inside(items.iter(), all);
        }
        Value::Object(map) => {
            direct(map.values(), all);
            for key in map.keys() {
                all.push_str(key);
                all.push('\n');
            }
            inside(map.values(), all);
        }
        _ => {}
    }
}

/// The second pass, in the same order: `at` is where the next text stands among all of them.
struct Pass<'a> {
    redactor: &'a Redactor,
    texts: Texts,
    suspects: Vec<Range<usize>>,
    at: usize,
    changed: bool,
}

impl Pass<'_> {
    fn over(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                self.text(text);
                self.at += 1;
            }
            Value::Array(items) => {
                let split = self.split(items.iter());
                for (at, item) in items.iter_mut().enumerate() {
                    if let Value::String(text) = item {
                        self.direct(text, split.contains(&at), false);
                    }
                }
                self.at += 1;
                for item in items.iter_mut() {
                    self.inside(item);
                }
            }
            Value::Object(map) => self.object(map),
            _ => {}
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>) {
        let pair_is_secret = is_secret_pair(map);
        let split = self.split(map.values());
        for (at, (key, item)) in map.iter_mut().enumerate() {
            let secret = (pair_is_secret && key == "value") || names_secret_text(key, item);
            if let Value::String(text) = item {
                self.direct(text, split.contains(&at), secret);
            }
        }
        self.at += 1;
        let mut renamed = false;
        for key in map.keys() {
            renamed |= self.is_suspect(key);
            self.at += key.len() + 1;
        }
        for item in map.values_mut() {
            self.inside(item);
        }
        // Last: two keys may become one, and then there is an item less to pass over.
        if renamed {
            self.rename(map);
        }
    }

    fn inside(&mut self, item: &mut Value) {
        if item.is_object() || item.is_array() {
            self.over(item);
        }
    }

    fn rename(&mut self, map: &mut Map<String, Value>) {
        for (key, item) in std::mem::take(map) {
            let new = self.redactor.one(&key, self.texts);
            self.changed |= new != key;
            map.insert(new, item);
        }
    }

    /// A text that stands directly in a list or an object.
    fn direct(&mut self, text: &mut String, split: bool, secret: bool) {
        let mark = if split {
            "split"
        } else if secret && is_literal(text) {
            "value"
        } else {
            return self.text(text);
        };
        self.at += text.len();
        *text = secrets::mark(mark);
        self.changed = true;
    }

    fn text(&mut self, text: &mut String) {
        let suspect = self.is_suspect(text);
        self.at += text.len();
        if suspect {
            let new = self.redactor.one(text, self.texts);
            if new != *text {
                *text = new;
                self.changed = true;
            }
        }
    }

    /// Of the text that stands at `at`.
    fn is_suspect(&self, text: &str) -> bool {
        self.touched(self.at..self.at + text.len()) || secrets::may_be_coded(text)
    }

    fn touched(&self, place: Range<usize>) -> bool {
        let next = self.suspects.partition_point(|s| s.end <= place.start);
        self.suspects.get(next).is_some_and(|s| s.start < place.end)
    }

    /// The neighbouring texts (by their place) that are a secret only together.
    fn split<'v>(&self, items: impl Iterator<Item = &'v Value> + Clone) -> Vec<usize> {
        let length = items.clone().filter_map(Value::as_str).map(str::len).sum();
        if length > MAX_SPLIT || !self.touched(self.at..self.at + length) {
            return Vec::new();
        }
        let mut whole = String::with_capacity(length);
        let mut parts: Vec<(usize, Range<usize>)> = Vec::new();
        for (at, item) in items.enumerate() {
            if let Value::String(text) = item {
                let start = whole.len();
                whole.push_str(text);
                parts.push((at, start..whole.len()));
            }
        }
        let mut found: Vec<Range<usize>> = self.redactor.known_in(&whole).collect();
        found.extend(secrets::issued(&whole));
        let mut split = Vec::new();
        for secret in found {
            let touched = parts
                .iter()
                .filter(|(_, part)| part.start < secret.end && secret.start < part.end);
            let touched: Vec<usize> = touched.map(|(at, _)| *at).collect();
            if touched.len() > 1 {
                split.extend(touched);
            }
        }
        split
    }
}
