//! Language models: chains, classifiers, extractors, agents, and their sub-nodes (model, memory, parser, knowledge).

use serde_json::{Map, Value, json};

use super::super::plan::{Case, Cmp, Cond, Does, Knowledge, LlmTask, Memory, Step, Val};
use super::data::Origin;
use super::draft::{At, Draft, End};
use super::expr::expression;
use super::place::object;
use super::service::short_of;
use super::words::{self, capital, fold};
use agentctl_n8n::catalog::PropertyKind;

pub(super) const AI: &str = "@n8n/n8n-nodes-langchain.";
const ANSWER: &str = "text|answer|output|summary|reply|result|article|draft|translation|intro|report|critique|response|content|message|post";

/// The chat model node for a provider in the user's words.
pub(crate) fn model_type(provider: Option<&str>) -> &'static str {
    // `host:model`: the host decides
    let said = fold(provider.unwrap_or("").split(':').next().unwrap_or(""));
    let table: &[(&[&str], &str)] = &[
        (&["azure"], "lmChatAzureOpenAi"),
        (&["anthropic", "claude"], "lmChatAnthropic"),
        (&["vertex"], "lmChatGoogleVertex"),
        (&["gemini", "google", "palm"], "lmChatGoogleGemini"),
        (&["ollama", "llama", "local"], "lmChatOllama"),
        (&["mistral"], "lmChatMistralCloud"),
        (&["groq"], "lmChatGroq"),
        (&["bedrock", "aws"], "lmChatAwsBedrock"),
        (&["deepseek"], "lmChatDeepSeek"),
        (&["cohere"], "lmChatCohere"),
        (&["openrouter", "open router"], "lmChatOpenRouter"),
        (&["grok", "xai"], "lmChatXAiGrok"),
    ];
    table
        .iter()
        .find(|(names, _)| names.iter().any(|n| said.contains(n)))
        .map_or("lmChatOpenAi", |(_, node)| node)
}

pub(super) fn embeddings_type(provider: Option<&str>) -> &'static str {
    match model_type(provider) {
        "lmChatAzureOpenAi" => "embeddingsAzureOpenAi",
        "lmChatGoogleGemini" => "embeddingsGoogleGemini",
        "lmChatGoogleVertex" => "embeddingsGoogleVertex",
        "lmChatOllama" => "embeddingsOllama",
        "lmChatMistralCloud" => "embeddingsMistralCloud",
        "lmChatCohere" => "embeddingsCohere",
        "lmChatAwsBedrock" => "embeddingsAwsBedrock",
        // the others have no embeddings of their own
        _ => "embeddingsOpenAi",
    }
}

/// The model's own name in `host:model`, or in a name that carries a figure.
pub(crate) fn model_name(provider: &str) -> Option<&str> {
    match provider.split_once(':') {
        Some((_, name)) => Some(name),
        None => Some(provider).filter(|p| p.chars().any(|c| c.is_ascii_digit())),
    }
}

