//! Fields that code reads or sets by a computed name. Which name that is shows when it runs, so on the copy of a test each of them is
//! looked at there first: a name that leads to what something is made of, or to a method, ends the run.

use super::names::{CALLED_BY_ITSELF, FORBIDDEN};
use oxc_ast::ast::{Argument, ComputedMemberExpression, Expression, MemberExpression};
use oxc_span::GetSpan;

/// The function that looks.
const LOOKS: &str = "agentctlField";
/// Its name and what it calls: code that gives one of them a meaning of its own is not run.
pub(super) const NAMES: [&str; 5] = [LOOKS, "String", "Object", "Error", "undefined"];
/// What it says; a run that ends so tells nothing of the workflow.
pub(in crate::rehearsal) const SAYS: &str =
    "in a test no field is read by a computed name that is not its item's own";
/// Each piece of code stands there twice for each computed name behind it; no hand writes longer ones.
const LONGEST: usize = 400_000;
/// Names that stand in each other, at most.
const DEEPEST: usize = 50;

/// Where a name stands, and what it is read of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Looked {
    begins: usize,
    ends: usize,
    of: (usize, usize),
}

impl Looked {
    /// None: what it reads of would be worked out twice, and does more than being read.
    pub fn of(it: &ComputedMemberExpression<'_>) -> Option<Looked> {
        stays(&it.object).then(|| {
            let (name, of) = (it.expression.span(), it.object.span());
            Looked {
                begins: name.start as usize,
                ends: name.end as usize,
                of: (of.start as usize, of.end as usize),
            }
        })
    }
}

/// It can be read twice: variables, fields of them, and items that n8n gives.
fn stays(it: &Expression<'_>) -> bool {
    let it = it.without_parentheses();
    if let Some(member) = it.as_member_expression() {
        return member_stays(member);
    }
    match it {
        Expression::Identifier(_) => true,
        Expression::StringLiteral(_) | Expression::NumericLiteral(_) => true,
        Expression::ChainExpression(it) => {
            let member = it.expression.as_member_expression();
            member.is_some_and(member_stays)
        }
        Expression::CallExpression(it) => match it.callee.without_parentheses() {
            Expression::Identifier(name) => {
                let is_literal = |it: &Argument<'_>| matches!(it, Argument::StringLiteral(_));
                name.name == "$" && it.arguments.iter().all(is_literal)
            }
            Expression::StaticMemberExpression(callee) => {
                let gives = matches!(callee.property.name.as_str(), "first" | "last" | "all");
                let is_n8ns = match callee.object.without_parentheses() {
                    Expression::Identifier(owner) => owner.name == "$input",
                    owner @ Expression::CallExpression(_) => stays(owner),
                    _ => false,
                };
                gives && is_n8ns && it.arguments.is_empty()
            }
            _ => false,
        },
        _ => false,
    }
}

fn member_stays(it: &MemberExpression<'_>) -> bool {
    match it {
        MemberExpression::StaticMemberExpression(it) => stays(&it.object),
        MemberExpression::ComputedMemberExpression(it) => {
            stays(&it.object) && stays(&it.expression)
        }
        MemberExpression::PrivateFieldExpression(_) => false,
    }
}

/// The code in which each of these places is looked at first; None: it would be too long, or they stand too deep in each other. `source`
/// is what was parsed, in which the code stands between `from` and `to`.
pub(super) fn guarded(
    source: &str,
    (from, to): (usize, usize),
    mut places: Vec<Looked>,
) -> Option<String> {
    // A name begins before those within it.
    places.sort_by_key(|place| place.begins);
    let mut out = String::new();
    written(source, (from, to), &places, DEEPEST, &mut out)?;
    let forbidden = FORBIDDEN.iter().chain(CALLED_BY_ITSELF);
    let forbidden: Vec<String> = forbidden.map(|name| format!("\"{name}\"")).collect();
    let forbidden = forbidden.join(",");
    // On a line of its own behind the code: its lines keep their numbers, and a function counts wherever it stands.
    out.push_str(&format!(
        "\nfunction {LOOKS}(of, key) {{ const name = String(key); const own = of === null || of === undefined || Object.hasOwn(Object(of), name) || !(name in Object(of)); if (!own || [{forbidden}].includes(name)) {{ throw new Error(\"{SAYS}: \" + name); }} return name; }}"
    ));
    Some(out)
}

/// Writes what stands between `from` and `to`. `places`: those within it.
fn written(
    source: &str,
    (from, to): (usize, usize),
    places: &[Looked],
    depth: usize,
    out: &mut String,
) -> Option<()> {
    let deeper = depth.checked_sub(1)?;
    let begun = |at: usize| places.partition_point(|place| place.begins < at);
    let (mut at, mut next) = (from, 0);
    while let Some(place) = places.get(next) {
        let within = next + 1..begun(place.ends);
        out.push_str(source.get(at..place.begins)?);
        out.push_str(LOOKS);
        out.push('(');
        let of = places.get(begun(place.of.0)..begun(place.of.1))?;
        written(source, place.of, of, deeper, out)?;
        out.push_str(", ");
        next = within.end;
        let name = (place.begins, place.ends);
        written(source, name, places.get(within)?, deeper, out)?;
        out.push(')');
        if out.len() > LONGEST {
            return None;
        }
        at = place.ends;
    }
    out.push_str(source.get(at..to)?);
    Some(())
}
