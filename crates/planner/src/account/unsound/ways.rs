//! Which way what was said hangs on: what is done on a failure on the error of the step that it speaks of, what is done otherwise on the
//! other way of the test, all else on neither.

use super::super::evidence::CHOOSERS;
use super::finished::{Finished, is_outside, reads};
use super::frames;
use crate::clause::{Clause, Intro};
use crate::lex::Lexicon;
use agentctl_n8n::{Node, short_type};
use std::ops::Range;

/// Whether a node sends items one of several ways.
fn parts_ways(node: &Node) -> bool {
    let short = short_type(node.node_type());
    CHOOSERS.contains(&short) || matches!(short, "sentimentAnalysis" | "code")
}

/// What is wrong with where a clause's nodes hang.
pub(super) type Said = fn(&Finished<'_>, usize) -> bool;

pub(super) const SAID: &[Said] = &[
    fails_elsewhere,
    is_done_without_failure,
    hangs_on_a_failure,
    is_done_again_and_again,
    is_no_other_way,
    is_done_without_test,
];

fn clause<'f>(finished: &'f Finished<'_>, at: usize) -> Option<&'f Clause> {
    finished.whole().clauses.get(at)
}

/// The nodes of a clause that act outside.
fn acting<'a>(finished: &Finished<'a>, at: usize) -> Vec<&'a Node> {
    let made = clause(finished, at).map(|c| finished.made_of(c));
    let made = made.unwrap_or_default();
    made.into_iter().filter(|n| is_outside(n)).collect()
}

/// Whether a clause is one under whose condition others stand, and something was done before it.
fn is_condition(finished: &Finished<'_>, at: usize) -> bool {
    let tells = |c: &Clause| matches!(c.intro, Intro::If | Intro::When | Intro::Unless);
    let before = (0..at).any(|b| !acting(finished, b).is_empty());
    clause(finished, at).is_some_and(tells) && before
}

/// Whether a clause speaks of a failure: "if the upload fails", "wenn die API einen Fehler liefert".
fn is_failure(finished: &Finished<'_>, at: usize) -> bool {
    let whole = finished.whole();
    let Some(clause) = whole.clauses.get(at) else {
        return false;
    };
    let items = whole.chart.items.get(clause.from..clause.to);
    let says = |item: &crate::chart::Item| {
        let fails = item
            .verb()
            .is_some_and(|v| v.says.first().is_some_and(|f| f == "FAIL"));
        fails || item.noun().is_some_and(|n| n.concept == "error")
    };
    let succeeds = clause.calls("SUCCEED") && clause.negated();
    let fails = items.unwrap_or_default().iter().any(says) && !clause.negated();
    let compares = || {
        clause
            .phrases()
            .any(|p| p.compared.is_some() || !p.names.is_empty())
    };
    (fails || succeeds) && !compares() && is_condition(finished, at)
}

/// The clauses that stand under a condition: those behind it in its sentence, else the one before it there.
fn under(finished: &Finished<'_>, at: usize) -> Range<usize> {
    let clauses = &finished.whole().clauses;
    let Some(condition) = clauses.get(at) else {
        return 0..0;
    };
    let ends = |c: &Clause| {
        let other = matches!(c.intro, Intro::If | Intro::Unless | Intro::Else);
        c.sentence != condition.sentence || other
    };
    let behind = clauses.iter().skip(at + 1).take_while(|c| !ends(c)).count();
    if behind > 0 {
        return at + 1..at + 1 + behind;
    }
    let told = |b: &usize| {
        let before = clauses.get(*b);
        before.is_some_and(|c| c.sentence == condition.sentence && c.verb.is_some() && !ends(c))
    };
    at.checked_sub(1).filter(told).map_or(0..0, |b| b..at)
}

/// Whether a clause stands under a failure.
fn is_of_failure(finished: &Finished<'_>, at: usize) -> bool {
    let found = finished.failures.get_or_init(|| {
        let all = 0..finished.whole().clauses.len();
        let failures = all.filter(|f| is_failure(finished, *f));
        failures.map(|f| under(finished, f)).collect()
    });
    found.iter().any(|range| range.contains(&at))
}

fn on_error(node: &Node) -> &str {
    let set = node.map().get("onError");
    set.and_then(serde_json::Value::as_str).unwrap_or_default()
}

/// Whether a workflow goes on where a node fails.
fn may_fail(node: &Node) -> bool {
    on_error(node).starts_with("continue")
}

