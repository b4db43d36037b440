//! Values in study files: one value, or a list of them.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IntoDeserializer, SeqAccess, Visitor};

/// The values of an axis: `5` or `[5, 10, 15]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis<T>(pub(crate) Vec<T>);

/// The value of a knob: text, a number, or `true` and `false` for `on` and `off`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scalar(pub(crate) String);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Axis<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Axis<T>, D::Error> {
        from.deserialize_any(AxisVisitor(PhantomData))
    }
}

struct AxisVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for AxisVisitor<T> {
    type Value = Axis<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or a list of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Axis<T>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Axis)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Axis<T>, E> {
        one(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Axis<T>, E> {
        one(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Axis<T>, E> {
        one(value)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Axis<T>, E> {
        one(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Axis<T>, E> {
        one(value)
    }
}

fn one<'de, T: Deserialize<'de>, E: Error>(value: impl IntoDeserializer<'de, E>) -> Result<Axis<T>, E> {
    T::deserialize(value.into_deserializer()).map(|value| Axis(vec![value]))
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Scalar, D::Error> {
        from.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a number, true or false")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar(value.to_string()))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar(if value { "on" } else { "off" }.to_owned()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar(value.to_owned()))
    }
}
