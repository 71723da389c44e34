//! `delegate`: which agents a request needs and in which order, what each is told, and the one reply.

use super::fill::{TICKET, behind_colon, by_pattern, masked, unquoted};
use super::language::language;
use super::lexicon::{Hit, Lexicon};
use super::pick::JOINTS;
use super::render::whole;
use super::use_tools::HANDED;
use super::{Done, Next};
use crate::task::{KitError, Task};
use crate::words::Text;
use serde_json::{Value, json};

/// One agent to be asked, and what with.
pub(super) struct Errand {
    pub tool: String,
    pub text: String,
    /// It is told what the ones before found.
    pub takes: bool,
}

pub(super) struct Plan<'a> {
    pub task: Task<'a>,
    language: &'static str,
    pub lexicon: Lexicon,
    acts: Vec<&'a str>,
    agents: Vec<Agent<'a>>,
}

struct Agent<'a> {
    tool: &'a str,
    /// Concepts that name it, and concepts of things that only it has.
    names: Vec<&'a str>,
    things: Vec<&'a str>,
    /// Things that speak for it where nothing else speaks for another one.
    weak: Vec<&'a str>,
    /// Acts by which, said right before it is named, the whole request is its alone, whatever systems it speaks of besides.
    alone: Vec<&'a str>,
    /// The same of a part of the request: what is named behind it is a thing of its own.
    by_name: Vec<&'a str>,
    /// Concepts of what it makes out of what others found: "in a PDF".
    makes: Vec<&'a str>,
}