/// The step whose failure a clause speaks of: the last one before it that its subject names, else the last one that does more
/// than read.
fn meant<'a>(finished: &Finished<'a>, failure: usize) -> Vec<&'a Node> {
    let whole = finished.whole();
    let stands_under = under(finished, failure);
    let failing = whole.clauses.get(failure);
    let subject = || {
        failing
            .into_iter()
            .flat_map(|c| c.before.iter().chain(&c.after))
    };
    let named: Vec<&str> = subject().map(|p| p.concept(&whole.chart)).collect();
    let heads = subject().filter_map(|p| p.head(&whole.chart));
    let words: Vec<&str> = heads.map(|item| item.text.as_str()).collect();
    // "if HubSpot fails": what that service does.
    let services = subject().filter_map(|p| p.service);
    let services: Vec<&str> = services.map(|s| s.key.as_str()).collect();
    let steps: Vec<(usize, Vec<&Node>)> = (0..failure)
        .rev()
        .filter(|b| !stands_under.contains(b))
        .map(|b| (b, acting(finished, b)))
        .filter(|(_, nodes)| !nodes.is_empty())
        .collect();
    let lexicon = Lexicon::of(finished.language);
    let names = |b: usize| {
        let clause = whole.clauses.get(b);
        let verb = clause.and_then(|c| c.verb.as_ref());
        // "if a call fails": the noun of the verb.
        let says = |word: &&str| {
            let mut senses = lexicon.senses(word).iter();
            let verbs = verb.map(|v| v.sense.concept.as_str());
            senses.any(|s| Some(s.concept.as_str()) == verbs)
        };
        let mut own = clause.into_iter().flat_map(|c| c.phrases());
        let object = own.any(|p| {
            let concept = p.concept(&whole.chart);
            !concept.is_empty() && named.contains(&concept)
        });
        let served = clause.into_iter().flat_map(|c| c.phrases());
        let mut served = served.filter_map(|p| p.service);
        object || words.iter().any(says) || served.any(|s| services.contains(&s.key.as_str()))
    };
    let by_name = steps.iter().find(|(b, _)| names(*b));
    let writes = |(_, nodes): &&(usize, Vec<&Node>)| nodes.iter().any(|n| !reads(n));
    let found = by_name.or_else(|| steps.iter().find(writes));
    found
        .or(steps.first())
        .map(|(_, nodes)| nodes.clone())
        .unwrap_or_default()
}

/// Whether a failure is spoken of, and the step that is meant ends the run all the same.
fn fails_elsewhere(finished: &Finished<'_>, at: usize) -> bool {
    if !is_failure(finished, at) {
        return false;
    }
    let tried = finished
        .nodes()
        .any(|n| n.map().contains_key("retryOnFail"));
    let heard = |n: &Node| short_type(n.node_type()) == "errorTrigger";
    if tried || finished.nodes().any(heard) {
        return false;
    }
    let meant = meant(finished, at);
    !meant.is_empty() && !meant.into_iter().any(may_fail)
}

/// The nodes that items come to where nothing fails.
fn mainly<'f>(finished: &'f Finished<'_>) -> &'f [String] {
    finished.mainly.get_or_init(|| {
        let starts = finished
            .nodes()
            .filter(|n| finished.before(n).next().is_none());
        let reached = finished.reached(starts, |node, output| {
            !(on_error(node) == "continueErrorOutput" && output > 0)
        });
        reached.into_iter().map(str::to_owned).collect()
    })
}

/// Whether an ancestor of a node tests what failed.
fn tests_a_failure(node: &Node) -> bool {
    if !parts_ways(node) {
        return false;
    }
    let text = node.parameters().map(|p| serde_json::json!(p).to_string());
    let text = text.unwrap_or_default().to_lowercase();
    ["error", "status"].iter().any(|w| text.contains(w))
}

/// Whether what is done on a failure is done without one.
fn is_done_without_failure(finished: &Finished<'_>, at: usize) -> bool {
    if !is_of_failure(finished, at) {
        return false;
    }
    let mainly = mainly(finished);
    let free = |n: &&Node| {
        mainly.iter().any(|name| name == n.name())
            && !finished.ancestors(n).into_iter().any(tests_a_failure)
    };
    acting(finished, at).iter().any(free)
}

/// Whether a clause says that it is done when all else is.
fn comes_last(finished: &Finished<'_>, at: usize) -> bool {
    let whole = finished.whole();
    let items = whole
        .clauses
        .get(at)
        .and_then(|c| whole.chart.items.get(c.from..c.to));
    items.unwrap_or_default().iter().any(|i| i.is("last"))
}