impl Draft<'_> {
    /// A chat model below `parent`.
    pub(super) fn hang_model(&mut self, provider: Option<&str>, parent: &str) -> String {
        let node_type = format!("{AI}{}", model_type(provider));
        let mut params = Map::new();
        if let Some(facts) = self.facts(&node_type) {
            for name in ["model", "modelName"] {
                let Some(property) = facts.property(&params, name) else {
                    continue;
                };
                let named = provider.and_then(model_name);
                let value = match (named, &property.kind) {
                    (Some(named), PropertyKind::ResourceLocator) => {
                        json!({"__rl": true, "mode": "id", "value": named})
                    }
                    (Some(named), _) => json!(named),
                    (None, PropertyKind::ResourceLocator) => {
                        let mut value = property.default.clone();
                        if let Some(map) = value.as_object_mut() {
                            map.insert("__rl".into(), Value::Bool(true));
                        }
                        value
                    }
                    (None, _) => property.default.clone(),
                };
                if value.is_object() || value.is_string() {
                    params.insert(name.to_owned(), value);
                }
                break;
            }
        }
        params.insert("options".into(), json!({}));
        let label = self.label(&node_type);
        let node = self.lone(&label, &node_type, params);
        self.attach(&node, "ai_languageModel", parent);
        node
    }

    /// The data that a model reads: what the step names, else the item at hand.
    fn model_input(&self, at: &At, input: Option<&Val>) -> String {
        if let Some(val) = input {
            let list_of = |name: &str| {
                matches!(
                    fold(name).as_str(),
                    "data" | "items" | "all" | "everything" | "list"
                )
            };
            match val {
                Val::Field { name, .. } if list_of(name) => {}
                other => return self.inline(at, other),
            }
        }
        if let Some(list) = &at.list {
            return match list.as_str() {
                "text" | "table" | "html" => format!("{{{{ $json.{list} }}}}"),
                field => format!("{{{{ JSON.stringify($json.{field}) }}}}"),
            };
        }
        let Some(subject) = self.subject(at) else {
            return "{{ JSON.stringify($json) }}".to_owned();
        };
        if at.json.is_none() {
            // branches met: what one of them wrote, else what came in
            let came = self.gist(at, subject);
            return format!("{{{{ $json.text ?? {came} }}}}");
        }
        let Some(origin) = self.origins.get(subject) else {
            return "{{ JSON.stringify($json) }}".to_owned();
        };
        let find = |words: &[&str]| {
            origin
                .fields
                .iter()
                .find(|(said, _)| said.split('|').any(|s| words.contains(&s)))
                .map(|(_, p)| p.clone())
        };
        let title = find(&["subject", "title", "headline"]);
        let text = find(&["text", "body", "description", "message", "content"]);
        match (title, text) {
            (Some(title), Some(text)) if title != text => format!(
                "{{{{ {} }}}}\n\n{{{{ {} }}}}",
                self.at_origin(at, subject, &title),
                self.at_origin(at, subject, &text)
            ),
            (None, Some(one)) | (Some(one), _) => {
                format!("{{{{ {} }}}}", self.at_origin(at, subject, &one))
            }
            (None, None) => format!(
                "{{{{ JSON.stringify({}) }}}}",
                self.at_origin(at, subject, "")
            ),
        }
    }

    pub(super) fn llm_step(&mut self, step: &Step, at: At) -> At {
        let Does::Llm {
            task,
            provider,
            instructions,
            input,
        } = &step.does
        else {
            return at;
        };
        let provider = provider.as_deref();
        let at = self.readable(step, at);
        // one text about many items needs them together
        let together = matches!(task, LlmTask::Summarize) && at.many && at.list.is_none();
        let at = if together {
            self.collect(&at, None)
        } else {
            at
        };
        match task {
            // no categories: a classifier could not run, a free answer can
            LlmTask::Classify { labels } if labels.is_empty() => self.chain(
                step,
                &LlmTask::Write,
                provider,
                instructions,
                input.as_ref(),
                at,
            ),
            LlmTask::Classify { labels } => {
                self.classify(step, labels, provider, instructions, input.as_ref(), at)
            }
            LlmTask::Sentiment => self.sentiment(step, provider, input.as_ref(), at),
            LlmTask::Extract { fields } => {
                self.extract(step, fields, provider, instructions, input.as_ref(), at)
            }
            LlmTask::Summarize | LlmTask::Translate { .. } | LlmTask::Write => {
                self.chain(step, task, provider, instructions, input.as_ref(), at)
            }
        }
    }

    fn classify(
        &mut self,
        step: &Step,
        labels: &[String],
        provider: Option<&str>,
        instructions: &str,
        input: Option<&Val>,
        at: At,
    ) -> At {
        let text = self.model_input(&at, input);
        let node_type = format!("{AI}textClassifier");
        let categories: Vec<Value> = labels
            .iter()
            .map(|l| json!({"category": l, "description": l}))
            .collect();
        let params = object(&[
            ("inputText", json!(format!("={text}"))),
            ("categories", json!({"categories": categories})),
            ("options", json!({})),
        ]);
        let _ = instructions;
        let wish = self.wish(step, "Classify");
        let node = self.node(&at, &wish, &node_type, params);
        self.hang_model(provider, &node);
        // the items pass through: one output for each label, no new field
        let mut next = at.clone();
        next.ends = (0..labels.len())
            .map(|i| End {
                node: node.clone(),
                output: u32::try_from(i).unwrap_or(0),
            })
            .collect();
        next
    }

    /// Where the open ends are the outputs of a classifier: its node and its labels.
    fn classifier_of(&self, at: &At) -> Option<(String, Vec<String>)> {
        let first = at.ends.first()?;
        if !at.ends.iter().all(|e| e.node == first.node) {
            return None;
        }
        let node = self.workflow.node_by_name(&first.node)?;
        if node.node_type() == format!("{AI}sentimentAnalysis") {
            let moods = ["Positive", "Neutral", "Negative"];
            return Some((first.node.clone(), moods.map(str::to_owned).to_vec()));
        }
        if node.node_type() != format!("{AI}textClassifier") {
            return None;
        }
        let labels = node
            .parameters()?
            .get("categories")?
            .get("categories")?
            .as_array()?
            .iter()
            .filter_map(|c| c.get("category").and_then(Value::as_str).map(str::to_owned))
            .collect();
        Some((first.node.clone(), labels))
    }

    /// A switch right behind a classifier takes the classifier's own outputs.
    pub(super) fn classified(
        &mut self,
        _on: &Val,
        cases: &[Case],
        fallback: Option<&[Step]>,
        at: &At,
    ) -> Option<At> {
        let (node, labels) = self.classifier_of(at)?;
        let mut used = Vec::new();
        let mut ends = Vec::new();
        for case in cases {
            let said = match &case.condition {
                Some(Cond::Compare {
                    op: Cmp::Eq,
                    right:
                        Val::Lit {
                            value: Value::String(s),
                        },
                    ..
                }) => s.clone(),
                _ => case.label.clone(),
            };
            let best = labels
                .iter()
                .enumerate()
                .map(|(i, l)| (i, words::similar(l, &mood(&said))))
                .max_by(|a, b| a.1.total_cmp(&b.1))?;
            if best.1 < 0.5 {
                return None;
            }
            used.push((best.0, case));
        }
        for (output, case) in &used {
            let place = at.from(&node, u32::try_from(*output).unwrap_or(0));
            ends.push(self.steps(&case.steps, place));
        }
        if let Some(fallback) = fallback {
            let rest: Vec<End> = (0..labels.len())
                .filter(|i| !used.iter().any(|(u, _)| u == i))
                .map(|i| End {
                    node: node.clone(),
                    output: u32::try_from(i).unwrap_or(0),
                })
                .collect();
            if !rest.is_empty() {
                let place = At {
                    ends: rest,
                    ..at.clone()
                };
                ends.push(self.steps(fallback, place));
            }
        }
        Some(self.meet_or_end(at.clone(), ends))
    }

    /// An If or a Filter on a classifier's label: the outputs for yes and for no.
    pub(super) fn classified_if(&self, cond: &Cond, at: &At) -> Option<(At, At)> {
        let (node, labels) = self.classifier_of(at)?;
        let mut wanted = Vec::new();
        let mut negate = false;
        let mut open = vec![cond];
        while let Some(cond) = open.pop() {
            match cond {
                Cond::Any { of } => open.extend(of),
                Cond::Not { of } => {
                    negate = !negate;
                    open.push(of);
                }
                Cond::Compare {
                    op: op @ (Cmp::Eq | Cmp::Ne),
                    right:
                        Val::Lit {
                            value: Value::String(s),
                        },
                    ..
                } => {
                    negate ^= *op == Cmp::Ne;
                    wanted.push(mood(s));
                }
                _ => return None,
            }
        }
        let hit = |label: &str| wanted.iter().any(|w| words::similar(w, label) >= 0.5);
        if !labels.iter().any(|l| hit(l)) {
            return None;
        }
        let pick = |yes: bool| At {
            ends: labels
                .iter()
                .enumerate()
                .filter(|(_, l)| (hit(l) != negate) == yes)
                .map(|(i, _)| End {
                    node: node.clone(),
                    output: u32::try_from(i).unwrap_or(0),
                })
                .collect(),
            ..at.clone()
        };
        Some((pick(true), pick(false)))
    }

    fn sentiment(
        &mut self,
        step: &Step,
        provider: Option<&str>,
        input: Option<&Val>,
        at: At,
    ) -> At {
        let text = self.model_input(&at, input);
        let params = object(&[
            ("inputText", json!(format!("={text}"))),
            ("options", json!({})),
        ]);
        let wish = self.wish(step, "Sentiment");
        let node = self.node(&at, &wish, &format!("{AI}sentimentAnalysis"), params);
        self.hang_model(provider, &node);
        let mut origin = self
            .subject(&at)
            .filter(|i| at.json == Some(*i))
            .and_then(|i| self.origins.get(i))
            .cloned()
            .unwrap_or_default();
        if origin.base.is_empty() {
            origin.fields.insert(
                0,
                (
                    "sentiment|sentiment category|mood|tone".into(),
                    "sentimentAnalysis.category".into(),
                ),
            );
        } else {
            let base = std::mem::take(&mut origin.base);
            for (_, path) in &mut origin.fields {
                *path = format!("{base}.{path}");
            }
            origin.fields.insert(
                0,
                (
                    "sentiment|mood|tone".into(),
                    "sentimentAnalysis.category".into(),
                ),
            );
        }
        let many = at.many;
        let mut next = self.produce(&at, &node, Some(&step.id), origin);
        // positive, neutral, negative: the items go on from all three
        next.ends = (0..3)
            .map(|output| End {
                node: node.clone(),
                output,
            })
            .collect();
        At { many, ..next }
    }

    fn extract(
        &mut self,
        step: &Step,
        fields: &[String],
        provider: Option<&str>,
        instructions: &str,
        input: Option<&Val>,
        at: At,
    ) -> At {
        let text = self.model_input(&at, input);
        let mut origin = Origin::default().base("output").about("extracted");
        let attributes: Vec<Value> = fields
            .iter()
            .map(|field| {
                let name = if words::is_key(field) {
                    field.clone()
                } else {
                    words::snake(field)
                };
                let kind = attribute_kind(field);
                origin.fields.push((field.clone(), name.clone()));
                json!({"name": name, "type": kind, "description": field, "required": false})
            })
            .collect();
        let mut options = Map::new();
        if !instructions.trim().is_empty() {
            options.insert(
                "systemPromptTemplate".into(),
                json!(format!(
                    "{}\nExtract only what the text says; leave out what it does not.",
                    instructions.trim()
                )),
            );
        }
        let params = object(&[
            ("text", json!(format!("={text}"))),
            ("schemaType", json!("fromAttributes")),
            ("attributes", json!({"attributes": attributes})),
            ("options", Value::Object(options)),
        ]);
        let wish = self.wish(step, "Extract fields");
        let node = self.node(&at, &wish, &format!("{AI}informationExtractor"), params);
        self.hang_model(provider, &node);
        let many = at.many;
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At { many, ..next }
    }

    fn chain(
        &mut self,
        step: &Step,
        task: &LlmTask,
        provider: Option<&str>,
        instructions: &str,
        input: Option<&Val>,
        at: At,
    ) -> At {
        let data = self.model_input(&at, input);
        let task_text = match task {
            LlmTask::Summarize => "Summarise the following.".to_owned(),
            LlmTask::Translate { language } => format!(
                "Translate the following into {language}. Answer with the translation only."
            ),
            _ => String::new(),
        };
        let mut prompt = String::new();
        for part in [instructions.trim(), task_text.as_str()] {
            if !part.is_empty() && !prompt.contains(part) {
                prompt.push_str(part);
                prompt.push('\n');
            }
        }
        let text = format!("={}\n{data}", prompt.replace("{{", "{ {"));
        let params = object(&[("promptType", json!("define")), ("text", json!(text))]);
        let name = match task {
            LlmTask::Summarize => "Summarise".to_owned(),
            LlmTask::Translate { language } => format!("Translate to {language}"),
            _ => short_task(instructions),
        };
        let wish = self.wish(step, name);
        let node = self.node(&at, &wish, &format!("{AI}chainLlm"), params);
        self.hang_model(provider, &node);
        let many = at.many;
        let origin = Origin::default()
            .about(&told(instructions))
            .about("text")
            .field(ANSWER, "text");
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At { many, ..next }
    }

    pub(super) fn agent_step(&mut self, step: &Step, at: At) -> At {
        let Does::Agent {
            provider,
            instructions,
            input,
            tools,
            memory,
            knowledge,
            output_fields,
        } = &step.does
        else {
            return at;
        };
        let provider = provider.as_deref();
        let mut params = Map::new();
        let chat = self.from_chat(&at);
        if chat && input.is_none() {
            params.insert("promptType".into(), json!("auto"));
        } else {
            let text = self.model_input(&at, input.as_ref());
            params.insert("promptType".into(), json!("define"));
            params.insert("text".into(), json!(format!("={text}")));
        }
        if !output_fields.is_empty() {
            params.insert("hasOutputParser".into(), Value::Bool(true));
        }
        let mut options = Map::new();
        if !instructions.trim().is_empty() {
            options.insert("systemMessage".into(), json!(instructions.trim()));
        }
        params.insert("options".into(), Value::Object(options));
        let wish = self.wish(step, "AI Agent");
        let node = self.node(&at, &wish, &format!("{AI}agent"), params);
        self.hang_model(provider, &node);
        if let Some(memory) = memory {
            self.hang_memory(memory, &node, &at);
        }
        for store in knowledge {
            self.hang_knowledge(store, provider, &node);
        }
        self.hang_tools(tools, &node, &at);
        let mut origin = Origin::default()
            .about(&told(instructions))
            .about("agent answer");
        if output_fields.is_empty() {
            origin = origin.field(ANSWER, "output");
        } else {
            let example: Map<String, Value> = output_fields
                .iter()
                .map(|f| (words::snake(f), json!("…")))
                .collect();
            let text = serde_json::to_string_pretty(&example).unwrap_or_default();
            let parser = self.lone(
                "Structured output",
                &format!("{AI}outputParserStructured"),
                object(&[
                    ("schemaType", json!("fromJson")),
                    ("jsonSchemaExample", json!(text)),
                ]),
            );
            self.attach(&parser, "ai_outputParser", &node);
            origin = origin.base("output");
            for field in output_fields {
                origin = origin.field(field, &words::snake(field));
            }
        }
        let many = at.many;
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At { many, ..next }
    }

    /// The item at hand comes from a chat trigger.
    fn from_chat(&self, at: &At) -> bool {
        at.json
            .and_then(|i| self.origins.get(i))
            .and_then(|o| self.workflow.node_by_name(&o.node))
            .is_some_and(|n| n.node_type().ends_with("chatTrigger"))
    }

    pub(super) fn hang_memory(&mut self, memory: &Memory, parent: &str, at: &At) {
        let store = fold(&memory.store);
        let kind = match store.as_str() {
            s if s.contains("postgres") || s.contains("supabase") => "memoryPostgresChat",
            s if s.contains("redis") => "memoryRedisChat",
            s if s.contains("mongo") => "memoryMongoDbChat",
            s if s.contains("zep") => "memoryZep",
            s if s.contains("xata") => "memoryXata",
            s if s.contains("motorhead") => "memoryMotorhead",
            _ => "memoryBufferWindow",
        };
        let mut params = Map::new();
        let key = match &memory.session {
            Some(val) => Some(self.value(at, val)),
            None if self.from_chat(at) => None,
            None => ["session id", "chat id", "user id", "sender", "email"]
                .iter()
                .find_map(|name| self.has_field(at, name))
                .map(|js| expression(&js)),
        };
        if let Some(key) = key
            && !(self.from_chat(at) && key.as_str().is_some_and(|k| k.contains("sessionId")))
        {
            params.insert("sessionIdType".into(), json!("customKey"));
            params.insert("sessionKey".into(), self.rooted(at, key));
        }
        if let Some(window) = memory.window {
            params.insert("contextWindowLength".into(), json!(window));
        }
        let node_type = format!("{AI}{kind}");
        let label = self.label(&node_type);
        let node = self.lone(&label, &node_type, params);
        self.attach(&node, "ai_memory", parent);
    }

    /// Sub-nodes see the item of their parent: an earlier node is addressed by name.
    fn rooted(&self, at: &At, value: Value) -> Value {
        let Some(text) = value.as_str() else {
            return value;
        };
        let Some(origin) = at.json.and_then(|i| self.origins.get(i)) else {
            return value;
        };
        json!(text.replace(
            "$json",
            &format!("$({}).item.json", words::js_string(&origin.node))
        ))
    }

    fn hang_knowledge(&mut self, knowledge: &Knowledge, provider: Option<&str>, parent: &str) {
        let node_type = self.vector_store(&knowledge.store);
        let mut params = object(&[("mode", json!("retrieve-as-tool"))]);
        let collection = knowledge
            .collection
            .clone()
            .unwrap_or_else(|| "documents".to_owned());
        params.insert(
            "toolDescription".into(),
            json!(format!(
                "Search {collection} for facts that answer the question"
            )),
        );
        self.name_collection(&node_type, &mut params, &collection);
        let label = self.label(&node_type);
        let node = self.lone(&label, &node_type, params);
        self.attach(&node, "ai_tool", parent);
        self.hang_embeddings(knowledge.embeddings.as_deref().or(provider), &node);
        self.note(format!(
            "{node}: the embedding model must be the one that the collection was filled with"
        ));
    }

    pub(super) fn transcribe_step(&mut self, step: &Step, provider: Option<&str>, at: At) -> At {
        let mut at = self.fetched(step, at);
        // a chat's voice message is fetched first
        let telegram = at.seen.iter().rev().copied().find(|i| {
            self.origins
                .get(*i)
                .and_then(|o| self.workflow.node_by_name(&o.node))
                .is_some_and(|n| short_of(n.node_type()) == "telegramTrigger")
        });
        if let Some(origin) = telegram
            && !at.file
        {
            let js = self.at_origin(&at, origin, "voice.file_id");
            let params = object(&[
                ("resource", json!("file")),
                ("operation", json!("get")),
                ("fileId", expression(&js)),
                ("additionalFields", json!({})),
            ]);
            let node = self.node(&at, "Get voice message", "n8n-nodes-base.telegram", params);
            let next = self.produce(
                &at,
                &node,
                None,
                Origin {
                    acting: true,
                    ..Origin::default()
                },
            );
            at = At {
                file: true,
                binary: "data".into(),
                ..next
            };
        }
        if provider.is_some_and(|p| {
            !fold(p).contains("openai")
                && !fold(p).contains("whisper")
                && !fold(p).contains("chatgpt")
        }) {
            self.note("speech is transcribed with OpenAI");
        }
        let params = object(&[
            ("resource", json!("audio")),
            ("operation", json!("transcribe")),
            ("binaryPropertyName", json!(at.binary)),
            ("options", json!({})),
        ]);
        let wish = self.wish(step, "Transcribe");
        let node = self.node(&at, &wish, &format!("{AI}openAi"), params);
        let origin = Origin::default().about("transcript speech").field(
            "text|answer|transcript|transcription|message|message text",
            "text",
        );
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At {
            file: false,
            ..next
        }
    }

    pub(super) fn image_step(
        &mut self,
        step: &Step,
        provider: Option<&str>,
        prompt: &str,
        at: At,
    ) -> At {
        let google =
            provider.is_some_and(|p| fold(p).contains("gemini") || fold(p).contains("google"));
        let about = self.subject(&at).map(|i| self.gist(&at, i));
        let text = match about {
            Some(js) if !prompt.contains("{{") => {
                json!(format!("={}\n{{{{ {js} }}}}", prompt.trim()))
            }
            _ => json!(prompt),
        };
        let node_type = if google {
            format!("{AI}googleGemini")
        } else {
            format!("{AI}openAi")
        };
        let mut params = object(&[
            ("resource", json!("image")),
            ("operation", json!("generate")),
            ("prompt", text),
            ("options", json!({})),
        ]);
        if let Some(facts) = self.facts(&node_type)
            && let Some(model) = facts.property(&params, "modelId")
        {
            let mut value = model.default.clone();
            if let Some(map) = value.as_object_mut() {
                map.insert("__rl".into(), Value::Bool(true));
                if map.get("value").and_then(Value::as_str) == Some("") {
                    map.insert("value".into(), json!("<image model>"));
                    self.todo("value", "Generate image", "choose the image model");
                }
            }
            params.insert("modelId".into(), value);
        }
        let wish = self.wish(step, "Generate image");
        let node = self.node(&at, &wish, &node_type, params);
        let next = self.produce(
            &at,
            &node,
            Some(&step.id),
            Origin {
                acting: true,
                ..Origin::default()
            }
            .about("image picture"),
        );
        At {
            file: true,
            binary: "data".into(),
            ..next
        }
    }
}

