//! Checks of numbers and names that users give.

use crate::SessionError;

pub(crate) fn within(what: &'static str, value: f64, [low, high]: [f64; 2]) -> Result<f64, SessionError> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(SessionError::Value { what, cause: format!("{value} is not within {low} and {high}") })
}

/// Characters of a name; longer ones are no names.
const MAX_NAME: usize = 200;

pub(crate) fn check_name(what: &'static str, name: &str, is_taken: bool) -> Result<(), SessionError> {
    let cause = match () {
        () if name.trim().is_empty() => "it is empty",
        () if name.len() > MAX_NAME => "it is too long",
        () if is_taken => "it is taken",
        () => return Ok(()),
    };
    Err(SessionError::Name { what, name: name.chars().take(40).collect(), cause })
}
