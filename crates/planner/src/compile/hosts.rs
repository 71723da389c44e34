//! Code hosts: GitHub and GitLab. Owns owners and repositories, and what their lists are called.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val, Verb};
use super::draft::{At, Draft};
use super::message::take;
use super::service::Call;
use super::words::{self, fold};

impl Draft<'_> {
    pub(super) fn hosts_before(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) -> bool {
        if !matches!(call.short, "github" | "gitlab") {
            return false;
        }
        let said = fold(&format!("{} {}", call.said, call.object));
        let object = words::words(call.object);
        let is = |w: &str| object.iter().any(|o| o == w);
        let reads = matches!(
            call.verb,
            Verb::Get | Verb::GetMany | Verb::Search | Verb::Query
        );
        let organisation = args
            .iter()
            .position(|a| matches!(&a.role, Role::Field(n) if matches!(words::words(n).first().map(String::as_str), Some("company" | "organization" | "org" | "owner" | "user"))))
            .map(|i| args.remove(i));
        let container = take(args, &Role::Container).or_else(|| take(args, &Role::Part));
        let whole = container.as_ref().map(|a| self.text(at, &a.value));
        let lists_repositories = reads
            && (is("repository") || is("repo"))
            && (organisation.is_some() || call.verb != Verb::Get);
        if lists_repositories && call.short == "github" {
            let organised = said.contains("organi") || organisation.is_some();
            params.insert(
                "resource".into(),
                json!(if organised { "organization" } else { "user" }),
            );
            params.insert("operation".into(), json!("getRepositories"));
            let owner = organisation
                .map(|a| self.text(at, &a.value))
                .or(whole)
                .unwrap_or_else(|| "<owner>".to_owned());
            params.insert("owner".into(), self.host_name(&owner, "owner"));
            return true;
        }
        if reads && call.short == "github" {
            let operation = if is("issue") || is("bug") || is("ticket") {
                Some(("repository", "getIssues"))
            } else if is("pull") || is("pr") || said.contains("pull request") {
                Some(("repository", "getPullRequests"))
            } else if is("release") {
                Some(("release", "getAll"))
            } else {
                None
            };
            if let Some((resource, operation)) = operation
                && (call.verb != Verb::Get || args.iter().all(|a| a.role != Role::Id))
            {
                params.insert("resource".into(), json!(resource));
                params.insert("operation".into(), json!(operation));
                if operation == "getIssues"
                    && let Some(state) = take(args, &Role::Status)
                {
                    let value = self.value(at, &state.value);
                    params.insert("getRepositoryIssuesFilters".into(), json!({"state": value}));
                }
            }
        }
        let (owner, repository) = match whole
            .as_deref()
            .map(|w| w.trim_end_matches('/'))
            .and_then(|w| w.rsplit_once('/'))
        {
            Some((owner, repository)) => (
                owner.rsplit('/').next().unwrap_or(owner).to_owned(),
                repository.to_owned(),
            ),
            None => {
                let known = |d: &Self, name: &str| {
                    d.has_field(at, name)
                        .filter(|_| at.tool.is_none())
                        .map(|js| format!("={{{{ {js} }}}}"))
                };
                let owner = organisation
                    .map(|a| self.text(at, &a.value))
                    .unwrap_or_else(|| "<owner>".to_owned());
                let repository = whole
                    .or_else(|| known(self, "repository name"))
                    .unwrap_or_else(|| "<repository>".to_owned());
                (owner, repository)
            }
        };
        params.insert(
            "owner".into(),
            if call.short == "github" {
                self.host_name(&owner, "owner")
            } else {
                json!(owner)
            },
        );
        params.insert(
            "repository".into(),
            if call.short == "github" {
                self.host_name(&repository, "repository")
            } else {
                json!(repository)
            },
        );
        args.retain(|a| !matches!(&a.value, Val::Lit { value: Value::String(s) } if *s == owner && matches!(a.role, Role::Field(_))));
        true
    }

    fn host_name(&mut self, text: &str, what: &str) -> Value {
        if text.starts_with("http") {
            return json!({"__rl": true, "mode": "url", "value": text});
        }
        if text.starts_with('<') {
            self.todo("id", "GitHub", format!("choose the {what}"));
            return json!({"__rl": true, "mode": "list", "value": text, "cachedResultName": text});
        }
        json!({"__rl": true, "mode": "name", "value": text})
    }
}
