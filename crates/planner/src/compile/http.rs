//! HTTP: requests, and the answer to a webhook's caller. Owns query, body, authentication, batching, response options.

use agentctl_n8n::Node;
use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Does, Role, Step, Val};
use super::data::{Origin, Spelling};
use super::draft::{At, Draft};
use super::place::object;
use super::words;

const WEBHOOK: &str = "n8n-nodes-base.webhook";
pub(super) const HTTP: &str = "n8n-nodes-base.httpRequest";

/// `{id}` and `<id>` in an address are data; gives the parts.
fn url_parts(url: &str) -> Vec<(bool, String)> {
    let mut parts = Vec::new();
    let mut rest = url;
    while let Some(start) = rest.find(['{', '<']) {
        let close = if rest.get(start..=start) == Some("{") {
            '}'
        } else {
            '>'
        };
        let Some(len) = rest.get(start + 1..).and_then(|r| r.find(close)) else {
            break;
        };
        let name = rest.get(start + 1..start + 1 + len).unwrap_or("");
        let plain = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.'));
        if !plain {
            break;
        }
        parts.push((false, rest.get(..start).unwrap_or("").to_owned()));
        parts.push((true, name.to_owned()));
        rest = rest.get(start + 2 + len..).unwrap_or("");
    }
    parts.push((false, rest.to_owned()));
    parts
}

/// The plan compares the status of an answer.
fn compares_status(draft: &Draft<'_>) -> bool {
    let mut all = super::trigger::every(&draft.plan.steps).into_iter();
    all.any(|s| match &s.does {
        Does::If { condition, .. } | Does::Filter { condition } => {
            let text = serde_json::to_string(condition)
                .unwrap_or_default()
                .to_lowercase();
            text.contains("status code")
                || text.contains("statuscode")
                || text.contains("http status")
                || text.contains("status_code")
                || (text.contains("status") && text.contains("200"))
        }
        _ => false,
    })
}

