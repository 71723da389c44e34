//! Actions that become more than one step: several sources or targets, files, moods, consent, rates.

use super::*;

impl Flow<'_, '_> {
    /// "delete them only after my approval".
    pub(super) fn after_consent(&mut self, text: &str) -> bool {
        let Some(c) = rx(r"^(.+?)\s+(?:but\s+)?(?:only\s+|nur\s+|solo\s+|seulement\s+)?(after|with|upon|once|nach|mit|con|tras|après|avec)\s+(?:my|an?|the|his|her|their|manual|human|meiner?|mi|mon|\w+'s)?\s*(approval|freigabe|genehmigung|zustimmung|aprobación|approbation|ok)\b.*$").captures(text) else {
            return false;
        };
        let Some(action) = c.get(1).map(|a| a.as_str().to_owned()) else {
            return false;
        };
        let Some((verb, _)) = verb_in(&action).filter(|(v, _)| v.role == "action") else {
            return false;
        };
        // "answer with ok" names what is answered, and nobody's consent.
        let part = |at| c.get(at).map_or("", |g| g.as_str()).to_lowercase();
        if verb.verb == "reply"
            && part(3) == "ok"
            && matches!(part(2).as_str(), "with" | "mit" | "con" | "avec")
        {
            return false;
        }
        let entry = self
            .mem
            .used
            .iter()
            .rev()
            .find(|e| e.is("chat"))
            .copied()
            .or_else(|| crate::lexicon::service("email"));
        let Some(entry) = entry else { return false };
        let args = self.mem.last_target.clone().into_iter().collect();
        let ask = self.mem.step(
            text,
            Does::Approval {
                service: crate::read::act::service_of(entry, &entry.label),
                args,
                approved: Vec::new(),
                rejected: Vec::new(),
            },
        );
        self.tree.push(ask);
        self.tree.enter(Branch::Approved);
        self.act(&action);
        true
    }

