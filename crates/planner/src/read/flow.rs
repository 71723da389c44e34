//! From clauses to a tree of steps: conditions open branches, "otherwise" opens the other side, a new sentence closes them.

use crate::lexicon::{capital, first, has, rx};
use crate::plan::{Case, Cmp, Cond, Does, LlmTask, Role, Step, Val, Verb};
use crate::read::act::{Memory, read_step, service_steps, services_in, verb_in};
use crate::read::clause::{Clause, Join, strip_lead};
use crate::read::cond;
use crate::read::special;
use crate::read::text::Masked;
use crate::read::tree::{Branch, Tree, branch_mut, is_source, not, prune};
use crate::read::value::{arg, field, lit, template};
use crate::read::when;
use agentctl_base::lazy_regex::Captures;

mod amends;
mod checks;
pub mod dates;
mod decisions;
mod documents;
mod gathering;
mod paging;
mod shapes;
mod twins;

/// A name for the workflow: its own label ("Backup job:") or the first words.
pub fn name(m: &Masked, clauses: &mut Vec<Clause>) -> (String, bool) {
    let label = clauses.first().zip(clauses.get(1)).and_then(|(a, b)| {
        let plain = m.plain(&a.text);
        let short = plain.split_whitespace().count() <= 4 && !plain.is_empty();
        (b.join == Join::Colon
            && short
            && services_in(m, &a.text).is_empty()
            && when::schedules(&a.text).is_empty()
            && !has(r"\b{manual}\b|^{if}\b|\d|§", &a.text)
            && verb_in(&a.text).is_none_or(|(v, i)| i > 0 || v.role == "neutral"))
        .then_some(plain)
    });
    let built = clauses.first().zip(clauses.get(1)).and_then(|(a, b)| {
        let what = first(
            r"^(?:please\s+|bitte\s+)?(?:build|create|make|set up|i (?:want|need)|we (?:want|need)|baue?|erstelle?|ich (?:will|brauche)|crea|construye|quiero|crée|construis|je veux)\s+(?:me\s+|us\s+|mir\s+|uns\s+)?(?:an?|ein\w*|un\w?)\s+([\w -]{2,40})$",
            a.text.trim(),
        )?;
        (b.join == Join::Colon && !has(r"\bwebhook|endpoint|\bform|bot\b|\bchat|\bagent|\bapi\b|assistant|workflow\b.*\b(?:that|which)", what)).then(|| what.to_owned())
    });
    if clauses.len() > 1
        && let Some(c) = clauses.first()
        && has(
            r"^(?:reusable |a )?(?:sub-?\s?workflow|unter-?workflow|sub-?flujo|sous-?workflow)$",
            c.text.trim(),
        )
    {
        // "Sub-workflow: takes customer_id and …"
        let opener = clauses.remove(0).text;
        if let Some(next) = clauses.first_mut() {
            next.text = format!("{opener} {}", next.text);
            next.join = Join::Start;
        }
    }
    let label = label.or(built);
    if let Some(label) = label {
        if !has(r"\bwebhook|endpoint|\bform|bot\b|workflow$", &label) {
            clauses.remove(0);
        }
        return (capital(&label), true);
    }
    let whole = clauses
        .iter()
        .map(|c| m.plain(&c.text))
        .collect::<Vec<_>>()
        .join(" – ");
    let words: Vec<&str> = whole.split_whitespace().take(8).collect();
    (
        capital(words.join(" ").trim_matches([',', '.', ':', ';', '–', ' '])),
        false,
    )
}

struct Flow<'a, 'b> {
    mem: &'b mut Memory<'a>,
    tree: Tree,
    on_error: Vec<Step>,
    /// The labels of the last classification, until a case uses them.
    labels: Vec<String>,
    /// The field that holds the label.
    label_field: String,
    /// A condition that was checked and whose "if yes" is still to come.
    pending: Option<Cond>,
    in_error: bool,
    /// The label before an arrow, when the next clause may be a status code.
    label: Option<String>,
    /// "unknown sku → 404": label and status.
    http_errors: Vec<(String, u16)>,
    /// What "valid" and "invalid" refer to: the open validation's place in the tree.
    validated: bool,
    /// The last HTTP call, wait and so on, for "same check".
    last_check: Vec<Step>,
    last_sentence: usize,
    /// The number that was compared last.
    subject: Option<String>,
    /// The field whose word was compared last.
    word: Option<String>,
}

