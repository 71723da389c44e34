//! Work for a language model: classify, extract, summarise, translate, write, transcribe, draw.

use super::*;

/// The language-model provider that a text names.
pub fn provider(m: &Masked, t: &str) -> Option<String> {
    crate::read::models::said(&m.plain(t)).or_else(|| {
        m.all(t, "s")
            .iter()
            .find_map(|e| e.service.filter(|s| s.is("llm")).map(|s| s.key.clone()))
    })
}

pub(super) fn media(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    if has(r"\b(?:transcr[ií]\w+|transkribier\w*)\b", t) && !has(r"\bagent\b", t) {
        let mut out = Vec::new();
        let drive = mem
            .trigger
            .filter(|e| e.is("files") && !e.actions.is_empty());
        if let Some(store) = drive {
            out.push(mem.step(
                t,
                Does::Service {
                    service: service_of(store, &store.label),
                    verb: crate::plan::Verb::Download,
                    object: Some("file".into()),
                    args: Vec::new(),
                    once: false,
                },
            ));
        }
        out.push(mem.step(
            t,
            Does::Transcribe {
                provider: provider(m, t),
            },
        ));
        return Some(out);
    }
    if has(
        r"\b(?:generate|create|make|draw|render|produce|erzeuge|erstelle|generiere|genera|crea|génère|crée)\b.{0,30}\b(?:images?|picture|illustration|header image|thumbnail|cover|bild|imagen|image|artwork|logo)\b",
        t,
    ) {
        return Some(vec![mem.step(
            t,
            Does::GenerateImage {
                provider: provider(m, t),
                prompt: m.plain(t),
            },
        )]);
    }
    None
}

