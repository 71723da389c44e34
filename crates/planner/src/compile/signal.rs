//! Which event option of a trigger the words of a request mean, by action (created, closed, failed …) and object; and the
//! named things a trigger needs (topic, queue, folder …) in the parameters that ask for them. Driven by the catalog.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val};
use super::draft::Draft;
use super::facts::{Facts, shown};
use super::place;
use super::words::{alike, fold, plain, words};
use agentctl_n8n::catalog::{Property, PropertyKind, PropertyOption};

/// What happens: its name, what it may also be called by a service, and how its words begin (folded, four languages).
const ACTIONS: &[(&str, &str, &[&str])] = &[
    (
        "close",
        "update",
        &[
            "clos",
            "geschloss",
            "schliess",
            "cerra",
            "cierr",
            "ferm",
            "resolv",
        ],
    ),
    (
        "reopen",
        "update",
        &["reopen", "wiedereroeff", "reabr", "rouv"],
    ),
    (
        "cancel",
        "update",
        &["cancel", "storn", "absag", "abgesagt", "annul", "anul"],
    ),
    (
        "fail",
        "update",
        &[
            "fail",
            "fehlschl",
            "fehlgeschl",
            "scheiter",
            "fallid",
            "fallo",
            "falla",
            "fracas",
            "rechaz",
            "declin",
            "echou",
            "echec",
            "refus",
            "reject",
            "abgelehnt",
        ],
    ),
    (
        "succeed",
        "update",
        &[
            "succe",
            "paid",
            "bezahlt",
            "pagad",
            "paye",
            "erfolgreich",
            "exit",
            "reuss",
        ],
    ),
    (
        "complete",
        "update",
        &[
            "complet",
            "finish",
            "abgeschloss",
            "erledigt",
            "terminad",
            "termine",
        ],
    ),
    (
        "unsubscribe",
        "delete",
        &["unsubscr", "abmeld", "abgemeld", "desuscri", "desabon"],
    ),
    (
        "subscribe",
        "create",
        &["subscrib", "abonn", "angemeldet", "suscri"],
    ),
    (
        "delete",
        "",
        &[
            "delet", "remov", "trash", "geloesch", "loesch", "entfern", "elimin", "borra",
            "supprim", "efface", "unlink", "destroy",
        ],
    ),
    ("merge", "update", &["merg", "zusammengefuehrt", "fusion"]),
    ("assign", "update", &["assign", "zugewies", "asigna"]),
    (
        "open",
        "create",
        &["open", "eroeff", "abre", "abiert", "ouvr", "ouvert"],
    ),
    (
        "receive",
        "create",
        &[
            "receiv",
            "recib",
            "recu",
            "recoi",
            "inbound",
            "incoming",
            "eingeh",
            "eingang",
            "eintreff",
            "eintrifft",
            "ankomm",
            "ankommt",
            "llega",
            "llegu",
            "arriv",
        ],
    ),
    (
        "submit",
        "create",
        &[
            "submi",
            "fill",
            "ausgefuell",
            "rellen",
            "rempli",
            "respon",
            "antwort",
            "respuest",
            "repons",
            "abgeschickt",
            "answer",
        ],
    ),
    (
        "upload",
        "create",
        &[
            "upload",
            "hochgelad",
            "hochlad",
            "subid",
            "suba",
            "sube",
            "drop",
            "abgelegt",
            "televers",
            "depos",
        ],
    ),
    ("publish", "create", &["publi", "post", "veroeffentl"]),
    (
        "update",
        "",
        &[
            "updat",
            "chang",
            "edit",
            "modif",
            "switch",
            "mov",
            "becom",
            "propertychange",
            "aktualis",
            "aender",
            "geaender",
            "wechsel",
            "verschob",
            "verschieb",
            "cambi",
            "actualiz",
            "mise a jour",
            "renam",
            "won",
            "lost",
            "gewonn",
            "verlor",
            "ganad",
            "perdid",
            "gagn",
            "stage",
            "transition",
        ],
    ),
    (
        "create",
        "",
        &[
            "creat", "new", "add", "rais", "land", "neu", "nuev", "nouv", "place", "signup",
            "sign", "angeleg", "anleg", "erstell", "entsteht", "hinzu", "anad", "agreg", "registr",
            "ajout", "cree", "crea", "appear", "erschein", "apare", "appara", "insert", "book",
            "gebucht", "reserv", "schedul", "enter", "entra", "com", "kommt", "start",
        ],
    ),
];

