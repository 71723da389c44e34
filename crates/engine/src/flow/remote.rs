//! `call: {a2a: NAME}`: another agent in the place of a flow. The step is one like any call; the flow that it calls is made of the name
//! (see `pack::remotes`), so that everything that holds of calls holds of it.

use agentctl_base::yaml::{Node, Place};

/// The key, and the kind of the tools that other agents are.
pub const A2A: &str = "a2a";
const EFFECT: &str = "effect";
const LIKE: &str = "like";
const READS: &str = "reads";
const CHANGES: &str = "changes";

/// Another agent that steps call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteAgent {
    /// Its name in the settings.
    pub name: String,
    /// What it does changes nothing, so that it may be asked again where nothing came back. What is not said changes something.
    pub reads: bool,
    /// The flow of the pack whose output's schema has to fit what the agent gives.
    pub like: Option<String>,
}

impl RemoteAgent {
    /// The keys of a `call` that names one.
    pub const KEYS: [&'static str; 3] = [A2A, EFFECT, LIKE];

    /// What stands behind `call`, or an agent of an orchestrator. None: it names no other agent.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn of(node: &Node) -> Option<Result<RemoteAgent, (Place, String)>> {
        let name = node.get(A2A)?;
        let named = name.as_text().filter(|text| is_name(text));
        let Some(named) = named else {
            let message = "a2a is a name of [a2a.agents] in the settings: letters, digits, - and _";
            return Some(Err((name.place, message.to_owned())));
        };
        let reads = match node.get(EFFECT).map(|n| (n.place, n.as_text())) {
            None | Some((_, Some(CHANGES))) => false,
            Some((_, Some(READS))) => true,
            Some((place, _)) => {
                let message = format!("`{EFFECT}` is {READS} or {CHANGES}");
                return Some(Err((place, message)));
            }
        };
        let like = match node.get(LIKE).map(|n| (n.place, n.as_text())) {
            None => None,
            Some((_, Some(flow))) if is_name(flow) => Some(flow.to_owned()),
            Some((place, _)) => {
                let message = format!("`{LIKE}` is the name of a flow");
                return Some(Err((place, message)));
            }
        };
        let name = named.to_owned();
        Some(Ok(RemoteAgent { name, reads, like }))
    }

    /// The flow that steps call in its place. No file can have this name.
    pub fn flow(&self) -> String {
        let effect = match self.reads {
            true => READS,
            false => CHANGES,
        };
        let like = self.like.iter().map(|like| format!(":{like}"));
        format!("{A2A}:{}:{effect}{}", self.name, like.collect::<String>())
    }

    /// The agent of such a flow.
    pub fn of_flow(flow: &str) -> Option<RemoteAgent> {
        let mut parts = flow.split(':');
        let is_remote = parts.next() == Some(A2A);
        let (name, effect) = is_remote.then(|| Some((parts.next()?, parts.next()?)))??;
        Some(RemoteAgent {
            name: name.to_owned(),
            reads: effect == READS,
            like: parts.next().map(str::to_owned),
        })
    }

    /// Why it gave nothing, out of how its flow ended.
    pub fn away(&self, ended: &str) -> String {
        let of_tool = format!("{}: ", self.tool());
        let why = ended.rsplit_once(&of_tool).map_or(ended, |(_, why)| why);
        format!("the agent {} is away: {why}", self.name)
    }

    /// The tool of the policy, the gateway and the journal that a call is.
    pub fn tool(&self) -> String {
        match self.reads {
            true => format!("{A2A}_{}_{READS}", self.name),
            false => format!("{A2A}_{}", self.name),
        }
    }
}

fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && text.len() <= 64 && text.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentctl_base::yaml;

    #[test]
    fn a_flow_says_which_agent_it_stands_for() {
        for text in [
            "{a2a: Desk-1}",
            "{a2a: desk, effect: reads}",
            "{a2a: desk, like: analysis}",
        ] {
            let remote = RemoteAgent::of(&yaml::read(text, "f").unwrap())
                .unwrap()
                .unwrap();
            assert_eq!(RemoteAgent::of_flow(&remote.flow()), Some(remote));
        }
        let remote = RemoteAgent::of_flow("a2a:desk:reads").unwrap();
        assert_eq!(
            remote.away("step a/b/talk[1]/ask failed: a2a_desk_reads: nobody is there"),
            "the agent desk is away: nobody is there"
        );
        assert_eq!(RemoteAgent::of_flow("a2a"), None);
        assert_eq!(RemoteAgent::of_flow("technical"), None);
    }

    #[test]
    fn what_is_no_name_or_no_effect_is_told() {
        for (text, told) in [
            ("{a2a: 'http://x'}", "a2a is a name"),
            ("{a2a: [x]}", "a2a is a name"),
            ("{a2a: x, effect: maybe}", "`effect` is reads or changes"),
            ("{a2a: x, like: 'a:b'}", "`like` is the name of a flow"),
        ] {
            let (_, message) = RemoteAgent::of(&yaml::read(text, "f").unwrap())
                .unwrap()
                .unwrap_err();
            assert!(message.starts_with(told), "{text}: {message}");
        }
    }
}
