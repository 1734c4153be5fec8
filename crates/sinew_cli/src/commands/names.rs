//! Values that are chosen by name.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Parser of one of some named values; errors, help and completions list the names.
pub fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(name))
        .try_map(move |text| all.into_iter().find(|item| name(*item) == text).ok_or("unknown name"))
}
