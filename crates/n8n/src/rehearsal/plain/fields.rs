//! Fields that code reads, sets and names: by a computed name only where that is looked at when it runs, never a method as a value,
//! never of what is not its own.

use super::check::{Check, not, uses};
use super::looked::Looked;
use super::names::{BY_NAME, CALLED_BY_ITSELF, CALLING, CHANGEABLE, METHODS, owned, reserved};
use super::{Kind, Plain};
use oxc_ast::ast::{
    Expression, MemberExpression, ObjectExpression, ObjectPropertyKind, PropertyKey, PropertyKind,
};

impl Check<'_> {
    pub(super) fn member(&self, it: &MemberExpression<'_>) -> Plain {
        match it {
            MemberExpression::StaticMemberExpression(it) => {
                self.read(&it.object, it.property.name.as_str())
            }
            MemberExpression::ComputedMemberExpression(it) => {
                let owner = match it.object.without_parentheses() {
                    Expression::Identifier(owner) => owner.name.as_str(),
                    _ => "",
                };
                match owner {
                    "$node" => {}
                    owner if owned(owner).is_some() => return uses(owner),
                    _ => self.expression(&it.object)?,
                }
                match it.expression.without_parentheses() {
                    Expression::StringLiteral(key) => self.no_method(key.value.as_str()),
                    _ if owner == "$node" => not("names a node by something computed"),
                    key if self.bound.is_number(key) => self.expression(key),
                    key if self.kind == Kind::Code => {
                        self.expression(key)?;
                        let looked = Looked::of(it);
                        let looked = looked.ok_or("reads a field by a computed name")?;
                        self.looked.borrow_mut().push(looked);
                        Ok(())
                    }
                    _ => not("reads a field by a computed name"),
                }
            }
            MemberExpression::PrivateFieldExpression(_) => not("reads a private field"),
        }
    }

    /// A field that is read, not called. A method is no value: whoever gets it can call it on something else.
    fn read(&self, object: &Expression<'_>, name: &str) -> Plain {
        self.no_method(name)?;
        if let Expression::Identifier(owner) = object.without_parentheses() {
            let owner = owner.name.as_str();
            if owner == "$node" {
                return Ok(());
            }
            if let Some(names) = owned(owner) {
                let constant = name
                    .chars()
                    .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
                self.seen(owner);
                let is_value = owner.starts_with('$') && names.contains(&name);
                let known = is_value || (constant && !owner.starts_with('$'));
                return match known {
                    true => Ok(()),
                    false => uses(&format!("{owner}.{name}")),
                };
            }
        }
        self.expression(object)
    }

    /// A name that is read of something: it must not lead to a function.
    pub(super) fn no_method(&self, name: &str) -> Plain {
        self.name(name)?;
        let is_method =
            METHODS.contains(&name) || CALLING.contains(&name) || BY_NAME.contains(&name);
        match is_method {
            true => Err(format!("reads `{name}` without calling it")),
            false => Ok(()),
        }
    }

    /// A field that is set, counted or deleted: of the code's own variables and of the items.
    pub(super) fn change(&self, it: &MemberExpression<'_>) -> Plain {
        self.changes.set(true);
        let mut at = it.object();
        loop {
            at = match at.without_parentheses() {
                Expression::Identifier(root) => {
                    let name = root.name.as_str();
                    let own = self.bound.has(name) && !reserved(name);
                    if !own && !CHANGEABLE.contains(&name) {
                        return Err(format!("changes `{name}`, which is not its own"));
                    }
                    break;
                }
                Expression::StaticMemberExpression(it) => &it.object,
                Expression::ComputedMemberExpression(it) => &it.object,
                Expression::CallExpression(it) => &it.callee,
                _ => return not("changes what is not its own"),
            };
        }
        if let Some(name) = it.static_property_name()
            && CALLED_BY_ITSELF.contains(&name)
        {
            return uses(name);
        }
        self.member(it)
    }

    pub(super) fn object(&self, it: &ObjectExpression<'_>) -> Plain {
        it.properties.iter().try_for_each(|it| match it {
            ObjectPropertyKind::SpreadProperty(it) => self.expression(&it.argument),
            ObjectPropertyKind::ObjectProperty(it) => {
                if it.kind != PropertyKind::Init {
                    return not("declares a getter or a setter");
                }
                let key = self.key(&it.key, it.computed)?;
                if CALLED_BY_ITSELF.contains(&key.as_str()) {
                    return uses(&key);
                }
                self.expression(&it.value)
            }
        })
    }

    /// The name of a field that is spelled out.
    pub(super) fn key(&self, key: &PropertyKey<'_>, computed: bool) -> Result<String, String> {
        let name = match key {
            PropertyKey::StaticIdentifier(name) if !computed => name.name.to_string(),
            PropertyKey::StringLiteral(name) => name.value.to_string(),
            PropertyKey::NumericLiteral(_) => String::new(),
            _ => return not("names a field by something computed"),
        };
        self.name(&name)?;
        Ok(name)
    }
}
