//! Loops, validations, joins, error answers and clauses that say more about the step before them.

use super::*;

impl Flow<'_, '_> {
    /// "go through them in batches of 10", "after the last batch", "at the end".
    pub(super) fn loops(&mut self, text: &str) -> bool {
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
        let Some(n) = first(r"\b(?:in )?(?:batches|chunks|groups|blöcken|stapeln|lotes|lots|packs|slices) (?:of|von|de|à|zu) (\d+)\b", text).and_then(|n| n.parse::<u32>().ok()).or_else(|| has(ONE_BY_ONE, text).then_some(1)) else {
            return false;
        };
        let text = &rx(ONE_BY_ONE).replace(text, "").into_owned();
        let rest = rx(r"\s*\b(?:in )?(?:batches|chunks|groups|blöcken|stapeln|lotes|lots|packs|slices) (?:of|von|de|à|zu) \d+\b").replace(text, "").into_owned();
        for e in services_in(self.mem.m, &rest) {
            let walks = has(
                r"^(?:go through|loop|iterate|process|walk|handle|work|gehe|durchlaufe|recorre|parcours|read|take|get)\b",
                &rest,
            );
            if walks
                && e.service.is_some_and(|s| {
                    !s.actions.is_empty()
                        && self.mem.trigger.is_none_or(|t| t.key != s.key)
                        && !self.mem.read.iter().any(|(r, _)| r.key == s.key)
                })
            {
                let read = read_step(self.mem, &rest, e);
                self.tree.push(read);
            }
        }
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
    pub(super) fn equips(&mut self, c: &Clause, text: &str) -> bool {
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
            && crate::read::agent::equip(self.mem, &mut step, text);
        self.tree.here().push(step);
        done
    }

    /// "post to Slack #ops: New order {{id}}": what stands behind the colon is the text.
    pub(super) fn spelled_out(&mut self, c: &Clause, text: &str) -> bool {
        let m = self.mem.m;
        let talks = self
            .mem
            .used
            .last()
            .filter(|e| e.is("chat") || e.is("mail"));
        let Some(entry) = talks.filter(|_| c.join == Join::Colon && verb_in(text).is_none()) else {
            return false;
        };
        let Some(Does::Service {
            args,
            service,
            verb: Verb::Send | Verb::Post | Verb::Reply,
            ..
        }) = self.tree.here().last_mut().map(|s| &mut s.does)
        else {
            return false;
        };
        if service.node_types != entry.actions || args.iter().any(|a| a.role == Role::Text) {
            return false;
        }
        args.push(arg(Role::Text, template(&m.plain(text))));
        true
    }

    /// "…: order number, e-mail, total", "tab 'Orders'": more about the step before it.
    pub(super) fn continues(&mut self, c: &Clause, text: &str) -> bool {
        if matches!(c.join, Join::Start | Join::Arrow)
            || self.in_error
            || !services_in(self.mem.m, text).is_empty()
        {
            return false;
        }
        let m = self.mem.m;
        let entry = self.mem.used.last().copied();
        let names = crate::read::value::field_list(m, text);
        let listed = names.len() > 1
            && c.join == Join::Colon
            && verb_in(text).is_none_or(|(v, i)| v.role == "neutral" || i > 0);
        let part = has(
            r"^(?:tab|worksheet|sheet|table|folder|channel|subject|betreff|tabelle|reiter|pestaña|onglet|spalten?|columns?|fields?|with|mit|con|avec|including|assigned to|label(?:l?ed)?|due|priority|project|list|board|title|in (?:the )?(?:tab|folder|channel|project|list))\b",
            text,
        ) && verb_in(text).is_none_or(|(v, i)| {
            i > 1
                || v.role == "neutral"
                || crate::lexicon::noun(text.split_whitespace().next().unwrap_or_default())
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
            crate::read::args::for_action(self.mem, text, entry, "add")
        };
        if listed {
            extra.extend(crate::read::value::field_args(&names));
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
    pub(super) fn http_error(&mut self, c: &Clause, text: &str) -> bool {
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
    pub(super) fn validation(&mut self, text: &str) -> bool {
        let m = self.mem.m;
        if let Some(tail) = first(
            r"^(?:check|checks|verify|validate|make sure|ensure|prüfe?n?|stelle sicher|comprueba|verifica|vérifie[rz]?|assure-toi)\s*,?\s+(?:that|dass|ob|whether|que)\s+(.+)$",
            text,
        ) && services_in(m, text).is_empty()
            && m.one(text, "u").is_none()
        {
            let condition = self.sure(tail);
            if self.open_if(text, condition) {
                self.tree.settle();
                self.validated = true;
            }
            return true;
        }
        // "age must be at least 18": a rule about the input
        if self.mem.answers_caller
            && has(
                r"\b(?:must|has to|have to|needs? to|should|muss|müssen|debe|deben|doit|doivent)\b",
                text,
            )
            && services_in(m, text).is_empty()
            && split_at_action(text).1.is_none()
            && let Some(rule) = cond::condition(m, text)
        {
            if let Some(Does::If {
                condition,
                then,
                otherwise,
            }) = self.tree.here().last_mut().map(|s| &mut s.does)
                && then.is_empty()
                && otherwise.is_empty()
            {
                let before = std::mem::replace(condition, Cond::All { of: Vec::new() });
                *condition = Cond::All {
                    of: vec![before, rule],
                };
                return true;
            }
            let step = self.mem.step(
                text,
                Does::If {
                    condition: rule,
                    then: Vec::new(),
                    otherwise: Vec::new(),
                },
            );
            self.tree.push(step);
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

    /// "check … to see if C": C waits for its "if yes".
    pub(super) fn check_of(&mut self, text: &str) {
        let tail = first(r"\b(?:to see|see|check|checking|prüfen?|prüfe|schau\w*|comprueba|voir|vérifie\w*)\s+(?:if|whether|ob|si)\s+(.+)$", text).map(str::to_owned);
        if let Some(tail) = tail {
            self.pending = Some(self.sure(&tail));
        }
    }

    /// "join both by date", "match on email", "keep only those that are in A but not in B".
    pub(super) fn joins(&mut self, text: &str) -> bool {
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
}