/// Words of an event that name nothing.
const EMPTY: &[&str] = &[
    "the", "a", "an", "in", "on", "is", "gets", "get", "of", "to", "when", "for", "our", "each",
    "every", "any", "are", "was", "has", "been", "have", "by", "from", "at", "ein", "eine",
    "einer", "einem", "einen", "der", "die", "das", "dem", "den", "im", "wird", "wurde", "ist",
    "el", "la", "los", "las", "un", "una", "en", "de", "se", "del", "le", "les", "une", "des",
    "du", "est", "dans", "event", "events", "trigger", "occurs", "whenever", "my", "it", "up",
    "with", "into", "and", "or", "bei", "unser", "unserem", "unserer", "mein", "meinem", "neuer",
];

fn action(word: &str) -> Option<(&'static str, &'static str)> {
    let word = fold(word);
    // "address", "newsletter", "company", "comment", "postgres", "signature" begin like an action and are none
    if [
        "address",
        "newsletter",
        "compan",
        "comment",
        "commit",
        "postgres",
        "signature",
        "place ",
        "community",
        "common",
        "campaign",
        "component",
        "note",
        "movie",
        "closet",
    ]
    .iter()
    .any(|w| word.starts_with(w))
    {
        return None;
    }
    ACTIONS
        .iter()
        .find(|(_, _, stems)| {
            stems
                .iter()
                .any(|s| word.starts_with(s) && (s.len() > 3 || word.len() <= s.len() + 3))
        })
        .map(|(name, also, _)| (*name, *also))
}

/// Actions and objects of a text.
fn parts(text: &str) -> (Vec<(&'static str, &'static str)>, Vec<String>) {
    let mut acts = Vec::new();
    let mut objects = Vec::new();
    for word in plain(text) {
        if EMPTY.contains(&word.as_str()) {
            continue;
        }
        match action(&word) {
            Some(found) => {
                if !acts.contains(&found) {
                    acts.push(found);
                }
            }
            None => {
                for w in words(&word) {
                    if !objects.contains(&w) {
                        objects.push(w);
                    }
                }
            }
        }
    }
    (acts, objects)
}

fn same_action(wanted: (&str, &str), have: (&str, &str)) -> f64 {
    if wanted.0 == have.0 {
        1.0
    } else if wanted.1 == have.0 || have.1 == wanted.0 {
        if wanted.1.is_empty() && have.1 == "update" {
            0.1
        } else {
            0.8
        }
    } else if !wanted.1.is_empty() && wanted.1 == have.1 && wanted.1 == "create" {
        0.7
    } else if (wanted.0 == "create" || wanted.1 == "create") && have.0 == "succeed" {
        // A new payment is one that succeeded.
        0.5
    } else {
        -0.8
    }
}

/// What an option's last word happens to, where that belongs to something else ("customer.subscription.created").
fn inner(value: &str) -> Option<Vec<String>> {
    let mut before = value.rsplit('.').skip(1);
    let (thing, _) = (before.next()?, before.next()?);
    Some(parts(thing).1)
}

