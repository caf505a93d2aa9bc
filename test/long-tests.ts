/**
 * Whole processes, many times over: killed, stopped, cut off, and led through all kinds. `npm run test:crash` runs them, with thousands of
 * histories for the model; the plain tests stay under three minutes without them.
 */
export const longTests = [
  'test/faults/**/*.test.ts',
  'test/git/**/*.test.ts',
  'test/cli/crash.test.ts',
  'test/cli/answers.test.ts',
  'test/cli/all-kinds.test.ts',
  'test/cli/posts.test.ts',
  'test/cli/saved-plan.test.ts',
  'test/cli/printed-commands.test.ts',
  'test/cli/read-only.test.ts',
  'test/cli/rehearsal.test.ts',
  'test/cli/service-document.test.ts',
  'test/cli/edited-lock.test.ts',
  'test/cli/removals.test.ts',
  'test/cli/service-moved.test.ts',
  'test/recovery/command.test.ts',
  'test/decisions/sandbox.test.ts',
  'test/security/committed-state.test.ts',
  'test/security/named-files.test.ts',
  'test/conduct/broken-run.test.ts',
  'test/conduct/ends.test.ts',
  'test/conduct/odd-downloads.test.ts',
  'test/conduct/one-run.test.ts',
  'test/conduct/publish.test.ts',
  'test/conduct/signals.test.ts',
  'test/conduct/terminal.test.ts',
];
