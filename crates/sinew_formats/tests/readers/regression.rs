//! What fuzzing found.