/// All steps of the request, and those of "if it fails".
pub fn steps(
    mem: &mut Memory<'_>,
    clauses: &[Clause],
    first_steps: Vec<Step>,
) -> (Vec<Step>, Vec<Step>) {
    let mut flow = Flow {
        mem,
        tree: Tree::default(),
        on_error: Vec::new(),
        labels: Vec::new(),
        label_field: "category".into(),
        pending: None,
        in_error: false,
        label: None,
        http_errors: Vec::new(),
        validated: false,
        last_check: Vec::new(),
        last_sentence: 0,
        subject: None,
        word: None,
    };
    if let Some((label, options)) = flow.mem.choices.clone() {
        flow.labels = options;
        flow.label_field = label;
    }
    for s in first_steps {
        flow.tree.push(s);
    }
    for c in clauses {
        let before = flow.built();
        flow.clause(c);
        // Where the words of the language are known, the account of the request says what was left out.
        let accounted = crate::account::judges(flow.mem.language);
        if !accounted && flow.built() == before && asks_for_something(&c.text) {
            let said = flow.mem.m.plain(strip_lead(&c.text).trim());
            let note = unbuilt_note(flow.mem.language, &said);
            flow.mem.notes.push(note);
        }
    }
    let mut root = std::mem::take(&mut flow.tree.root);
    let on_error = std::mem::take(&mut flow.on_error);
    let errors = std::mem::take(&mut flow.http_errors);
    after_approval(flow.mem, &mut root);
    error_answers(flow.mem, &mut root, &errors);
    end_at_errors(&mut root);
    prune(&mut root);
    gathering::side_by_side(flow.mem, &mut root);
    (root, on_error)
}

impl Flow<'_, '_> {
    /// Everything that a clause can add to: equal before and after one that was understood in no part.
    fn built(&self) -> String {
        format!(
            "{:?}",
            (
                (&self.tree.root, &self.on_error, self.in_error),
                (&self.labels, &self.pending, &self.label),
                (&self.http_errors, self.validated),
                (&self.mem.notes, &self.mem.lenient, &self.mem.fields),
                (self.mem.used.len(), self.mem.read.len()),
            )
        )
    }

    /// Decides here; what follows stands on the side where the condition holds. False when that side cannot be entered.
    fn open_if(&mut self, text: &str, condition: Cond) -> bool {
        let step = self.mem.step(
            text,
            Does::If {
                condition,
                then: Vec::new(),
                otherwise: Vec::new(),
            },
        );
        self.tree.push(step);
        self.tree.enter(Branch::Then)
    }

    /// A condition for sure; what was taken for a yes/no field is said in a note.
    fn sure(&mut self, text: &str) -> Cond {
        let m = self.mem.m;
        let found = cond::condition(m, text).or_else(|| self.same_field(text));
        if found.is_none() && text.split_whitespace().count() > 4 {
            let note = unread_note(self.mem.language, &m.plain(text), &cond::flag_name(m, text));
            self.mem.notes.push(note);
        }
        let mut condition = found.unwrap_or_else(|| cond::condition_or_flag(m, text));
        self.same_subject(&mut condition);
        self.same_word(text, &mut condition);
        condition
    }

    /// "above 300 …" after "amounts below 50 …": the field is the one compared before.
    fn same_subject(&mut self, condition: &mut Cond) {
        let mut names = Vec::new();
        fields_of(condition, &mut names);
        for name in names {
            if matches!(name.as_str(), "value" | "") {
                if let Some(before) = &self.subject {
                    name.clone_from(before);
                }
            } else {
                self.subject = Some(name.clone());
            }
        }
    }

    /// "si es España" after "si el país es México": the field is the one compared before.
    fn same_field(&self, text: &str) -> Option<Cond> {
        let m = self.mem.m;
        let value = first(
            r"^(?:{if})\s+(?:it\s+|sie\s+|er\s+|es\s+)?(?:is|es|ist|est|c'est|son)\s+(§q\d+§|[^\s,]+(?:\s+[^\s,]+)?)$",
            text.trim(),
        )?;
        let name = self.word.clone()?;
        let value = m
            .one(value, "q")
            .map_or_else(|| m.plain(value), |e| e.value.clone());
        Some(Cond::Compare {
            left: field(&name),
            op: Cmp::Eq,
            right: lit(value),
        })
    }

    /// "If it is low" after "if the priority is high": the pronoun is the word compared before.
    fn same_word(&mut self, text: &str, condition: &mut Cond) {
        let Cond::Compare {
            left: Val::Field { name, .. },
            op: Cmp::Eq | Cmp::Ne,
            right: Val::Lit { value },
        } = condition
        else {
            return;
        };
        if !value.is_string() {
            return;
        }
        let pronoun = has(
            r"^(?:{if}\s+)?(?:it|they|sie|es|er|elle|il)(?:'s|'re|\s+(?:is|are|ist|sind|est))\s+(?:not\s+)?[\w§-]+(?:\s|$)",
            text.trim(),
        );
        match (&self.word, pronoun) {
            (Some(before), true) => name.clone_from(before),
            (_, false) => self.word = Some(name.clone()),
            (None, true) => {}
        }
    }