fn score(option: &PropertyOption, acts: &[(&str, &str)], objects: &[String]) -> f64 {
    let value = option.value.as_str().unwrap_or("");
    if value == "*" || value == "all" || value.starts_with("any") {
        return 0.05;
    }
    let (have_acts, mut have) = parts(&value.replace("jira:", "").replace("HIVE", ""));
    let (label_acts, label) = parts(&option.label);
    let have_acts = if have_acts.is_empty() {
        label_acts
    } else {
        have_acts
    };
    if have.is_empty() {
        have = label;
    }
    let act = match (acts.is_empty(), have_acts.is_empty()) {
        (_, true) => 0.0,
        (true, false) => {
            if have_acts.iter().any(|a| a.0 == "create" || a.1 == "create") {
                0.3
            } else {
                -0.1
            }
        }
        // the last action of an option is the event ("payment_failed", "payout.paid")
        (false, false) => acts
            .iter()
            .flat_map(|w| have_acts.iter().map(|h| same_action(*w, *h)))
            .fold(-0.8, f64::max),
    };
    let mut fits = alike(objects, &have);
    // "charge.dispute.created" tells of a dispute, whatever it belongs to.
    if let Some(inner) = inner(value)
        && !objects.is_empty()
        && !inner.iter().any(|w| objects.contains(w))
    {
        fits = -0.3;
    }
    let surplus = have.iter().filter(|w| !objects.contains(w)).count() as f64;
    // "order fulfilled" is more than an order: what an option says besides its object counts.
    let common = have.iter().filter(|w| objects.contains(w)).count();
    let more = common.saturating_sub(1) as f64;
    let leads = have.first().is_some_and(|w| objects.contains(w));
    0.6 * fits + 0.4 * act + 0.1 * more - 0.04 * surplus + if leads { 0.05 } else { 0.0 }
}

/// "a file is added to the folder 445566": the place is no part of what happens.
pub(super) fn without_places(event: &str) -> String {
    const PLACES: &[&str] = &[
        "folder",
        "ordner",
        "carpeta",
        "dossier",
        "list",
        "liste",
        "lista",
        "board",
        "project",
        "projekt",
        "proyecto",
        "projet",
        "channel",
        "kanal",
        "canal",
        "database",
        "datenbank",
        "base",
        "table",
        "tabelle",
        "tabla",
        "workspace",
        "repo",
        "repository",
        "team",
        "space",
        "calendar",
        "kalender",
        "calendario",
        "calendrier",
        "sheet",
    ];
    const BEFORE: &[&str] = &[
        "in", "into", "to", "from", "on", "of", "im", "ins", "en", "dans", "de", "del", "du",
        "auf", "aus", "a", "al",
    ];
    // an aside names a place or says what does not count ("(not on changes)")
    let mut depth = 0_usize;
    let bare: String = event
        .chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
        .collect();
    let said: Vec<&str> = bare.split_whitespace().collect();
    let mut keep = vec![true; said.len()];
    for (i, word) in said.iter().enumerate() {
        let bare = fold(word.trim_matches(|c: char| !c.is_alphanumeric()));
        if !PLACES.contains(&bare.as_str()) {
            continue;
        }
        let back = (1..=4).find(|b| {
            i.checked_sub(*b)
                .and_then(|j| said.get(j))
                .is_some_and(|w| BEFORE.contains(&fold(w).as_str()))
        });
        // only a place with a name: "in folder X", "into the folder 'Y'"
        let named = said.get(i + 1).is_some_and(|n| {
            n.starts_with(['\'', '"', '„', '“', '«', '`'])
                || n.chars()
                    .next()
                    .is_some_and(|c| c.is_uppercase() || c.is_ascii_digit())
                || n.contains(['_', '-', '/'])
        });
        if let Some(back) = back
            && named
        {
            for slot in keep.iter_mut().skip(i - back).take(back + 2) {
                *slot = false;
            }
        }
    }
    let left: Vec<&str> = said
        .iter()
        .zip(&keep)
        .filter(|(_, k)| **k)
        .map(|(w, _)| *w)
        .collect();
    left.join(" ")
}

/// The option that the words mean, and how sure.
pub(super) fn event(property: &Property, said: &str) -> Option<(Value, f64)> {
    let (acts, objects) = happened(said);
    best(property, &acts, &objects)
}

