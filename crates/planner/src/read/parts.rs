//! Requests of several flows ("Part one: …. Part two: …", documents into a store and a chat about them): cuts them apart, so
//! that each is read as a request of its own, and puts the plans together again. Knows the words that open a part, nothing else.

use crate::lexicon::{self, has, rx};
use crate::plan::{Does, Knowledge, Plan, Service, Step};
use crate::read::Reading;

/// Words that open the second or a later part.
const NEXT_PART: &str = r"^(?:(?:and|und|y|et|then)\s+)?(?:(?:the |a |an |der |die |das |ein\w* |la |el |un |une |le )?(?:(?:part|teil|parte|partie|flow|workflow|flujo|trigger)\s*(?:two|2|ii|b|three|3|zwei|drei|dos|tres|deux|trois)|(?:second|third|separate|zweite[rns]?|dritte[rns]?|separate[rns]?|segund[oa]|tercer[oa]?|deuxième|seconde?|troisième)\s+(?:part|half|flow|workflow|trigger|branch|chat|teil|hälfte|ablauf|parte|mitad|flujo|disparador|partie|moitié|flux|déclencheur))|(?:separately|independently|in parallel to that|unabhängig davon|separat|davon getrennt|por separado|aparte|séparément|indépendamment)(?:,|:| of that,))";
/// What opens the first part, and what only counts them.
const LABEL: &str = r"^(?:(?:and|und|y|et)\s+)?(?:in\s+)?(?:the |a |an |der |die |das |ein\w* |la |el |un |une |le )?(?:(?:part|teil|parte|partie|flow|workflow|flujo|flux|ablauf)\s*(?:one|two|three|1|2|3|i{1,3}|a|b|eins|zwei|uno|dos|un|deux)|(?:first|second|third|separate|erste[rns]?|zweite[rns]?|primer[oa]?|segund[oa]|première?|deuxième|seconde?)\s+(?:part|half|flow|workflow|trigger|teil|hälfte|ablauf|parte|mitad|flujo|disparador|partie|moitié|flux|déclencheur))\s*(?:is\s+|ist\s+|es\s+|est\s+)?\s*[:,.)–-]?\s*";
const COUNTED: &str = r"^(?:it has |this has |there are |we need |i need |i want )?(?:two|2|three|3|zwei|drei|dos|tres|deux|trois)\s+(?:\w+\s+)?(?:parts|halves|flows|workflows|teile|abläufe|partes|flujos|parties|flux)\s*[:.]?$";
const CHATS: &str = r"\b(?:chat|chatbot|chat-?bot|bot|assistant|assistent\w*|asistente)\b";
const TALKS: &str = r"\b(?:agent\w*|answer\w*|ask\w*|antwort\w*|beantwort\w*|frage\w*|respond\w*|contest\w*|pregunt\w*|répon\w*|questions?|tool|llm)\b";
const FILLS: &str = r"\b(?:load|ingest|embed|index(?:es|ed|ing)|(?:index|store|feed) (?:it|them|the|all|each|every|its|their)|insert|put|save|upsert|push|add|import|write|vectori[sz]e|sync|lade|laden|geladen|einlesen|eingelesen|speicher\w*|indexier\w*|einbett\w*|eingebettet|schreib\w*|carg\w*|guard\w*|indexa\w*|insert\w*|sub\w*|charge\w*|indexe\w*|enregistre\w*|stocke\w*|insère\w*|ajoute\w*|embeds|loads|stores|loaded|embedded|stored)\b";

/// Names of vector stores, and the words for any.
fn stores() -> String {
    let names: Vec<String> = lexicon::services()
        .iter()
        .filter(|s| s.is("vector"))
        .flat_map(|s| s.aliases.iter().map(|a| regex::escape(&a.text)))
        .collect();
    format!(
        r"\b(?:{}|vector (?:store|database|db|index|table)s?|vektor(?:datenbank|speicher|store)|base (?:de datos )?vectorial|base vectorielle|almacén vectorial|embeddings?)\b",
        names.join("|")
    )
}

/// The sentences of a request, and where "… and a chat that …" starts a new thought.
fn sentences(request: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut from = 0;
    let cut = rx(
        r"[.;!]\s+|\n\s*(?:[-*•]\s+)?|,?\s+(?:and|plus|und|y|et)\s+(?:(?:a|an|ein\w*|un|una|une)\s+)(?:\w+\s+){0,2}?(?:chat|assistant|chatbot|assistent|asistente)\b",
    );
    for f in cut.find_iter(request) {
        let before = request.get(from..f.end()).unwrap_or_default();
        let joined = if f.as_str().starts_with([',', ' ']) {
            f.start()
        } else {
            f.end()
        };
        // "approx. 5", "e.g. this"
        if f.as_str().starts_with('.')
            && has(
                r"(?:\b(?:approx|ca|e\.g|i\.e|z\.b|etc|nr|no|vs)|\s[a-z])\.\s+$",
                before,
            )
        {
            continue;
        }
        out.push(request.get(from..joined).unwrap_or_default());
        from = joined;
    }
    out.push(request.get(from..).unwrap_or_default());
    out.retain(|s| s.chars().any(char::is_alphanumeric));
    out
}