    fn clause(&mut self, c: &Clause) {
        if c.sentence != self.last_sentence {
            self.tree.sentence();
            self.in_error = false;
            self.last_sentence = c.sentence;
        }
        let text = self.items_of(strip_lead(&c.text).trim());
        if text.is_empty() {
            return;
        }
        if has(
            r"\b(?:still|again|immer noch|weiterhin)?\s*(?:fails?|failing|goes wrong|errors? out|does(?:n't| not) work|fehlschlägt|schiefgeht|schief geht|scheitert|falla|échoue)\b",
            &text,
        ) && has(
            r"^(?:{if}|on|bei|im fehlerfall|en caso de)\b|\bon (?:error|failure)\b",
            &text,
        ) && !has(
            r"\b(?:check|pipeline|payment|build|job|validation|deployment|test|backup fails in)\b",
            &text,
        ) {
            if has(
                r"\b(?:carry on|continue|go on|keep going|move on|proceed|ignore (?:it|that)|mach\w* (?:\w+ )?weiter|weiter(?:machen|laufen)?|fortfahren|continúa|sigue|continuer?|passe)\b",
                &text,
            ) && services_in(self.mem.m, &text).is_empty()
            {
                if let Some(last) = self.tree.here().last() {
                    self.mem.lenient.push(last.id.clone());
                }
                return;
            }
            self.in_error = true;
            let rest = first(r"(?:fails?|wrong|failure|error|fehlschlägt|schiefgeht|falla|échoue)\b[^,]*?(?:,\s*|\s+then\s+)(.+)$", &text).map(str::to_owned);
            if let Some(rest) = rest {
                self.act(&rest);
            }
            return;
        }
        if let Some(found) = rx(r"^(?:bei|on|im|in case of|en caso de|en cas d')\s*(?:an? |einem )?(?:fehler|error|failure|fehlerfall|erreur)s?\b[,:]?\s*").find(&text) {
            let rest = text.get(found.end()..).unwrap_or_default().to_owned();
            if matches!(self.tree.here().last().map(|s| &s.does), Some(Does::Http { .. })) {
                let condition = Cond::Compare { left: field("status code"), op: Cmp::Ne, right: lit(200) };
                if let Some(Does::Http { never_fail, .. }) = self.tree.here().last_mut().map(|s| &mut s.does) {
                    *never_fail = true;
                }
                self.open_if(&text, condition);
            } else {
                self.in_error = true;
            }
            return self.act(&rest);
        }
        if has(r"^(?:{always})\b", &text) && !self.in_error {
            self.tree.sentence();
            let rest = rx(r"^(?:{always})[,:\s]+").replace(&text, "").into_owned();
            return self.act(&rest);
        }
        if has(
            r"^(?:finally|zum schluss|schließlich|por último|finalmente|enfin|lastly|at the end|am ende)\b",
            c.text.trim(),
        ) && self.validated
        {
            self.tree.unsettle();
        }
        if self.due_ones(&text)
            || self.amends(&text)
            || self.documents(&text)
            || self.pages_of_last(&text)
            || self.equips(c, &text)
            || self.continues(c, &text)
            || self.spelled_out(c, &text)
            || self.http_error(c, &text)
            || self.validation(&text)
        {
            return;
        }
        // "…, otherwise ask me, then add it": what comes then happens either way.
        if has(
            r"^(?:(?:and\s+)?then|dann|luego|después|puis|ensuite)\b",
            c.text.trim(),
        ) && self.tree.in_otherwise_of_nothing()
        {
            self.tree.sentence();
        }
        if has(
            r"\bmissing ones\b|\bfehlenden\b|\bque faltan?\b|\bmanquant\w*\b",
            &text,
        ) && let Some(Does::Join { keep, .. }) = self.tree.here().last_mut().map(|s| &mut s.does)
        {
            *keep = "left_only".into();
        }
        if self.loops(&text)
            || self.verdict(&text)
            || self.other_side(&text)
            || self.case(&text)
            || self.exception(&text)
            || self.unless(&text)
            || self.condition(c, &text)
        {
            return;
        }
        self.act(&text);
    }