/// What happens to what. "A new payment fails": what is new may be what it happens to.
fn happened(said: &str) -> (Vec<(&'static str, &'static str)>, Vec<String>) {
    let (acts, objects) = parts(said);
    let new = |word: &String| {
        ["new", "neu", "nuev", "nouve"]
            .iter()
            .any(|n| word.starts_with(n))
    };
    let others: Vec<String> = plain(said).into_iter().filter(|w| !new(w)).collect();
    let (others, _) = parts(&others.join(" "));
    (if others.is_empty() { acts } else { others }, objects)
}

fn best(property: &Property, acts: &[(&str, &str)], objects: &[String]) -> Option<(Value, f64)> {
    let mut best: Option<(&PropertyOption, f64)> = None;
    for option in &property.options {
        let s = score(option, acts, objects);
        if s > best.map_or(0.0, |b| b.1) {
            best = Some((option, s));
        }
    }
    best.map(|(option, s)| (option.value.clone(), s))
}

/// All options that the words mean: "created or updated" are two.
pub(super) fn events(property: &Property, said: &str) -> Vec<Value> {
    let (acts, objects) = parts(said);
    let several = fold(said)
        .split_whitespace()
        .any(|w| matches!(w, "or" | "oder" | "o" | "ou" | "and" | "und" | "y" | "et"));
    if acts.len() < 2 || !several {
        return event(property, said).map(|(v, _)| v).into_iter().collect();
    }
    let mut out: Vec<Value> = Vec::new();
    for act in &acts {
        if let Some((value, s)) = best(property, &[*act], &objects)
            && s > 0.3
            && !out.contains(&value)
        {
            out.push(value);
        }
    }
    out
}

/// Named things of triggers and the words under which parameters ask for them.
const THINGS: &[(&str, &[&str])] = &[
    ("topic", &["topic", "topics"]),
    ("queue", &["queue", "channel"]),
    ("group", &["group", "consumer"]),
    ("workspace", &["workspace"]),
    ("repository", &["repository", "repo"]),
    ("owner", &["owner"]),
    ("folder", &["folder", "directory", "mailbox"]),
    ("field", &["field"]),
    ("board", &["board", "model"]),
    ("list", &["list"]),
    ("channel", &["channel", "channels"]),
    ("calendar", &["calendar"]),
    ("project", &["project"]),
    ("database", &["database"]),
    ("table", &["table"]),
    ("sheet", &["sheet"]),
    ("form", &["form"]),
    ("path", &["path"]),
    ("team", &["team"]),
    ("site", &["site"]),
    ("base", &["base"]),
    ("space", &["space"]),
    ("exchange", &["exchange"]),
    ("survey", &["survey"]),
    ("subscription", &["subscription"]),
];

/// Without these a trigger listens to nothing, though n8n does not mark all of them as required.
const NEEDED: &[&str] = &[
    "topic",
    "topics",
    "queue",
    "channels",
    "feedUrl",
    "url",
    "path",
    "sink",
    "subscription",
    "workspace",
    "repository",
    "tableName",
];

fn asks_for(property: &Property, names: &[&str]) -> bool {
    let textual = matches!(
        property.kind,
        PropertyKind::String | PropertyKind::ResourceLocator | PropertyKind::Number
    ) || matches!(
        property.kind,
        PropertyKind::Options | PropertyKind::MultiOptions
    ) && (property.has_dynamic_options() || property.options.is_empty());
    let own = plain(&format!("{} {}", property.name, property.label));
    textual && names.iter().any(|n| own.iter().any(|w| w == n))
}

fn empty(params: &Map<String, Value>, name: &str) -> bool {
    params.get(name).is_none_or(|v| {
        let blob = v.to_string();
        v.as_str() == Some("") || v.as_array().is_some_and(Vec::is_empty) || blob.contains("\"<")
    })
}

fn written(property: &Property, value: &Value) -> Option<Value> {
    match property.kind {
        PropertyKind::Options => Some(value.clone()),
        PropertyKind::MultiOptions => Some(json!([value])),
        _ => place::shape(property, value),
    }
}

