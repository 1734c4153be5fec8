// Tests that run and are reported, but do not decide: each with the reason why it cannot be relied upon yet.
export const QUARANTINE = {};