    fn act(&mut self, text: &str) {
        let text = strip_lead(text).trim().to_owned();
        if text.is_empty() {
            return;
        }
        if self.in_error {
            let steps = service_steps(self.mem, &text);
            self.on_error.extend(steps);
            return;
        }
        if has(
            r"^(?:just |simply |einfach )?(?:ignore|skip|drop|discard|do nothing|ignoriere?n?|überspringe?n?|ignora(?:r|lo|la)?|ignóral[oa]|ignore[rz]?)(?:\s+(?:it|them|this|that|everything|sie|es|ihn))?$",
            &text,
        ) {
            return;
        }
        if self.verdict(&text) || self.modifier(&text) || self.after_consent(&text) {
            return;
        }
        let text = self.items_of(&text);
        if text.is_empty() {
            return;
        }
        self.best_of(&text);
        if self.dated(&text) {
            return;
        }
        if has(r"^{if}\b", &text) {
            let clause = Clause {
                text: text.clone(),
                join: Join::Comma,
                sentence: self.last_sentence,
            };
            if self.condition(&clause, &text) {
                return;
            }
        }
        if !has(
            r"\bsame\b.*\b(?:last|past)\b|\balready\b|\bschon\b|\bbereits\b",
            &text,
        ) && self.trailing_condition(&text)
        {
            return;
        }
        let m = self.mem.m;
        let text = rx(r"^(?:for (?:each|every) (?:\w+ ){1,3}?(?:of them )?|für jede\w* \w+ |para cada \w+ |pour chaque \w+ )").replace(&text, |c: &Captures<'_>| {
            // A prefix that holds a service is no mere "for each repo".
            let whole = c.get(0).map_or("", |x| x.as_str());
            if whole.contains('§') { whole.to_owned() } else { String::new() }
        }).trim_start_matches([' ', ',']).to_owned();
        if self.several_addresses(&text) || self.put_together(&text) || self.fetched_first(&text) {
            return;
        }
        if let Some(steps) =
            special::respond_if_webhook(self.mem, &text).or_else(|| special::steps(self.mem, &text))
        {
            self.check_of(&text);
            for s in steps {
                self.place(s, &text);
            }
            self.page(&text);
            return;
        }
        if self.several_sources(&text) || self.more_instructions(&text) {
            return;
        }
        if self.twins(&text) || self.elliptical(&text) || self.two_targets(&text) {
            return;
        }
        self.sentiment_of(&text);
        let steps = service_steps(self.mem, &text);
        let reads = steps.last().is_some_and(is_source);
        for s in steps {
            self.place(s, &text);
        }
        self.shape_files(&text, reads);
        if has(NEVER_TWICE, &text)
            && self
                .mem
                .used
                .last()
                .is_some_and(|e| e.is("db") || e.is("base") || e.is("sheet") || e.is("kv"))
        {
            self.skip_logged(&text);
        }
        let reads = reads && self.tree.here().iter().any(|s| matches!(&s.does, Does::Service { verb: Verb::GetMany | Verb::Get | Verb::Search, service, .. } if !service.node_types.iter().any(|t| t.contains("googleAnalytics") || t.contains("googleAds") || t.contains("Calendar"))));
        if reads
            && !self.tree.here().last().is_some_and(|s| {
                matches!(
                    s.does,
                    Does::Service {
                        verb: Verb::Query | Verb::Delete,
                        ..
                    }
                )
            })
            && let Some(filter) = special::read_filter(self.mem, &text)
        {
            self.tree.push(filter);
        }
        if reads {
            let mut shaped = special_shape(self.mem, &text);
            let sorted = shaped.iter().any(|s| matches!(s.does, Does::Sort { .. }));
            let limited = self.tree.here().last().is_some_and(|s| {
                matches!(&s.does, Does::Service { args, .. }
                    if args.iter().any(|a| a.role == crate::plan::Role::Limit))
            });
            if limited && !sorted {
                // The source itself takes no more.
                shaped.retain(|s| !matches!(s.does, Does::LimitTo { .. }));
            }
            for s in shaped {
                self.tree.push(s);
            }
        }
        let _ = m;
    }

    fn place(&mut self, step: Step, text: &str) {
        match &step.does {
            Does::Llm {
                task: LlmTask::Classify { labels },
                ..
            } => {
                self.labels.clone_from(labels);
                self.label_field = "category".into();
                self.tree.push(step);
            }
            Does::Llm {
                task: LlmTask::Write,
                ..
            } if has(r"^(?:with|mit|con|avec)\b", text) => {
                self.tree.insert_after_source(step);
            }
            Does::Service {
                service,
                verb: Verb::Send,
                ..
            } if service.node_types.iter().any(|t| {
                t.contains("emailSend")
                    || t.contains("gmail")
                    || t.contains("Outlook")
                    || t.contains("sendGrid")
            }) && self
                .tree
                .here()
                .last()
                .is_some_and(|s| matches!(s.does, Does::ToFile { .. })) =>
            {
                let mut step = step;
                if let Does::Service { args, .. } = &mut step.does
                    && !args.iter().any(|a| a.role == crate::plan::Role::Attachment)
                {
                    args.push(crate::read::value::arg(
                        crate::plan::Role::Attachment,
                        lit("data"),
                    ));
                }
                self.tree.push(step);
            }
            Does::Dedupe { .. } => {
                let depth = self.tree.depth();
                self.tree.insert_after_source(step);
                let _ = depth;
            }
            Does::Llm {
                task: LlmTask::Sentiment,
                ..
            } if has(r"^(?:with|mit|con|avec|including)\b", text) => {
                self.tree.sentence();
                self.tree.insert_before_last(step);
            }
            Does::Http { .. } => {
                self.last_check = vec![step.clone()];
                self.tree.push(step);
            }
            // A model's answer is one item already.
            Does::Aggregate { group_by: None, .. }
                if self.tree.here().last().is_some_and(|s| {
                    matches!(
                        &s.does,
                        Does::Agent { .. }
                            | Does::Llm {
                                task: LlmTask::Write | LlmTask::Summarize,
                                ..
                            }
                    )
                }) => {}
            _ => self.tree.push(step),
        }
    }
}

/// "the ten biggest orders": read, then sorted and cut.
fn special_shape(mem: &mut Memory<'_>, text: &str) -> Vec<Step> {
    let mut out = crate::read::shape::all(mem, text);
    out.retain(|s| !matches!(s.does, Does::Split { .. } | Does::LimitTo { n: 1 }));
    out
}

/// The arguments of the last approval.
fn approval_args(steps: &mut [Step]) -> Option<&mut Vec<crate::plan::Arg>> {
    steps.iter_mut().rev().find_map(|s| match &mut s.does {
        Does::Approval { args, .. } => Some(args),
        Does::If {
            then, otherwise, ..
        } => approval_args(otherwise).or_else(|| approval_args(then)),
        Does::Loop { body, .. } => approval_args(body),
        Does::Switch { cases, .. } => cases
            .iter_mut()
            .rev()
            .find_map(|c| approval_args(&mut c.steps)),
        _ => None,
    })
}

