//! The steps of flow.yaml that steer: routes, loops, gates.

use super::load_steps::Steps;
use super::model::{By, GateSpec, LoopSpec, Otherwise, RouteCase, RouteSpec};
use crate::nearest::nearest;
use agentctl_base::yaml::Node;

impl Steps<'_, '_> {
    /// `route: CASES`, or `route: {by: …}` with `cases` beside it.
    pub(super) fn route(&mut self, node: &Node, route: &Node, what: &str) -> Option<RouteSpec> {
        let (by, cases) = match route.as_map() {
            Some(_) => {
                self.reader.keys(route, "`route`", &["by"]);
                let by = self.reader.required(route, "by", "`route`");
                (by, self.reader.required(node, "cases", what)?)
            }
            None => (node.get("by"), route),
        };
        let by = match by {
            Some(n) if n.as_map().is_some() => self.chooser(n, what).map(By::Agent),
            Some(n) => self.expression(n).map(By::Name),
            None => None,
        };
        let Some(items) = cases.as_list().filter(|items| !items.is_empty()) else {
            self.add(cases.place, "a route needs a list of cases");
            return None;
        };
        let mut read: Vec<RouteCase> = Vec::new();
        // Cases stand side by side: each may enter the stages that its neighbour does.
        let before = self.furthest;
        let mut furthest = before;
        for (i, item) in items.iter().enumerate() {
            self.furthest = before;
            let case = self.case(item, what);
            furthest = furthest.max(self.furthest);
            if read.iter().any(|c| c.name == case.name) {
                self.add(
                    item.place,
                    format!("the case {:?} stands twice in {what}", case.name),
                );
            }
            if case.otherwise && i + 1 != items.len() {
                self.add(
                    item.place,
                    format!("the `else` case of {what} must be the last one"),
                );
            }
            self.fits_by(item, &case, by.as_ref(), what);
            read.push(case);
        }
        self.furthest = furthest;
        if let Some(By::Agent(chooser)) = &by {
            self.otherwise_is_there(cases, &chooser.otherwise, &read, what);
        }
        Some(RouteSpec { by, cases: read })
    }

    fn case(&mut self, item: &Node, what: &str) -> RouteCase {
        let keys = ["case", "when", "means", "else", "steps"];
        self.reader.keys(item, "a case", &keys);
        let name = self.reader.required(item, "case", "a case");
        let name = name.and_then(|n| self.reader.name(n, "a case"));
        let when = item.get("when").and_then(|n| self.expression(n));
        let means = item
            .get("means")
            .and_then(|n| self.reader.text(n, &format!("`means` of a case of {what}")));
        let steps = match item.get("steps") {
            Some(n) if n.as_list().is_some_and(<[Node]>::is_empty) => Vec::new(),
            Some(n) => self.list(n, "`steps` of a case"),
            None => Vec::new(),
        };
        RouteCase {
            name: name.unwrap_or_default(),
            when,
            means,
            otherwise: item.get("else").and_then(Node::as_bool) == Some(true),
            steps,
        }
    }

    /// Who chooses decides what a case must say.
    fn fits_by(&mut self, item: &Node, case: &RouteCase, by: Option<&By>, what: &str) {
        let (when, means) = (item.get("when").is_some(), item.get("means").is_some());
        let wrong = match by {
            Some(By::Agent(_)) if !means => {
                format!(
                    "the case {:?} needs `means`: what the agent chooses by",
                    case.name
                )
            }
            Some(By::Agent(_)) if case.otherwise => {
                format!(
                    "in {what} an agent chooses; name the case that is taken else in `otherwise` of `by`"
                )
            }
            Some(By::Name(_)) if when => {
                format!("{what} chooses `by` name, so its cases have no `when`")
            }
            None if !case.otherwise && !when => {
                format!("the case {:?} needs `when`, or `else: true`", case.name)
            }
            Some(By::Name(_)) | None if means => {
                format!("no agent chooses in {what}, so nobody reads `means`")
            }
            _ => return,
        };
        self.add(item.place, wrong);
    }

    /// What is taken when nothing else is must always be possible.
    fn otherwise_is_there(&mut self, cases: &Node, name: &str, read: &[RouteCase], what: &str) {
        match read.iter().find(|case| case.name == name) {
            None => {
                let hint = nearest(name, read.iter().map(|case| case.name.as_str()));
                self.add(
                    cases.place,
                    format!("`otherwise` of {what} names no case: {name:?}{hint}"),
                );
            }
            Some(case) if case.when.is_some() => self.add(
                cases.place,
                format!("the case {name:?} is what {what} takes when nothing else is taken, so it can have no `when`"),
            ),
            Some(_) => {}
        }
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
}
