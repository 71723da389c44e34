//! What must be asked: the slots that every automation needs (trigger, source, meaning of a condition, target, recipient,
//! limits) and that the request leaves open. Never asks what is given; a clear request gets a plan and no question.

use crate::lexicon::{self, first, has, rx};
use crate::plan::{Does, Plan, Role, Step, Trigger, Verb};
use crate::read::text::Masked;
use agentctl_base::question::{Question, QuestionOption};
use indexmap::IndexMap;

/// The request with the answers that belong to it, each as a sentence of its own.
pub fn with_answers(request: &str, answers: &IndexMap<String, String>) -> String {
    let mut out = request.trim().to_owned();
    for (topic, answer) in answers {
        let answer = answer.trim();
        if answer.is_empty() {
            continue;
        }
        if !out.ends_with(['.', '!', '?']) {
            out.push('.');
        }
        out.push(' ');
        // A bare answer needs the word it answers to.
        match topic.as_str() {
            // What is read comes before what is done with it.
            "source" => {
                let told = has(
                    r"^(?:read|get|fetch|take|load|when|whenever|from|lies|hole?|lee|toma|lis|prends)\b",
                    answer,
                );
                let verb = if told { "" } else { "Read " };
                out = format!("{verb}{}. {}", answer.trim_end_matches('.'), out.trim_end());
            }
            "timing" | "recipient" | "action" | "rules" | "context" | "unused" => {
                out.push_str(answer)
            }
            _ if answer.split_whitespace().count() <= 3 => {
                out.push_str("Use ");
                out.push_str(answer);
            }
            _ => out.push_str(answer),
        }
    }
    out
}

/// What the whole of a request leaves open.
struct Gaps<'a> {
    m: &'a Masked,
    text: &'a str,
    language: &'a str,
    out: Vec<Question>,
    required: bool,
}

const CONTEXT: &str = r"\b(?:like|as) (?:we|i|you) (?:discussed|talked|agreed|said|mentioned|spoke|did)|\bas (?:discussed|agreed|usual|always|before|last time)\b|\bthe usual (?:way|report|stuff|thing|people|process)\b|\bsame as (?:last time|before|usual)\b|\bwie (?:besprochen|vereinbart|immer|üblich|gehabt|abgesprochen|letztes mal)\b|\bcomo (?:hablamos|siempre|acordamos|quedamos|la última vez|de costumbre)\b|\bcomme (?:convenu|d'habitude|discuté|toujours|la dernière fois|prévu)\b|\byou know what i mean\b|\bthe thing we\b";
const BROAD: &str = r"\b(?:handles?|manages?|takes? care of|automates?|deals? with|looks? after|optimi[sz]es?|streamlines?|improves?|kümmert sich um|übernimmt|abwickelt|bearbeitet|automatisier\w*|gestion\w*|se encargue de|encarg\w+|automatiza\w*|automatice|s'occupe de|gère|automatise\w*)\b.{0,60}|\bend[- ]to[- ]end\b|\bfully automat\w+|\bvon anfang bis ende\b|\bde principio a fin\b|\bde bout en bout\b|\beverything (?:about|around|with)\b|\ball (?:the|my|our) (?:stuff|work|things)\b";
const VAGUE: &str = r"\b(?:is|are|look|looks|gets?|get|goes|seems?|sind|ist|son|es|está|están|sont|est|something)\s+(?:too\s+|zu\s+|demasiado\s+|trop\s+|really\s+|very\s+|sehr\s+)?(bad|good|wrong|weird|strange|unusual|high|low|slow|important|urgent|critical|big|large|expensive|suspicious|off|interesting|relevant|poor|schlecht|gut|falsch|komisch|ungewöhnlich|hoch|niedrig|langsam|wichtig|dringend|kritisch|teuer|auffällig|mal[oa]?s?|buen[oa]s?|rar[oa]s?|alt[oa]s?|baj[oa]s?|important[es]*|urgente?s?|mauvais\w*|bon\w*|élevé\w*|bas|faible\w*)\b|\b(important|urgent|bad|big|large|suspicious|relevant|wichtige[nr]?|dringende[nr]?|importantes?)\s+(?:ones|mails?|emails?|messages?|tickets?|orders?|customers?|leads?|e-mails|kunden|aufträge|bestellungen|correos|clientes)\b|\b(schlecht|gut|hoch|niedrig|auffällig|kritisch|komisch|wichtig|dringend|teuer|langsam)\s+(?:sind|ist|aussehen|aussieht|werden|wird|laufen|läuft)\b|\b(?:if|when|wenn|si)\s+(needed|necessary|nötig|erforderlich|es necesario|nécessaire)\b";

