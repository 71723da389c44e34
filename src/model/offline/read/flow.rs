//! From clauses to a tree of steps: conditions open branches, "otherwise" opens the other side, a new sentence closes them.

use crate::model::offline::lexicon::{first, has, rx};
use crate::model::offline::plan::{Case, Cmp, Cond, Does, LlmTask, Step, Val, Verb};
use crate::model::offline::read::act::{Memory, read_step, service_steps, services_in, verb_in};
use crate::model::offline::read::clause::{Clause, Join, strip_lead};
use crate::model::offline::read::cond;
use crate::model::offline::read::special;
use crate::model::offline::read::text::Masked;
use crate::model::offline::read::tree::{Branch, Tree, branch_mut, is_source, not, prune};
use crate::model::offline::read::value::{field, lit};
use crate::model::offline::read::when;

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
    if let Some(label) = label {
        if !has(r"\bwebhook|endpoint|\bform|bot\b", &label) {
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

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| {
        c.to_uppercase().collect::<String>() + chars.as_str()
    })
}

struct Flow<'a, 'b> {
    mem: &'b mut Memory<'a>,
    tree: Tree,
    on_error: Vec<Step>,
    /// The labels of the last classification, until a case uses them.
    labels: Vec<String>,
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
        pending: None,
        in_error: false,
        label: None,
        http_errors: Vec::new(),
        validated: false,
        last_check: Vec::new(),
        last_sentence: 0,
    };
    for s in first_steps {
        flow.tree.push(s);
    }
    for c in clauses {
        flow.clause(c);
    }
    let mut root = std::mem::take(&mut flow.tree.root);
    let on_error = std::mem::take(&mut flow.on_error);
    let errors = std::mem::take(&mut flow.http_errors);
    after_approval(flow.mem, &mut root);
    error_answers(flow.mem, &mut root, &errors);
    prune(&mut root);
    (root, on_error)
}

