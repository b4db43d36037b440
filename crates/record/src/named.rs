//! Enums whose variants have names.

use strum::VariantArray;

/// All variants, in their order.
///
/// # Panics
/// There are more or fewer. A constant with such a number does not compile.
pub const fn variants<T: VariantArray + Copy, const COUNT: usize>() -> [T; COUNT] {
    assert!(T::VARIANTS.len() == COUNT, "the number of variants is another");
    match T::VARIANTS.first_chunk() {
        Some(all) => *all,
        None => panic!("the number of variants is another"),
    }
}

/// The variant with this name. `what` says what it is in the error, which has all names.
pub(crate) fn named<T: VariantArray + Copy + Into<&'static str>>(
    what: &str,
    text: &str,
) -> Result<T, String> {
    let name = |one: &T| -> &'static str { (*one).into() };
    T::VARIANTS.iter().find(|one| name(one) == text).copied().ok_or_else(|| {
        let known: Vec<&str> = T::VARIANTS.iter().map(name).collect();
        format!("{what} must be one of {}, got {text}", known.join(", "))
    })
}