/// Whether what is no matter of a failure is done on one alone.
fn hangs_on_a_failure(finished: &Finished<'_>, at: usize) -> bool {
    let whole = finished.whole();
    let of_one = is_of_failure(finished, at) && !comes_last(finished, at);
    // What one of two clauses says behind a failure belongs to it as well: "if it fails, do A. Then do B".
    let tells = whole.clauses.get(at).is_some_and(|c| c.verb.is_some());
    if of_one || !tells || is_failure(finished, at) {
        return false;
    }
    let mainly = mainly(finished);
    let own = acting(finished, at);
    !own.is_empty()
        && own.iter().all(|n| {
            finished.before(n).next().is_some() && !mainly.iter().any(|name| name == n.name())
        })
}

/// Whether what comes at the end is done for each batch.
fn is_done_again_and_again(finished: &Finished<'_>, at: usize) -> bool {
    let loops = |n: &&Node| {
        let own = finished.reached([*n], |_, _| true);
        let batches = |name: &&str| {
            let node = finished.nodes().find(|n| n.name() == *name);
            node.is_some_and(|n| short_type(n.node_type()) == "splitInBatches")
        };
        own.contains(&n.name()) && own.iter().any(batches)
    };
    comes_last(finished, at) && acting(finished, at).iter().any(loops)
}

/// Whether what is done otherwise is done together with what it is the other way of.
fn is_no_other_way(finished: &Finished<'_>, at: usize) -> bool {
    let whole = finished.whole();
    let Some(other) = whole.clauses.get(at).filter(|c| c.intro == Intro::Else) else {
        return false;
    };
    let near = |c: &Clause| other.sentence.abs_diff(c.sentence) <= 1;
    let tests = |b: &usize| {
        let clause = whole.clauses.get(*b);
        clause.is_some_and(|c| matches!(c.intro, Intro::If | Intro::Unless) && near(c))
    };
    let Some(test) = (0..at).rev().find(tests) else {
        return false;
    };
    let first: Vec<&Node> = under(finished, test)
        .filter(|b| *b < at)
        .flat_map(|b| acting(finished, b))
        .collect();
    let second = acting(finished, at);
    let meets = |from: &[&Node], to: &[&Node]| {
        let reached = finished.reached(from.iter().copied(), |_, _| true);
        to.iter().any(|n| reached.contains(&n.name()))
    };
    let same = first
        .iter()
        .any(|n| second.iter().any(|m| m.name() == n.name()));
    !same && (meets(&first, &second) || meets(&second, &first))
}

/// Whether what stands under a condition is done without any test.
fn is_done_without_test(finished: &Finished<'_>, at: usize) -> bool {
    let conditions = 0..finished.whole().clauses.len();
    let holds = |c: &usize| {
        let clause = clause(finished, *c);
        let tests = clause.is_some_and(|c| matches!(c.intro, Intro::If | Intro::Unless));
        tests && under(finished, *c).contains(&at) && is_condition(finished, *c)
    };
    let told = clause(finished, at).and_then(|c| c.verb.as_ref());
    let acts = told.is_some_and(|v| frames::asks_for_a_step(&v.sense));
    if !acts || !conditions.into_iter().any(|c| holds(&c)) {
        return false;
    }
    let chosen = |n: &Node| parts_ways(n) || may_fail(n) || n.node_type().contains("langchain");
    let free = |n: &&Node| {
        let before = finished.ancestors(n);
        let asks = |n: &Node| {
            let waits = super::finished::text(n, "operation").starts_with("sendAndWait");
            chosen(n) || waits || n.map().contains_key("retryOnFail")
        };
        // What is read may be tested behind it: "read the rows where …".
        !reads(n) && !before.into_iter().any(asks)
    };
    acting(finished, at).iter().any(free)
}

/// Whether a node tests the error of one that ends the run where it fails.
pub(super) fn tests_no_error(finished: &Finished<'_>, node: &Node) -> bool {
    let chooses = matches!(short_type(node.node_type()), "if" | "filter" | "switch");
    let texts = super::finished::all_texts(node);
    let mut named = texts
        .iter()
        .filter(|t| t.ends_with(".json.error }}"))
        .filter_map(|t| {
            let name = t.split_once("$('")?.1.split_once("')")?.0;
            finished.nodes().find(|n| n.name() == name)
        });
    let own = texts.contains(&"={{ $json.error }}");
    let source = finished.source(node).filter(|_| own);
    let goes_on = |n: &Node| may_fail(n) || short_type(n.node_type()).ends_with("Trigger");
    let stops = |n: &Node| is_outside(n) && !goes_on(n);
    chooses && (named.any(stops) || source.is_some_and(stops))
}
