//! Reports and publishing: analytics metrics, what a model wrote, what was published before.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role};
use super::draft::{At, Draft};
use super::records::lit;
use super::service::Call;
use super::words::fold;

impl Draft<'_> {
    pub(super) fn analytics(
        &mut self,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        let said = fold(&format!("{} {}", call.said, call.object));
        let mut wanted: Vec<&str> = Vec::new();
        for (word, metric) in [
            ("session", "sessions"),
            ("conversion", "conversions"),
            ("user", "totalUsers"),
            ("view", "screenPageViews"),
            ("bounce", "bounceRate"),
            ("revenue", "totalRevenue"),
            ("event", "eventCount"),
        ] {
            let named = said.contains(word)
                || args
                    .iter()
                    .any(|a| matches!(&a.role, Role::Field(n) if fold(n).contains(word)));
            if named {
                wanted.push(metric);
            }
        }
        args.retain(|a| !matches!(a.role, Role::Field(_)));
        if wanted.is_empty() {
            wanted.push("totalUsers");
        }
        let list: Vec<Value> = wanted
            .iter()
            .map(|m| match *m {
                "sessions" | "totalUsers" | "screenPageViews" | "eventCount" => {
                    json!({"listName": m})
                }
                other => json!({"listName": "other", "name": other}),
            })
            .collect();
        params.insert("metricsGA4".into(), json!({"metricValues": list}));
        params.insert(
            "dimensionsGA4".into(),
            json!({"dimensionValues": [{"listName": "date"}]}),
        );
        let range = lit(args, &Role::TimeRange)
            .map(|t| fold(&t))
            .unwrap_or(said);
        let value = if range.contains("30") {
            "last30days"
        } else if range.contains("yesterday") || range.contains("gestern") {
            "yesterday"
        } else if range.contains("today") {
            "today"
        } else if range.contains("month") {
            "lastCalendarMonth"
        } else {
            "last7days"
        };
        params.insert("dateRange".into(), json!(value));
        args.retain(|a| a.role != Role::TimeRange);
    }

    /// What a model wrote before this place.
    pub(super) fn model_text(&self, at: &At) -> Option<String> {
        let answers = |judges: bool| {
            at.seen.iter().rev().find_map(|&i| {
                let origin = self.origins.get(i)?;
                let (_, path) = origin
                    .fields
                    .iter()
                    .find(|(said, _)| said.starts_with("text|answer"))?;
                let is_judge = origin.about.iter().any(|w| {
                    matches!(
                        w.as_str(),
                        "critique"
                            | "criticise"
                            | "criticize"
                            | "review"
                            | "check"
                            | "feedback"
                            | "rate"
                    )
                });
                (is_judge == judges).then(|| self.at_origin(at, i, path))
            })
        };
        // a judgement of a text is not the text
        answers(false).or_else(|| answers(true))
    }

    /// A post that says nothing yet tells of what was published before.
    pub(super) fn announce(&self, at: &At, args: &mut Vec<Arg>) {
        let text = |a: &Arg| matches!(a.role, Role::Text | Role::Body | Role::Title);
        if !args.iter().any(text)
            && let Some(line) = self.announcement(at)
        {
            args.push(Arg {
                role: Role::Text,
                value: super::message::raw(&line),
            });
        }
    }

    /// A line about what was published before: its title and its link.
    fn announcement(&self, at: &At) -> Option<String> {
        self.of_answer(at).or_else(|| {
            let subject = self.subject(at).and_then(|i| self.origins.get(i))?;
            let known = at.list.is_some() || !subject.fields.is_empty();
            known.then(|| self.about_item(at, ""))
        })
    }

    /// The title and the link of what an earlier node made.
    fn of_answer(&self, at: &At) -> Option<String> {
        let (index, path) = at.seen.iter().rev().find_map(|&i| {
            let origin = self.origins.get(i).filter(|o| o.acting)?;
            let (_, path) = origin
                .fields
                .iter()
                .find(|(said, _)| said.split('|').any(|s| s == "link" || s == "post url"))?;
            Some((i, path.clone()))
        })?;
        let link = self.at_origin(at, index, &path);
        let title = self.subject_title(at);
        Some(match title {
            Some(title) => format!("{{{{ {title} }}}} {{{{ {link} }}}}"),
            None => format!("{{{{ {link} }}}}"),
        })
    }

    /// The title of the first thing that has one.
    pub(super) fn subject_title(&self, at: &At) -> Option<String> {
        at.seen.iter().find_map(|&i| {
            let origin = self.origins.get(i).filter(|o| !o.acting)?;
            let (_, path) = origin
                .fields
                .iter()
                .find(|(said, _)| said.split('|').any(|s| s == "title"))?;
            Some(self.at_origin(at, i, path))
        })
    }

    /// The id that an earlier node of this service answered with.
    pub(super) fn answer_id(&self, at: &At, short: &str) -> Option<String> {
        at.seen.iter().rev().find_map(|&i| {
            let origin = self.origins.get(i)?;
            let node = self.workflow.node_by_name(&origin.node)?;
            (super::service::short_of(node.node_type()) == short)
                .then(|| self.at_origin(at, i, "id"))
        })
    }
}
