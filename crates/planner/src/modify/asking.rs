//! What is asked about a change that is not made, and what is said of one that leaves something behind.

use super::{mention, named, words};
use crate::chart::{Item, chart};
use crate::compile::rewire::trigger;
use crate::lexicon::ServiceEntry;
use agentctl_base::question::Question;
use agentctl_n8n::{Node, Workflow, short_type};

/// The kinds of nodes that are there only for what stands behind them.
const SORTING: [&str; 3] = ["if", "filter", "switch"];

pub(super) fn open(value: &str, nodes: &[String], language: &str) -> Option<Question> {
    let text = match language {
        "de" => format!("Welcher Schritt ist mit «{value}» gemeint? Mehrere haben so eine Stelle."),
        "es" => format!("¿Qué paso se quiere decir con «{value}»? Varios tienen un lugar así."),
        "fr" => format!("Quelle étape est visée par « {value} » ? Plusieurs ont une telle place."),
        _ => format!("Which step is meant with \"{value}\"? Several have such a place."),
    };
    let options: Vec<serde_json::Value> = nodes
        .iter()
        .map(|node| serde_json::json!({"value": node, "label": node}))
        .collect();
    let question = serde_json::json!({"id": "place", "topic": "place", "text": text, "options": options, "required": true});
    serde_json::from_value(question).ok()
}

pub(super) fn hangs_free(node: &str, language: &str) -> String {
    match language {
        "de" => format!("{node} ist jetzt mit nichts davor verbunden"),
        "es" => format!("{node} ya no está conectado con nada anterior"),
        "fr" => format!("{node} n'est plus relié à rien en amont"),
        _ => format!("{node} is connected to nothing before it now"),
    }
}

/// The nodes that sort items, with nothing behind them any more.
pub(super) fn emptied(before: &Workflow, after: &Workflow) -> Vec<String> {
    let leads = |workflow: &Workflow, name: &str| {
        workflow
            .edges()
            .any(|(from, kind, _, _)| from == name && kind == "main")
    };
    let emptied = after.nodes.iter().filter(|node| {
        SORTING.contains(&short_type(node.node_type()))
            && leads(before, node.name())
            && !leads(after, node.name())
    });
    emptied.map(|node| node.name().to_owned()).collect()
}

pub(super) fn leads_nowhere(node: &str, language: &str) -> String {
    match language {
        "de" => format!("{node} führt jetzt zu nichts mehr"),
        "es" => format!("{node} ya no lleva a nada"),
        "fr" => format!("{node} ne mène plus à rien"),
        _ => format!("{node} leads to nothing now"),
    }
}

/// The steps that came, each with one that was there and does the very same.
pub(super) fn twins(before: &Workflow, after: &Workflow) -> Vec<(String, String)> {
    let stood = |node: &&Node| before.node_by_name(node.name()).is_some();
    let came = after.nodes.iter().filter(|node| !stood(node));
    let twin = |node: &Node| {
        // A second Merge does nothing twice.
        let same = |other: &&Node| {
            let stays = after.node_by_name(other.name()).is_some();
            let does = crate::compile::reaches_out(other.node_type());
            stays
                && does
                && other.node_type() == node.node_type()
                && other.parameters() == node.parameters()
        };
        let other = before.nodes.iter().find(same)?;
        Some((node.name().to_owned(), other.name().to_owned()))
    };
    came.filter(|node| !node.is_sticky())
        .filter_map(twin)
        .collect()
}

/// What is said of such a step.
pub(super) fn is_twin(new: &str, old: &str, language: &str) -> String {
    match language {
        "de" => format!("{new} tut dasselbe wie {old}, das es schon gab"),
        "es" => format!("{new} hace lo mismo que {old}, que ya estaba"),
        "fr" => format!("{new} fait la même chose que {old}, qui y était déjà"),
        _ => format!("{new} does the same as {old}, which was there already"),
    }
}

/// Why a clause cannot be done as it stands: it is about a service that no node is of, or it takes away what starts the workflow.
fn reason(workflow: &Workflow, clause: &str, language: &str) -> Option<String> {
    let steps = || {
        let nodes = workflow.nodes.iter().filter(|node| !node.is_sticky());
        nodes.map(Node::name).collect::<Vec<_>>().join(", ")
    };
    if let Some(service) = absent(workflow, clause, language) {
        let (label, steps) = (&service.label, steps());
        return Some(match language {
            "de" => format!("Hier gibt es keinen Schritt mit {label}. Die Schritte sind: {steps}."),
            "es" => format!("Aquí no hay ningún paso de {label}. Los pasos son: {steps}."),
            "fr" => format!("Il n'y a ici aucune étape de {label}. Les étapes sont : {steps}."),
            _ => format!("There is no step of {label} here. The steps are: {steps}."),
        });
    }
    start(workflow, clause, language).map(|node| starts_it(&node, language))
}