pub(super) fn model(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    let opened = m.open(t);
    let provider = provider(m, &opened);
    let by_model = provider.is_some()
        || has(
            r"\b(?:llm|ai|ki|ia|gpt|language model|sprachmodell|agent|agente)\b",
            &opened,
        );
    let instructions = m.plain(t);
    let llm = |mem: &mut Memory<'_>, task: LlmTask| {
        Some(vec![mem.step(
            t,
            Does::Llm {
                task,
                provider: provider.clone(),
                instructions: instructions.clone(),
                input: None,
            },
        )])
    };
    if has(
        r"\b(?:classif\w+|categori[sz]\w+|klassifizier\w*|kategorisier\w*|clasific\w+|catégoris\w+|classe[rz]?|triage|label(?:l?ed)? (?:it |them )?(?:by (?:an )?(?:llm|ai)|as)|sort(?:ed)? (?:them )?into)\b",
        &opened,
    ) && !has(r"^classe\b.*\bdans\b", &opened)
    {
        let bare = rx(r"\s*§r\d+§").replace_all(t, "").into_owned();
        let labels = first(r"\b(?:as|into|in|als|nach|como|en|comme|between|either|whether (?:it is|it's)|:)\s+(?:either\s+|one of\s+)?((?:[\w§'’ -]+(?:,|/| or | and | oder | und | o | ou | y | et ))+[\w§'’ -]+)", &bare)
            .map(|x| list(&m.plain(x)).iter().map(|l| clean_field(l).trim_matches(['"', '\'']).to_owned()).filter(|l| !l.is_empty() && l.split_whitespace().count() <= 4).collect::<Vec<_>>())
            .or_else(|| {
                m.all(&opened, "r").iter().map(|e| field_list(m, &e.value.replace('/', ","))).find(|l| l.len() > 1)
            })
            .unwrap_or_default();
        let labels = if labels.is_empty() {
            m.all(t, "r")
                .iter()
                .map(|e| field_list(m, &e.value.replace('/', ",")))
                .find(|l| l.len() > 1)
                .unwrap_or_default()
        } else {
            labels
        };
        return llm(mem, LlmTask::Classify { labels });
    }
    if has(
        r"\b(?:sentiment|stimmung|sentimiento|tonalité|tone of)\b",
        &opened,
    ) {
        return llm(mem, LlmTask::Sentiment);
    }
    if by_model
        && has(r"\bpdfs?\b", &opened)
        && has(
            r"\b(?:extract|extracts|pull out|extrahier\w*|extrae|extraer|extrai\w*|read)\b",
            &opened,
        )
        && services_in(m, t).is_empty()
        && fields_tail(m, t).len() > 1
    {
        return Some(vec![
            mem.step(
                t,
                Does::FromFile {
                    format: "pdf".into(),
                    options: Vec::new(),
                },
            ),
            mem.step(
                t,
                Does::Llm {
                    task: LlmTask::Extract {
                        fields: fields_tail(m, t),
                    },
                    provider: provider.clone(),
                    instructions: instructions.clone(),
                    input: None,
                },
            ),
        ]);
    }
    if by_model
        && has(
            r"\b(?:extract|extracts|pull out|pulls out|extrahier\w*|extrae|extraer|extrai\w*|parse|auslesen|read out)\b",
            &opened,
        )
        || has(r"^(?:extract|extrahiere|extrae|extrais)\b", &opened)
            && !has(r"\btext\b|\bzip\b|\barchive\b|\bcsv\b", &opened)
            && fields_tail(m, t).len() > 1
    {
        return llm(
            mem,
            LlmTask::Extract {
                fields: fields_tail(m, t),
            },
        );
    }
    if has(
        r"\b(?:summari[sz]e[sd]?|summari[sz]ing|zusammenfass\w*|zusammengefasst|fasse\b.*\bzusammen|resum(?:e|ir|a|elos?|elas?|irlos?)|résum(?:e|er|ez|és))\b",
        &opened,
    ) {
        let mut out = source_reads(mem, t);
        out.extend(llm(mem, LlmTask::Summarize).unwrap_or_default());
        return Some(out);
    }
    if has(
        r"\b(?:translate\w*|übersetz\w*|traduc\w+|tradui\w*)\b",
        &opened,
    ) {
        let language = first(r"\b(?:to|into|ins|in|nach|auf|al|a|en)\s+(english|german|spanish|french|italian|portuguese|dutch|polish|japanese|chinese|englische?|deutsche?|spanische?|französische?|inglés|alemán|español|francés|anglais|allemand|espagnol|français)\b", &opened).unwrap_or("English");
        if let Some(tool) = m.all(&opened, "s").into_iter().find_map(|e| {
            e.service
                .filter(|s| matches!(s.key.as_str(), "deepL" | "googleTranslate" | "lingvaNex"))
        }) {
            let args = vec![
                arg(Role::Text, field("text")),
                arg(Role::Field("language".into()), lit(language)),
            ];
            mem.used.push(tool);
            return Some(vec![mem.step(
                t,
                Does::Service {
                    service: service_of(tool, &tool.label),
                    verb: crate::plan::Verb::Run,
                    object: None,
                    args,
                    once: false,
                },
            )]);
        }
        let mut out = source_reads(mem, t);
        out.extend(
            llm(
                mem,
                LlmTask::Translate {
                    language: language.to_owned(),
                },
            )
            .unwrap_or_default(),
        );
        return Some(out);
    }
    if services_in(m, t).is_empty()
        && has(
            r"^(?:an?|the|our|my|ein\w*|der|un|el|l'|une?)\s*(?:\w+ )?(?:ai[- ]|llm[- ]|gpt[- ]|ki-?)?agente?n?\b",
            &opened,
        )
    {
        return Some(vec![crate::read::agent::researcher(mem, t)]);
    }
    if provider.is_none()
        && m.all(&opened, "s").iter().any(|e| {
            e.service.is_some_and(|s| {
                matches!(s.key.as_str(), "deepL" | "googleTranslate" | "lingvaNex")
            })
        })
    {
        return None;
    }
    let writes = has(
        r"\b(?:write|writes|written|generated|geschrieben\w*|verfasst\w*|escrit[oa]s?|rédigée?s?|draft|compose|rewrite|personali[sz]e\w*|critique|review|suggest|detect|determine|identify|recogni[sz]e|generate|improve|brainstorm|come up with|formulier\w*|schreib\w*|verfass\w*|redacta\w*|escrib\w*|rédige\w*|écri\w*|score|rate|analy[sz]e\w*|analysier\w*|evaluate|bewerte\w*|answer|decide|check)\b",
        &opened,
    );
    if services_in(m, t).is_empty()
        && has(
            r"^(?:let|have|ask|use|lass)\s+(?:(?:an?|the|our|ein\w*|un)\s+)?(?:\w+ )?(?:ai[- ]|llm[- ]|gpt[- ]|ki-?)?agente?n?\b",
            &opened,
        )
    {
        return Some(vec![crate::read::agent::researcher(mem, t)]);
    }
    // "Let GPT write a LinkedIn post about our latest article (RSS …)": the post itself comes later.
    if by_model
        && writes
        && has(
            r"^(?:let|have|ask|use|lass|deja|pide|laisse|demande)\b",
            &opened,
        )
    {
        let mut out = Vec::new();
        for e in services_in(m, &opened) {
            let Some(entry) = e.service else { continue };
            if entry.key == "rssFeedRead" {
                let mut reading = source_reads(mem, t);
                reading.retain(|s| matches!(&s.does, Does::Service { service, .. } if service.node_types == entry.actions));
                out.extend(reading);
            } else {
                mem.used.push(entry);
            }
        }
        out.extend(llm(mem, LlmTask::Write).unwrap_or_default());
        return Some(out);
    }
    if by_model && writes && services_in(m, t).is_empty() {
        let agentic = has(
            r"\b(?:agent|agente|research\w*|on the web|web search|search the web)\b",
            &opened,
        );
        if agentic {
            return Some(vec![crate::read::agent::researcher(mem, t)]);
        }
        return llm(mem, LlmTask::Write);
    }
    if by_model
        && services_in(m, t).is_empty()
        && has(
            r"^(?:let|have|ask|use|lass|deja|pide|laisse|demande|run it through|pass it to|feed|give)\b",
            &opened,
        )
    {
        if has(r"\b(?:agent|agente)\b", &opened) {
            return Some(vec![crate::read::agent::researcher(mem, t)]);
        }
        return llm(mem, LlmTask::Write);
    }
    None
}

/// Services that a model's clause reads from and that nothing has read yet.
pub(super) fn source_reads(mem: &mut Memory<'_>, t: &str) -> Vec<Step> {
    let m = mem.m;
    let mut out = Vec::new();
    for e in services_in(m, t) {
        let Some(entry) = e.service else { continue };
        if mem.trigger.is_some_and(|x| x.key == entry.key)
            || mem.read.iter().any(|(x, _)| x.key == entry.key)
            || entry.actions.is_empty()
        {
            continue;
        }
        out.push(read_step(mem, t, e));
    }
    out
}

pub(super) fn fields_tail(m: &Masked, t: &str) -> Vec<String> {
    let listed = fields_in(m, t);
    if !listed.is_empty() {
        return listed;
    }
    first(r"\b(?:extract|extracts|pull out|pulls out|extrahiere|extrahieren|extrae|extraer|extrais|extraire|auslesen)\s+(?:the\s+)?(.+?)(?:\s+(?:from|out of|aus|de|with|using|mit)\s.*)?$", t)
        .map(|x| list(&m.plain(x)).iter().map(|f| clean_field(f)).filter(|f| !f.is_empty()).collect())
        .unwrap_or_default()
}
