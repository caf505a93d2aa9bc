// Loaded before the command: the waits for a lost create to turn up in its list (two minutes, and 10 s between two walks)
// take as long as a service on this machine needs. Nothing else waits for so long in a test.
const { setTimeout: wait } = globalThis;

globalThis.setTimeout = Object.assign((callback, ms, ...given) => {
  const isGrace = ms > 55_000 && ms < 120_000;
  return wait(callback, isGrace ? 2000 : ms === 10_000 ? 500 : ms, ...given);
}, wait);
