/**
 * Whole processes, many times over: killed, stopped, cut off, and led through all kinds. `npm run test:crash` runs them, with thousands of
 * histories for the model; voices, songs and merges by git are with them, so that the plain tests stay short.
 */
export const longTests = [
  'test/proof/faults/**/*.test.ts',
  'test/command/git/**/*.test.ts',
  'test/proof/killed/**/*.test.ts',
  'test/command/answers.test.ts',
  'test/command/plan-apply.test.ts',
  'test/rooms/lock/git.test.ts',
  'test/rooms/sandbox/render-speech.test.ts',
  'test/rooms/sandbox/songs.test.ts',
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
