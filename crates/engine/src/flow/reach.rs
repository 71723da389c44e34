//! Steps that nothing leads to: behind one after which the flow always ends, or a loop is always left. A step that never runs is a
//! mistake of the file, so it is told when the flow is read.

use super::model::{By, LoopSpec, Otherwise, RouteSpec, Step, StepKind};
use agentctl_base::yaml::Place;

/// The first such step of each list, with where it stands.
pub(super) fn unreached(steps: &[Step]) -> Vec<(Place, String)> {
    let mut found = Vec::new();
    goes_through(steps, &mut found);
    found
}

/// Whether what stands behind the list can be reached through it.
fn goes_through(steps: &[Step], found: &mut Vec<(Place, String)>) -> bool {
    let mut closed: Option<&Step> = None;
    for step in steps {
        if let Some(before) = closed {
            let message = format!(
                "the step {:?} is never reached: behind {:?} nothing goes on",
                step.id, before.id
            );
            // Of several actions on one step, the order is told by itself.
            if !step.id.contains('.') {
                found.push((step.place, message));
            }
            return false;
        }
        let passes = passes(step, found);
        if !passes && step.when.is_none() {
            closed = Some(step);
        }
    }
    closed.is_none()
}

fn passes(step: &Step, found: &mut Vec<(Place, String)>) -> bool {
    match &step.kind {
        StepKind::End(_) => false,
        StepKind::Block(steps) => goes_through(steps, found),
        StepKind::Route(route) => through_a_case(route, found),
        StepKind::Loop(spec) => out_of_the_loop(&step.id, spec, found),
        StepKind::Parallel(_) | StepKind::ForEach(_) => {
            for list in step.children() {
                goes_through(list, found);
            }
            true
        }
        StepKind::Agent(_)
        | StepKind::Ask(_)
        | StepKind::Tool(_)
        | StepKind::Gate(_)
        | StepKind::Set(_)
        | StepKind::Say(_)
        | StepKind::Clear(_)
        | StepKind::Call(_) => true,
    }
}

fn through_a_case(route: &RouteSpec, found: &mut Vec<(Place, String)>) -> bool {
    // An agent always chooses one, and a name that is not listed is an error.
    let one_is_taken = match &route.by {
        Some(By::Agent(_) | By::Name(_)) => true,
        None => route.cases.iter().any(|case| case.otherwise),
    };
    let cases = route.cases.iter();
    let through = cases
        .filter(|case| goes_through(&case.steps, found))
        .count();
    through > 0 || !one_is_taken
}

fn out_of_the_loop(id: &str, spec: &LoopSpec, found: &mut Vec<(Place, String)>) -> bool {
    let again = goes_through(&spec.steps, found);
    let after = goes_through(&spec.exhausted, found) && spec.exhausted_end.is_none();
    let says = |wanted: &dyn Fn(&Otherwise) -> bool| gate_within(&spec.steps, wanted);
    let is_left = says(&|way| matches!(way, Otherwise::Leave(of) if of == id));
    let gives_up = says(&|way| matches!(way, Otherwise::Exhaust(of) if of == id));
    is_left || (again && spec.until.is_some()) || (after && (again || gives_up))
}

fn gate_within(steps: &[Step], wanted: &dyn Fn(&Otherwise) -> bool) -> bool {
    steps.iter().any(|step| {
        let own = matches!(&step.kind, StepKind::Gate(gate) if wanted(&gate.otherwise));
        let mut lists = step.children().into_iter();
        own || lists.any(|list| gate_within(list, wanted))
    })
}