/// The parts of a request; one when it is one flow.
pub fn split(request: &str) -> Vec<String> {
    let all = sentences(request);
    if all.len() < 2 {
        return vec![request.to_owned()];
    }
    let stores = stores();
    let kind = |s: &str| {
        let chats = has(CHATS, s) && has(TALKS, s);
        let fills = has(&stores, s) && has(FILLS, s);
        match (chats, fills) {
            (true, false) => 1,
            (false, true) => 2,
            _ => 0,
        }
    };
    let mut parts: Vec<String> = vec![String::new()];
    let mut open = 0;
    for s in all {
        let next = s.trim_start();
        if has(COUNTED, next.trim_end_matches(['.', ';', '!', ' ', '\n'])) {
            continue;
        }
        let what = kind(s);
        let turns = what > 0 && open > 0 && what != open;
        let empty = parts.last().is_none_or(|p| p.trim().is_empty());
        if (has(NEXT_PART, next) || turns) && !empty {
            parts.push(String::new());
            open = 0;
        }
        if what > 0 {
            open = what;
        }
        if let Some(p) = parts.last_mut() {
            p.push_str(s);
        }
    }
    let parts: Vec<String> = parts
        .iter()
        .map(|p| {
            let p = rx(r"^\s*(?:,?\s*(?:and|plus|und|y|et)\s+)")
                .replace(p, "")
                .into_owned();
            rx(LABEL).replace(p.trim(), "").trim().to_owned()
        })
        .filter(|p| p.split_whitespace().count() > 2)
        .collect();
    if parts.len() < 2 {
        return vec![request.to_owned()];
    }
    parts
}

fn walk(steps: &mut [Step], seen: &mut dyn FnMut(&mut Step)) {
    for s in steps {
        seen(s);
        match &mut s.does {
            Does::If {
                then, otherwise, ..
            } => {
                walk(then, seen);
                walk(otherwise, seen);
            }
            Does::Loop { body, after, .. } => {
                walk(body, seen);
                walk(after, seen);
            }
            Does::Switch { cases, .. } => cases.iter_mut().for_each(|c| walk(&mut c.steps, seen)),
            _ => {}
        }
    }
}

/// A store that was filled.
type Filled = (Service, Option<String>, Option<String>);

/// The readings of the parts as one; none when a part says nothing that can be built.
pub fn merge(readings: Vec<Reading>) -> Option<Reading> {
    let whole = readings
        .iter()
        .all(|r| r.refusal.is_none() && !r.plan.steps.is_empty() && r.plan.triggers.len() < 3);
    if !whole {
        return None;
    }
    let mut readings = readings.into_iter();
    let mut first = readings.next()?;
    for r in readings {
        first.notes.extend(r.notes);
        first.questions.extend(
            r.questions
                .into_iter()
                .filter(|q| !first.questions.iter().any(|f| f.topic == q.topic))
                .collect::<Vec<_>>(),
        );
        first.plan.also.push(r.plan);
    }
    share_stores(&mut first.plan);
    Some(first)
}

/// "answers from that index": the store that another part fills.
pub fn share_stores(plan: &mut Plan) {
    let mut filled: Vec<Filled> = Vec::new();
    let mut note = |s: &mut Step| {
        if let Does::Ingest {
            store,
            collection,
            embeddings,
            ..
        } = &s.does
        {
            filled.push((store.clone(), collection.clone(), embeddings.clone()));
        }
    };
    walk(&mut plan.steps, &mut note);
    for p in &mut plan.also {
        walk(&mut p.steps, &mut note);
    }
    let Some((store, collection, embeddings)) = filled.into_iter().next() else {
        return;
    };
    let mut know = |s: &mut Step| {
        if let Does::Agent { knowledge, .. } = &mut s.does {
            if knowledge.is_empty() {
                knowledge.push(Knowledge {
                    store: store.clone(),
                    collection: collection.clone(),
                    embeddings: None,
                });
            }
            for k in knowledge
                .iter_mut()
                .filter(|k| k.store.node_types == store.node_types)
            {
                k.collection = collection.clone().or(k.collection.take());
                // A store is searched with the model that filled it.
                k.embeddings = Some(embeddings.clone().unwrap_or_else(|| "openai".to_owned()));
            }
        }
    };
    walk(&mut plan.steps, &mut know);
    for p in &mut plan.also {
        walk(&mut p.steps, &mut know);
    }
}
