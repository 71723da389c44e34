//! What follows from a description for given parameters: what is shown, what the defaults are, which operations there are.

use serde_json::{Map, Value};

use super::description::{CredentialSlot, NodeDescription};
use super::display::Scope;
use super::fill::{Context, FillError, fill};
use super::property::{DisplayOptions, Property};
use super::values::{Filled, View};

/// The operations under each resource (None: the node has no resources): value and label.
pub type Operations = Vec<(Option<String>, Vec<(String, String)>)>;

impl NodeDescription {
    /// n8n's verdict whether a parameter is shown. `params` are the values on the parameter's own level and `root` the node's
    /// parameters; both as n8n sees them, that is with defaults filled in (`fill_defaults`).
    pub fn property_visible<'a>(
        &self,
        property: &Property,
        params: impl Into<View<'a>>,
        root: impl Into<View<'a>>,
    ) -> bool {
        self.displayed(property.display.as_ref(), Some(params.into()), root.into())
    }

    /// The same for the parameter at that place of the list, under the node's own values; remembered with them.
    pub fn is_shown(&self, at: usize, filled: &Filled<'_>) -> bool {
        let plan = self.properties.plan();
        filled.remembered(plan.rule_of(at), || {
            let values = View::from(filled);
            plan.is_shown(&self.properties, at, self.scope(Some(values), values))
        })
    }

    /// The value of the parameter at that place of the list.
    pub fn value_of<'v>(&self, at: usize, filled: &'v Filled<'_>) -> Option<&'v Value> {
        filled.of_property(at, self.properties.get(at)?)
    }

    /// The same where n8n has no object on the parameter's level.
    pub fn displayed(
        &self,
        display: Option<&DisplayOptions>,
        level: Option<View<'_>>,
        root: View<'_>,
    ) -> bool {
        display.is_none_or(|display| display.matches(self.scope(level, root)))
    }

    fn scope<'a>(&self, level: Option<View<'a>>, root: View<'a>) -> Scope<'a> {
        Scope {
            level,
            root: Some(root),
            version: self.version,
            is_tool: self.is_tool_name(),
        }
    }

    /// Whether the node asks for this credential; `params` with defaults filled in.
    pub fn credential_visible<'a>(
        &self,
        slot: &CredentialSlot,
        params: impl Into<View<'a>>,
    ) -> bool {
        let params = params.into();
        self.displayed(slot.display.as_ref(), Some(params), params)
    }

    /// The credentials that the node asks for under these (partial) parameters.
    pub fn visible_credentials(&self, params: &Map<String, Value>) -> Vec<&CredentialSlot> {
        let filled = self.fill_defaults(params);
        self.credentials
            .iter()
            .filter(|slot| self.credential_visible(slot, &filled))
            .collect()
    }

    /// The top-level parameters shown under these (partial) parameters.
    pub fn visible_properties(&self, params: &Map<String, Value>) -> Vec<&Property> {
        let filled = self.fill_defaults(params);
        self.properties
            .iter()
            .filter(|property| self.property_visible(property, &filled, &filled))
            .collect()
    }

    /// The top-level parameter of this name that is shown under these (partial) parameters.
    pub fn visible_property(&self, name: &str, params: &Map<String, Value>) -> Option<&Property> {
        self.visible_properties(params)
            .into_iter()
            .find(|property| property.name == name)
    }

    /// The parameters as n8n judges them: defaults filled in, hidden ones dropped. Where n8n itself fails on the parameters
    /// they come back as given; `try_fill_defaults` says why.
    pub fn fill_defaults(&self, params: &Map<String, Value>) -> Map<String, Value> {
        self.try_fill_defaults(params)
            .unwrap_or_else(|_| params.clone())
    }

    /// As `fill_defaults`, with the reason why n8n would throw.
    pub fn try_fill_defaults(
        &self,
        params: &Map<String, Value>,
    ) -> Result<Map<String, Value>, FillError> {
        Ok(self.filled(params)?.into_map())
    }

    /// The same without copying: what is not changed is borrowed.
    pub fn filled<'v>(&'v self, params: impl Into<View<'v>>) -> Result<Filled<'v>, FillError> {
        let context = Context {
            version: self.version,
            is_tool: self.is_tool_name(),
        };
        let plan = self.properties.plan();
        let slots = fill(&self.properties, plan, params.into(), context)?;
        Ok(Filled::new(slots))
    }

    /// Resources and their operations. Empty when the node has no operation to choose.
    pub fn operations(&self) -> Operations {
        let mut filled = self.fill_defaults(&Map::new());
        let resource = self
            .named("resource")
            .find(|p| !p.options.is_empty() && self.property_visible(p, &filled, &filled));
        let Some(resource) = resource else {
            let list = self.operations_shown(&filled);
            return if list.is_empty() {
                Vec::new()
            } else {
                vec![(None, list)]
            };
        };
        let mut all = Vec::new();
        for option in &resource.options {
            let Some(value) = option.value.as_str() else {
                continue;
            };
            filled.insert("resource".into(), option.value.clone());
            all.push((Some(value.to_owned()), self.operations_shown(&filled)));
        }
        if all.iter().all(|(_, list)| list.is_empty()) {
            return Vec::new();
        }
        all
    }

    fn operations_shown(&self, filled: &Map<String, Value>) -> Vec<(String, String)> {
        let mut list: Vec<(String, String)> = Vec::new();
        for property in self
            .named("operation")
            .filter(|p| self.property_visible(p, filled, filled))
        {
            for option in &property.options {
                if let Some(value) = option.value.as_str()
                    && self.displayed(option.display.as_ref(), Some(filled.into()), filled.into())
                    && !list.iter().any(|(v, _)| v == value)
                {
                    list.push((value.to_owned(), option.label.clone()));
                }
            }
        }
        list
    }

    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Property> {
        self.properties.iter().filter(move |p| p.name == name)
    }

    /// n8n's `@tool` rule goes by the name.
    fn is_tool_name(&self) -> bool {
        self.node_type.ends_with("Tool")
    }
}
