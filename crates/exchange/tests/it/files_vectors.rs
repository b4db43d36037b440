//! Checks the contents of files and the order of blocks against `vectors/files.json`, which an independent implementation of
//! `docs/reference/files.md` has computed.

use klatch_exchange::files::{BlockOrder, PAGE_BYTES, Pages, file_name};
use serde_json::Value;

use crate::shared::{fnv1a, seed};

fn vectors(name: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/files.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let vectors = vectors[name].as_array().unwrap().clone();
    assert!(vectors.len() > 5);
    vectors
}

fn number(vector: &Value, name: &str) -> u32 {
    vector[name]
        .as_u64()
        .and_then(|number| number.try_into().ok())
        .unwrap_or_else(|| panic!("{name} in {vector}"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn pages() {
    for vector in vectors("pages") {
        let (file, page) = (number(&vector, "file"), number(&vector, "page"));
        let mut bytes = [0; PAGE_BYTES];
        Pages::new(seed(&vector)).write(file, page, &mut bytes);
        assert_eq!(file_name(file), vector["name"], "{vector}");
        assert_eq!(hex(&bytes[..32]), vector["first"], "{vector}");
        assert_eq!(hex(&bytes[PAGE_BYTES - 8..]), vector["last"], "{vector}");
        assert_eq!(fnv1a(&bytes), vector["fnv1a"], "{vector}");
    }
}

#[test]
fn orders() {
    for vector in vectors("orders") {
        let (reader, files) = (number(&vector, "reader"), number(&vector, "files"));
        let per_file = number(&vector, "blocks_per_file").into();
        let random = vector["order"] == "random";
        let order = BlockOrder::new(seed(&vector), reader, files, per_file, random);
        let first = vector["first"].as_array().unwrap();
        let places: Vec<_> =
            order.take(first.len()).map(|place| serde_json::json!([place.file, place.block])).collect();
        assert_eq!(&places, first, "{vector}");
    }
}
