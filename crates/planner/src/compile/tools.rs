//! Tools of an agent or of an MCP server: nodes whose parameters the model fills (`$fromAI`), and tools that a person
//! must approve first.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Does, Service, Step, Tool, Val, Verb};
use super::ai::AI;
use super::data::Origin;
use super::draft::{At, Draft};
use super::fill::Target;
use super::place::object;
use super::service::{Call, short_of};
use super::words::{self, capital, fold};

impl Draft<'_> {
    pub(super) fn hang_tools(&mut self, tools: &[Tool], parent: &str, at: &At) {
        for tool in tools {
            self.hang_tool(tool, parent, at);
        }
    }

    fn tool_name(&self, tool: &Tool, otherwise: &str) -> String {
        match &tool.name {
            Some(name) if !name.trim().is_empty() => name.clone(),
            _ => otherwise.to_owned(),
        }
    }

    fn hang_tool(&mut self, tool: &Tool, parent: &str, at: &At) {
        if let (Some(approval), Some(step)) = (&tool.approval, &tool.step) {
            self.approved_tool(tool, step, approval, parent);
            return;
        }
        if let Some(builtin) = &tool.builtin {
            self.builtin_tool(tool, builtin, parent);
            return;
        }
        let Some(step) = &tool.step else {
            self.builtin_tool(tool, &tool.purpose, parent);
            return;
        };
        let place = At {
            tool: Some(tool.inputs.clone()),
            ends: Vec::new(),
            ..at.clone()
        };
        match &step.does {
            Does::Service {
                service,
                verb,
                object,
                args,
                ..
            } => {
                self.service_tool(
                    tool,
                    service,
                    *verb,
                    object.as_deref().unwrap_or(""),
                    args,
                    &step.said,
                    parent,
                    &place,
                );
            }
            Does::Http { url, .. } => {
                let mut params = self.http_params(&place, &step.does);
                params.insert("toolDescription".into(), json!(purpose(tool, step)));
                let missing: Vec<&String> = tool
                    .inputs
                    .iter()
                    .filter(|i| {
                        !Value::Object(params.clone())
                            .to_string()
                            .contains(&format!("'{}'", words::snake(i)))
                    })
                    .collect();
                if !missing.is_empty()
                    && !params.contains_key("queryParameters")
                    && !url.contains('{')
                {
                    let pairs: Vec<(String, Value)> = missing
                        .iter()
                        .map(|name| {
                            (
                                words::snake(name),
                                super::expr::expression(&self.from_ai(&tool.inputs, name)),
                            )
                        })
                        .collect();
                    self.http_pairs(&mut params, "Query", &pairs);
                }
                if tool.inputs.is_empty()
                    && !Value::Object(params.clone())
                        .to_string()
                        .contains("$fromAI")
                {
                    let pair = (
                        "query".to_owned(),
                        super::expr::expression("$fromAI('query', 'what to ask for', 'string')"),
                    );
                    self.http_pairs(&mut params, "Query", &[pair]);
                }
                let name = self.tool_name(tool, &capital(&short_purpose(tool, step)));
                let node = self.lone(&name, "n8n-nodes-base.httpRequestTool", params);
                self.attach(&node, "ai_tool", parent);
            }
            Does::CallWorkflow {
                reference, inputs, ..
            } => {
                let mut pairs = self.body_pairs(&place, inputs);
                for input in &tool.inputs {
                    let key = if words::is_key(input) {
                        input.clone()
                    } else {
                        words::snake(input)
                    };
                    if !pairs.iter().any(|(n, _)| *n == key) {
                        pairs.push((
                            key,
                            super::expr::expression(&self.from_ai(&tool.inputs, input)),
                        ));
                    }
                }
                let workflow = self.workflow_ref(reference);
                let params = object(&[
                    ("description", json!(purpose(tool, step))),
                    ("source", json!("database")),
                    ("workflowId", workflow),
                    ("workflowInputs", self.workflow_inputs(&pairs)),
                ]);
                let name = self.tool_name(tool, &format!("Call {reference}"));
                let node = self.lone(&name, &format!("{AI}toolWorkflow"), params);
                self.attach(&node, "ai_tool", parent);
            }
            Does::Code { javascript, .. } => {
                let params = object(&[
                    ("description", json!(purpose(tool, step))),
                    ("jsCode", json!(javascript)),
                ]);
                let name = self.tool_name(tool, "Code");
                let node = self.lone(&name, &format!("{AI}toolCode"), params);
                self.attach(&node, "ai_tool", parent);
            }
            _ => self.note(format!(
                "a tool for {:?} is not possible: only services, HTTP calls and sub-workflows are",
                tool.purpose
            )),
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one tool, taken apart by the caller"
    )]
    fn service_tool(
        &mut self,
        tool: &Tool,
        service: &Service,
        verb: Verb,
        of: &str,
        args: &[Arg],
        said: &str,
        parent: &str,
        place: &At,
    ) {
        let found = service
            .node_types
            .iter()
            .filter(|t| !t.ends_with("Trigger"))
            .flat_map(|t| {
                if t.ends_with("Tool") {
                    vec![t.clone()]
                } else {
                    vec![format!("{t}Tool")]
                }
            })
            .find(|t| self.exists(t));
        let Some(node_type) = found else {
            // no tool variant: an HTTP call that the model completes
            let params = object(&[
                ("toolDescription", json!(tool.purpose)),
                ("method", json!("GET")),
                (
                    "url",
                    json!("={{ $fromAI('url', 'the address to call', 'string') }}"),
                ),
                ("options", json!({})),
            ]);
            let name = self.tool_name(tool, &capital(&service.said));
            self.todo(
                "value",
                &name,
                format!("set the address of {}", service.said),
            );
            let node = self.lone(&name, "n8n-nodes-base.httpRequestTool", params);
            self.attach(&node, "ai_tool", parent);
            return;
        };
        let short = short_of(&node_type).to_owned();
        let words_said = if said.is_empty() {
            tool.purpose.as_str()
        } else {
            said
        };
        let call = Call {
            node_type: &node_type,
            short: &short,
            verb,
            object: of,
            said: words_said,
            order: words_said,
        };
        let (mut params, _, name) = self.configure(place, &node_type, &call, args);
        self.ask_ai(&short, &node_type, tool, &mut params);
        if let Some(facts) = self.facts(&node_type)
            && facts.property(&params, "descriptionType").is_some()
            && !tool.purpose.is_empty()
        {
            params.insert("descriptionType".into(), json!("manual"));
            params.insert("toolDescription".into(), json!(tool.purpose));
        }
        let wish = self.tool_name(tool, &name);
        let node = self.lone(&wish, &node_type, params);
        self.attach(&node, "ai_tool", parent);
    }

    /// Inputs of a tool that found no parameter by name go where the operation takes its question.
    fn ask_ai(
        &mut self,
        short: &str,
        node_type: &str,
        tool: &Tool,
        params: &mut Map<String, Value>,
    ) {
        let blob = Value::Object(params.clone()).to_string();
        let missing: Vec<String> = tool
            .inputs
            .iter()
            .filter(|i| {
                !blob.contains(&format!(
                    "$fromAI('{}'",
                    if words::is_key(i) {
                        (*i).clone()
                    } else {
                        words::snake(i)
                    }
                ))
            })
            .cloned()
            .collect();
        if missing.is_empty() {
            return;
        }
        let ask = |d: &Self, name: &str| super::expr::expression(&d.from_ai(&tool.inputs, name));
        let operation = params
            .get("operation")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        let sql = matches!(short, "postgres" | "mySql" | "microsoftSql");
        if sql && operation == "select" {
            let mut list: Vec<Value> = params
                .get("where")
                .and_then(|w| w.get("values"))
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            for name in &missing {
                list.push(json!({"column": words::snake(name), "value": ask(self, name)}));
            }
            params.insert("where".into(), json!({"values": list}));
            return;
        }
        if short == "googleSheets" && operation == "read" {
            let list: Vec<Value> = missing
                .iter()
                .map(|n| json!({"lookupColumn": n, "lookupValue": ask(self, n)}))
                .collect();
            params.insert("filtersUI".into(), json!({"values": list}));
            return;
        }
        if short == "hubspot" && operation == "search" {
            let filters: Vec<Value> = missing.iter().map(|n| json!({"propertyName": words::snake(n), "operator": "EQ", "value": ask(self, n)})).collect();
            params.insert(
                "filterGroupsUi".into(),
                json!({"filterGroupsValues": [{"filtersUi": {"filterValues": filters}}]}),
            );
            return;
        }
        let Some(facts) = self.facts(node_type) else {
            return;
        };
        let args: Vec<Arg> = missing
            .iter()
            .map(|name| Arg {
                role: super::super::plan::Role::Field(name.clone()),
                value: Val::Field {
                    name: name.clone(),
                    of: None,
                },
            })
            .collect();
        let place = At {
            tool: Some(tool.inputs.clone()),
            ..At::start()
        };
        self.fill(
            &place,
            &facts,
            params,
            &args,
            Target {
                node_type: "",
                name: short,
            },
        );
    }

    fn builtin_tool(&mut self, tool: &Tool, builtin: &str, parent: &str) {
        let said = fold(builtin);
        let table: &[(&[&str], &str)] = &[
            (&["calculat", "rechner", "math"], "toolCalculator"),
            (
                &[
                    "serp",
                    "google search",
                    "web search",
                    "websuche",
                    "search the web",
                ],
                "toolSerpApi",
            ),
            (&["wikipedia"], "toolWikipedia"),
            (&["wolfram"], "toolWolframAlpha"),
            (&["searx"], "toolSearXng"),
            (&["think"], "toolThink"),
            (&["mcp"], "mcpClientTool"),
            (&["code", "javascript"], "toolCode"),
        ];
        let Some((_, kind)) = table
            .iter()
            .find(|(names, _)| names.iter().any(|n| said.contains(n)))
        else {
            self.note(format!("no tool was found for {builtin:?}"));
            return;
        };
        let node_type = format!("{AI}{kind}");
        let mut params = Map::new();
        if *kind == "toolCode" {
            params.insert("description".into(), json!(tool.purpose));
            params.insert("jsCode".into(), json!("return query;"));
        }
        if *kind == "mcpClientTool" {
            let (url, method, auth) = match tool.step.as_deref().map(|s| &s.does) {
                Some(Does::Http {
                    url, method, auth, ..
                }) => (url.as_str(), method.as_str(), auth.as_deref()),
                _ => ("", "", None),
            };
            if url.is_empty() {
                self.todo("value", "MCP Client", "set the address of the MCP server");
            }
            let address = if url.is_empty() {
                "https://<MCP server>"
            } else {
                url
            };
            params.insert("endpointUrl".into(), json!(address));
            let sse = method == "SSE" || url.trim_end_matches('/').ends_with("/sse");
            params.insert(
                "serverTransport".into(),
                json!(if sse { "sse" } else { "httpStreamable" }),
            );
            let kind = match auth {
                Some("bearer") => "bearerAuth",
                Some("header") => "headerAuth",
                Some("oauth2") => "mcpOAuth2Api",
                _ => "none",
            };
            params.insert("authentication".into(), json!(kind));
            params.insert("include".into(), json!("all"));
        }
        let label = self.label(&node_type);
        let wish = self.tool_name(tool, &label);
        let node = self.lone(&wish, &node_type, params);
        self.attach(&node, "ai_tool", parent);
    }

    /// A tool that must not run before a person said yes. The agent calls this workflow itself: its second trigger
    /// asks, and only the approved branch acts. So the model cannot go round the question.
    fn approved_tool(&mut self, tool: &Tool, step: &Step, approval: &Step, parent: &str) {
        let mut inputs: Vec<String> = tool
            .inputs
            .iter()
            .map(|i| {
                if words::is_key(i) {
                    i.clone()
                } else {
                    words::snake(i)
                }
            })
            .collect();
        if let Does::CallWorkflow { inputs: given, .. } = &step.does {
            for arg in given {
                let name = words::snake(&super::roles::as_field(&arg.role));
                if !inputs.contains(&name) {
                    inputs.push(name);
                }
            }
        }
        if inputs.is_empty() {
            inputs.push("request".to_owned());
        }
        let pairs: Vec<(String, Value)> = inputs
            .iter()
            .map(|i| {
                (
                    i.clone(),
                    super::expr::expression(&self.from_ai(&inputs, i)),
                )
            })
            .collect();
        let params = object(&[
            (
                "description",
                json!(format!(
                    "{}. A person must approve each use.",
                    purpose(tool, step).trim_end_matches('.')
                )),
            ),
            ("source", json!("database")),
            (
                "workflowId",
                json!({"__rl": true, "mode": "id", "value": "={{ $workflow.id }}"}),
            ),
            ("workflowInputs", self.workflow_inputs(&pairs)),
        ]);
        let name = self.tool_name(tool, &capital(&short_purpose(tool, step)));
        let node = self.lone(&name, &format!("{AI}toolWorkflow"), params);
        self.attach(&node, "ai_tool", parent);
        // the gate
        let mut origin = Origin::default().about("request input");
        for input in &inputs {
            origin = origin.field(input, input);
        }
        let values: Vec<Value> = inputs.iter().map(|n| json!({"name": n})).collect();
        let params = object(&[
            ("inputSource", json!("workflowInputs")),
            ("workflowInputs", json!({"values": values})),
        ]);
        let trigger = self.lone(
            &format!("Asked for: {name}"),
            "n8n-nodes-base.executeWorkflowTrigger",
            params,
        );
        let at = self.produce(&At::start(), &trigger, None, origin);
        let (service, args) = match &approval.does {
            Does::Approval { service, args, .. } => (service.clone(), args.clone()),
            Does::Service { service, args, .. } => (service.clone(), args.clone()),
            _ => (Service::default(), Vec::new()),
        };
        let mut run = step.clone();
        if let Does::CallWorkflow { inputs: given, .. } = &mut run.does
            && given.is_empty()
        {
            *given = inputs
                .iter()
                .map(|name| Arg {
                    role: super::super::plan::Role::Field(name.clone()),
                    value: Val::Field {
                        name: name.clone(),
                        of: None,
                    },
                })
                .collect();
        }
        run.id = format!("{} approved", step.id);
        let gate = Step {
            id: format!("{} approval", step.id),
            said: tool.purpose.clone(),
            does: Does::Nothing,
            name: None,
        };
        self.approval_step(&gate, &service, &args, &[run], &[], at);
        self.note(format!("{name}: the agent calls this workflow itself, and its second trigger asks for the approval; publish the workflow so that it can be called"));
    }
}

fn purpose(tool: &Tool, step: &Step) -> String {
    if tool.purpose.trim().is_empty() {
        step.said.clone()
    } else {
        tool.purpose.clone()
    }
}

fn short_purpose(tool: &Tool, step: &Step) -> String {
    purpose(tool, step)
        .split_whitespace()
        .take(5)
        .collect::<Vec<_>>()
        .join(" ")
}