const ONE_BY_ONE: &str = r"\s*,?\b(?:one (?:\w+ )?(?:after the other|at a time|after another)|one by one|eine\w* (?:\w+ )?nach de[rm] ander\w*|un[oa] (?:por|a) un[oa]|une? (?:par|après) (?:une?|l'autre))\b";

/// A step that looks something up.
fn is_lookup(step: &Step) -> bool {
    matches!(
        &step.does,
        Does::Service {
            verb: Verb::Get | Verb::GetMany | Verb::Search | Verb::Query,
            ..
        } | Does::Http { .. }
    )
}

/// The opposite, spelled out as far as it goes.
fn negated(cond: Cond) -> Cond {
    match cond {
        Cond::Any { of } => Cond::All {
            of: of.into_iter().map(negated).collect(),
        },
        Cond::All { of } => Cond::Any {
            of: of.into_iter().map(negated).collect(),
        },
        other => not(other),
    }
}

/// An error answer ends its side: what follows belongs to the other one.
fn end_at_errors(steps: &mut Vec<Step>) {
    let bad = |list: &[Step]| matches!(list.last().map(|s| &s.does), Some(Does::Respond { status, .. }) if *status >= 400);
    for at in 0..steps.len() {
        let sides = match steps.get(at).map(|s| &s.does) {
            Some(Does::If {
                then, otherwise, ..
            }) => (bad(then), bad(otherwise)),
            _ => (false, false),
        };
        if sides.0 != sides.1 {
            let rest = steps.split_off(at + 1);
            if let Some(Does::If {
                then, otherwise, ..
            }) = steps.get_mut(at).map(|s| &mut s.does)
            {
                if sides.1 {
                    then.extend(rest)
                } else {
                    otherwise.extend(rest)
                }
            }
            break;
        }
    }
    for s in steps {
        if let Does::If {
            then, otherwise, ..
        } = &mut s.does
        {
            end_at_errors(then);
            end_at_errors(otherwise);
        }
    }
}

/// A comparison of a number or of a value, as cases have.
fn ranged(condition: &Cond) -> bool {
    match condition {
        Cond::Compare { op, .. } => matches!(op, Cmp::Gt | Cmp::Ge | Cmp::Lt | Cmp::Le | Cmp::Eq),
        Cond::All { of } | Cond::Any { of } => of.iter().all(ranged),
        _ => false,
    }
}

/// The names of the numbers that a condition compares.
fn fields_of<'c>(condition: &'c mut Cond, out: &mut Vec<&'c mut String>) {
    match condition {
        Cond::All { of } | Cond::Any { of } => of.iter_mut().for_each(|c| fields_of(c, out)),
        Cond::Not { of } => fields_of(of, out),
        Cond::Compare {
            left: Val::Field { name, .. },
            op: Cmp::Gt | Cmp::Ge | Cmp::Lt | Cmp::Le,
            ..
        } => out.push(name),
        _ => {}
    }
}

/// Whether a clause that changed nothing may be passed over: it is polite, repeats the wish as such, or says that nothing is to be done.
fn asks_for_something(text: &str) -> bool {
    let text = strip_lead(text).trim();
    text.split_whitespace().count() > 2
        && !has(
            r"^(?:please|thanks?|thank you|danke|gracias|merci|hi|hello|hallo|hola|bonjour|i (?:want|need|would|like|have)|we (?:want|need|would|like|have)|ich (?:möchte|will|brauche|hätte)|wir (?:möchten|wollen|brauchen)|quiero|necesito|je (?:veux|voudrais)|nous (?:voulons|voudrions)|this (?:is|should)|that(?:'s| is)|the workflow|{else})\b|^(?:wait|waits|warte|espera|attends?) (?:for|auf|a|la)\b.{0,12}\b(?:answer|reply|response|approval|antwort|respuesta|réponse)$|\b(?:arrives?|comes? in|is (?:called|hit|received|triggered)|kommt|eingeht|llega|arrive)$|\b(?:ignore|do nothing|nothing else|nothing happens|nothing|no more|nichts|nada|rien)\b",
            text,
        )
}

/// Says that no step came of a clause.
fn unbuilt_note(language: &str, said: &str) -> String {
    match language {
        "de" => format!("nicht gebaut: „{said}“ – anders sagen oder in n8n ergänzen"),
        "es" => format!("no construido: «{said}»; dilo de otra manera o añádelo en n8n"),
        "fr" => format!("non construit : « {said} » ; à dire autrement ou à ajouter dans n8n"),
        _ => format!("not built: “{said}”; say it in other words or add it in n8n"),
    }
}

/// Says that a condition became a yes/no field.
fn unread_note(language: &str, said: &str, name: &str) -> String {
    match language {
        "de" => format!(
            "Bedingung „{said}“: kein Vergleich erkannt, geprüft wird das Ja/Nein-Feld „{name}“ – bitte anpassen"
        ),
        "es" => format!(
            "condición «{said}»: no se reconoció ninguna comparación, se comprueba el campo sí/no «{name}»; ajústalo"
        ),
        "fr" => format!(
            "condition « {said} » : aucune comparaison reconnue, le champ oui/non « {name} » est vérifié ; à ajuster"
        ),
        _ => format!(
            "condition “{said}”: no comparison could be read, the yes/no field “{name}” is checked; please adjust it"
        ),
    }
}

