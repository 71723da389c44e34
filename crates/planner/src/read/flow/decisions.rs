//! Conditions, cases, exceptions, approvals: the clauses that open and close branches.

use super::*;

impl Flow<'_, '_> {
    /// Approved → …, rejected → …
    pub(super) fn verdict(&mut self, text: &str) -> bool {
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
    pub(super) fn other_side(&mut self, text: &str) -> bool {
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
            if !self.tree.enter_chain(|_| true)
                && !(self.tree.filter_to_if() && self.tree.enter(Branch::Otherwise))
            {
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
    pub(super) fn case(&mut self, text: &str) -> bool {
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
                        left: field(&self.label_field),
                        op: Cmp::Eq,
                        right: lit(l.clone()),
                    }),
                    steps: Vec::new(),
                })
                .collect();
            let step = self.mem.step(
                text,
                Does::Switch {
                    on: field(&self.label_field),
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
    pub(super) fn exception(&mut self, text: &str) -> bool {
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

    pub(super) fn except(&mut self, rest: &str) {
        let (head, action) = split_at_action(rest);
        let condition = self.sure(&head);
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
    pub(super) fn unless(&mut self, text: &str) -> bool {
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
                        crate::plan::Role::Container | crate::plan::Role::Part
                    )
                })
                .cloned()
                .collect::<Vec<_>>();
            if has(r"\bopen\b|\boffen\w*\b|\babiert\w+|\bouvert", &rest) {
                lookup_args.push(crate::read::value::arg(
                    crate::plan::Role::Status,
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
        let condition = self.sure(&rest);
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
    pub(super) fn condition(&mut self, c: &Clause, text: &str) -> bool {
        let m = self.mem.m;
        if has(
            r"^(?:{if})\s+(?:it exists|they exist|found|it is found|there is one|one exists|it's there|er existiert|es existiert|sie existiert|existe|il existe)\b[,:]?\s*$",
            text,
        ) && let Some((_, id)) = self.mem.read.last().cloned()
        {
            let condition = Cond::Compare {
                left: Val::Field {
                    name: "id".into(),
                    of: Some(id),
                },
                op: Cmp::Exists,
                right: lit(true),
            };
            self.open_if(text, condition);
            return true;
        }
        // "if yes", "if so", "if it is": the check before it.
        if has(
            r"^(?:{if})\s+(?:(?:yes|so|ja|sí|oui|that's the case|true)\b|(?:it is|it does|they are)(?:\s*[,:]|$))",
            text,
        ) {
            let rest = rx(r"^(?:{if})\s+(?:(?:yes|so|ja|sí|oui|that's the case|true)\b|(?:it is|it does|they are)(?:\s*[,:]|$))[,:]?\s*").replace(text, "").into_owned();
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
        // "check if the amount is over 100 and post it": what follows waits for it.
        if let Some(tail) = first(
            r"^(?:check|checks|see|prüfe?|überprüfe?|comprueba|verifica|vérifie)\s+(?:if|whether|ob|si)\s+(.+)$",
            text,
        ) && services_in(m, text).is_empty()
            && m.one(text, "u").is_none()
            && !has(r"\b(?:already|exists?|schon|bereits|ya|déjà)\b", tail)
            && let Some(condition) = cond::condition(m, tail)
        {
            self.pending = Some(condition.clone());
            self.open_if(text, condition);
            return true;
        }
        // "… but only if they have an address": the step before it.
        if has(
            r"^(?:only (?:if|when)|nur wenn|solo si|seulement si)\b",
            text,
        ) && matches!(c.join, Join::Comma | Join::And | Join::Dash)
            && split_at_action(text).1.is_none()
            && self.tree.here().last().is_some_and(|s| !is_source(s))
            && let Some(last) = self.tree.here().pop()
        {
            let condition = self.sure(text);
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
        let condition = self.sure(&each_that(&head));
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
        // "If the temperature from OpenWeatherMap is above …" on a schedule: it is read first.
        if !has(r"^(?:with|bei|for)\b", text) {
            for e in services_in(m, &head) {
                if e.service.is_some_and(|s| {
                    !s.actions.is_empty()
                        && !s.is("chat")
                        && !s.is("mail")
                        && self.mem.trigger.is_none_or(|t| t.key != s.key)
                        && !self.mem.read.iter().any(|(r, _)| r.key == s.key)
                        && !self.mem.used.iter().any(|u| u.key == s.key)
                }) {
                    let read = read_step(self.mem, &head, e);
                    self.tree.push(read);
                }
            }
        }
        // "if it is A, …, if it is B, …": the same question again is the other side of the first.
        if let Does::If { condition, .. } = &step.does
            && self.tree.depth() > 0
            && self.tree.open_condition().is_some_and(|open| {
                checked(&open) == checked(condition) && checked(condition).is_some()
            })
        {
            self.tree.open_other(Branch::Otherwise);
        }
        // "When X with priority high, …; if the priority is low, …": what the start let through alone was one case
        if let Does::If { condition, .. } = &step.does
            && self.tree.depth() == 0
            && !has(r"^(?:only|nur|solo|{also}|{always})\b", text)
            && let Some(name) = checked(condition).cloned()
            && self.tree.filtered_by(&name)
            && self.tree.filter_to_if()
        {
            self.tree.enter(Branch::Otherwise);
        }
        // "Amount under 50: …. Amount from 50 to 300: …": the next case of the same question
        if let Does::If { condition, .. } = &step.does
            && let Some(Val::Field { name, .. }) = checked(condition).cloned()
            && !has(r"^(?:{also}|{always})\b", text)
        {
            self.tree.enter_chain(|c| {
                ranged(c) && matches!(checked(c), Some(Val::Field { name: n, .. }) if *n == name)
            });
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
    pub(super) fn trailing_condition(&mut self, text: &str) -> bool {
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
        let condition = self.sure(&tail);
        self.open_if(text, condition);
        self.act(&action);
        true
    }
}
