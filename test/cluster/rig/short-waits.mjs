// Loaded before a command: the waits for a lost create to turn up in its list take as long as a service on this machine needs.
// That for a create of an earlier head, of a lease and a create time-out, is 15 s here, and stays.
const { setTimeout: wait } = globalThis;

globalThis.setTimeout = Object.assign((callback, ms, ...given) => {
  const isGrace = ms > 16_000 && ms < 120_000;
  return wait(callback, isGrace ? 2000 : ms === 10_000 ? 3000 : ms, ...given);
}, wait);
