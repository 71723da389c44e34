//! The comparisons of IF, Filter and Switch nodes.

/// What n8n compares with, type by type; a comparison of another name never holds.
pub(crate) const OPERATIONS: [(&str, &[&str]); 6] = [
    (
        "string",
        &[
            "equals",
            "notEquals",
            "contains",
            "notContains",
            "startsWith",
            "notStartsWith",
            "endsWith",
            "notEndsWith",
            "regex",
            "notRegex",
            "empty",
            "notEmpty",
        ],
    ),
    (
        "number",
        &[
            "equals",
            "notEquals",
            "gt",
            "lt",
            "gte",
            "lte",
            "empty",
            "notEmpty",
        ],
    ),
    (
        "dateTime",
        &[
            "equals",
            "notEquals",
            "after",
            "before",
            "afterOrEquals",
            "beforeOrEquals",
            "empty",
            "notEmpty",
        ],
    ),
    (
        "boolean",
        &["true", "false", "equals", "notEquals", "empty", "notEmpty"],
    ),
    (
        "array",
        &[
            "contains",
            "notContains",
            "lengthEquals",
            "lengthNotEquals",
            "lengthGt",
            "lengthLt",
            "lengthGte",
            "lengthLte",
            "empty",
            "notEmpty",
        ],
    ),
    ("object", &["empty", "notEmpty"]),
];
/// A type of which a value is only asked for.
pub(crate) const ANY: &str = "any";
pub(crate) const OF_ANY_TYPE: [&str; 2] = ["exists", "notExists"];