/// Moods in other languages, as the sentiment node names its outputs.
fn mood(said: &str) -> String {
    let word = fold(said);
    [
        ("posit", "Positive"),
        ("negat", "Negative"),
        ("neutr", "Neutral"),
    ]
    .iter()
    .find(|(start, _)| word.starts_with(start) && !word.contains(' '))
    .map_or_else(|| said.to_owned(), |(_, name)| (*name).to_owned())
}

fn attribute_kind(field: &str) -> &'static str {
    let found = words::words(field);
    let has = |list: &[&str]| list.iter().any(|w| found.iter().any(|f| f == w));
    if has(&["date", "due", "deadline"]) {
        "date"
    } else if has(&["number"]) || has(&["name", "id"]) {
        "string"
    } else if has(&[
        "amount", "total", "net", "vat", "gross", "price", "quantity", "tax", "sum", "count",
        "score", "netto", "brutto", "mwst", "iva", "tva",
    ]) {
        "number"
    } else {
        "string"
    }
}

/// The first words of an instruction: what the model writes.
fn told(instructions: &str) -> String {
    instructions
        .split_whitespace()
        .take(16)
        .collect::<Vec<_>>()
        .join(" ")
}

fn short_task(instructions: &str) -> String {
    let first: Vec<&str> = instructions.split_whitespace().take(5).collect();
    if first.is_empty() {
        "Write".to_owned()
    } else {
        capital(first.join(" ").trim_end_matches(['.', ',', ':']))
    }
}
