use serde_json::{Map, Value, json};

use super::keys::{self, Key, SECTIONS, SUITE, TOP};

/// Draft 2020-12. A plan is TOML: the schema is of the same document as JSON. It accepts what the
/// parser accepts, but for what needs other files: names of suites and their parameters, the list
/// of serials, and calendar dates that do not exist.
pub fn json_schema() -> Value {
    let mut properties = Map::new();
    for key in keys::of_section(TOP) {
        properties.insert(key.name.to_owned(), of_key(key));
    }
    properties.insert(
        "suites".to_owned(),
        json!({ "type": "array", "minItems": 1, "items": of_section(SUITE),
            "description": "What runs on each drive, in this order." }),
    );
    for section in SECTIONS {
        properties.insert(section.to_owned(), of_section(section));
    }
    properties["drives"]["anyOf"] = json!([{ "required": ["model"] }, { "required": ["serials"] }]);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Plan of assay fleet",
        "type": "object",
        "properties": properties,
        "required": ["name", "suites", "drives", "store"],
        "additionalProperties": false,
        "if": {
            "properties": { "run": {
                "properties": { "destroy": { "const": true } }, "required": ["destroy"],
            } },
            "required": ["run"],
        },
        "then": { "properties": { "drives": { "required": ["serials"] } } },
    })
}

fn of_section(section: &str) -> Value {
    let properties = keys::of_section(section).map(|key| (key.name.to_owned(), of_key(key)));
    let properties: Map<String, Value> = properties.collect();
    let required = keys::of_section(section).filter(|key| key.required);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn of_key(key: &Key) -> Value {
    let mut schema = key.kind.schema();
    schema["description"] = json!(key.help);
    schema
}
