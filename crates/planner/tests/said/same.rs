//! The same request said otherwise gives the same graph: politeness, other words of the tables, the order of the clauses, names
//! and figures, a typo, a service of the same kind.

use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use agentctl_planner::compile::compile;
use agentctl_planner::read::{ReadContext, read};

fn built(request: &str) -> Workflow {
    let plan = read(request, &ReadContext::default()).plan;
    compile(&plan, Catalog::embedded()).workflow
}

/// Types, resources and operations of the nodes, and which nodes are joined.
pub fn shape(request: &str) -> Vec<String> {
    let workflow = built(request);
    let place = |name: &str| workflow.nodes.iter().position(|n| n.name() == name);
    let said = |n: &agentctl_n8n::Node, key: &str| {
        let of = n.parameters().and_then(|p| p.get(key));
        of.map_or(String::new(), |v| format!(" {v}"))
    };
    let nodes = workflow.nodes.iter().map(|n| {
        format!(
            "{}{}{}",
            n.node_type(),
            said(n, "resource"),
            said(n, "operation")
        )
    });
    let edges = workflow.edges().map(|(from, kind, output, to)| {
        format!("{:?} {kind} {output} {:?}", place(from), place(&to.node))
    });
    let mut edges: Vec<String> = edges.collect();
    edges.sort();
    nodes.chain(edges).collect()
}

/// Requests of one trigger and one or more steps, as `(when, what)`; "when" stands first or last.
const PLAIN: &[(&str, &str)] = &[
    (
        "when a webhook receives an order",
        "post the order number to Slack #sales",
    ),
    (
        "when a new deal is created in Pipedrive",
        "create a Trello card in list 5f1c0a9be2d34c0012ab77ce",
    ),
    ("when a payment fails in Stripe", "tell #billing in Slack"),
    (
        "when somebody fills in a form with name, email and size",
        "append a row to the Google Sheet Shirts",
    ),
    (
        "every Friday at 16:00",
        "read the Google Sheet Timesheet and mail it to payroll@acme.example",
    ),
    (
        "when a new row is added to the Google Sheet Wishes",
        "send a Telegram message to chat 55512399",
    ),
    (
        "when a new contact is created in HubSpot",
        "add the contact to the Google Sheet Contacts and notify #crm in Slack",
    ),
];

fn whole(when: &str, what: &str) -> String {
    format!("{}, {what}.", capital(when))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

fn alike(first: &str, second: &str) {
    assert_eq!(shape(first), shape(second), "\n{first}\n{second}");
}

#[test]
fn politeness_changes_nothing() {
    for (when, what) in PLAIN {
        let plain = whole(when, what);
        alike(&plain, &format!("Hi there! {plain} Thanks a lot!"));
        alike(
            &plain,
            &format!("Hello, please build this for me: {when}, {what}. Thank you."),
        );
        alike(&plain, &format!("{}, please {what}.", capital(when)));
        alike(
            &plain,
            &format!("I would like the following: {when}, {what}."),
        );
    }
}

#[test]
fn the_order_of_the_clauses_changes_nothing() {
    for (when, what) in PLAIN {
        alike(&whole(when, what), &format!("{} {when}.", capital(what)));
    }
}

#[test]
fn other_words_for_the_same_change_nothing() {
    let said = |from: &str, to: &str| {
        for (when, what) in PLAIN {
            let plain = whole(when, what);
            let other = plain.replacen(from, to, 1);
            alike(&plain, &other);
        }
    };
    for (from, to) in [
        ("When ", "Whenever "),
        ("When ", "As soon as "),
        ("When ", "Each time "),
        ("When ", "Every time "),
        ("post the", "send the"),
        ("tell #", "notify #"),
        ("append a row", "add a row"),
        ("somebody", "someone"),
        ("order", "invoice"),
        ("16:00", "4 pm"),
        ("Every Friday", "Each Friday"),
    ] {
        said(from, to);
    }
}

#[test]
fn names_and_figures_change_nothing() {
    for (when, what) in PLAIN {
        let plain = whole(when, what);
        let other = plain
            .replace("#sales", "#orders-2025")
            .replace("#billing", "#money")
            .replace("Timesheet", "Hours")
            .replace("Shirts", "Sizes 2025")
            .replace("payroll@acme.example", "x.y@z.example")
            .replace("55512399", "8812")
            .replace("16:00", "7:45");
        alike(&plain, &other);
    }
}

#[test]
fn a_typo_of_one_letter_changes_nothing() {
    for (right, wrong) in [
        ("receives", "recieves"),
        ("message", "mesage"),
        ("created", "creatd"),
        ("append", "appand"),
        ("contact", "contct"),
    ] {
        for (when, what) in PLAIN {
            let plain = whole(when, what);
            alike(&plain, &plain.replacen(right, wrong, 1));
        }
    }
}

/// Services of the same kind, with the types of their nodes.
#[test]
fn a_service_of_the_same_kind_takes_the_place_of_the_other() {
    let swaps = [
        ("Slack", "slack", "Mattermost", "mattermost"),
        ("Slack", "slack", "Discord", "discord"),
        ("Slack", "slack", "Rocket.Chat", "rocketchat"),
    ];
    for (when, what) in PLAIN {
        let plain = whole(when, what);
        for (name, own, other_name, other) in swaps {
            let types = |request: &str| -> Vec<String> {
                let nodes = built(request).nodes;
                nodes.iter().map(|n| n.node_type().to_owned()).collect()
            };
            let wanted: Vec<String> = types(&plain)
                .into_iter()
                .map(|t| t.replace(&format!("base.{own}"), &format!("base.{other}")))
                .collect();
            let swapped = plain.replace(name, other_name);
            assert_eq!(types(&swapped), wanted, "{swapped}");
        }
    }
}