/// Shows a parameter that another one hides: the choice that opens it.
fn opened_by(
    facts: &Facts,
    params: &Map<String, Value>,
    names: &[&str],
) -> Option<(Map<String, Value>, Property)> {
    for property in shown(facts, params) {
        let choices: Vec<Value> = match property.kind {
            PropertyKind::Options => property.options.iter().map(|o| o.value.clone()).collect(),
            PropertyKind::Boolean => vec![Value::Bool(true), Value::Bool(false)],
            _ => continue,
        };
        if params.contains_key(&property.name) && property.kind == PropertyKind::Options {
            continue;
        }
        for choice in choices {
            let mut trial = params.clone();
            trial.insert(property.name.clone(), choice);
            let found = shown(facts, &trial)
                .into_iter()
                .find(|p| asks_for(p, names) && empty(&trial, &p.name))
                .cloned();
            if let Some(found) = found {
                return Some((trial, found));
            }
        }
    }
    None
}

impl Draft<'_> {
    /// Named things into the parameters that ask for them; the arguments that are left.
    pub(super) fn trigger_things(
        &mut self,
        facts: &Facts,
        params: &mut Map<String, Value>,
        args: &[Arg],
    ) -> Vec<Arg> {
        let mut left = Vec::new();
        let mut used: Vec<String> = Vec::new();
        for arg in args {
            let (Role::Field(said), Val::Lit { value }) = (&arg.role, &arg.value) else {
                left.push(arg.clone());
                continue;
            };
            if said == "poll minutes" {
                if shown(facts, params).iter().any(|p| p.name == "pollTimes") {
                    params.insert(
                        "pollTimes".into(),
                        json!({"item": [{"mode": "everyX", "value": value, "unit": "minutes"}]}),
                    );
                }
                continue;
            }
            let Some((_, names)) = THINGS.iter().find(|(n, _)| n == said) else {
                left.push(arg.clone());
                continue;
            };
            let direct = shown(facts, params)
                .into_iter()
                .find(|p| asks_for(p, names) && empty(params, &p.name))
                .cloned();
            if let Some(property) = direct {
                if let Some(v) = written(&property, value) {
                    params.insert(property.name.clone(), v);
                    used.push(value.to_string());
                }
            } else if let Some((trial, property)) = opened_by(facts, params, names)
                && !used.contains(&value.to_string())
                && let Some(v) = written(&property, value)
            {
                *params = trial;
                params.insert(property.name.clone(), v);
                used.push(value.to_string());
            }
        }
        left.retain(|a| match &a.value {
            Val::Lit { value } => {
                !used.contains(&value.to_string())
                    || !matches!(a.role, Role::Container | Role::Part)
            }
            _ => true,
        });
        left
    }

    /// What the trigger cannot do without becomes a placeholder and a word about it.
    pub(super) fn trigger_needs(
        &mut self,
        facts: &Facts,
        params: &mut Map<String, Value>,
        node: &str,
    ) {
        let open: Vec<Property> = shown(facts, params)
            .into_iter()
            .filter(|p| {
                NEEDED.contains(&p.name.as_str())
                    && matches!(p.kind, PropertyKind::String | PropertyKind::ResourceLocator)
                    && p.default.as_str().is_none_or(str::is_empty)
                    && params.get(&p.name).is_none_or(|v| v.as_str() == Some(""))
            })
            .cloned()
            .collect();
        for property in open {
            let label = property.label.clone();
            self.todo("value", node, format!("fill in {label:?}"));
            if let Some(v) = written(&property, &Value::String(format!("<{label}>"))) {
                params.insert(property.name.clone(), v);
            }
        }
        // events that only the service itself can list
        let lists: Vec<Property> = shown(facts, params)
            .into_iter()
            .filter(|p| {
                p.kind == PropertyKind::MultiOptions
                    && p.required
                    && empty(params, &p.name)
                    && p.options.is_empty()
            })
            .cloned()
            .collect();
        for property in lists {
            let label = property.label.clone();
            self.todo("value", node, format!("choose {label:?}"));
            params.insert(property.name.clone(), json!([format!("<{label}>")]));
        }
    }
}
