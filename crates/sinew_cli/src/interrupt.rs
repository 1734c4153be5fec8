//! Ctrl-C as a request to stop and write what is done; pressed again, it ends the program as always.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Whether Ctrl-C was pressed since this was made.
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Begin to listen. Where the system does not let us, Ctrl-C ends the program as always.
    pub fn listen() -> Self {
        let pressed = Arc::new(AtomicBool::new(false));
        let set = pressed.clone();
        // Fails where the system refuses, and for a second listener, of which no command has one.
        let _ = ctrlc::set_handler(move || {
            if set.swap(true, Ordering::Relaxed) {
                // 128 and the number of the signal, as shells have it.
                std::process::exit(130);
            }
        });
        Self(pressed)
    }

    /// Whether to stop.
    pub fn is_pressed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
