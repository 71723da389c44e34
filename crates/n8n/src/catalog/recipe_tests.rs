use super::super::Catalog;
use super::{MOST_TOKENS, tokens};

const COMMON: [&str; 56] = [
    "n8n-nodes-base.httpRequest",
    "n8n-nodes-base.webhook",
    "n8n-nodes-base.respondToWebhook",
    "n8n-nodes-base.set",
    "n8n-nodes-base.if",
    "n8n-nodes-base.switch",
    "n8n-nodes-base.filter",
    "n8n-nodes-base.merge",
    "n8n-nodes-base.code",
    "n8n-nodes-base.splitOut",
    "n8n-nodes-base.splitInBatches",
    "n8n-nodes-base.aggregate",
    "n8n-nodes-base.sort",
    "n8n-nodes-base.limit",
    "n8n-nodes-base.summarize",
    "n8n-nodes-base.removeDuplicates",
    "n8n-nodes-base.wait",
    "n8n-nodes-base.scheduleTrigger",
    "n8n-nodes-base.formTrigger",
    "n8n-nodes-base.form",
    "n8n-nodes-base.executeWorkflow",
    "n8n-nodes-base.executeWorkflowTrigger",
    "n8n-nodes-base.emailSend",
    "n8n-nodes-base.emailReadImap",
    "n8n-nodes-base.extractFromFile",
    "n8n-nodes-base.convertToFile",
    "n8n-nodes-base.html",
    "n8n-nodes-base.xml",
    "n8n-nodes-base.markdown",
    "n8n-nodes-base.dateTime",
    "n8n-nodes-base.rssFeedRead",
    "n8n-nodes-base.dataTable",
    "n8n-nodes-base.googleSheets",
    "n8n-nodes-base.googleSheetsTrigger",
    "n8n-nodes-base.googleDrive",
    "n8n-nodes-base.googleCalendar",
    "n8n-nodes-base.googleDocs",
    "n8n-nodes-base.gmail",
    "n8n-nodes-base.gmailTrigger",
    "n8n-nodes-base.slack",
    "n8n-nodes-base.telegram",
    "n8n-nodes-base.telegramTrigger",
    "n8n-nodes-base.discord",
    "n8n-nodes-base.notion",
    "n8n-nodes-base.airtable",
    "n8n-nodes-base.hubspot",
    "n8n-nodes-base.github",
    "n8n-nodes-base.jira",
    "n8n-nodes-base.postgres",
    "n8n-nodes-base.mySql",
    "n8n-nodes-base.supabase",
    "@n8n/n8n-nodes-langchain.agent",
    "@n8n/n8n-nodes-langchain.chainLlm",
    "@n8n/n8n-nodes-langchain.lmChatOpenAi",
    "@n8n/n8n-nodes-langchain.openAi",
    "@n8n/n8n-nodes-langchain.chatTrigger",
];
#[test]
fn recipes_of_common_nodes_are_short() {
    let catalog = Catalog::embedded();
    let mut long = Vec::new();
    for node_type in COMMON {
        let node = catalog.lookup(node_type, None).known().unwrap();
        let mut asked = vec![(None, None)];
        for (resource, operations) in node.operations() {
            asked.extend(
                operations
                    .into_iter()
                    .map(|(operation, _)| (resource.clone(), Some(operation))),
            );
        }
        for (resource, operation) in asked {
            let recipe = node.recipe(resource.as_deref(), operation.as_deref());
            let length = tokens(&recipe.to_string());
            if length > MOST_TOKENS {
                long.push(format!("{length} {node_type} {resource:?} {operation:?}"));
            }
        }
    }
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn one_parameter_is_told_in_full() {
    let catalog = Catalog::embedded();
    let told = |node_type: &str, path: &str, operation: Option<&str>| {
        let node = catalog.lookup(node_type, None).known().unwrap();
        node.parameter_in_full(path, None, operation)
    };
    let events = told("n8n-nodes-base.githubTrigger", "events", None).unwrap();
    assert!(events.contains("|push|"), "{events}");
    let code = told(
        "n8n-nodes-base.respondToWebhook",
        "options.responseCode",
        None,
    )
    .unwrap();
    assert!(code.starts_with("responseCode number"), "{code}");
    let condition = told("n8n-nodes-base.postgres", "where", Some("select")).unwrap();
    assert!(
        condition.starts_with("where fixedCollection\n- values[].column "),
        "{condition}"
    );
    assert!(
        condition.contains("\n- values[].condition options "),
        "{condition}"
    );
    assert_eq!(told("n8n-nodes-base.postgres", "no_such", None), None);
    assert_eq!(
        told("n8n-nodes-base.postgres", "where.no_such", Some("select")),
        None
    );
}

/// What a model had to guess: shapes, when a part is shown, accounts' lists, ports.
#[test]
fn shapes_conditions_accounts_and_ports_are_told() {
    let catalog = Catalog::embedded();
    let node = |node_type: &str| catalog.lookup(node_type, None).known().unwrap();
    let full = |node_type: &str, path: &str, of: (Option<&str>, Option<&str>)| {
        node(node_type).parameter_in_full(path, of.0, of.1).unwrap()
    };
    let filter = full("n8n-nodes-base.filter", "conditions", (None, None));
    let (_, example) = filter.split_once("like ").unwrap();
    let example = example.lines().next().unwrap();
    let example: serde_json::Value = serde_json::from_str(example).unwrap();
    assert_eq!(example["conditions"][0]["operator"]["operation"], "gt");
    assert!(
        filter.contains("\n- operations of dateTime: equals, "),
        "{filter}"
    );
    let sheet = (Some("sheet"), Some("append"));
    let columns = full("n8n-nodes-base.googleSheets", "columns", sheet);
    assert!(
        columns.contains("\"mappingMode\": \"defineBelow\""),
        "{columns}"
    );
    let update = (Some("document"), Some("update"));
    let actions = full("n8n-nodes-base.googleDocs", "actionsUi", update);
    let indexes = actions
        .lines()
        .filter(|line| line.starts_with("- actionFields[].index "));
    assert!(indexes.clone().count() > 1, "{actions}");
    assert!(
        indexes.clone().all(|line| line.contains("[if ")),
        "{actions}"
    );
    // A part's choices are cut, with their number.
    let contact = (Some("contact"), Some("upsert"));
    let more = full("n8n-nodes-base.hubspot", "additionalFields", contact);
    assert!(more.len() < 6_000, "{} bytes", more.len());

    let recipe = |node_type: &str, of: (Option<&str>, Option<&str>)| {
        node(node_type).recipe(of.0, of.1).to_string()
    };
    let member = (Some("member"), Some("create"));
    let list = recipe("n8n-nodes-base.mailchimp", member);
    assert!(list.contains("list* options from the account"), "{list}");
    let loops = recipe("n8n-nodes-base.splitInBatches", (None, None));
    assert!(loops.contains("\noutputs: 0 done, 1 loop\n"), "{loops}");
    let classes = recipe("@n8n/n8n-nodes-langchain.textClassifier", (None, None));
    assert!(
        classes.contains("\noutputs: as many as its parameters say\n"),
        "{classes}"
    );
    let chain = recipe("@n8n/n8n-nodes-langchain.chainLlm", (None, None));
    assert!(
        chain.contains("\ninputs: main, ai_languageModel* (one)"),
        "{chain}"
    );
    let set = recipe("n8n-nodes-base.set", (None, None));
    assert!(
        !set.contains("inputs:") && !set.contains("outputs:"),
        "{set}"
    );
}
