//! Words that mean the same, in any language: names of fields (`words/same.tsv`) and values of choices (`words/values.tsv`).

use crate::words::folds;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// A name or a value as its words.
pub(crate) type Form = Vec<String>;

/// A word of a group, and whether it counts only before a colon.
type Member = (Form, bool);

/// Groups of words, and where each word stands.
struct Groups {
    all: Vec<Vec<Member>>,
    /// What a text is whose field is named by the group.
    kinds: Vec<&'static str>,
    by_form: FxHashMap<Form, Vec<usize>>,
}

static NAMES: LazyLock<Groups> = LazyLock::new(|| groups(include_str!("../words/same.tsv")));
static VALUES: LazyLock<Groups> = LazyLock::new(|| groups(include_str!("../words/values.tsv")));

fn groups(table: &'static str) -> Groups {
    let rows = table
        .lines()
        .filter(|l| !l.starts_with('#') && !l.is_empty());
    let member = |form: &str| (folds(form), form.ends_with(':'));
    let (all, kinds): (Vec<Vec<Member>>, Vec<&str>) = rows
        .map(|row| row.split_once('\t').unwrap_or((row, "")))
        .map(|(forms, kind)| (forms.split('|').map(member).collect(), kind))
        .unzip();
    let mut by_form: FxHashMap<Form, Vec<usize>> = FxHashMap::default();
    for (at, group) in all.iter().enumerate() {
        for (form, _) in group {
            by_form.entry(form.clone()).or_default().push(at);
        }
    }
    Groups {
        all,
        kinds,
        by_form,
    }
}

fn with(groups: &'static Groups, form: &[String]) -> impl Iterator<Item = &'static Member> {
    let of = groups.by_form.get(form).into_iter().flatten();
    of.filter_map(|at| groups.all.get(*at)).flatten()
}

/// The other names of a field that is called so, and whether each counts only before a colon.
pub(crate) fn names(form: &[String]) -> impl Iterator<Item = &'static Member> {
    with(&NAMES, form)
}

/// Whether a field that is called so is of a kind: `short`, `free`.
pub(crate) fn is(form: &[String], kind: &str) -> bool {
    let groups = NAMES.by_form.get(form).into_iter().flatten();
    groups
        .filter_map(|at| NAMES.kinds.get(*at))
        .any(|k| *k == kind)
}

/// The other words for a value that is called so.
pub(crate) fn values(form: &[String]) -> impl Iterator<Item = &'static Form> {
    with(&VALUES, form).map(|(form, _)| form)
}

/// Whether a value is called so, or by a word that means the same.
pub(crate) fn says(form: &[String], what: &str) -> bool {
    let what = folds(what);
    *form == what || values(form).any(|f| *f == what)
}
