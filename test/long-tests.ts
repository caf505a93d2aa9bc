/**
 * Whole processes, many times over: killed, stopped, cut off, and led through all kinds. `npm run test:crash` runs them, with thousands of
 * histories for the model; the plain tests stay under three minutes without them.
 */
export const longTests = [
  'test/proof/faults/**/*.test.ts',
  'test/command/git/**/*.test.ts',
  'test/proof/killed/**/*.test.ts',
  'test/command/answers.test.ts',
  'test/command/all-kinds.test.ts',
  'test/command/posts.test.ts',
  'test/command/saved-plan.test.ts',
  'test/command/printed-commands.test.ts',
  'test/command/read-only.test.ts',
  'test/command/rehearsal.test.ts',
  'test/command/service-document.test.ts',
  'test/command/edited-lock.test.ts',
  'test/command/removals.test.ts',
  'test/command/service-moved.test.ts',
  'test/command/lost-answers.test.ts',
  'test/command/decisions/sandbox.test.ts',
  'test/command/security/committed-state.test.ts',
  'test/command/security/named-files.test.ts',
  'test/command/conduct/broken-run.test.ts',
  'test/command/conduct/ends.test.ts',
  'test/command/conduct/odd-downloads.test.ts',
  'test/command/conduct/one-run.test.ts',
  'test/command/conduct/publish.test.ts',
  'test/command/conduct/terminal.test.ts',
];
