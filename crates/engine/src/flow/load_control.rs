//! The steps of flow.yaml that steer: routes, loops, gates, ends.

use super::load_steps::Steps;
use super::model::{End, GateSpec, LoopSpec, Otherwise, RouteCase, RouteSpec};
use agentctl_base::question::Outcome;
use agentctl_base::yaml::Node;

impl Steps<'_, '_> {
    pub(super) fn route(&mut self, node: &Node, cases: &Node, what: &str) -> Option<RouteSpec> {
        let by = node.get("by").and_then(|n| self.expression(n));
        let by_name = node.get("by").is_some();
        let Some(items) = cases.as_list().filter(|items| !items.is_empty()) else {
            self.add(cases.place, "`route` must be a list of cases");
            return None;
        };
        let mut read: Vec<RouteCase> = Vec::new();
        // Cases stand side by side: each may enter the stages that its neighbour does.
        let before = self.furthest;
        let mut furthest = before;
        for (i, item) in items.iter().enumerate() {
            self.reader
                .keys(item, "a case", &["case", "when", "else", "steps"]);
            let name = self.reader.required(item, "case", "a case");
            let name = name
                .and_then(|n| self.reader.name(n, "a case"))
                .unwrap_or_default();
            if read.iter().any(|c| c.name == name) {
                self.add(
                    item.place,
                    format!("the case {name:?} stands twice in {what}"),
                );
            }
            let when = item.get("when").and_then(|n| self.expression(n));
            let otherwise = item.get("else").and_then(Node::as_bool) == Some(true);
            if otherwise && i + 1 != items.len() {
                self.add(
                    item.place,
                    format!("the `else` case of {what} must be the last one"),
                );
            }
            if by_name && item.get("when").is_some() {
                self.add(
                    item.place,
                    format!("{what} chooses `by` name, so its cases have no `when`"),
                );
            }
            if !by_name && !otherwise && item.get("when").is_none() {
                self.add(
                    item.place,
                    format!("the case {name:?} needs `when`, or `else: true`"),
                );
            }
            self.furthest = before;
            let steps = match item.get("steps") {
                Some(n) if n.as_list().is_some_and(<[Node]>::is_empty) => Vec::new(),
                Some(n) => self.list(n, "`steps` of a case"),
                None => Vec::new(),
            };
            furthest = furthest.max(self.furthest);
            read.push(RouteCase {
                name,
                when,
                otherwise,
                steps,
            });
        }
        self.furthest = furthest;
        Some(RouteSpec { by, cases: read })
    }

    pub(super) fn cycles(
        &mut self,
        node: &Node,
        steps: &Node,
        what: &str,
        id: &str,
    ) -> Option<LoopSpec> {
        let max = match self.reader.required(node, "max", what) {
            Some(n) if n.as_text() == Some("max_cycles") => Some(self.limits.max_cycles),
            Some(n) => self.reader.count(n, "max"),
            None => None,
        };
        let until = node.get("until").and_then(|n| self.expression(n));
        self.loops.push(id.to_owned());
        let steps = self.list(steps, "`loop`");
        self.loops.pop();
        let mut exhausted = Vec::new();
        let mut exhausted_end = None;
        if let Some(node) = node.get("exhausted") {
            self.reader.keys(node, "`exhausted`", &["steps", "end"]);
            let before = self.furthest;
            if let Some(n) = node.get("steps") {
                exhausted = self.list(n, "`steps` of `exhausted`");
            }
            if let Some(n) = node.get("end") {
                exhausted_end = self.end(n);
                self.furthest = before;
            }
        }
        Some(LoopSpec {
            max: max?,
            until,
            steps,
            exhausted,
            exhausted_end,
        })
    }

    pub(super) fn gate(&mut self, node: &Node, that: &Node, what: &str) -> Option<GateSpec> {
        let that = self.expression(that);
        let otherwise = self.reader.required(node, "otherwise", what);
        let otherwise = otherwise.and_then(|n| {
            self.reader
                .keys(n, "`otherwise`", &["end", "leave", "exhaust"]);
            match (n.get("end"), n.get("leave"), n.get("exhaust")) {
                (Some(end), None, None) => self.end(end).map(Otherwise::End),
                (None, Some(target), None) => self.around(target).map(Otherwise::Leave),
                (None, None, Some(target)) => self.around(target).map(Otherwise::Exhaust),
                _ => {
                    self.add(
                        n.place,
                        "`otherwise` needs one of `end`, `leave`, `exhaust`",
                    );
                    None
                }
            }
        });
        Some(GateSpec {
            that: that?,
            otherwise: otherwise?,
        })
    }

    fn around(&mut self, node: &Node) -> Option<String> {
        let id = self.reader.text(node, "a loop's id")?;
        if !self.loops.contains(&id) {
            self.add(node.place, format!("{id:?} is no loop around this gate"));
        }
        Some(id)
    }

    fn end(&mut self, node: &Node) -> Option<End> {
        self.reader.keys(node, "`end`", &["outcome", "message"]);
        let outcome = self.reader.required(node, "outcome", "`end`");
        let outcome = outcome.and_then(|n| match n.as_text() {
            Some("complete") => Some(Outcome::Complete),
            Some("draft") => Some(Outcome::Draft),
            Some("blocked") => Some(Outcome::Blocked),
            Some("refused") => Some(Outcome::Refused),
            Some("failed") => Some(Outcome::Failed),
            _ => {
                self.add(
                    n.place,
                    "`outcome` must be complete, draft, blocked, refused or failed",
                );
                None
            }
        });
        let message = self.reader.required(node, "message", "`end`");
        let message = message.and_then(|n| self.expression(n));
        Some(End {
            outcome: outcome?,
            message: message?,
        })
    }
}