impl Draft<'_> {
    /// An address with its holes filled from the data.
    pub(super) fn url(&self, at: &At, url: &str) -> Value {
        let parts = url_parts(url);
        if parts.iter().all(|(hole, _)| !hole) {
            return json!(url);
        }
        let query_at = url.find('?').unwrap_or(usize::MAX);
        let mut out = String::from("=");
        let mut place = 0;
        for (hole, text) in &parts {
            if *hole {
                let js = self.field(at, text, None);
                if place > query_at && at.tool.is_none() {
                    out.push_str(&format!("{{{{ encodeURIComponent({js}) }}}}"));
                } else {
                    out.push_str(&format!("{{{{ {js} }}}}"));
                }
                place += text.len() + 2;
            } else {
                out.push_str(text);
                place += text.len();
            }
        }
        json!(out)
    }

    /// Query, body or header parameters as pairs. `part` is `Query`, `Body` or `Headers`.
    pub(super) fn http_pairs(
        &self,
        params: &mut Map<String, Value>,
        part: &str,
        pairs: &[(String, Value)],
    ) {
        if pairs.is_empty() {
            return;
        }
        params.insert(format!("send{part}"), Value::Bool(true));
        let list: Vec<Value> = pairs
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        let key = match part {
            "Query" => "queryParameters",
            "Headers" => "headerParameters",
            _ => "bodyParameters",
        };
        params.insert(key.into(), json!({"parameters": list}));
    }

    pub(super) fn http_params(&mut self, at: &At, does: &Does) -> Map<String, Value> {
        let Does::Http {
            method,
            url,
            query,
            body,
            auth,
            save_as_file,
            never_fail,
            rate_per_second,
        } = does
        else {
            return Map::new();
        };
        let method = if method.is_empty() {
            "GET".to_owned()
        } else {
            method.to_uppercase()
        };
        let pages = super::paging::wish(query).cloned();
        let query: Vec<Arg> = query
            .iter()
            .filter(|a| !matches!(&a.role, super::super::plan::Role::Named(k) if k == "pages"))
            .cloned()
            .collect();
        let (query, mut pages, mut url) = (&query, pages, url.clone());
        if let Some(name) = pages
            .as_ref()
            .and_then(|p| p.get("name"))
            .and_then(Value::as_str)
            .map(str::to_owned)
        {
            let (rest, first) = super::paging::first_page(&url, &name);
            url = rest;
            if let (Some(first), Some(map)) = (first, pages.as_mut().and_then(Value::as_object_mut))
            {
                map.insert("first".into(), json!(first));
            }
        }
        let url = &url;
        let mut params = object(&[("method", json!(method)), ("url", self.url(at, url))]);
        if let Some(auth) = auth {
            let kind = match words::fold(auth).as_str() {
                a if a.contains("basic") => "httpBasicAuth",
                a if a.contains("bearer") || a.contains("token") => "httpBearerAuth",
                a if a.contains("query") => "httpQueryAuth",
                a if a.contains("oauth") => "oAuth2Api",
                a if a.contains("digest") => "httpDigestAuth",
                _ => "httpHeaderAuth",
            };
            params.insert("authentication".into(), json!("genericCredentialType"));
            params.insert("genericAuthType".into(), json!(kind));
        }
        let query = self.body_pairs(at, query);
        self.http_pairs(&mut params, "Query", &query);
        // The item itself, whatever is in it.
        let whole = |a: &Arg| {
            a.role == Role::Body && matches!(&a.value, Val::Expr { code } if code == "$json")
        };
        if body.iter().any(whole) {
            let item = match self.subject(at) {
                Some(origin) => self.at_origin(at, origin, ""),
                None => "$json".to_owned(),
            };
            params.insert("sendBody".into(), Value::Bool(true));
            params.insert("specifyBody".into(), json!("json"));
            let whole = super::expr::expression(&format!("JSON.stringify({item})"));
            params.insert("jsonBody".into(), whole);
        } else {
            let body = self.body_pairs(at, body);
            self.http_pairs(&mut params, "Body", &body);
        }
        let mut options = Map::new();
        let mut response = Map::new();
        let status = compares_status(self);
        if *never_fail || status {
            response.insert("neverError".into(), Value::Bool(true));
        }
        if status {
            response.insert("fullResponse".into(), Value::Bool(true));
        }
        if *save_as_file {
            response.insert("responseFormat".into(), json!("file"));
        }
        if !response.is_empty() {
            options.insert("response".into(), json!({"response": response}));
        }
        if let Some(rate) = rate_per_second.filter(|r| *r > 0.0) {
            let (size, interval) = if rate >= 1.0 {
                (rate.floor(), 1000.0)
            } else {
                (1.0, (1000.0 / rate).ceil())
            };
            options.insert("batching".into(), json!({"batch": {"batchSize": agentctl_n8n::workflow::number(size), "batchInterval": agentctl_n8n::workflow::number(interval)}}));
        }
        if let Some(pages) = &pages {
            super::paging::options(pages, &mut options);
        }
        params.insert("options".into(), Value::Object(options));
        params
    }

    pub(super) fn http_step(&mut self, step: &Step, at: At) -> At {
        let Does::Http {
            method,
            url,
            save_as_file,
            ..
        } = &step.does
        else {
            return at;
        };
        let params = self.http_params(&at, &step.does);
        let host = url
            .split("//")
            .nth(1)
            .unwrap_or(url)
            .split(['/', '?'])
            .next()
            .unwrap_or("")
            .to_owned();
        let verb = if method.is_empty() {
            "GET"
        } else {
            method.as_str()
        };
        let wish = self.wish(step, format!("{} {host}", verb.to_uppercase()));
        let node = self.node(&at, &wish, HTTP, params);
        let full = self
            .workflow
            .node_by_name(&node)
            .and_then(|n| n.parameters())
            .and_then(|p| p.get("options"))
            .and_then(|o| o.pointer("/response/response/fullResponse"))
            == Some(&Value::Bool(true));
        let about: String = url
            .split("//")
            .nth(1)
            .unwrap_or("")
            .split(['/', '?', '.', '{', '}', '='])
            .skip(1)
            .collect::<Vec<_>>()
            .join(" ");
        let mut origin = Origin::default()
            .spelled(Spelling::Snake)
            .about(&format!("response answer {about}"));
        if full {
            origin = origin
                .field(
                    "status code|http status|response code|statuscode|status|code|response",
                    "statusCode",
                )
                .field("body|response body", "body");
        }
        let many = at.many;
        let next = self.produce(&at, &node, Some(&step.id), origin);
        let next = At {
            many,
            file: *save_as_file || next.file,
            ..next
        };
        if *save_as_file {
            At {
                binary: "data".into(),
                ..next
            }
        } else {
            next
        }
    }

    pub(super) fn respond_step(
        &mut self,
        step: &Step,
        status: u16,
        body: &[Arg],
        as_text: Option<&Val>,
        at: At,
    ) -> At {
        let mut params = Map::new();
        match as_text {
            Some(text) => {
                params.insert("respondWith".into(), json!("text"));
                params.insert("responseBody".into(), self.value(&at, text));
            }
            None if body.is_empty() && (status == 204 || status == 202) => {
                params.insert("respondWith".into(), json!("noData"));
            }
            None if body.is_empty() => match self.whole_of(&at) {
                // Right behind the webhook the item is the request, with all that lets somebody in.
                Some(part) => {
                    params.insert("respondWith".into(), json!("json"));
                    params.insert(
                        "responseBody".into(),
                        json!(format!("={{{{ $json.{part} }}}}")),
                    );
                }
                None => {
                    params.insert("respondWith".into(), json!("firstIncomingItem"));
                }
            },
            None => {
                params.insert("respondWith".into(), json!("json"));
                params.insert("responseBody".into(), self.json_body(&at, body));
            }
        }
        params.insert("options".into(), json!({"responseCode": status}));
        let wish = self.wish(step, format!("Respond {status}"));
        let node = self.node(&at, &wish, "n8n-nodes-base.respondToWebhook", params);
        at.from(&node, 0)
    }

    /// The part of a request that its sender gave, where the items here are a webhook's.
    fn whole_of(&self, at: &At) -> Option<&'static str> {
        let hooks = at
            .ends
            .iter()
            .map(|end| self.workflow.node_by_name(&end.node));
        let hooks: Vec<&Node> = hooks
            .flatten()
            .filter(|n| n.node_type() == WEBHOOK)
            .collect();
        let asks = |node: &&Node| {
            let method = node.parameters().and_then(|p| p.get("httpMethod"));
            method.and_then(Value::as_str).is_none_or(|m| m == "GET")
        };
        let first = hooks.first()?;
        Some(if asks(first) { "query" } else { "body" })
    }

    /// A JSON text with expressions in it, valid whatever the values are.
    fn json_body(&self, at: &At, body: &[Arg]) -> Value {
        let fields: Vec<(String, &Val)> = body
            .iter()
            .map(|a| {
                let name = super::roles::as_field(&a.role);
                (
                    if words::is_key(&name) {
                        name
                    } else {
                        words::snake(&name)
                    },
                    &a.value,
                )
            })
            .collect();
        let fixed = fields.iter().all(|(_, v)| matches!(v, Val::Lit { .. }));
        if fixed {
            let map: Map<String, Value> = fields
                .iter()
                .map(|(n, v)| (n.clone(), self.value(at, v)))
                .collect();
            return Value::String(serde_json::to_string_pretty(&map).unwrap_or_default());
        }
        let parts: Vec<String> = fields
            .iter()
            .map(|(name, val)| {
                let key = if words::is_identifier(name) {
                    name.clone()
                } else {
                    words::js_string(name)
                };
                format!("{key}: {}", self.js(at, val))
            })
            .collect();
        super::expr::expression(&format!("JSON.stringify({{ {} }})", parts.join(", ")))
    }
}
