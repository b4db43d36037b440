//! Checks the functions of workload `web` against `vectors/web.json`, which an independent implementation of
//! `docs/reference/web.md` has computed.

use klatch_exchange::web::{AdTables, Content, FileId, Mix, TableOptions};
use serde_json::Value;

use crate::shared::{fnv1a, seed};

fn vectors(name: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/web.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let vectors = vectors[name].as_array().unwrap().clone();
    assert!(!vectors.is_empty());
    vectors
}

fn number(vector: &Value, name: &str) -> i64 {
    vector[name].as_i64().unwrap_or_else(|| panic!("{name} in {vector}"))
}

#[test]
fn paths() {
    for vector in vectors("paths") {
        let file = FileId::parse(vector["path"].as_str().unwrap().as_bytes());
        let parts = file.map(|file| [file.directory(), file.class().into(), file.number().into()]);
        assert_eq!(serde_json::to_value(parts).unwrap(), vector["file"], "{vector}");
    }
}

#[test]
fn files() {
    for vector in vectors("files") {
        let content = Content::new(seed(&vector));
        let file = FileId::parse(vector["path"].as_str().unwrap().as_bytes()).unwrap();
        let stored = content.file(file);
        let file = vector["ad"].as_u64().map_or(stored, |ad| stored.rotated(ad as u16));
        let mut bytes = vec![0; file.size_bytes()];
        file.fill(0, &mut bytes);
        assert_eq!(bytes.len() as i64, number(&vector, "size"), "{vector}");
        assert_eq!(&bytes[..64], vector["first"].as_str().unwrap().as_bytes());
        assert_eq!(fnv1a(&bytes), vector["fnv1a"], "{vector}");
        let tags: Vec<_> = (0..).map_while(|tag| file.tag_offset(tag)).collect();
        assert_eq!(serde_json::to_value(tags).unwrap(), vector["tags"], "{vector}");
    }
}

#[test]
fn lines() {
    for vector in vectors("lines") {
        let [line, directories, users] =
            ["line", "directories", "users"].map(|name| number(&vector, name) as u32);
        let mix = Mix::new(seed(&vector), directories, users, vector["static_only"] == true);
        let mut script = mix.line(line);
        let mut next = || {
            let mut request = Vec::new();
            script.next_step(&mix).write("klatch.test", &mut request);
            String::from_utf8(request).unwrap()
        };
        match vector["first"].as_array() {
            Some(first) => first.iter().for_each(|request| assert_eq!(*request, next())),
            None => {
                let all: String = (0..number(&vector, "requests")).map(|_| next()).collect();
                assert_eq!(fnv1a(all.as_bytes()), vector["fnv1a"], "{vector}");
            }
        }
    }
}

#[test]
fn ads() {
    for vector in vectors("ads") {
        let expiry_s = [0, 1].map(|place| vector["expiry_s"][place].as_i64().unwrap());
        let users = number(&vector, "users") as u32;
        let options = TableOptions { users, now_s: number(&vector, "now_s"), expiry_s };
        let tables = AdTables::new(seed(&vector), &options);
        let (users, ads) = (tables.user_personality(), tables.custom_ads());
        assert_eq!(
            (&users[..15], &ads[..39]),
            (vector["first_user"].as_str().unwrap(), vector["first_ad"].as_str().unwrap())
        );
        assert_eq!(fnv1a(users.as_bytes()), vector["user_personality"]);
        assert_eq!(fnv1a(ads.as_bytes()), vector["custom_ads"]);
        for choice in vector["choices"].as_array().unwrap() {
            let [user, last_ad] = ["user", "last_ad"].map(|name| number(choice, name));
            let mut cookie = Vec::new();
            tables.choose(user as u32, last_ad as u16).write_cookie(&mut cookie);
            assert_eq!(String::from_utf8(cookie).unwrap(), choice["cookie"], "{choice}");
        }
    }
}
