// Tests that run and are reported, but do not decide: each with the reason why it cannot be relied on yet.
export const QUARANTINE = {};