/// The questions of a request. `guessed`: nothing said when to start.
pub fn questions(
    m: &Masked,
    plan: &Plan,
    guessed: bool,
    language: &str,
    answers: &IndexMap<String, String>,
) -> Vec<Question> {
    let text = m.open(&m.text);
    let concrete = acts(&plan.steps)
        || plan
            .triggers
            .iter()
            .any(|t| matches!(t, Trigger::McpServer { tools, .. } if !tools.is_empty()));
    let concrete = concrete
        || !guessed
            && bare_agent(&plan.steps)
            && matches!(
                plan.triggers.first(),
                Some(Trigger::Chat { .. } | Trigger::Webhook { .. })
            );
    let refers = has(CONTEXT, &text);
    let agent_without_hands = bare_agent(&plan.steps) && has(BROAD, &text);
    let broad = agent_without_hands || !concrete && has(BROAD, &text);
    let vague = !concrete || refers && few(&plan.steps) || broad;
    let mut gaps = Gaps {
        m,
        text: &text,
        language,
        out: Vec::new(),
        required: vague,
    };
    if vague {
        gaps.open_request(plan, guessed, refers, broad);
    } else {
        gaps.details(plan);
        if let Some(what) = blind_deletion(plan) {
            gaps.required = true;
            gaps.ask("deletion", &what);
        }
    }
    let mut out = gaps.out;
    out.retain(|q| !answers.contains_key(&q.topic) && !answers.contains_key(&q.id));
    out.truncate(5);
    out
}

/// A deletion in a table that says nothing about which records, and follows no step that picked them.
fn blind_deletion(plan: &Plan) -> Option<String> {
    fn within(steps: &[Step], read: &mut bool) -> Option<String> {
        for s in steps {
            match &s.does {
                Does::Service {
                    service,
                    verb: Verb::Delete | Verb::Remove,
                    args,
                    ..
                } => {
                    let table = lexicon::services().iter().any(|e| {
                        (e.is("db") || e.is("base") || e.is("sheet"))
                            && e.actions == service.node_types
                    });
                    let picked = args.iter().any(|a| {
                        matches!(
                            a.role,
                            Role::Where { .. }
                                | Role::Id
                                | Role::MatchOn
                                | Role::Query
                                | Role::Status
                                | Role::Url
                                | Role::Limit
                                | Role::Field(_)
                        ) || matches!(&a.role, Role::Named(k) if matches!(k.as_str(), "record" | "key" | "page" | "item"))
                    });
                    if table
                        && !picked
                        && !*read
                        && !has(
                            r"\b(?:everything|the whole|all (?:the )?rows (?:in|of)|empty|clear|truncate|alles|komplett|todo el contenido|tout le contenu|that row|the row|this row|den? (?:eintrag|datensatz)|it)\b",
                            &s.said,
                        )
                    {
                        return Some(s.said.clone());
                    }
                }
                Does::Service { .. } | Does::Http { .. } | Does::Filter { .. } => *read = true,
                Does::If {
                    then, otherwise, ..
                } => {
                    *read = true;
                    if let Some(hit) = within(then, read).or_else(|| within(otherwise, read)) {
                        return Some(hit);
                    }
                }
                _ => {}
            }
        }
        None
    }
    let starts_with_data = plan
        .triggers
        .iter()
        .any(|t| !matches!(t, Trigger::Schedule { .. } | Trigger::Manual));
    let mut read = starts_with_data;
    within(&plan.steps, &mut read)
}