const NEVER_TWICE: &str = r"\b(?:never|not|no|nie|nicht|nunca|jamais|don't|do not)\b.{0,60}\b(?:twice|doppelt|zweimal|dos veces|deux fois|again|duplicates?)\b";

/// The words around one service in a clause that names several.
fn segment_of(m: &Masked, text: &str, e: &crate::read::text::Entity) -> String {
    let mark = m
        .entities
        .iter()
        .position(|x| std::ptr::eq(x, e))
        .map(|i| format!("§s{i}§"))
        .unwrap_or_default();
    let cut = rx(r"\s+(?:with|and|against|mit|und|con|y|avec|et|,)\s+");
    let mut from = 0;
    let mut best = text.to_owned();
    for f in cut
        .find_iter(text)
        .map(|f| (f.start(), f.end()))
        .chain(std::iter::once((text.len(), text.len())))
    {
        let part = text.get(from..f.0).unwrap_or_default();
        if part.contains(&mark) {
            best = part.to_owned();
            break;
        }
        from = f.1;
    }
    best
}

/// What a join keeps.
fn keep_of(text: &str) -> String {
    if has(
        r"\b(?:not in|missing (?:in|from)|nicht in|only in|without a match|no match)\b",
        text,
    ) {
        "left_only".into()
    } else if has(r"\b(?:enrich|add|anreicher\w*|enriquec\w*)\b", text) {
        "enrich".into()
    } else {
        "both".into()
    }
}

/// The parts of a list of sources: each with one service.
fn source_segments(text: &str) -> Vec<String> {
    let cut = rx(
        r"\s*(?:,\s*(?:and|plus|und|y|et)?|\s\+|\splus\b|\sand\b|\sund\b|\sy\b|\set\b|\sas well as\b|\ssowie\b|&)\s*",
    );
    let mut out: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut from = 0;
    let ends: Vec<(usize, usize)> = cut
        .find_iter(text)
        .map(|f| (f.start(), f.end()))
        .chain(std::iter::once((text.len(), text.len())))
        .collect();
    for (start, end) in ends {
        let part = text.get(from..start).unwrap_or_default();
        if current.contains("§s") && part.contains("§s") {
            out.push(std::mem::take(&mut current));
        }
        if !current.is_empty() {
            current.push_str(", ");
        }
        current.push_str(part);
        from = end;
    }
    if current.contains("§s") {
        out.push(current);
    } else if let Some(last) = out.last_mut() {
        last.push_str(&current);
    }
    out
}

/// Error answers of an API: missing fields are checked first, what cannot be found behind the lookup.
fn error_answers(mem: &mut Memory<'_>, steps: &mut Vec<Step>, errors: &[(String, u16)]) {
    for (label, status) in errors
        .iter()
        .filter(|(_, s)| *s != 400)
        .rev()
        .chain(errors.iter().filter(|(_, s)| *s == 400))
    {
        let message =
            crate::read::value::arg(crate::plan::Role::Field("error".into()), lit(label.clone()));
        let answer = mem.step(
            label,
            Does::Respond {
                status: *status,
                body: vec![message],
                as_text: None,
            },
        );
        let missing = has(
            r"\b(?:missing|invalid|fehlend\w*|ungültig\w*|empty|required|falta\w*|manquant\w*|not valid)\b",
            label,
        );
        let what = rx(r"\b(?:unknown|not found|no such|is|are|was|the|a|does not exist|doesn't exist|unbekannt\w*|desconocid\w*|inconnu\w*|missing|invalid|can't be found)\b").replace_all(label, "").into_owned();
        // a comparison: it must not hold
        let unknown = has(
            r"\b(?:unknown|not found|no such|exist\w*|found|unbekannt\w*|desconocid\w*|inconnu\w*|unauthori[sz]ed)\b",
            label,
        );
        let compared = cond::condition(mem.m, label)
            .filter(|c| !unknown && (!missing || matches!(c, Cond::Any { .. } | Cond::All { .. })));
        if let Some(bad) = compared {
            let at = if *status == 400 || *status == 422 {
                0
            } else {
                steps.iter().position(is_lookup).map_or(0, |i| i + 1)
            };
            let rest = steps.split_off(at);
            let step = mem.step(
                label,
                Does::If {
                    condition: negated(bad),
                    then: rest,
                    otherwise: vec![answer],
                },
            );
            steps.push(step);
            continue;
        }
        if missing {
            let names = if has(
                r"\bfields?\b|\bparameters?\b|\bfelder\b|\bcampos\b|\bchamps\b",
                label,
            ) || what.trim().is_empty()
            {
                mem.fields.clone()
            } else {
                vec![what.trim().to_owned()]
            };
            let of: Vec<Cond> = names
                .iter()
                .map(|n| Cond::Compare {
                    left: field(n),
                    op: Cmp::Exists,
                    right: lit(true),
                })
                .collect();
            let rest = std::mem::take(steps);
            let step = mem.step(
                label,
                Does::If {
                    condition: Cond::All { of },
                    then: rest,
                    otherwise: vec![answer],
                },
            );
            steps.push(step);
        } else {
            let at = steps.iter().position(|s| {
                matches!(
                    &s.does,
                    Does::Service {
                        verb: Verb::Get | Verb::GetMany | Verb::Search | Verb::Query,
                        ..
                    }
                ) || matches!(s.does, Does::Http { .. })
            });
            let Some(at) = at else { continue };
            let rest = steps.split_off(at + 1);
            let of = steps.get(at).map(|s| s.id.clone());
            if let Some(Does::Service { args, .. }) = steps.get_mut(at).map(|s| &mut s.does)
                && !args.iter().any(|a| a.role == crate::plan::Role::MatchOn)
            {
                args.push(crate::read::value::arg(
                    crate::plan::Role::MatchOn,
                    lit(if what.trim().is_empty() {
                        "id"
                    } else {
                        what.trim()
                    }),
                ));
            }
            let what = if what.trim().is_empty() {
                "id".to_owned()
            } else {
                what.trim().to_owned()
            };
            let left = Val::Field {
                name: what.trim().to_owned(),
                of,
            };
            let step = mem.step(
                label,
                Does::If {
                    condition: Cond::Compare {
                        left,
                        op: Cmp::Exists,
                        right: lit(true),
                    },
                    then: rest,
                    otherwise: vec![answer],
                },
            );
            steps.push(step);
        }
    }
}

