//! One step after the other: the dispatch from what a step does to who writes it.

use super::super::plan::{Does, Step};
use super::draft::{At, Draft};

impl Draft<'_> {
    /// Writes a list of steps behind `at`; the place after them.
    pub(super) fn steps(&mut self, steps: &[Step], at: At) -> At {
        let mut at = at;
        for step in steps {
            let before = self.workflow.nodes.len();
            at = self.step(step, at);
            let (lenient, failing) = (&self.plan.lenient, &self.plan.failing);
            if !lenient.contains(&step.id) && !failing.contains(&step.id) {
                continue;
            }
            let made = self.workflow.nodes.iter().skip(before);
            let made: Vec<String> = made.map(|n| n.name().to_owned()).collect();
            if failing.contains(&step.id) {
                self.failing.extend(made.clone());
            }
            if lenient.contains(&step.id) {
                for name in made {
                    self.set(&name, "onError", serde_json::json!("continueRegularOutput"));
                }
            }
        }
        at
    }

    pub(super) fn step(&mut self, step: &Step, at: At) -> At {
        let before = self.workflow.nodes.len();
        let at = self.written(step, at);
        let known: Vec<&String> = self.made.iter().flat_map(|m| &m.nodes).collect();
        let nodes = self.workflow.nodes.iter().skip(before);
        let nodes: Vec<String> = nodes
            .map(|n| n.name().to_owned())
            .filter(|n| !known.contains(&n))
            .collect();
        self.made.push(super::Made {
            said: step.said.clone(),
            nodes,
        });
        at
    }

    fn written(&mut self, step: &Step, at: At) -> At {
        match &step.does {
            Does::Service {
                service,
                verb,
                object,
                args,
                once,
            } => self.service_step(
                step,
                service,
                *verb,
                object.as_deref().unwrap_or(""),
                args,
                *once,
                at,
            ),
            Does::Http { .. } => self.http_step(step, at),
            Does::If {
                condition,
                then,
                otherwise,
            } => self.if_step(step, condition, then, otherwise, at),
            Does::Switch {
                on,
                cases,
                fallback,
            } => self.switch_step(step, on, cases, fallback.as_deref(), at),
            Does::Filter { condition } => self.filter_step(step, condition, at),
            Does::Loop {
                batch_size,
                body,
                after,
            } => self.loop_step(step, *batch_size, body, after, at),
            Does::WaitUntil {
                at: date,
                offset_seconds,
            } => self.wait_until_step(step, date, *offset_seconds, at),
            Does::Wait { seconds } => self.wait_step(step, *seconds, at),
            Does::Approval {
                service,
                args,
                approved,
                rejected,
            } => self.approval_step(step, service, args, approved, rejected, at),
            Does::Llm { .. } => self.llm_step(step, at),
            Does::Agent { .. } => self.agent_step(step, at),
            Does::Aggregate { format, group_by } => {
                self.aggregate_step(step, format, group_by.as_ref(), at)
            }
            Does::Split { field } => self.split_step(step, field, at),
            Does::SetFields { fields } => self.set_step(step, fields, at),
            Does::Sort { by, descending } => self.sort_step(step, by, *descending, at),
            Does::LimitTo { n } => self.limit_step(step, *n, at),
            Does::Unique { by } => self.unique_step(step, by, at),
            Does::Summarize { measures, by } => self.summarize_step(step, measures, by, at),
            Does::Dedupe {
                key,
                window_seconds,
            } => self.dedupe_step(step, key, *window_seconds, at),
            Does::NotIn { lookup, key } => self.not_in_step(step, lookup, key, at),
            Does::Join {
                left,
                right,
                on,
                keep,
            } => self.join_step(step, left, right, on, keep, at),
            Does::Gather { branches } => self.gather_step(step, branches, at),
            Does::Each { branches } => self.each_step(branches, at),
            Does::ToFile { format, file_name } => {
                self.to_file_step(step, format, file_name.as_ref(), at)
            }
            Does::FromFile { format, options } => self.from_file_step(step, format, options, at),
            Does::ReadDisk { path } => self.read_disk_step(step, path, at),
            Does::WriteDisk { path } => self.write_disk_step(step, path, at),
            Does::Respond {
                status,
                body,
                as_text,
            } => self.respond_step(step, *status, body, as_text.as_ref(), at),
            Does::CallWorkflow {
                reference,
                inputs,
                wait,
            } => self.call_step(step, reference, inputs, *wait, at),
            Does::Ingest { .. } => self.ingest_step(step, at),
            Does::Transcribe { provider } => self.transcribe_step(step, provider.as_deref(), at),
            Does::GenerateImage { provider, prompt } => {
                self.image_step(step, provider.as_deref(), prompt, at)
            }
            Does::Code {
                purpose,
                javascript,
            } => self.code_step(step, purpose, javascript, at),
            // "nothing happens": the branch ends here
            Does::Nothing => At {
                ends: Vec::new(),
                ..at
            },
        }
    }

    /// The name that a step wishes for its node, else this one.
    pub(super) fn wish(&self, step: &Step, name: impl Into<String>) -> String {
        match &step.name {
            Some(name) if !name.trim().is_empty() => name.clone(),
            _ => name.into(),
        }
    }
}
