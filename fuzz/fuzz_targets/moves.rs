//! Any bytes as moves; what is read can be written and read again, with angles as near as degrees allow.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::moves::{read_recorded_moves, write_recorded_moves};
use sinew_geom::Move;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(recorded) = read_recorded_moves(bytes, "fuzz.json") {
        let written = write_recorded_moves(&recorded);
        let again = read_recorded_moves(&written, "again.json").expect("written moves are read");
        assert_eq!(recorded.size, again.size);
        let scaled = recorded.for_diagonal(1.0);
        assert_eq!(scaled.len(), recorded.moves.len());
        let (moves, again) = (recorded.moves, again.moves);
        let (plain, angles): (Vec<Move>, Vec<f64>) = moves.into_iter().map(split).unzip();
        let (plain_again, angles_again): (Vec<Move>, Vec<f64>) = again.into_iter().map(split).unzip();
        assert_eq!(plain, plain_again);
        for (a, b) in angles.iter().zip(&angles_again) {
            assert!((a - b).abs() <= 1e-14 * a.abs(), "{a} {b}");
        }
    }
});

/// A move without its angle, and the angle.
fn split(step: Move) -> (Move, f64) {
    match step {
        Move::Rotate { main, handles, axis, radians } => {
            (Move::Rotate { main, handles, axis, radians: 0.0 }, radians)
        }
        Move::Twist { handles, axis, radians, over } => {
            (Move::Twist { handles, axis, radians: 0.0, over }, radians)
        }
        translate => (translate, 0.0),
    }
}