impl Flow<'_, '_> {
    fn clause(&mut self, c: &Clause) {
        if c.sentence != self.last_sentence {
            self.tree.sentence();
            self.in_error = false;
            self.last_sentence = c.sentence;
        }
        let text = strip_lead(&c.text).trim().to_owned();
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
                let step = self.mem.step(&text, Does::If { condition, then: Vec::new(), otherwise: Vec::new() });
                self.tree.push(step);
                self.tree.enter(Branch::Then);
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
        if self.equips(c, &text)
            || self.continues(c, &text)
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

    /// Approved → …, rejected → …
    fn verdict(&mut self, text: &str) -> bool {
        let yes = r"^(?:(?:if|once|when|after|wenn|sobald|falls|si|cuando)\s+)?(?:it(?:'s| is)?\s+|it gets\s+|the )?(?:approved|accepted|genehmigt\w*|freigegeben\w*|zugestimmt|aprobad\w+|aprueba\w*|approuvé\w*|approval|on approval|bei genehmigung|bei freigabe|yes)(?:\s+(?:ones|requests|expenses|items|\w+s))?\b";
        let no = r"^(?:(?:if|once|when|after|wenn|sobald|falls|si|cuando)\s+)?(?:it(?:'s| is)?\s+|it gets\s+|the )?(?:not approved|rejected|declined|denied|disapproved|refused|abgelehnt\w*|nicht genehmigt|rechazad\w+|denegad\w+|refusé\w*|rejeté\w*|on rejection|bei ablehnung|no)(?:\s+(?:ones|requests|expenses|items|\w+s))?\b";
        for (pattern, branch) in [(no, Branch::Rejected), (yes, Branch::Approved)] {
            if let Some(found) = rx(pattern).find(text) {
                if has(r"^(?:approved|genehmigt) automatically", text)
                    || !self.tree.open_other(branch)
                {
                    continue;
                }
                let rest = text.get(found.end()..).unwrap_or_default().to_owned();
                self.act(&rest);
                return true;
            }
        }
        false
    }

    /// Otherwise, everybody else, above that.
    fn other_side(&mut self, text: &str) -> bool {
        let pattern = r"^(?:for\s+|bei\s+|für\s+|para\s+|pour\s+)?(?:{else}|(?:above|over|more than|beyond|below|under|darüber|darunter) (?:that|it|this)|anything (?:above|below) that)\b[,:]?\s*";
        let Some(found) = rx(pattern).find(text) else {
            return false;
        };
        let rest = text.get(found.end()..).unwrap_or_default().to_owned();
        if has(r"^(?:besides|than)\b", &rest) {
            return false;
        }
        if !self.tree.open_other(Branch::Otherwise) {
            self.tree.sentence();
            if !(self.tree.filter_to_if() && self.tree.enter(Branch::Otherwise)) {
                // Nothing to be other than: what follows is the main path.
            }
        }
        if has(r"^(?:{nothing})\b", &rest) {
            return true;
        }
        // "otherwise if …"
        if has(r"^{if}\b", &rest) {
            let clause = Clause {
                text: rest.clone(),
                join: Join::Comma,
                sentence: self.last_sentence,
            };
            if !self.condition(&clause, &rest) {
                self.act(&rest);
            }
            return true;
        }
        self.act(&rest);
        true
    }

    /// "Billing goes to …" after a classification.
    fn case(&mut self, text: &str) -> bool {
        if self.labels.is_empty() {
            return false;
        }
        let plain = self.mem.m.plain(text);
        let hit = self.labels.iter().position(|l| {
            let l = regex::escape(l.trim());
            has(&format!(r"^(?:(?:for|if|when|bei|für|wenn|si|para|pour|falls|in case of|the|it(?:'s| is)|a|an|es|sind|is|are)\s+)*[\x22'„“‘«]?{l}\w{{0,3}}[\x22'”’»]?(?:\s+(?:ones?|tickets?|mails?|messages?|leads?|requests?|issues?|emails?|cases|category|reviews?))?(?:\s|[,:→]|$)"), &plain)
        });
        let Some(index) = hit else { return false };
        let label = self.labels.get(index).cloned().unwrap_or_default();
        self.tree.sentence();
        let has_switch = self
            .tree
            .here()
            .iter()
            .any(|s| matches!(s.does, Does::Switch { .. }));
        if !has_switch {
            let cases = self
                .labels
                .iter()
                .map(|l| Case {
                    label: l.clone(),
                    condition: Some(Cond::Compare {
                        left: field("category"),
                        op: Cmp::Eq,
                        right: lit(l.clone()),
                    }),
                    steps: Vec::new(),
                })
                .collect();
            let step = self.mem.step(
                text,
                Does::Switch {
                    on: field("category"),
                    cases,
                    fallback: None,
                },
            );
            self.tree.push(step);
        }
        if !self.tree.enter(Branch::Case(index)) {
            return false;
        }
        let m = self.mem.m;
        let mut rest = strip_label(m, text, &label);
        rest = rx(r"^(?:ones?|tickets?|mails?|messages?|leads?|requests?|issues?|emails?|category|cases)\b").replace(rest.trim(), "").trim_start_matches([' ', ',', ':', '→']).to_owned();
        if !has(r"^(?:{nothing})\b", &rest) {
            self.act(&rest);
        }
        true
    }

    /// "Exception: mails from x go to Todoist instead."
    fn exception(&mut self, text: &str) -> bool {
        let Some(found) = rx(r"^(?:exceptions?|ausnahmen?|excepción|except(?: for| that| if| when)?|außer|excepto|sauf)\b[:,]?\s*").find(text) else {
            return false;
        };
        let rest = text
            .get(found.end()..)
            .unwrap_or_default()
            .trim()
            .to_owned();
        if rest.is_empty() {
            // The exception itself comes with the next clause.
            self.pending = None;
            self.tree.sentence();
            self.mem.notes.push("exception".into());
            return true;
        }
        self.except(&rest);
        true
    }

    fn except(&mut self, rest: &str) {
        let m = self.mem.m;
        let (head, action) = split_at_action(rest);
        let condition = cond::condition_or_flag(m, &head);
        let before = self.tree.take_actions();
        let mut instead = Vec::new();
        if let Some(action) = action {
            let saved = std::mem::take(&mut self.tree);
            self.act(&action);
            instead = std::mem::take(&mut self.tree.root);
            self.tree = saved;
        }
        let step = if instead.is_empty() {
            let filter = self.mem.step(
                rest,
                Does::Filter {
                    condition: not(condition),
                },
            );
            self.tree.push(filter);
            for s in before {
                self.tree.push(s);
            }
            return;
        } else {
            self.mem.step(
                rest,
                Does::If {
                    condition,
                    then: instead,
                    otherwise: before,
                },
            )
        };
        self.tree.push(step);
    }

    /// "unless there already is an open one for the same instance".
    fn unless(&mut self, text: &str) -> bool {
        let Some(found) = rx(r"^(?:unless|es sei denn|außer wenn|außer|a menos que|salvo que|sauf si|à moins que?|but not if|but only if)\b\s*").find(text) else {
            return false;
        };
        let only_if = has("^but only if", text);
        let rest = text.get(found.end()..).unwrap_or_default().to_owned();
        let exists = has(
            r"\b(?:already|there(?:'s| is| are| exists)|exists?|schon|bereits|gibt|ya (?:existe|hay)|existe déjà|il y a)\b",
            &rest,
        );
        let Some(last) = self.tree.here().pop() else {
            return true;
        };
        if exists
            && let Does::Service {
                service,
                object,
                args,
                ..
            } = &last.does
        {
            let mut lookup_args = args
                .iter()
                .filter(|a| {
                    matches!(
                        a.role,
                        crate::model::offline::plan::Role::Container
                            | crate::model::offline::plan::Role::Part
                    )
                })
                .cloned()
                .collect::<Vec<_>>();
            if has(r"\bopen\b|\boffen\w*\b|\babiert\w+|\bouvert", &rest) {
                lookup_args.push(crate::model::offline::read::value::arg(
                    crate::model::offline::plan::Role::Status,
                    lit("open"),
                ));
            }
            let (service, object) = (service.clone(), object.clone());
            let key = first(
                r"\b(?:same|gleiche\w*|dieselbe\w*|mism[oa]|même)\s+([\w-]+)",
                &rest,
            )
            .unwrap_or("title")
            .to_owned();
            let lookup = self.mem.step(
                &rest,
                Does::Service {
                    service,
                    verb: Verb::Search,
                    object,
                    args: lookup_args,
                    once: false,
                },
            );
            let step = self.mem.step(
                &rest,
                Does::NotIn {
                    lookup: Box::new(lookup),
                    key: field(&key),
                },
            );
            self.tree.push(step);
            self.tree.push(last);
            return true;
        }
        let condition = cond::condition_or_flag(self.mem.m, &rest);
        let condition = if only_if { condition } else { not(condition) };
        let step = self.mem.step(
            text,
            Does::If {
                condition,
                then: vec![last],
                otherwise: Vec::new(),
            },
        );
        self.tree.push(step);
        true
    }

    /// A clause that opens a condition.
    fn condition(&mut self, c: &Clause, text: &str) -> bool {
        let m = self.mem.m;
        // "if yes", "if so", "if it is": the check before it.
        if has(
            r"^(?:{if})\s+(?:yes|so|(?:it is|it does|they are)(?:$|,)|ja|sí|oui|that's the case|true)(?:\b|$)",
            text,
        ) {
            let rest = rx(r"^(?:{if})\s+(?:yes|so|it is|it does|they are|ja|sí|oui|that's the case|true)\b[,:]?\s*").replace(text, "").into_owned();
            let condition = self.pending.clone().unwrap_or_else(|| Cond::Compare {
                left: field("result"),
                op: Cmp::IsTrue,
                right: lit(true),
            });
            let step = self.mem.step(
                text,
                Does::If {
                    condition,
                    then: Vec::new(),
                    otherwise: Vec::new(),
                },
            );
            self.last_check.push(step.clone());
            self.tree.push(step);
            self.tree.enter(Branch::Then);
            if !rest.is_empty() {
                self.act(&rest);
            }
            return true;
        }
        if has(
            r"^(?:only\s+)?{if}\s+(?:there(?:'s| is| are)|es|hay|il y a)\s+(?:an?\s+|any\s+|ein\w*\s+|something\s+)?{new}\b[^,]*$",
            text,
        ) {
            let step = self.mem.step(
                text,
                Does::Dedupe {
                    key: field("id"),
                    window_seconds: None,
                },
            );
            self.tree.insert_after_source(step);
            return true;
        }
        let opens = has(
            r"^(?:only\s+|nur\s+|solo\s+)?(?:{if}|with|bei|for (?:those|orders|tickets|leads|customers|amounts|anything|every|each|all|any)|up to|below|above|over|under|more than|less than|at least|older than|newer than|anything|negative|positive|between|from \d|bis zu|ab \d|über|unter|älter|mehr als|weniger als|más de|menos de|plus de|moins de|jusqu'à|hasta)\b",
            text,
        );
        // "… but only if they have an address": the step before it.
        if has(
            r"^(?:only (?:if|when)|nur wenn|solo si|seulement si)\b",
            text,
        ) && matches!(c.join, Join::Comma | Join::And | Join::Dash)
            && split_at_action(text).1.is_none()
            && self.tree.here().last().is_some_and(|s| !is_source(s))
            && let Some(last) = self.tree.here().pop()
        {
            let condition = cond::condition_or_flag(m, text);
            let step = self.mem.step(
                text,
                Does::If {
                    condition,
                    then: vec![last],
                    otherwise: Vec::new(),
                },
            );
            self.tree.push(step);
            return true;
        }
        let labelled = !has(r"\b(?:llm|ai|gpt|agent)\b", text)
            && matches!(c.join, Join::Start | Join::Comma | Join::And)
            && text.split_whitespace().count() <= 9
            && verb_in(text).is_none_or(|(v, _)| v.role == "neutral")
            && cond::condition(m, text).is_some()
            && services_in(m, text).is_empty();
        if !opens && !labelled {
            return !has(
                r"\bsame\b.*\b(?:last|past)\b|\balready\b|\bschon\b|\bbereits\b",
                text,
            ) && self.trailing_condition(text);
        }
        let (head, action) = split_at_action(text);
        if opens
            && !labelled
            && cond::condition(m, &head).is_none()
            && !has(r"^(?:only\s+|nur\s+)?{if}\b", text)
        {
            return false;
        }
        // "For every target that reports 0 open a bug": a filter of the items.
        let condition = cond::condition_or_flag(m, &each_that(&head));
        let step = if has(
            r"^for (?:every|each|all|any)\b|^(?:only|nur|solo)\s+(?:if|when)",
            text,
        ) && action.is_some()
        {
            self.mem.step(text, Does::Filter { condition })
        } else {
            self.mem.step(
                text,
                Does::If {
                    condition,
                    then: Vec::new(),
                    otherwise: Vec::new(),
                },
            )
        };
        let branch = matches!(step.does, Does::If { .. });
        // "if it is A, …, if it is B, …": the same question again is the other side of the first.
        if let Does::If { condition, .. } = &step.does
            && self.tree.depth() > 0
            && self.tree.open_condition().is_some_and(|open| {
                checked(&open) == checked(condition) && checked(condition).is_some()
            })
        {
            self.tree.open_other(Branch::Otherwise);
        }
        self.tree.push(step);
        if branch {
            self.tree.enter(Branch::Then);
        }
        if let Some(action) = action {
            self.act(&action);
        }
        true
    }

    /// "send me an SMS if it rains".
    fn trailing_condition(&mut self, text: &str) -> bool {
        let Some(c) = rx(
            r"^(.+?)[,\s]+(?:but )?(only (?:if|when)|nur wenn|solo si|seulement si|{if})\s+(.+)$",
        )
        .captures(text) else {
            return false;
        };
        let (Some(action), Some(tail)) = (
            c.get(1).map(|x| x.as_str().to_owned()),
            c.get(3).map(|x| x.as_str().to_owned()),
        ) else {
            return false;
        };
        if has(
            r"\b(?:check|checks|see|tell|know|look|prüf\w*|whether|ob|comprueba|vérifie|tells?|say|sagt|asks?|even|as|what|who)$",
            &action,
        ) || verb_in(&action).is_none()
        {
            return false;
        }
        if has(
            r"^(?:it can't help|needed|possible|necessary|available|you can|nötig|möglich|asked|etwas)",
            &tail,
        ) {
            return false;
        }
        let condition = cond::condition_or_flag(self.mem.m, &tail);
        let step = self.mem.step(
            text,
            Does::If {
                condition,
                then: Vec::new(),
                otherwise: Vec::new(),
            },
        );
        self.tree.push(step);
        self.tree.enter(Branch::Then);
        self.act(&action);
        true
    }

    /// "go through them in batches of 10", "after the last batch", "at the end".
    fn loops(&mut self, text: &str) -> bool {
        if has(
            r"^(?:(?:finally|then|and)[, ]+)?(?:after (?:the )?(?:last|all|every|whole)\b[^,§]{0,24}|at the (?:very )?end|when (?:everything|all (?:is|are)|it) (?:is )?done|once (?:all|everything)[^,§]{0,20}|am (?:schluss|ende)|zum schluss|al final|à la fin)",
            text,
        ) && self.tree.in_loop()
        {
            self.tree.leave_loop(Branch::After);
            let rest = rx(r"^(?:(?:finally|then|and)[, ]+)?(?:after (?:the )?(?:last|all|every|whole)\s+(?:batch|one|item|repo\w*|page|loop|batches|items|ones|of them)?|at the (?:very )?end|when (?:everything|all (?:is|are)|it) (?:is )?done|once (?:all|everything)[^,§]{0,20}|am (?:schluss|ende)|zum schluss|al final|à la fin)[,\s]*").replace(text, "").into_owned();
            self.act(&rest);
            return true;
        }
        let Some(n) = first(r"\b(?:in )?(?:batches|chunks|groups|blöcken|stapeln|lotes|lots|packs|slices) (?:of|von|de|à|zu) (\d+)\b", text).and_then(|n| n.parse::<u32>().ok()) else {
            return false;
        };
        let rest = rx(r"\s*\b(?:in )?(?:batches|chunks|groups|blöcken|stapeln|lotes|lots|packs|slices) (?:of|von|de|à|zu) \d+\b").replace(text, "").into_owned();
        let step = self.mem.step(
            text,
            Does::Loop {
                batch_size: n,
                body: Vec::new(),
                after: Vec::new(),
            },
        );
        self.tree.push(step);
        self.tree.enter(Branch::Body);
        let walks = has(
            r"^(?:go through|loop|iterate|process|walk|handle|work|gehe|durchlaufe|recorre|parcours)\b",
            &rest,
        );
        if walks {
            self.tree.settle();
        } else {
            // One action in batches: an insert stays alone in its loop; what shapes items opens it for the rest.
            let alone = !special::steps(self.mem, &rest).is_some_and(|s| {
                s.iter()
                    .any(|x| matches!(x.does, Does::Llm { .. } | Does::Agent { .. }))
            });
            if !alone {
                self.tree.settle();
            }
            self.act(&rest);
            if alone {
                self.tree.sentence();
            }
        }
        true
    }

    /// "… with two tools: X and Y", "it can use Z".
    fn equips(&mut self, c: &Clause, text: &str) -> bool {
        let speaks = c.join == Join::Colon
            || has(
                r"\b(?:tools?|it (?:can|may)|the agent (?:can|may|has)|access to|allowed to|werkzeug\w*|herramient\w*|outils?)\b",
                text,
            );
        if !speaks {
            return false;
        }
        let Some(mut step) = self.tree.here().pop() else {
            return false;
        };
        let done = matches!(step.does, Does::Agent { .. })
            && crate::model::offline::read::agent::equip(self.mem, &mut step, text);
        self.tree.here().push(step);
        done
    }

    /// "…: order number, e-mail, total", "tab 'Orders'": more about the step before it.
    fn continues(&mut self, c: &Clause, text: &str) -> bool {
        if matches!(c.join, Join::Start | Join::Arrow)
            || self.in_error
            || !services_in(self.mem.m, text).is_empty()
        {
            return false;
        }
        let m = self.mem.m;
        let entry = self.mem.used.last().copied();
        let names = crate::model::offline::read::value::field_list(m, text);
        let listed = names.len() > 1
            && c.join == Join::Colon
            && verb_in(text).is_none_or(|(v, i)| v.role == "neutral" || i > 0);
        let part = has(
            r"^(?:tab|worksheet|sheet|table|folder|channel|subject|betreff|tabelle|reiter|pestaña|onglet|spalten?|columns?|fields?|with|mit|con|avec|including|assigned to|label(?:l?ed)?|due|priority|project|list|board|title|in (?:the )?(?:tab|folder|channel|project|list))\b",
            text,
        ) && verb_in(text).is_none_or(|(v, i)| {
            i > 1
                || v.role == "neutral"
                || crate::model::offline::lexicon::noun(
                    text.split_whitespace().next().unwrap_or_default(),
                )
                .is_some()
        });
        let Some(entry) =
            entry.filter(|_| listed || part && matches!(c.join, Join::Comma | Join::Dash))
        else {
            return false;
        };
        let mut extra = if listed {
            Vec::new()
        } else {
            crate::model::offline::read::args::for_action(self.mem, text, entry, "add")
        };
        if listed {
            extra.extend(crate::model::offline::read::value::field_args(&names));
        }
        let Some(step) = self.tree.here().last_mut() else {
            return false;
        };
        let Does::Service { args, service, .. } = &mut step.does else {
            return false;
        };
        if service.node_types != entry.actions || extra.is_empty() {
            return false;
        }
        for a in extra {
            if !args.iter().any(|x| x.role == a.role) {
                args.push(a);
            }
        }
        true
    }

    /// "unknown sku → 404" in an API.
    fn http_error(&mut self, c: &Clause, text: &str) -> bool {
        if !self.mem.answers_caller {
            return false;
        }
        if c.join == Join::Arrow
            && let Some(label) = self.label.take()
            && let Some(status) = first(
                r"^(?:status |http |code |a |answer |return |respond (?:with )?)*([45]\d\d)\b",
                text,
            )
            .and_then(|s| s.parse().ok())
        {
            self.http_errors.push((label, status));
            return true;
        }
        let plain = self.mem.m.plain(text);
        // "return 404 if the sku is unknown", "400 when a field is missing"
        if let Some(found) = rx(r"\b([45]\d\d)\b.{0,40}?\b{if}\s+(.+)$|^{if}\s+(.+?)[, ]+(?:return|answer|respond|reply|send|give)\w*\s+(?:back\s+)?(?:with\s+)?(?:a\s+|an\s+)?(?:status\s+|http\s+)?([45]\d\d)\b|^(?:for\s+)?((?:unknown|missing|invalid|no such)\s[\w ]+?)[, ]+(?:return|answer|respond|reply)?\w*\s*(?:with\s+)?(?:a\s+)?([45]\d\d)\b").captures(&plain) {
            let status = found.get(1).or(found.get(4)).or(found.get(6)).and_then(|s| s.as_str().parse().ok());
            let label = found.get(2).or(found.get(3)).or(found.get(5)).map(|l| l.as_str().to_owned());
            if let (Some(status), Some(label)) = (status, label) {
                self.http_errors.push((label, status));
                return true;
            }
        }
        let short = text.split_whitespace().count() <= 5
            && has(
                r"\b(?:unknown|missing|not found|invalid|unauthori[sz]ed|no such|fehlend\w*|unbekannt\w*|ungültig\w*|desconocid\w*|inconnu\w*)\b",
                text,
            );
        if short {
            self.label = Some(plain);
            return true;
        }
        if has(
            r"^(?:both|all|beide|ambos|les deux)\b.*\b(?:json|error)\b",
            text,
        ) {
            return true;
        }
        false
    }

    /// "check that net + VAT = total": what follows runs only if it holds.
    fn validation(&mut self, text: &str) -> bool {
        let m = self.mem.m;
        if let Some(tail) = first(
            r"^(?:check|checks|verify|validate|make sure|ensure|prüfe?n?|stelle sicher|comprueba|verifica|vérifie[rz]?|assure-toi)\s*,?\s+(?:that|dass|ob|whether|que)\s+(.+)$",
            text,
        ) && services_in(m, text).is_empty()
            && m.one(text, "u").is_none()
        {
            let condition = cond::condition_or_flag(m, tail);
            let step = self.mem.step(
                text,
                Does::If {
                    condition,
                    then: Vec::new(),
                    otherwise: Vec::new(),
                },
            );
            self.tree.push(step);
            if self.tree.enter(Branch::Then) {
                self.tree.settle();
                self.validated = true;
            }
            return true;
        }
        if !self.validated {
            return false;
        }
        let bad = r"\b(?:(?:that|which|who|if (?:it|they)|when (?:it|they))\s+(?:fails?|do(?:es)?n't pass|do(?:es)? not pass|are invalid|is invalid|are not valid|don't)|invalid|failed|failing|incorrect|bad|ungültige\w*|fehlerhafte\w*|inválid\w+|non valides?|invalides?|rejected)\b";
        let good = r"\b(?:valid|gültige\w*|válid\w+|valides|good|correct)\b";
        if has(bad, text) && !has(r"^(?:valid)\b", text) {
            let rest = rx(r"\b(?:that|which|who)\s+(?:fails?|do(?:es)?n't pass|do(?:es)? not pass)\s+(?:the |this )?(?:check|validation|test)?\s*").replace(text, "").into_owned();
            if self.tree.open_other_of_settled() {
                let depth_holds = self.tree.depth();
                self.act(&rest);
                let _ = depth_holds;
                self.tree.back_to_settled();
                return true;
            }
            return false;
        }
        if has(good, text) {
            let rest = rx(good).replace(text, "").into_owned();
            if let Some(rest) = rest.split_whitespace().next().map(|_| rest.clone()) {
                if !self.loops(&rest) {
                    self.act(&rest);
                }
                self.tree.back_to_settled();
                return true;
            }
        }
        false
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
        if self.verdict(&text) || self.modifier(&text) {
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
        let text = rx(r"^(?:for (?:each|every) (?:\w+ ){1,3}?(?:of them )?|für jede\w* \w+ |para cada \w+ |pour chaque \w+ )").replace(&text, |c: &regex::Captures<'_>| {
            // A prefix that holds a service is no mere "for each repo".
            let whole = c.get(0).map_or("", |x| x.as_str());
            if whole.contains('§') { whole.to_owned() } else { String::new() }
        }).trim_start_matches([' ', ',']).to_owned();
        if self.fetched_first(&text) {
            return;
        }
        if let Some(steps) =
            special::respond_if_webhook(self.mem, &text).or_else(|| special::steps(self.mem, &text))
        {
            self.check_of(&text);
            for s in steps {
                self.place(s, &text);
            }
            return;
        }
        if self.several_sources(&text) || self.more_instructions(&text) {
            return;
        }
        if self.elliptical(&text) || self.two_targets(&text) {
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
            && !self.tree.here().last().is_some_and(|s| matches!(s.does, Does::Service { verb: Verb::Query | Verb::Delete, .. }))
            && let Some(filter) = special::read_filter(self.mem, &text) {
            self.tree.push(filter);
        }
        let _ = m;
    }

    /// "…, if country is FR to orders-fr": the same step with another place.
    fn elliptical(&mut self, text: &str) -> bool {
        use crate::model::offline::plan::Role;
        let Some(place) = first(
            r"^(?:to|into|in|an|nach|in die|a|en|à|dans)\s+(?:the\s+)?(§[qcmfdn]\d+§|[\w-]+)$",
            text,
        ) else {
            return false;
        };
        let m = self.mem.m;
        let Some(step) = find_last_service(&self.tree.root).cloned() else {
            return false;
        };
        let value = m
            .entity(place)
            .map_or_else(|| place.to_owned(), |e| e.value.clone());
        let mut does = step.does;
        let Does::Service { args, .. } = &mut does else {
            return false;
        };
        let Some(slot) = args.iter_mut().find(|a| {
            matches!(
                a.role,
                Role::Channel | Role::Container | Role::To | Role::Recipient | Role::Path
            )
        }) else {
            return false;
        };
        slot.value = lit(value);
        let step = self.mem.step(text, does);
        self.tree.push(step);
        true
    }

    /// "post a quote from https://… to #random on Slack": the call first, then the message.
    fn fetched_first(&mut self, text: &str) -> bool {
        let m = self.mem.m;
        let Some(c) = rx(r"\s*\b(?:from|von|aus|de|depuis|desde)\s+(§u\d+§)").captures(text)
        else {
            return false;
        };
        let talks = services_in(m, text).iter().any(|e| {
            e.service
                .is_some_and(|s| s.is("chat") || s.is("mail") || s.is("sms"))
        }) || m.one(text, "mc").is_some();
        let (Some(whole), Some(url)) = (c.get(0), c.get(1).and_then(|u| m.entity(u.as_str())))
        else {
            return false;
        };
        if !talks || verb_in(text).is_none_or(|(v, _)| v.role != "action") {
            return false;
        }
        let step = self.mem.step(
            text,
            Does::Http {
                method: "GET".into(),
                url: url.value.clone(),
                query: Vec::new(),
                body: Vec::new(),
                auth: None,
                save_as_file: false,
                never_fail: false,
                rate_per_second: None,
            },
        );
        self.tree.push(step);
        let mut rest = text.to_owned();
        rest.replace_range(whole.range(), "");
        self.act(&rest);
        true
    }

    /// "add the person to Brevo and to Airtable base 'Users'": twice.
    fn two_targets(&mut self, text: &str) -> bool {
        let Some(c) = rx(r"^(.+?)\s+((?:to|into|in|on|nach|an|a|en|à|sur|dans)\s+(?:(?:the|our|my|la|el|le)\s+)?(?:[\w-]+\s+){0,2}§s\d+§[^,]*?)\s*(?:,|\band\b|\bund\b|\by\b|\bet\b|&|\+)\s*(?:also\s+|auch\s+)?((?:to|into|in|on|nach|an|a|en|à|sur|dans)\s+(?:(?:the|our|my|la|el|le)\s+)?(?:[\w-]+\s+){0,2}§s\d+§.*)$").captures(text) else {
            return false;
        };
        let (Some(head), Some(one), Some(two)) = (c.get(1), c.get(2), c.get(3)) else {
            return false;
        };
        if verb_in(head.as_str()).is_none_or(|(v, _)| v.role != "action") {
            return false;
        }
        let first_half = format!("{} {}", head.as_str(), one.as_str());
        let second_half = format!("{} {}", head.as_str(), two.as_str());
        for half in [first_half, second_half] {
            let steps = service_steps(self.mem, &half);
            for s in steps {
                self.place(s, &half);
            }
        }
        true
    }

    /// "post positive ones": the mood is found first, then only those go on.
    fn sentiment_of(&mut self, text: &str) {
        let Some(mood) = first(r"\b(positive|negative|positiv|negativ|positiv[oa]s|negativ[oa]s)\w{0,2}\s+(?:ones?|tweets?|posts?|reviews?|comments?|mentions?|messages?|feedback|mails?|bewertungen|kommentare|reseñas|comentarios|avis|commentaires)\b", text).map(str::to_lowercase) else {
            return;
        };
        let mood = if mood.starts_with('p') {
            "positive"
        } else {
            "negative"
        };
        let known = self.tree.root.iter().any(|s| {
            matches!(
                &s.does,
                Does::Llm {
                    task: LlmTask::Sentiment,
                    ..
                }
            )
        });
        let inside = matches!(self.tree.depth(), 1..) && self.tree.in_branch_of_sentiment();
        if inside {
            return;
        }
        if !known {
            let step = self.mem.step(
                text,
                Does::Llm {
                    task: LlmTask::Sentiment,
                    provider: None,
                    instructions: self.mem.m.plain(text),
                    input: None,
                },
            );
            self.tree.push(step);
        }
        let condition = Cond::Compare {
            left: field("sentiment"),
            op: Cmp::Eq,
            right: lit(mood),
        };
        let step = self.mem.step(
            text,
            Does::If {
                condition,
                then: Vec::new(),
                otherwise: Vec::new(),
            },
        );
        self.tree.push(step);
        self.tree.enter(Branch::Then);
    }

    /// Files that are listed are fetched and opened when their rows are wanted; rows become a file when one is asked for.
    fn shape_files(&mut self, text: &str, reads: bool) {
        if !reads {
            return;
        }
        let m = self.mem.m;
        let opened = m.open(text);
        let Some(Does::Service {
            service,
            verb,
            args,
            object,
            ..
        }) = self.tree.here().last().map(|s| s.does.clone())
        else {
            return;
        };
        let files = crate::model::offline::lexicon::services()
            .iter()
            .any(|e| e.is("files") && e.actions == service.node_types);
        if files {
            let format = first(r"\b(csv|xlsx|excel|json|xml)\b", &opened)
                .map(str::to_lowercase)
                .or_else(|| {
                    m.all(text, "f").first().and_then(|e| {
                        first(r"\.(csv|xlsx|json|xml)$", &e.value).map(str::to_lowercase)
                    })
                });
            let single = m
                .all(text, "h")
                .first()
                .is_some_and(|e| has(r"\.\w{2,4}$", &e.value))
                || m.all(text, "f")
                    .first()
                    .is_some_and(|e| !e.value.contains('*'));
            let wanted = has(
                r"\b(?:fetch|download|get|read|parse|import|load|process|pull|hol\w*|lies|lese|lade|descarga|lee|télécharge|lis|récupère)\b",
                &opened,
            ) && !has(r"^(?:list|check|see|liste)\b", &opened);
            let several = has(
                r"\b(?:files|dateien|archivos|fichiers|pdfs|csvs|images|photos)\b|\*",
                &m.plain(text),
            );
            if wanted && several && !single {
                if verb != Verb::GetMany
                    && let Some(last) = self.tree.here().last_mut()
                    && let Does::Service { verb, .. } = &mut last.does
                {
                    *verb = Verb::GetMany;
                }
                let get = self.mem.step(
                    text,
                    Does::Service {
                        service: service.clone(),
                        verb: Verb::Download,
                        object: object.clone(),
                        args: Vec::new(),
                        once: false,
                    },
                );
                self.tree.push(get);
            }
            let _ = args;
            if let Some(format) = format.filter(|_| {
                wanted
                    && has(
                        r"^(?:read|parse|import|load|process|lies|lese|lee|lis)\b",
                        crate::model::offline::read::clause::strip_lead(&opened),
                    )
            }) {
                let format = if format == "excel" {
                    "xlsx".to_owned()
                } else {
                    format
                };
                let open = self.mem.step(
                    text,
                    Does::FromFile {
                        format,
                        options: Vec::new(),
                    },
                );
                self.tree.push(open);
            }
        } else if crate::model::offline::read::args::makes_file(&opened)
            && let Some(format) = crate::model::offline::read::args::file_format(&opened)
        {
            let step = self.mem.step(
                text,
                Does::ToFile {
                    format,
                    file_name: crate::model::offline::read::args::file_name(m, text),
                },
            );
            self.tree.push(step);
        }
    }

    /// "customers from Postgres table a and users from MySQL table b": one read for each.
    fn several_sources(&mut self, text: &str) -> bool {
        let m = self.mem.m;
        let found = services_in(m, text);
        if found.len() < 2
            || verb_in(text).is_none_or(|(v, _)| v.role != "read")
            || has(
                r"\b(?:to|into|in den|ins|nach|a la|vers|dans)\s+(?:the |our |my |a )?(?:\w+ )?§s\d+§",
                text,
            ) && !has(r"\bfrom\b.*\bfrom\b", text)
        {
            return false;
        }
        let segments = source_segments(text);
        if segments.len() < 2 {
            return false;
        }
        let range = crate::model::offline::read::args::time_range(text);
        for segment in segments {
            let Some(e) = services_in(m, &segment).first().copied() else {
                continue;
            };
            if e.service
                .is_some_and(|s| self.mem.trigger.is_some_and(|t| t.key == s.key))
            {
                continue;
            }
            let mut step = read_step(self.mem, &segment, e);
            if let (Does::Service { args, .. }, Some(range)) = (&mut step.does, &range)
                && !args
                    .iter()
                    .any(|a| a.role == crate::model::offline::plan::Role::TimeRange)
                && e.service
                    .is_some_and(|s| !s.is("db") && !s.is("sheet") && !s.is("task"))
            {
                args.push(crate::model::offline::read::value::arg(
                    crate::model::offline::plan::Role::TimeRange,
                    lit(range.clone()),
                ));
            }
            self.tree.push(step);
        }
        true
    }

    /// "… and write an article of about 900 words": more for the model before it.
    fn more_instructions(&mut self, text: &str) -> bool {
        let m = self.mem.m;
        if !services_in(m, text).is_empty() || m.one(text, "mcau").is_some() {
            return false;
        }
        let writes = has(
            r"^(?:write|writes|draft|compose|produce|suggest|answer|reply|return|give|score|rate|explain|translate|keep it|schreib\w*|verfass\w*|redacta|escribe|rédige|écris|create an? (?:summary|draft|reply|article|text|outline))\b",
            text,
        );
        let Some(step) = self.tree.here().last_mut().filter(|_| writes) else {
            return false;
        };
        match &mut step.does {
            Does::Llm { instructions, .. } | Does::Agent { instructions, .. } => {
                *instructions = format!("{instructions}, {}", m.plain(text));
                true
            }
            _ => false,
        }
    }

    /// "log each send in … so that a rerun never mails the same contact twice": look there before sending.
    fn skip_logged(&mut self, text: &str) {
        let Some(Does::Service {
            service,
            args,
            object,
            ..
        }) = self.tree.here().last().map(|s| s.does.clone())
        else {
            return;
        };
        let args = args
            .into_iter()
            .filter(|a| {
                matches!(
                    a.role,
                    crate::model::offline::plan::Role::Part
                        | crate::model::offline::plan::Role::Container
                )
            })
            .collect();
        let what = first(
            r"\b(?:same|dieselbe\w*|denselben|gleiche\w*|mism[oa]|même)\s+([\w-]+)",
            text,
        )
        .unwrap_or("id");
        let key = if has(
            r"^(?:contact|person|customer|lead|user|subscriber|recipient|kunde|kontakt|cliente)s?$",
            what,
        ) {
            "email".to_owned()
        } else {
            format!("{what} id")
        };
        let lookup = self.mem.step(
            text,
            Does::Service {
                service,
                verb: Verb::GetMany,
                object,
                args,
                once: false,
            },
        );
        let step = self.mem.step(
            text,
            Does::NotIn {
                lookup: Box::new(lookup),
                key: field(&key),
            },
        );
        self.tree.insert_at_root_after_source(step);
    }

    /// "check … to see if C": C waits for its "if yes".
    fn check_of(&mut self, text: &str) {
        let tail = first(r"\b(?:to see|see|check|checking|prüfen?|prüfe|schau\w*|comprueba|voir|vérifie\w*)\s+(?:if|whether|ob|si)\s+(.+)$", text).map(str::to_owned);
        if let Some(tail) = tail {
            self.pending = Some(cond::condition_or_flag(self.mem.m, &tail));
        }
    }

    /// "join both by date", "match on email", "keep only those that are in A but not in B".
    fn joins(&mut self, text: &str) -> bool {
        let m = self.mem.m;
        let joins = has(
            r"^(?:join|merge|match|combine|compare|verknüpf\w*|führe|vergleich\w*|kombinier\w*|verbinde|une|unir|combina|cruza|compara|fusionne|joins|croise|compare|enrich|anreichern)\b",
            text,
        ) && has(
            r"\b(?:on|by|über|anhand|nach|por|par|sur|via|using|with)\b|\b(?:both|them|the two|beide\w*|ambos|les deux)\b",
            text,
        );
        if joins
            && services_in(m, text).len() >= 2
            && self.tree.here().iter().filter(|s| is_source(s)).count() < 2
        {
            for e in services_in(m, text).into_iter().take(2) {
                if !self
                    .mem
                    .read
                    .iter()
                    .any(|(r, _)| e.service.is_some_and(|s| s.key == r.key))
                {
                    let segment = format!("get {}", segment_of(m, text, e));
                    let step = read_step(self.mem, &segment, e);
                    self.tree.push(step);
                }
            }
        }
        if joins {
            let on = first(r"\b(?:on|by|über|anhand|nach|por|par|sur|via|using)\s+(?:the |their |das |die |den |el |la |le |same |matching )?([\w-]+(?: id)?)", text).unwrap_or("id").to_owned();
            let steps = self.tree.here();
            let mut reads: Vec<usize> = steps
                .iter()
                .enumerate()
                .rev()
                .filter(|(_, s)| {
                    is_source(s) && !matches!(s.does, Does::Filter { .. } | Does::Dedupe { .. })
                })
                .map(|(i, _)| i)
                .take(2)
                .collect();
            reads.reverse();
            let [left, right] = reads.as_slice() else {
                return false;
            };
            let right = steps.split_off(*right);
            let left = steps.split_off(*left);
            let keep = keep_of(text);
            let step = self.mem.step(
                text,
                Does::Join {
                    left,
                    right,
                    on,
                    keep,
                },
            );
            self.tree.push(step);
            return true;
        }
        let keeps = has(
            r"^(?:keep|only keep|keep only|take|behalte|nur|quédate|conserva|garde|ne garde)\b",
            text,
        ) && services_in(m, text).len() >= 2
            && has(r"\b(?:not|nicht|no|pas|but|missing)\b", text);
        if keeps
            && let Some(step) = self.tree.here().last_mut()
            && let Does::Join { keep, left, .. } = &mut step.does
        {
            let order: Vec<_> = services_in(m, text)
                .iter()
                .filter_map(|e| e.service)
                .collect();
            let left_first = left.iter().any(|s| matches!(&s.does, Does::Service { service, .. } if order.first().is_some_and(|o| o.actions == service.node_types)));
            *keep = if left_first {
                "left_only"
            } else {
                "right_only"
            }
            .into();
            return true;
        }
        false
    }

    /// Words that change a step that is already there.
    fn modifier(&mut self, text: &str) -> bool {
        if self.joins(text) {
            return true;
        }
        if let Some(rate) = special::rate(text)
            && services_in(self.mem.m, text).is_empty()
        {
            self.limit_rate(rate, text);
            return true;
        }
        if has(
            r"^(?:same|the same|gleiche\w*|misma?|même)\s+(?:check|prüfung|comprobación|vérification|thing|again)",
            text,
        ) {
            let again = self.last_check.clone();
            let mut fresh = Vec::new();
            for s in again {
                fresh.push(self.mem.step(&s.said, s.does));
            }
            for s in fresh {
                let opens = matches!(s.does, Does::If { .. });
                self.tree.push(s);
                if opens {
                    self.tree.enter(Branch::Then);
                }
            }
            return true;
        }
        if has(
            r"\b(?:one |a )?(?:last|final|another|second|letzte|último|dernier) (?:reminder|mail|message|notice|erinnerung|recordatorio|rappel)\b",
            text,
        ) && verb_in(text).is_none_or(|(v, _)| v.verb == "mail" || v.role == "neutral")
        {
            let found = find_last_talk(&self.tree.root).cloned();
            if let Some(step) = found {
                let mut does = step.does;
                if let Does::Service { args, .. } = &mut does {
                    args.retain(|a| !matches!(a.role, crate::model::offline::plan::Role::Text));
                    args.push(crate::model::offline::read::value::arg(
                        crate::model::offline::plan::Role::Text,
                        lit(self.mem.m.plain(text)),
                    ));
                }
                let step = self.mem.step(text, does);
                self.tree.push(step);
                return true;
            }
        }
        if self.mem.notes.last().is_some_and(|n| n == "exception") {
            self.mem.notes.pop();
            self.except(text);
            return true;
        }
        false
    }

    fn limit_rate(&mut self, rate: f64, text: &str) {
        if let Some(step) = last_http(&mut self.tree.root) {
            if let Does::Http {
                rate_per_second, ..
            } = &mut step.does
            {
                *rate_per_second = Some(rate);
            }
            return;
        }
        // A service has no such setting: pause after each batch.
        let batch = batch_size(&self.tree.root).unwrap_or(1);
        let seconds = (f64::from(batch) / rate).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded by the batch size"
        )]
        let seconds = seconds.clamp(1.0, 86_400.0) as u64;
        let step = self.mem.step(text, Does::Wait { seconds });
        self.tree.push(step);
    }

