//! What the schema of a search cannot have from its type.

use schemars::Schema;

/// Adds the other names of the ends of a limit to its schema: one of them each is required.
pub(crate) fn add_aliases(schema: &mut Schema) {
    const PARTIES: [&str; 5] = ["rooms", "connections", "lines", "readers", "rate"];
    let mut required = Vec::new();
    for end in ["from", "max"] {
        let names = PARTIES.map(|party| format!("{party}_{end}"));
        if let Some(properties) = schema.get_mut("properties").and_then(|value| value.as_object_mut())
            && let Some(one) = properties.get(&names[0]).cloned()
        {
            properties.extend(names.iter().map(|name| (name.clone(), one.clone())));
        }
        let one_of = names.map(|name| serde_json::json!({ "required": [name] }));
        required.push(serde_json::json!({ "oneOf": one_of }));
    }
    schema.insert("required".to_owned(), serde_json::json!(["kind"]));
    schema.insert("allOf".to_owned(), required.into());
}