fn strip_label(m: &Masked, text: &str, label: &str) -> String {
    let l = regex::escape(label.trim());
    let direct = rx(&format!(
        r"^(?:(?:for|if|when|bei|für|wenn|si|para|pour|falls|in case of|the|it(?:'s| is)|a|an|es)\s+)*[\x22'„“]?{l}\w{{0,3}}[\x22'”]?\s*"
    ));
    if let Some(f) = direct.find(text) {
        return text
            .get(f.end()..)
            .unwrap_or_default()
            .trim_start_matches([',', ':', ' ', '→'])
            .to_owned();
    }
    let marked = rx(r"^(?:\w+\s+)*?(§q\d+§)\s*");
    if let Some(c) = marked.captures(text)
        && let (Some(whole), Some(mark)) = (c.get(0), c.get(1))
        && m.entity(mark.as_str())
            .is_some_and(|e| e.value.eq_ignore_ascii_case(label))
    {
        return text
            .get(whole.end()..)
            .unwrap_or_default()
            .trim_start_matches([',', ':', ' ', '→'])
            .to_owned();
    }
    text.to_owned()
}

/// "For every target that reports 0 …" → "target reports 0".
fn each_that(head: &str) -> String {
    rx(r"^(?:for|from)?\s*(?:every|each|all|any)\s+(\w+)\s+(?:that|which|who|whose|with)\s+")
        .replace(head, "$1 ")
        .into_owned()
}

