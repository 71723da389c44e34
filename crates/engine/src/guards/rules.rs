//! The rules of the door itself, about any call: how much a run may call, hidden values, calls that are sent twice. Pure.

use agentctl_base::decision::Decision;

/// Which of several is meant: a choice, not a permission.
pub const CHOICE: &str = "guard.account";
pub const REDACTED: &str = "guard.redacted";
/// The user looks at each change before it is written.
pub const LOOK: &str = "guard.look";
pub const REPEAT: &str = "guard.repeat";
pub const SECONDS: &str = "budget.seconds";
pub const TOOL_CALLS: &str = "budget.tool_calls";
pub const IDENTICAL_CALLS: &str = "budget.identical_calls";

/// The word about something that is live: it holds for the run, not for one call.
pub const PUBLISH: &str = "guard.publish";

pub fn allow(rule: &str) -> Decision {
    Decision::Allow {
        rule: rule.to_owned(),
    }
}
pub fn ask(rule: &str, reason: impl Into<String>) -> Decision {
    Decision::Ask {
        rule: rule.to_owned(),
        reason: reason.into(),
    }
}
pub fn deny(rule: &str, reason: impl Into<String>) -> Decision {
    Decision::Deny {
        rule: rule.to_owned(),
        reason: reason.into(),
    }
}

/// The rule by which a session is kept to one resource of a kind.
pub fn only_rule(kind: &str) -> String {
    format!("guard.{kind}")
}

/// `only`: the one resource that may be changed. `existing`: the one that the call changes; None: it makes a new one.
pub fn only(kind: &str, only: Option<&str>, existing: Option<&str>, deletes: bool) -> Decision {
    let rule = only_rule(kind);
    match (only, existing) {
        (None, _) => allow(&rule),
        (Some(only), Some(id)) if id == only && !deletes => allow(&rule),
        (Some(only), _) => deny(
            &rule,
            format!("only the {kind} `{only}` may be changed here, and it stays"),
        ),
    }
}

/// Before a change of a run whose user wants to look first.
pub fn look() -> Decision {
    Decision::Ask {
        rule: LOOK.to_owned(),
        reason: "nothing is written before you say yes".to_owned(),
    }
}

/// `made`: the calls before this one.
pub fn calls_spent(made: u64, max_calls: u64) -> Option<Decision> {
    (made >= max_calls).then(|| {
        deny(
            TOOL_CALLS,
            format!("the run has made its {max_calls} tool calls"),
        )
    })
}

/// `same`: the calls before this one that mean the same.
pub fn repeated(same: u64, max_same: u64) -> Option<Decision> {
    (same >= max_same).then(|| {
        deny(
            IDENTICAL_CALLS,
            format!("the same call was made {same} times and nothing changed in between"),
        )
    })
}

/// The way out of a refusal, for the model.
pub fn hint(rule: &str) -> &'static str {
    match rule {
        REDACTED => "leave the hidden value alone, and change what stands beside it",
        TOOL_CALLS | SECONDS => "finish with what you have",
        IDENTICAL_CALLS => {
            "the answer will not change; use the one you have, or call with other arguments"
        }
        "arguments" => "compare the call with the tool's schema; names and types are exact",
        _ => "do not make the call again; return what you know",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_makes_so_many_calls_and_no_more() {
        let rule = |decision: Option<Decision>| decision.map(|d| d.rule().to_owned());
        assert_eq!(rule(calls_spent(9, 10)), None);
        assert_eq!(rule(calls_spent(10, 10)).as_deref(), Some(TOOL_CALLS));
        assert_eq!(rule(repeated(2, 3)), None);
        assert_eq!(rule(repeated(3, 3)).as_deref(), Some(IDENTICAL_CALLS));
    }

    #[test]
    fn one_resource_is_the_only_one_and_stays() {
        let judged = |kept: Option<&str>, existing: Option<&str>, deletes: bool| {
            let decision = only("page", kept, existing, deletes);
            assert_eq!(decision.rule(), "guard.page");
            matches!(decision, Decision::Allow { .. })
        };
        assert!(judged(None, None, false));
        assert!(judged(None, Some("a"), true));
        assert!(judged(Some("a"), Some("a"), false));
        assert!(!judged(Some("a"), Some("a"), true));
        assert!(!judged(Some("a"), Some("b"), false));
        assert!(!judged(Some("a"), None, false));
    }
}
