//! How a request is read: each clause with what introduces it, its verb and its phrases, and what became of each of its words.

use crate::account::{Fate, account, account_of_plan};
use crate::chart::{Chart, chart};
use crate::clause::{Clause, Intro, Phrase, clauses};
use crate::compile;
use crate::read::{self, ReadContext};
use crate::time::spans;
use crate::wish;
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use indexmap::IndexMap;
use serde::Serialize;

/// A request with what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    pub language: String,
    /// False: the words of the language are not known, and there are no words and no parts here.
    pub judged: bool,
    /// How many parts the request has, and how many of them are built.
    pub parts: usize,
    pub built: usize,
    /// How much of the request's weight is explained, in hundredths.
    pub percent: u32,
    pub not_understood: Vec<String>,
    /// The words that carry meaning, in order.
    pub words: Vec<Said>,
    /// How its clauses are read, one line each.
    pub clauses: Vec<String>,
}

/// A word as it stands in the request, from and to a byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    pub said: String,
    pub from: usize,
    pub to: usize,
    /// A service 4, a value or a condition 3, a verb 2, a noun 1.
    pub weight: u32,
    #[serde(flatten)]
    pub fate: Fate,
}

/// Whether a workflow is the planner's own, by the types of its nodes.
fn same_nodes(built: &Workflow, own: &Workflow) -> bool {
    let types = |w: &Workflow| -> Vec<String> {
        w.nodes.iter().map(|n| n.node_type().to_owned()).collect()
    };
    types(built) == types(own)
}

/// Explains a request by the workflow that was built from it; without one by the workflow that the planner would build.
pub fn explanation(request: &str, built: Option<&Workflow>, catalog: &Catalog) -> Explanation {
    let (request, wishes) = wish::parted(request);
    let plan = read::read(request, &ReadContext::default()).plan;
    let own = compile::compile(&plan, catalog);
    // Of a long text only what asks for something is looked at, where it stands.
    let looked_at = read::only_asked(request);
    let mut account = match built {
        // What was wanted otherwise later was done to what the request alone came to.
        Some(workflow) if wishes.is_empty() && !same_nodes(workflow, &own.workflow) => {
            account(&looked_at, &plan.language, &[workflow])
        }
        _ => account_of_plan(&looked_at, &plan, &own),
    };
    account.sets_aside(read::set_aside(request));
    account.add(wish::applied(own.workflow, &wishes, &IndexMap::new(), catalog).account);
    let clauses = match account.judged {
        true => explain(&looked_at, &plan.language),
        false => String::new(),
    };
    Explanation {
        judged: account.judged,
        parts: account.parts,
        built: account.built,
        percent: account.percent(),
        words: account
            .words
            .into_iter()
            .map(|word| Said {
                said: request
                    .get(word.from..word.to)
                    .unwrap_or_default()
                    .to_owned(),
                from: word.from,
                to: word.to,
                weight: word.weight,
                fate: word.fate,
            })
            .collect(),
        not_understood: account.missing,
        clauses: clauses.lines().map(str::to_owned).collect(),
        language: plan.language,
    }
}

/// One line for each clause.
pub fn explain(request: &str, language: &str) -> String {
    let chart = chart(request, language);
    let times = spans(request, language);
    let lines: Vec<String> = clauses(&chart, &times)
        .iter()
        .map(|c| line(c, &chart, request))
        .collect();
    lines.join("\n")
}

fn line(clause: &Clause, chart: &Chart, text: &str) -> String {
    let intro = match clause.intro {
        Intro::None => String::new(),
        other => format!("{other:?} ").to_uppercase(),
    };
    let verb = clause.verb.as_ref().map_or_else(
        || "-".to_owned(),
        |v| {
            format!(
                "{}{}:{}",
                if v.negated { "not " } else { "" },
                v.sense.concept,
                v.frame()
            )
        },
    );
    let list = |of: &[Phrase]| {
        of.iter()
            .map(|p| phrase(p, chart, text))
            .collect::<Vec<_>>()
            .join(" ")
    };
    format!(
        "{intro}{verb}  {}  /  {}",
        list(&clause.before),
        list(&clause.after)
    )
}

fn phrase(phrase: &Phrase, chart: &Chart, text: &str) -> String {
    let item = |i: &usize| {
        chart
            .items
            .get(*i)
            .and_then(|i| text.get(i.from..i.to))
            .unwrap_or("")
    };
    let mut parts = vec![phrase.prep.clone()];
    parts.extend(phrase.compared.iter().map(|i| format!("<{}>", item(i))));
    parts.extend(phrase.service.map(|s| format!("${}", s.key)));
    parts.push(phrase.words(chart, text));
    parts.extend(phrase.names.iter().map(|i| format!("'{}'", item(i))));
    parts.extend(phrase.numbers.iter().map(|i| item(i).to_owned()));
    parts.extend(phrase.pronoun.iter().map(|i| format!("~{}", item(i))));
    parts.retain(|p| !p.is_empty());
    let comma = if phrase.listed { "," } else { "" };
    format!("{comma}[{}]", parts.join(" "))
}

/// The language that a request is read in.
pub fn language(request: &str) -> &'static str {
    agentctl_kit::language::language(request)
}

/// Each item of a request with its class, its concept and its form, for those who look after the tables.
pub fn items(request: &str, language: &str) -> String {
    let item = |i: &crate::chart::Item| match &i.what {
        crate::chart::What::Word(s) => format!(
            "{}={:?}:{}{}{}",
            i.text,
            s.class,
            s.concept,
            if s.form.is_empty() { "" } else { "." },
            s.form
        ),
        crate::chart::What::Service(s) => format!("{}=${}", i.text, s.key),
        crate::chart::What::Shape(k) => format!("{}={k:?}", i.text),
        crate::chart::What::Unknown => format!("{}=?", i.text),
    };
    let items = chart(request, language).items;
    let times = spans(request, language);
    let time = |t: &crate::time::TimeSpan| {
        format!(
            "TIME {:?}={:?}",
            request.get(t.from..t.to).unwrap_or(""),
            t.means
        )
    };
    items
        .iter()
        .map(item)
        .chain(times.iter().map(time))
        .collect::<Vec<_>>()
        .join(" | ")
}

/// What a message of a conversation comes to: the case that it is, the workflow after it (none where nothing changes), the reply.
pub struct Turn {
    pub case: String,
    pub workflow: Option<Workflow>,
    pub reply: String,
}

/// Reads a message of a conversation about a workflow; `offers` says whether there is something to undo, and to redo.
pub fn turn(
    message: &str,
    before: Option<&Workflow>,
    [undo, redo]: [bool; 2],
    catalog: &Catalog,
) -> Result<Turn, String> {
    let document = before.map(Workflow::to_value).unwrap_or_default();
    let input = serde_json::json!({"message": message, "workflow": document, "undo": undo, "redo": redo, "log": []});
    crate::talk::turn(input.as_object().ok_or("no input")?, catalog)
}

/// The errors of a workflow: what each says, by its code, its node and the place in it.
pub fn errors(workflow: &Workflow, catalog: &Catalog) -> IndexMap<String, String> {
    let found = agentctl_n8n::validate::validate(workflow, catalog).into_iter();
    found
        .filter(|f| f.severity == agentctl_n8n::finding::Severity::Error)
        .map(|f| {
            let (code, node, place) = crate::talk::spot(&f);
            let spot = format!("{code} {} {place}", node.unwrap_or_default());
            (spot, f.message)
        })
        .collect()
}