/// Something is done with a service that was named, or with data.
fn acts(steps: &[Step]) -> bool {
    steps.iter().any(|s| match &s.does {
        Does::If {
            then, otherwise, ..
        } => acts(then) || acts(otherwise),
        Does::Switch { cases, .. } => cases.iter().any(|c| acts(&c.steps)),
        Does::Loop { body, after, .. } => acts(body) || acts(after),
        Does::Service { service, args, .. } => {
            // A message to nobody through a service nobody named is no plan yet.
            !service.said.is_empty()
                && !(service.said == "E-mail"
                    && !args
                        .iter()
                        .any(|a| matches!(a.role, Role::To | Role::Recipient)))
        }
        Does::Filter { .. }
        | Does::Aggregate { .. }
        | Does::Wait { .. }
        | Does::Sort { .. }
        | Does::Nothing
        | Does::Llm { .. }
        | Does::Transcribe { .. }
        | Does::Dedupe { .. }
        | Does::LimitTo { .. } => false,
        Does::Agent {
            tools, knowledge, ..
        } => !tools.is_empty() || !knowledge.is_empty(),
        _ => true,
    })
}

fn bare_agent(steps: &[Step]) -> bool {
    steps.iter().any(|s| matches!(&s.does, Does::Agent { tools, knowledge, .. } if tools.is_empty() && knowledge.is_empty()))
}

fn few(steps: &[Step]) -> bool {
    steps.len() <= 1
}

fn column(language: &str) -> usize {
    match language {
        "de" => 1,
        "es" => 2,
        "fr" => 3,
        _ => 0,
    }
}

impl Gaps<'_> {
    fn ask(&mut self, topic: &str, what: &str) {
        let Some(texts) = lexicon::question(topic) else {
            return;
        };
        let Some(text) = texts.get(column(self.language)).or(texts.first()) else {
            return;
        };
        self.push(topic, text.replace("{what}", what), Vec::new());
    }

    fn push(&mut self, topic: &str, text: String, options: Vec<QuestionOption>) {
        if self.out.iter().any(|q| q.topic == topic) {
            return;
        }
        self.out.push(Question {
            options,
            required: self.required,
            ..Question::open(topic, text)
        });
    }

    /// Too little is said to build: ask for the slots that are open.
    fn open_request(&mut self, plan: &Plan, guessed: bool, refers: bool, broad: bool) {
        let text = self.text;
        let named = self.m.all(text, "s");
        let escalates = has(r"\b(?:escalat\w+|eskal\w+|escalad\w+)\b", text);
        let mut systems = 0;
        for system in lexicon::systems() {
            let covered = named.iter().any(|e| {
                e.service
                    .is_some_and(|s| s.is(&system.tag) || system.options.contains(&s.key))
            });
            if covered || !has(&format!(r"\b(?:{})\b", system.words), text) || systems == 2 {
                continue;
            }
            systems += 1;
            let options = system
                .options
                .iter()
                .filter_map(|k| lexicon::service(k))
                .map(|s| QuestionOption::new(s.label.as_str(), s.label.as_str()))
                .collect();
            let question = system
                .questions
                .get(column(self.language))
                .or(system.questions.first())
                .cloned()
                .unwrap_or_default();
            self.push(&system.key, question, options);
        }
        if broad {
            let by_chat = named
                .iter()
                .any(|e| e.service.is_some_and(|s| s.is("chat") || s.is("mail")))
                || plan.triggers.iter().any(|t| {
                    matches!(
                        t,
                        Trigger::Webhook { .. } | Trigger::Form { .. } | Trigger::Service { .. }
                    )
                });
            if !by_chat {
                self.ask("channel", "");
            }
            self.ask("rules", "");
            self.ask("authority", "");
        }
        if escalates {
            self.ask("escalate_when", "");
            self.ask("escalate_to", "");
        } else if refers {
            self.ask("context", "");
        }
        if let Some(word) = vague_word(text) {
            self.ask("threshold", &word);
        }
        let publishes = has(
            r"\b(?:post|posts|publish\w*|share|poste\w*|veröffentlich\w*|publica\w*|publie\w*)\b",
            text,
        );
        let what = self.thing();
        if let Some(what) = what.filter(|_| (systems == 0 || publishes) && !broad && !reads(plan)) {
            self.ask("source", &what);
        }
        if guessed && !broad && !escalates {
            self.ask("timing", "");
        }
        let tells = has(
            r"\b(?:send|mail|tell|notify|alert|inform|message|remind|ping|report|schick\w*|sende\w*|benachrichtig\w*|informier\w*|melde\w*|erinner\w*|avisa\w*|envía\w*|manda\w*|notifica\w*|informa\w*|recuérd\w*|envoie\w*|préviens|avertis\w*|notifie\w*|informe\w*|rappelle\w*|let me know|sag mir|gib mir|bescheid)\b",
            text,
        );
        let addressed = named.iter().any(|e| {
            e.service
                .is_some_and(|s| s.is("chat") || s.is("mail") || s.is("sms"))
        }) || !self.m.all(text, "mpca").is_empty();
        if tells && !addressed {
            self.ask("recipient", "");
        }
        if self.out.len() < 2 {
            let what = self.thing().unwrap_or_else(|| self.m.plain(&self.m.text));
            if systems == 0 {
                self.ask("source", &what);
            }
            self.ask("action", &what);
            if guessed {
                self.ask("timing", "");
            }
        }
    }

    /// A plan stands; only what its services cannot guess is asked, and none of it must be answered.
    fn details(&mut self, plan: &Plan) {
        if let Some(word) = vague_word(self.text).filter(|_| vague_condition(&plan.steps)) {
            self.ask("threshold", &word);
        }
        if let Some(q) = self.out.last_mut() {
            q.required = false;
        }
    }

    /// What the request is about, in its own words: "our new stuff", "den Bericht".
    fn thing(&self) -> Option<String> {
        let plain = self.m.plain(&self.m.text);
        first(r"\b((?:our|my|the|all|new|latest|unsere[nrms]?|mein\w*|den|die|das|neue[nrms]?|nuestr[oa]s?|mis?|el|la|los|las|nos|notre|mes|le|les)\s+(?:new\s+|neue[nrms]?\s+|nuev[oa]s?\s+|nouve\w+\s+|latest\s+|daily\s+|weekly\s+|monthly\s+)?[\wäöüßéèáíóúñç-]{3,})\b", &plain)
            .map(|w| rx(r"^(?:the|den|die|das|el|la|los|las|le|les)\s+").replace(w, "").into_owned())
            .filter(|w| !has(r"\b(?:workflow|social|automation|agent|team|teams|équipe|equipo|boss|chef|people|everyone|day|morning|week|important|urgent|wichtig\w*|dringend\w*|importante?s?|urgente?s?|following|production|situation|moment|time|office|firma|empresa|entreprise|end|beginning|manager|management)$", w))
    }
}