    fn place(&mut self, step: Step, text: &str) {
        match &step.does {
            Does::Llm {
                task: LlmTask::Classify { labels },
                ..
            } => {
                self.labels.clone_from(labels);
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
                    && !args
                        .iter()
                        .any(|a| a.role == crate::model::offline::plan::Role::Attachment)
                {
                    args.push(crate::model::offline::read::value::arg(
                        crate::model::offline::plan::Role::Attachment,
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

const NEVER_TWICE: &str = r"\b(?:never|not|no|nie|nicht|nunca|jamais|don't|do not)\b.{0,60}\b(?:twice|doppelt|zweimal|dos veces|deux fois|again|duplicates?)\b";

/// The words around one service in a clause that names several.
fn segment_of(m: &Masked, text: &str, e: &crate::model::offline::read::text::Entity) -> String {
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
        .chain(errors.iter().filter(|(_, s)| *s == 400))
    {
        let message = crate::model::offline::read::value::arg(
            crate::model::offline::plan::Role::Field("error".into()),
            lit(label.clone()),
        );
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
                && !args
                    .iter()
                    .any(|a| a.role == crate::model::offline::plan::Role::MatchOn)
            {
                args.push(crate::model::offline::read::value::arg(
                    crate::model::offline::plan::Role::MatchOn,
                    lit(what.trim().to_owned()),
                ));
            }
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
        let goes = has(
            r"^(?:go|goes|gets?|needs?|become|becomes|should|must|geht|gehen|muss|müssen|soll|sollen|bekommt|van|va|debe|deben|doit|doivent)$",
            word,
        );
        let imperative = crate::model::offline::lexicon::verb(word)
            .is_some_and(|v| v.role != "neutral")
            && (has(
                r"^(?:a|an|the|it|them|me|us|him|her|to|in|eine?\w*|den|die|das|un|una|el|la|le|les|all|my|our|every|new|one)$",
                next,
            ) || next.starts_with('§'))
            && !has(
                r"^(?:the|a|an|to|is|are|was|were|we|i|they|who|that|which|of|and|or|be|been|not|has|have|gets|someone|customer|user|every|each|new|in|for|if|when|they)$",
                prev,
            );
        if goes || imperative {
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