fn starts_it(node: &str, language: &str) -> String {
    match language {
        "de" => format!(
            "{node} startet den Workflow; ohne ihn liefe nichts. Was soll ihn stattdessen starten?"
        ),
        "es" => format!(
            "{node} inicia el flujo; sin él no se ejecutaría nada. ¿Qué debe iniciarlo en su lugar?"
        ),
        "fr" => format!(
            "{node} démarre le workflow ; sans lui rien ne s'exécuterait. Qu'est-ce qui doit le démarrer ?"
        ),
        _ => format!(
            "{node} starts the workflow, and without it nothing would run. What should start it instead?"
        ),
    }
}

/// Where what started the workflow goes and nothing comes for it: what should.
pub(super) fn startless(before: &Workflow, after: &Workflow, language: &str) -> Option<Question> {
    let starts = |workflow: &Workflow| {
        let begins = workflow.nodes.iter().filter(|node| trigger(node));
        begins
            .map(|node| node.name().to_owned())
            .collect::<Vec<_>>()
    };
    let was = starts(before);
    let first = was.first().filter(|_| starts(after).is_empty())?;
    let text = starts_it(first, language);
    let question =
        serde_json::json!({"id": "start", "topic": "start", "text": text, "required": true});
    serde_json::from_value(question).ok()
}

/// The service that a clause wants to be rid of, where no node is of it.
fn absent(workflow: &Workflow, clause: &str, language: &str) -> Option<&'static ServiceEntry> {
    const RID: [&str; 4] = ["gone", "off", "stop", "unlink"];
    let items = chart(clause, language).items;
    let is_used = |service: &ServiceEntry| {
        let mut nodes = workflow.nodes.iter();
        nodes.any(|node| service.has_node(node.node_type()))
    };
    let named: Vec<(&Item, &'static ServiceEntry)> = { items.iter() }
        .filter_map(|item| Some((item, item.service()?)))
        .collect();
    // "Teams instead of Slack": what stands behind the sign goes.
    let of = words::places(clause, language, "of");
    let goes = |item: &Item| of.iter().any(|of| of.end <= item.from);
    let mut gone = named
        .iter()
        .filter(|(item, service)| goes(item) && !is_used(service));
    if let Some((_, service)) = gone.next() {
        return Some(service);
    }
    let rid = RID.iter().any(|class| words::has(clause, language, class));
    match named.as_slice() {
        [(_, service)] if rid && !is_used(service) => Some(service),
        _ => None,
    }
}

/// What starts the workflow, where a clause takes it away.
fn start(workflow: &Workflow, clause: &str, language: &str) -> Option<String> {
    if !words::has(clause, language, "gone") {
        return None;
    }
    let led_to = |name: &str| workflow.edges().any(|(_, _, _, link)| link.node == name);
    let leads = |name: &str| workflow.edges().any(|(from, ..)| from == name);
    let starts: Vec<&str> = { workflow.nodes.iter() }
        .map(Node::name)
        .filter(|name| leads(name) && !led_to(name))
        .collect();
    let [start] = starts.as_slice() else {
        return None;
    };
    let meant = named::meant(workflow, clause, language, 1);
    let named = meant == [*start] || mention::one(workflow, clause, &[]).as_deref() == Some(*start);
    (named || words::has(clause, language, "start")).then(|| (*start).to_owned())
}

pub(super) fn ask(
    existing: &Workflow,
    unread: &[String],
    request: &str,
    language: &str,
    some: bool,
) -> Vec<Question> {
    let what = if unread.is_empty() {
        request.trim().to_owned()
    } else {
        unread.join("; ")
    };
    let why = unread
        .iter()
        .find_map(|clause| reason(existing, clause, language));
    let text = match language {
        _ if why.is_some() => why.unwrap_or_default(),
        "de" => format!(
            "Was genau soll sich ändern? Nicht verstanden: «{what}» (welcher Schritt, welcher neue Wert?)"
        ),
        "es" => format!(
            "¿Qué debe cambiar exactamente? No se entendió: «{what}» (¿qué paso, qué valor nuevo?)"
        ),
        "fr" => format!(
            "Que faut-il changer exactement ? Pas compris : « {what} » (quelle étape, quelle nouvelle valeur ?)"
        ),
        _ => format!(
            "What exactly should change? Not understood: \"{what}\" (which step, which new value?)"
        ),
    };
    let question =
        serde_json::json!({"id": "change", "topic": "change", "text": text, "required": !some});
    serde_json::from_value(question).into_iter().collect()
}
