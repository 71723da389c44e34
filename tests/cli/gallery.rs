//! The gallery of the documentation: twelve requests, each with the picture and the page of what is built, what is not, and what is left to do.
//! All of it is written by this test, so that it stays true.

use super::support::Project;
use std::fmt::Write as _;
use std::path::Path;

const REQUESTS: [&str; 12] = [
    "When a webhook receives an order over 100 EUR, post it to Slack #sales and append it to the Google Sheet Orders",
    "Every Monday at 8:30 mail the open Xero invoices as one list to ap@example.com",
    "Every day at 9:00 post the open Jira bugs to Slack #dev",
    "When a form is submitted with name and email, add the person to Mailchimp and thank them by e-mail",
    "When an e-mail with an attachment arrives in Gmail, save the attachment to Google Drive",
    "Jeden Montag um 9 Uhr die offenen Rechnungen aus Xero per E-Mail an buchhaltung@example.com schicken",
    "When a new lead is created in HubSpot, ask a model whether it is urgent, and if it is, post it to Slack #sales",
    "Watch https://example.com/feed.xml and post new items to Discord",
    "Every hour get https://api.example.com/health and, if the status is not ok, send a Telegram message",
    "A chat with an AI agent that can search Wikipedia and calculate",
    "When a webhook receives a price request, answer with the price as JSON",
    "Look after our customers and make them happy",
];
const AGAIN: &str = "RENEW_GALLERY=1 cargo test --test cli gallery";

/// The forms in which `agentctl show` draws what was built: the picture, and the page with its findings and its tree.
const FORMS: [&str; 2] = ["svg", "html"];

/// What is kept of a request: the lines of its section, and in each form what was built, if anything was.
fn drawn(number: usize, request: &str) -> (String, Vec<(String, String)>) {
    let project = Project::new();
    let json = ["--output-format", "json", "build", "--yes", request];
    let told = project.run(&json).json();
    let mut text = format!("\n## {number}. {request}\n\n");
    let items = |found: &serde_json::Value| -> Vec<String> {
        let list = found.as_array().cloned().unwrap_or_default();
        let words = list.iter().map(|one| match one {
            serde_json::Value::String(words) => words.clone(),
            other => format!(
                "{}: {}",
                other["node"].as_str().unwrap_or_default(),
                other["text"].as_str().unwrap_or_default()
            ),
        });
        words.collect()
    };
    let mut made = Vec::new();
    if let Some(file) = told["workflow"]["file"].as_str() {
        for form in FORMS {
            let ran = project.run(&["show", file, "--format", form]);
            assert_eq!(ran.code, 0, "{request}: {}", ran.stderr);
            made.push((format!("{number:02}.{form}"), ran.stdout));
        }
        let name = told["workflow"]["name"].as_str().unwrap();
        writeln!(text, "![{name}]({number:02}.svg)\n").unwrap();
        writeln!(text, "[The page]({number:02}.html) of it.\n").unwrap();
    }
    writeln!(text, "Ends as **{}**.", told["outcome"].as_str().unwrap()).unwrap();
    for (head, list) in [
        ("Not understood", &told["workflow"]["not_understood"]),
        ("Asked", &told["questions"]),
        ("Yours to do", &told["todo"]),
    ] {
        for item in items(list) {
            // Not a tag of the page.
            let item = item.trim_start_matches(": ").replace('<', "\\<");
            writeln!(text, "- {head}: {item}").unwrap();
        }
    }
    (text, made)
}

#[test]
fn the_gallery_shows_what_is_built_today() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gallery");
    let mut page = format!(
        "# Gallery\n\nTwelve requests as the offline planner reads them today: what is built, what is not, and what is left to you. Each is `agentctl build --yes \"…\"` and `agentctl show FILE --format svg`, or `html` for its page with the findings; `{AGAIN}` writes this page.\n"
    );
    let mut made = Vec::new();
    for (number, request) in (1..).zip(REQUESTS) {
        let (text, drawn) = drawn(number, request);
        page += &text;
        made.extend(drawn);
    }
    made.push(("README.md".to_owned(), page));
    if std::env::var_os("RENEW_GALLERY").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for entry in std::fs::read_dir(&folder).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for (name, text) in &made {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    let mut kept: Vec<(String, String)> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    kept.sort();
    made.sort();
    let differing: Vec<&String> = made
        .iter()
        .filter(|one| !kept.contains(one))
        .chain(kept.iter().filter(|one| !made.contains(one)))
        .map(|(name, _)| name)
        .collect();
    assert!(
        differing.is_empty(),
        "docs/gallery is not what is built today ({differing:?}): write it anew with {AGAIN}, and look at the difference"
    );
}