fn reads(plan: &Plan) -> bool {
    plan.steps.iter().any(crate::read::tree::is_source)
        || plan.triggers.iter().any(|t| {
            matches!(
                t,
                Trigger::Service { .. }
                    | Trigger::Poll { .. }
                    | Trigger::Webhook { .. }
                    | Trigger::Form { .. }
            )
        })
}

fn vague_word(text: &str) -> Option<String> {
    first(VAGUE, text).map(str::to_owned)
}

/// A condition that no field and no figure stands behind.
fn vague_condition(steps: &[Step]) -> bool {
    use crate::plan::{Cmp, Cond};
    fn unclear(c: &Cond) -> bool {
        match c {
            Cond::All { of } | Cond::Any { of } => of.iter().any(unclear),
            Cond::Not { of } => unclear(of),
            // "priority is high" names a level that the field itself has
            Cond::Compare {
                left: crate::plan::Val::Field { name, .. },
                op: Cmp::Eq | Cmp::Ne | Cmp::OneOf,
                ..
            } if has(
                r"priorit|dringlich|urgency|severity|schwere|prioridad|urgencia|gravedad|urgence|gravité",
                name,
            ) =>
            {
                false
            }
            Cond::Compare { op, right, .. } => {
                *op == Cmp::IsTrue
                    || matches!(right, crate::plan::Val::Lit { value } if value.as_str().is_some_and(|v| has(&format!("^{VAGUE_ONLY}$"), v)))
            }
            Cond::Age { .. } => false,
        }
    }
    steps.iter().any(|s| match &s.does {
        Does::If {
            condition,
            then,
            otherwise,
        } => unclear(condition) || vague_condition(then) || vague_condition(otherwise),
        Does::Filter { condition } => unclear(condition),
        _ => false,
    })
}

const VAGUE_ONLY: &str = r"(?:bad|good|high|low|slow|weird|unusual|schlecht|gut|hoch|niedrig|malos?|malas?|altos?|bajos?|mauvais\w*|élevé\w*)";

#[cfg(test)]
#[path = "ask_tests.rs"]
mod ask_tests;