    /// "…, if country is FR to orders-fr": the same step with another place.
    pub(super) fn elliptical(&mut self, text: &str) -> bool {
        use crate::plan::Role;
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
    pub(super) fn fetched_first(&mut self, text: &str) -> bool {
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
    pub(super) fn two_targets(&mut self, text: &str) -> bool {
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
    pub(super) fn sentiment_of(&mut self, text: &str) {
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
        self.open_if(text, condition);
    }

    /// Files that are listed are fetched and opened when their rows are wanted; rows become a file when one is asked for.
    pub(super) fn shape_files(&mut self, text: &str, reads: bool) {
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
        let files = crate::lexicon::services()
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
                        crate::read::clause::strip_lead(&opened),
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
        } else if crate::read::args::makes_file(&opened)
            && let Some(format) = crate::read::args::file_format(&opened)
        {
            let step = self.mem.step(
                text,
                Does::ToFile {
                    format,
                    file_name: crate::read::args::file_name(m, text),
                },
            );
            self.tree.push(step);
        }
    }

    /// "customers from Postgres table a and users from MySQL table b": one read for each.
    pub(super) fn several_sources(&mut self, text: &str) -> bool {
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
        let range = crate::read::args::time_range(text);
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
                && !args.iter().any(|a| a.role == crate::plan::Role::TimeRange)
                && e.service
                    .is_some_and(|s| !s.is("db") && !s.is("sheet") && !s.is("task"))
            {
                args.push(crate::read::value::arg(
                    crate::plan::Role::TimeRange,
                    lit(range.clone()),
                ));
            }
            self.tree.push(step);
        }
        true
    }

    /// "… and write an article of about 900 words": more for the model before it.
    pub(super) fn more_instructions(&mut self, text: &str) -> bool {
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
    pub(super) fn skip_logged(&mut self, text: &str) {
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
                    crate::plan::Role::Part | crate::plan::Role::Container
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

    /// "for each item in `shipments` …", "loop over the items and …": the list is split first; what is left of the clause.
    pub(super) fn items_of(&mut self, text: &str) -> String {
        let marked = r"^(?:for (?:each|every)|für jede\w*|para cada|pour chaque)\s+(?:[\w-]+\s+)?(?:(?:in|of|from|aus|von|de|dans|en)\s+)?(?:the |our |its |der |dem |la |el |l')?(?:list |array |field |liste |feld |lista )?(§[kd]\d+§)(?: (?:list|array|field))?[,:]?\s*";
        let listed = r"^(?:for (?:each|every)|für jede\w*|para cada|pour chaque)\s+[\w-]+\s+(?:in|of|from|aus|von|de|dans|en)\s+(?:the |our |its |der |dem |la |el |l')?(?:list|array|field|liste|feld|lista)\s+(§q\d+§|[\w-]+)[,:]?\s*";
        let looped = r"^(?:loop|iterate)\s+(?:over|through)\s+(?:the |all |each |every |all the )?(?:list |array )?(?:of )?(§[qkd]\d+§|[\w-]+)(?: (?:list|array))?(?:\s*[,:]\s*|\s+(?:and|then)\s+|$)";
        // What was read before is items already.
        let whole =
            self.mem.trigger.is_none() && self.mem.used.is_empty() && self.mem.read.is_empty();
        if !whole && let Some(walk) = rx(looped).find(text) {
            return text.get(walk.end()..).unwrap_or_default().to_owned();
        }
        let found = [(marked, true), (listed, whole), (looped, whole)]
            .into_iter()
            .filter(|(_, applies)| *applies)
            .find_map(|(pattern, _)| rx(pattern).captures(text));
        let Some(c) = found else {
            return text.to_owned();
        };
        let (Some(whole), Some(list)) = (c.get(0), c.get(1)) else {
            return text.to_owned();
        };
        let entity = self.mem.m.entity(list.as_str());
        let list = entity.map_or_else(|| list.as_str().to_owned(), |e| e.value.clone());
        let step = self.mem.step(
            text,
            Does::Split {
                field: field(&list),
            },
        );
        self.tree.push(step);
        text.get(whole.end()..).unwrap_or_default().to_owned()
    }

    /// "post the top 3 to …": sorted and cut before they are sent.
    pub(super) fn best_of(&mut self, text: &str) {
        // Without a source before it, the clause reads by itself and its source is limited.
        if self.tree.here().is_empty()
            || verb_in(text).is_none_or(|(v, _)| v.role != "action")
            || !has(
                r"\b(?:the|only|die|los|las|les)\s+(?:top|first|newest|latest|{num}\s+(?:newest|latest|most recent|oldest|biggest|largest|highest|cheapest|smallest|lowest|best|worst|neuesten|größten|teuersten|günstigsten|besten|más|mejores|mayores|plus|meilleur\w*))\s",
                text,
            )
        {
            return;
        }
        let mut shaped = special_shape(self.mem, text);
        shaped.retain(|s| matches!(s.does, Does::Sort { .. } | Does::LimitTo { .. }));
        if let Some(Does::Sort { descending, .. }) =
            self.tree.here().last_mut().map(|s| &mut s.does)
        {
            // "sort by the sum … the top 3": the greatest come first
            *descending = *descending || has(r"\btop\b", text);
            shaped.retain(|s| matches!(s.does, Does::LimitTo { .. }));
        }
        for s in shaped {
            self.tree.push(s);
        }
    }

    /// "wait two days at most": how long the approval before it may take.
    pub(super) fn patience(&mut self, text: &str) -> bool {
        let limits = has(
            r"\b(?:at most|max\w*|up to|no longer than|no more than|höchstens|maximal|bis zu|como máximo|máximo|hasta|au plus|au maximum|jusqu'à|timeout|time limit|time out|deadline|frist|plazo|délai)\b|\b(?:no|without an?|keine|sin|sans) (?:answer|reply|response|reaction|antwort|reaktion|respuesta|réponse)\b",
            text,
        ) && has(
            r"\b(?:wait|waits|answer|answers|reply|respond|response|approv\w*|warte\w*|antwort\w*|espera\w*|respuesta|attend\w*|réponse|timeout|expires?|deadline|frist|plazo|délai)\b",
            text,
        );
        let Some(seconds) = when::duration(text).filter(|_| limits) else {
            return false;
        };
        let Some(args) = approval_args(&mut self.tree.root) else {
            return false;
        };
        use crate::plan::Role;
        if !args.iter().any(|a| a.role == Role::TimeRange) {
            args.push(crate::read::value::arg(Role::TimeRange, lit(seconds)));
        }
        true
    }

    /// Words that change a step that is already there.
    pub(super) fn modifier(&mut self, text: &str) -> bool {
        if self.patience(text) {
            return true;
        }
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
                    args.retain(|a| !matches!(a.role, crate::plan::Role::Text));
                    args.push(crate::read::value::arg(
                        crate::plan::Role::Text,
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

    pub(super) fn limit_rate(&mut self, rate: f64, text: &str) {
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
}
