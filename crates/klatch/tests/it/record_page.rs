//! The page "What a record knows", made of the type of the record.

use std::fmt::Write;

use serde_json::Value;

const HEAD: &str = "# What a record knows

Every field of a record, where it is from, and when it is absent. The page is made from the type, as the [schema](schemas.md) is. A fact that nobody knows is `null` or
left out, never a default that could be taken for a measurement.
";

fn schema() -> Value {
    serde_json::from_str(&klatch_record::schema()).unwrap()
}

/// The types of the schema: the record, then all others by name.
fn types(schema: &Value) -> Vec<(String, &Value)> {
    let others = schema["$defs"].as_object().unwrap();
    let others = others.iter().map(|(name, of)| (name.clone(), of));
    std::iter::once(("Record".to_owned(), schema)).chain(others).collect()
}

/// The fields of a type, and whether each may be missing. A type that is one of several has the fields of all.
fn fields(of: &Value) -> Vec<(String, &Value, bool)> {
    let own = of["properties"].as_object().into_iter().flatten();
    let required: Vec<&str> =
        of["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut all: Vec<_> = own
        .map(|(name, field)| (name.clone(), field, !required.contains(&name.as_str()) || is_null(field)))
        .collect();
    for one in of["oneOf"].as_array().into_iter().flatten() {
        all.extend(fields(one));
    }
    all
}

fn is_null(field: &Value) -> bool {
    let of_type = |value: &Value| {
        value == "null" || value.as_array().is_some_and(|all| all.iter().any(|one| one == "null"))
    };
    of_type(&field["type"]) || field["anyOf"].as_array().into_iter().flatten().any(is_null)
}

/// The type of a field in words; names of other types are links.
fn kind(field: &Value) -> String {
    if let Some(name) = field["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(all) = field["anyOf"].as_array() {
        return all.iter().filter(|one| !is_null(one)).map(kind).collect::<Vec<_>>().join(" or ");
    }
    if let Some(only) = field["const"].as_str() {
        return format!("`{only}`");
    }
    let names: Vec<&str> = match &field["type"] {
        Value::Array(all) => all.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect(),
        one => one.as_str().into_iter().collect(),
    };
    match names.as_slice() {
        ["array"] => format!("list of {}", kind(&field["items"])),
        ["object"] if field["additionalProperties"].is_object() => {
            format!("map of {}", kind(&field["additionalProperties"]))
        }
        ["string"] => "text".to_owned(),
        names => names.join(" or "),
    }
}

/// A description as one cell of a table, without links to Rust items.
fn cell(description: &Value) -> String {
    let text = description.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace("[`", "`").replace("`]", "`").replace('|', "\\|")
}

/// The page, which `schemas::committed_schemas_are_those_of_the_types` compares and writes.
pub(crate) fn page() -> String {
    let schema = schema();
    let mut page = HEAD.to_owned();
    for (name, of) in types(&schema) {
        let _ = write!(page, "\n## {name}\n\n{}\n", cell(&of["description"]));
        let fields = fields(of);
        if !fields.is_empty() {
            page += "\n| field | type | |\n|---|---|---|\n";
        }
        for (field, of, may_be_absent) in fields {
            let optional = if may_be_absent { ", optional" } else { "" };
            let _ = writeln!(page, "| `{field}` | {}{optional} | {} |", kind(of), cell(&of["description"]));
        }
        for word in of["oneOf"].as_array().into_iter().flatten().filter(|one| one["const"].is_string()) {
            let _ = write!(page, "\n* {}: {}", kind(word), cell(&word["description"]));
        }
        page.truncate(page.trim_end().len());
        page.push('\n');
    }
    page
}

/// None has a default, which could be taken for a measurement.
#[test]
fn every_field_that_may_be_absent_says_when() {
    let schema = schema();
    let mut silent = Vec::new();
    for (name, of) in types(&schema) {
        for (field, of, may_be_absent) in fields(of) {
            assert!(of.get("default").is_none(), "{name}.{field} has a default");
            let text = cell(&of["description"]).to_lowercase();
            let says = ["null", "absent", "without", "none", "only", "unless", "where", "if "];
            if may_be_absent && !says.iter().any(|word| text.contains(word)) {
                silent.push(format!("{name}.{field}"));
            }
        }
    }
    assert_eq!(silent, [""; 0], "the doc comment of a field that may be absent says when it is");
}