pub(super) fn texts(of: Option<&Value>) -> Vec<&str> {
    let items = of.and_then(Value::as_array);
    items
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

pub(super) fn next(task: Task<'_>, tools: &[String], done: &[Done]) -> Result<Next, KitError> {
    let now = task
        .said
        .iter()
        .rev()
        .find(|s| s.by_user)
        .map_or("", |s| s.text.as_str());
    let locale = task
        .reads("locale")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let entry = task.entry()?;
    let agents = entry
        .get("agents")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let agents = agents
        .filter(|(tool, _)| tools.contains(tool))
        .map(|(tool, of)| Agent {
            tool,
            names: texts(of.get("names")),
            things: texts(of.get("things")),
            weak: texts(of.get("weak")),
            alone: texts(of.get("alone")),
            by_name: texts(of.get("by_name")),
            makes: texts(of.get("makes")),
        });
    let lexicon = Lexicon::of(task.offline.get("concepts"));
    let acts = texts(task.offline.get("acts"));
    let plan = Plan {
        language: language(now, locale, &lexicon, &acts),
        lexicon,
        acts,
        agents: agents.collect(),
        task,
    };
    plan.go(now, done)
}

impl<'a> Plan<'a> {
    fn go(&self, now: &str, done: &[Done]) -> Result<Next, KitError> {
        let errands = match self.errands(now) {
            Ok(errands) => errands,
            Err(text) => {
                let output = self.task.text_in(text, self.language)?;
                return Ok(Next::Answer(
                    json!({"output": output, "data": {}, "attachment": null}),
                ));
            }
        };
        for (at, errand) in errands.iter().enumerate() {
            let Some(made) = done.get(at) else {
                return Ok(self.ask(errand, done.get(..at).unwrap_or_default()));
            };
            let data = made.content.get("data");
            if !made.ok || data.and_then(|d| d.get("error")).is_some() {
                break;
            }
        }
        self.reply(done)
    }

    fn ask(&self, errand: &Errand, before: &[Done]) -> Next {
        let mut text = errand.text.clone();
        if errand.takes {
            let found: Vec<String> = before
                .iter()
                .filter_map(|made| made.content.get("data"))
                .map(whole)
                .collect();
            text += HANDED;
            text += &found.join("\n\n");
        }
        Next::Call {
            tool: errand.tool.clone(),
            args: json!({"taskDescription": text}),
        }
    }

    /// What the agents said, one after the other; the last one's data.
    fn reply(&self, done: &[Done]) -> Result<Next, KitError> {
        let mut outputs: Vec<String> = Vec::new();
        let mut data = Value::Null;
        let mut attachment = Value::Null;
        for made in done {
            match made.content.get("output").and_then(Value::as_str) {
                Some(output) if made.ok => outputs.push(output.to_owned()),
                _ => {
                    outputs.push(self.task.text_in("agent_failed", self.language)?.to_owned());
                    data = json!({"error": "tool_failed"});
                    continue;
                }
            }
            data = made.content.get("data").cloned().unwrap_or_default();
            if let Some(place) = made.content.get("attachment").filter(|a| !a.is_null()) {
                attachment = place.clone();
            }
        }
        let output = outputs.join("\n\n");
        Ok(Next::Answer(
            json!({"output": output, "data": data, "attachment": attachment}),
        ))
    }

    /// Err: the name of the text that is the whole answer.
    fn errands(&self, now: &str) -> Result<Vec<Errand>, &'static str> {
        let users: Vec<&str> = (self.task.said.iter().filter(|s| s.by_user))
            .map(|s| s.text.as_str())
            .collect();
        if let Some(errands) = self.goes_on() {
            return Ok(errands);
        }
        let has_act = self.has_act(now);
        if self.lexicon.has(now, "of_those")
            && let Some(errand) = self.of_what_was_said(now, &users)
        {
            return Ok(vec![errand]);
        }
        let errands = self.of_request(now);
        if !errands.is_empty() {
            return Ok(errands);
        }
        for (concept, text) in [
            ("help", "what_i_do"),
            ("thanks", "you_are_welcome"),
            ("greeting", "hello"),
        ] {
            if self.lexicon.has(now, concept) && !has_act {
                return Err(text);
            }
        }
        if let Some(errand) = self.of_what_was_said(now, &users) {
            return Ok(vec![errand]);
        }
        let wants = has_act || self.lexicon.has(now, "request");
        Err(if wants { "which_system" } else { "what_i_do" })
    }

    pub(super) fn has_act(&self, text: &str) -> bool {
        self.lexicon
            .hits(&unquoted(text))
            .iter()
            .any(|hit| self.acts.contains(&hit.concept.as_str()))
    }

    /// The agents that a request needs, in order; where none is spoken of, of the request without its slips of the fingers.
    pub(super) fn of_request(&self, text: &str) -> Vec<Errand> {
        let errands = self.of_words(text);
        if !errands.is_empty() {
            return errands;
        }
        let mut concepts = self.acts.clone();
        for agent in &self.agents {
            concepts.extend(agent.names.iter().chain(&agent.things).chain(&agent.weak));
        }
        let mended = self.lexicon.mended(text, &concepts);
        mended.map(|text| self.of_words(&text)).unwrap_or_default()
    }

    fn of_words(&self, text: &str) -> Vec<Errand> {
        if let Some(tool) = self.alone(text, |agent| &agent.alone) {
            return vec![Errand {
                tool: tool.to_owned(),
                text: text.trim().to_owned(),
                takes: false,
            }];
        }
        let (head, tail) = match behind_colon(text) {
            Some((head, _)) => (head, text.get(head.len()..).unwrap_or_default()),
            None => (text, ""),
        };
        let mut parts: Vec<String> = vec![head.to_owned()];
        for join in [
            " and ", " und ", " et ", " y ", ", then ", ", dann ", " then ",
        ] {
            parts = parts
                .into_iter()
                .flat_map(|part| match part.split_once(join) {
                    Some((a, b)) if self.is_other(a, b) => vec![a.to_owned(), b.to_owned()],
                    _ => vec![part],
                })
                .collect();
        }
        if let Some(last) = parts.last_mut() {
            last.push_str(tail);
        }
        let mut errands: Vec<Errand> = Vec::new();
        for part in parts {
            let takes = !errands.is_empty();
            for (at, errand) in self.of_part(&part).into_iter().enumerate() {
                let takes = errand.takes || takes && at == 0 && self.has_act(&errand.text);
                errands.push(Errand { takes, ..errand });
            }
        }
        if errands.is_empty() && !tail.is_empty() {
            // "Quick question: …": what is wanted stands behind the colon.
            return self.of_words(tail.trim_start_matches([':', ' ']));
        }
        errands
    }

    /// The agent that is named right after one of these acts of it, before any other: a workflow that is to be built may be about any
    /// system, and the name of one that is run may be anything.
    fn alone(
        &self,
        text: &str,
        acts: impl for<'b> Fn(&'b Agent<'a>) -> &'b [&'a str],
    ) -> Option<&'a str> {
        let plain = masked(text);
        let hits = self.lexicon.hits(&plain);
        let places = self.places(&plain);
        self.agents.iter().enumerate().find_map(|(at, agent)| {
            let named = |hit: &&Hit| agent.names.contains(&hit.concept.as_str());
            let named = hits.iter().find(named)?;
            let is_act = |hit: &&Hit| {
                let between = hit.to..named.from;
                hit.to <= named.from
                    && acts(agent).contains(&hit.concept.as_str())
                    && !places
                        .iter()
                        .any(|(from, other)| *other != at && between.contains(from))
            };
            hits.iter().find(is_act).map(|_| agent.tool)
        })
    }

    /// Both sides are for an agent, and not for the same one.
    fn is_other(&self, a: &str, b: &str) -> bool {
        let first = |text: &str| self.places(text).first().map(|(_, agent)| *agent);
        match (first(a), first(b)) {
            (Some(a), Some(b)) => a != b,
            _ => false,
        }
    }

    /// Where agents are spoken of: the first word of each, in the order of the text. Those that are named count before those of which
    /// only a thing is.
    fn places(&self, text: &str) -> Vec<(usize, usize)> {
        let plain = masked(text);
        let head = behind_colon(&plain)
            .map_or(plain.as_str(), |(head, _)| head)
            .to_owned();
        let hits = self.lexicon.hits(&head);
        let mut places: Vec<(usize, usize)> = Vec::new();
        for (at, agent) in self.agents.iter().enumerate() {
            let of =
                |concept: &str| agent.names.contains(&concept) || agent.things.contains(&concept);
            if let Some(hit) = hits.iter().find(|hit| of(&hit.concept)) {
                places.push((hit.from, at));
            }
        }
        if let Some(key) = by_pattern(TICKET, &head)
            && let Some(of_keys) = self
                .agents
                .iter()
                .position(|a| a.things.contains(&"issue_key"))
            && !places.iter().any(|(_, at)| *at == of_keys)
        {
            let words = Text::new(&head);
            let begin = crate::words::fold(key.split('-').next().unwrap_or_default());
            let at = words
                .words
                .iter()
                .position(|w| w.fold.starts_with(&begin))
                .unwrap_or_default();
            places.push((at, of_keys));
        }
        if places.is_empty() {
            for (at, agent) in self.agents.iter().enumerate() {
                let of = |concept: &str| agent.weak.contains(&concept);
                if let Some(hit) = hits.iter().find(|hit| of(&hit.concept)) {
                    places.push((hit.from, at));
                }
            }
        }
        places.sort_unstable();
        places
    }

    fn of_part(&self, part: &str) -> Vec<Errand> {
        if let Some(tool) = self.alone(part, |agent| &agent.by_name) {
            return vec![Errand {
                tool: tool.to_owned(),
                text: part.trim().to_owned(),
                takes: false,
            }];
        }
        let places = self.places(part);
        let errand = |agent: usize, text: &str, takes| {
            let tool = self.agents.get(agent).map_or("", |a| a.tool).to_owned();
            let text = text.trim().to_owned();
            Errand { tool, text, takes }
        };
        let (Some((_, first)), true) = (places.first().copied(), places.len() > 1) else {
            return places
                .iter()
                .map(|(_, agent)| errand(*agent, part, false))
                .collect();
        };
        let words = Text::new(part);
        let hits = self.lexicon.hits(&masked(part));
        let behind = |concept: &str| -> Vec<usize> {
            let named = hits.iter().filter(|hit| hit.concept == concept);
            named.map(|hit| hit.to).collect()
        };
        let [source, sink, into] = JOINTS;
        let (sources, sinks) = (behind(source), behind(sink));
        let follows =
            |marks: &[usize], at: usize| marks.iter().any(|to| (*to..=to + 2).contains(&at));
        let is_source = |(at, _): &(usize, usize)| follows(&sources, *at);
        let in_sink: Vec<usize> = places
            .iter()
            .filter(|(at, _)| follows(&sinks, *at))
            .map(|(_, agent)| *agent)
            .collect();
        let marked: Vec<&(usize, usize)> = places.iter().filter(|p| is_source(p)).collect();
        // "In a PDF" says what it becomes, wherever it stands.
        let into = behind(into);
        let makes = |(at, agent): &&(usize, usize)| {
            let of = self
                .agents
                .get(*agent)
                .map_or(&[][..], |a| a.makes.as_slice());
            let made = hits
                .iter()
                .any(|hit| hit.from == *at && of.contains(&hit.concept.as_str()));
            made && follows(&into, *at)
        };
        let made = places.iter().find(makes).map(|(_, agent)| *agent);
        let sink = match (self.has_act(part), marked.len()) {
            (true, _) if made.is_some() => made.unwrap_or(first),
            (true, _) if in_sink.len() == 1 => in_sink.first().copied().unwrap_or(first),
            (false, _) => {
                return places
                    .iter()
                    .map(|(_, agent)| errand(*agent, part, false))
                    .collect();
            }
            (true, n) if n > 0 && n < places.len() => {
                places.iter().find(|p| !is_source(p)).map_or(first, |p| p.1)
            }
            (true, _) => first,
        };
        let mut errands: Vec<Errand> = Vec::new();
        for (at, agent) in places.iter().filter(|(_, agent)| *agent != sink) {
            let next = places.iter().map(|(from, _)| *from).find(|from| from > at);
            let begin = sources
                .iter()
                .rev()
                .find(|to| **to <= *at && at - **to <= 2)
                .copied()
                .unwrap_or(*at);
            let end = next.unwrap_or(words.words.len());
            // It looks, whatever act the name of a thing holds ("the board Office move").
            let look = self.task.text_in("look", self.language).unwrap_or_default();
            let text = format!("{look} {}", words.said(begin..end));
            errands.push(errand(*agent, &text, false));
        }
        errands.push(errand(sink, part, true));
        errands
    }
}
