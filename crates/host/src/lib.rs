//! The machine that Klatch runs on: facts about it and its processes ([`machine`]), and whose rights Klatch uses on it ([`privileges`]).

pub mod machine;
pub mod privileges;