/// Cuts a clause before the verb of its action: "If the total is over 100 tell #x" → both halves.
pub fn split_at_action(text: &str) -> (String, Option<String>) {
    if let Some(c) = rx(r"^({if}\s.+?),?\s+((?:just |simply |einfach )?(?:ignore|skip|drop|discard|do nothing|ignoriere?n?|überspringe?n?|ignora(?:r|lo|la)?|ignóral[oa]|ignore[rz]?)(?:\s+(?:it|them|this|that|everything|sie|es|ihn))?)$").captures(text)
        && let (Some(a), Some(b)) = (c.get(1), c.get(2))
    {
        return (a.as_str().to_owned(), Some(b.as_str().to_owned()));
    }
    if let Some(c) =
        rx(r"^({if}\s+.+?\s(?:is|are|=|ist|es|est)\s+\S+)\s+((?:to|into|an|nach|a|à)\s+\S+)$")
            .captures(text)
        && let (Some(a), Some(b)) = (c.get(1), c.get(2))
    {
        return (a.as_str().to_owned(), Some(b.as_str().to_owned()));
    }
    // "Negative ones also into Slack #x"
    if let Some(c) = rx(r"^((?:\S+ ){1,4}?(?:ones|tweets|mails|tickets|leads|orders|reviews|rows|items|messages|\w+))\s+(?:also|auch|también|aussi)\s+((?:go(?:es)? )?(?:to|into|in|on|auf|a|dans|via)\s.*§.*)$").captures(text)
        && let (Some(a), Some(b)) = (c.get(1), c.get(2))
    {
        return (a.as_str().to_owned(), Some(b.as_str().to_owned()));
    }
    if let Some(c) = rx(r"^(.+?)(?:,\s+|\s+→\s+|:\s+)(.+)$").captures(text)
        && let (Some(a), Some(b)) = (c.get(1), c.get(2))
        && (verb_in(b.as_str()).is_some() || b.as_str().contains("§s"))
        && a.as_str().split_whitespace().count() > 1
    {
        return (a.as_str().to_owned(), Some(b.as_str().to_owned()));
    }
    let words: Vec<(usize, String)> = rx(r"\S+")
        .find_iter(text)
        .map(|f| {
            (
                f.start(),
                f.as_str()
                    .trim_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '§')
                    .to_lowercase(),
            )
        })
        .collect();
    for (i, (start, word)) in words.iter().enumerate() {
        if i < 2 {
            continue;
        }
        let prev = words.get(i - 1).map_or("", |w| w.1.as_str());
        let next = words.get(i + 1).map_or("", |w| w.1.as_str());
        // "over 10 also email x": what comes besides
        if has(
            r"^(?:also|auch|additionally|zusätzlich|también|aussi)$",
            word,
        ) && crate::lexicon::verb(next).is_some_and(|v| v.role != "neutral")
        {
            return (
                text.get(..*start).unwrap_or_default().trim().to_owned(),
                words
                    .get(i + 1)
                    .and_then(|w| text.get(w.0..))
                    .map(str::to_owned),
            );
        }
        let goes = has(
            r"^(?:go|goes|gets?|needs?|become|becomes|should|must|geht|gehen|muss|müssen|soll|sollen|bekommt|van|va|debe|deben|doit|doivent)$",
            word,
        );
        let imperative = crate::lexicon::verb(word)
            .is_some_and(|v| v.role != "neutral")
            && (has(
                r"^(?:a|an|the|it|them|me|us|him|her|to|in|on|off|eine?\w*|den|die|das|un|una|el|la|le|les|all|my|our|every|new|one)$",
                next,
            ) || next.starts_with('§'))
            && !has(
                r"^(?:the|a|an|to|is|are|was|were|we|i|they|who|that|which|of|and|or|be|been|not|has|have|gets|someone|customer|user|every|each|new|in|for|if|when|they)$",
                prev,
            )
            // "When a webhook receives an order": told, not asked for.
            && !(word.ends_with('s') && has(r"^{if}\b", text));
        // "over 100 respond with …"
        let answers = has(
            r"^(?:respond|answer|reply|antworte|responde|réponds)$",
            word,
        ) && has(r"^(?:with|mit|con|avec)$", next);
        if goes || imperative || answers {
            // "is low just add a comment"
            let just = has(r"^(?:just|simply|einfach|simplement|simplemente)$", prev) && i > 2;
            let start = if just {
                words.get(i - 1).map_or(start, |w| &w.0)
            } else {
                start
            };
            return (
                text.get(..*start).unwrap_or_default().trim().to_owned(),
                text.get(*start..).map(str::to_owned),
            );
        }
    }
    (text.to_owned(), None)
}

fn last_http(steps: &mut [Step]) -> Option<&mut Step> {
    steps
        .iter_mut()
        .rev()
        .find(|s| matches!(s.does, Does::Http { .. }))
}

fn batch_size(steps: &[Step]) -> Option<u32> {
    steps.iter().find_map(|s| match &s.does {
        Does::Loop { batch_size, .. } => Some(*batch_size),
        _ => None,
    })
}

/// The last step on a service, wherever it hangs.
fn find_last_service(steps: &[Step]) -> Option<&Step> {
    steps.iter().rev().find_map(|s| match &s.does {
        Does::If {
            then, otherwise, ..
        } => find_last_service(otherwise).or_else(|| find_last_service(then)),
        Does::Loop { body, after, .. } => {
            find_last_service(after).or_else(|| find_last_service(body))
        }
        Does::Switch { cases, .. } => cases.iter().rev().find_map(|c| find_last_service(&c.steps)),
        Does::Service { .. } => Some(s),
        _ => None,
    })
}

/// The last message that was sent anywhere in the tree.
fn find_last_talk(steps: &[Step]) -> Option<&Step> {
    for s in steps.iter().rev() {
        let below = match &s.does {
            Does::If {
                then, otherwise, ..
            } => find_last_talk(otherwise).or_else(|| find_last_talk(then)),
            Does::Loop { body, after, .. } => {
                find_last_talk(after).or_else(|| find_last_talk(body))
            }
            Does::Service {
                verb: Verb::Send | Verb::Post,
                ..
            } => Some(s),
            _ => None,
        };
        if below.is_some() {
            return below;
        }
    }
    None
}

/// "needs an approval, otherwise directly into the calendar": what happens directly happens after an approval too.
fn after_approval(mem: &mut Memory<'_>, steps: &mut [Step]) {
    for s in steps.iter_mut() {
        if let Does::If { then, otherwise, .. } = &mut s.does
            && let Some(approval) = then.last_mut()
            && matches!(&approval.does, Does::Approval { approved, .. } if approved.is_empty())
            && otherwise.iter().any(|o| has(r"\b(?:direct(?:ly)?|direkt|right away|straight|immediately|sofort|gleich|directamente|directement)\b", &o.said))
        {
            let copies: Vec<Step> = otherwise.iter().map(|o| mem.step(&o.said.clone(), o.does.clone())).collect();
            if let Some(approved) = branch_mut(approval, Branch::Approved) {
                *approved = copies;
            }
        }
    }
}

/// A value for tests and callers that need the checked field.
pub fn checked(condition: &Cond) -> Option<&Val> {
    match condition {
        Cond::Compare { left, .. } => Some(left),
        Cond::Age { field, .. } => Some(field),
        Cond::All { of } | Cond::Any { of } => of.first().and_then(checked),
        Cond::Not { of } => checked(of),
    }
}
