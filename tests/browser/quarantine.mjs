// Tests that run and are reported, but do not decide: each with the reason why it cannot be relied upon yet.
export const QUARANTINE = {
  handles_are_drawn_erased_mirrored_and_weighted:
    'failed in both whole runs so far: a stroke that begins before the surface is shown at rest is lost (`ensureDisplay`); '
    + 'it waits for that now, and leaves when three whole runs pass',
};
