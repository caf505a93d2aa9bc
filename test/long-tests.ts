/**
 * Whole processes, many times over: killed, stopped, cut off, and led through all kinds. `npm run test:crash` runs them. What the
 * sandbox draws and sings, merges by git and the packed library are with them, so that the plain tests stay short.
 */
export const longTests = [
  'test/proof/faults/**/*.test.ts',
  'test/command/git/**/*.test.ts',
  'test/command/decisions/gates.test.ts',
  'test/command/decisions/apply-review.test.ts',
  'test/proof/killed/**/*.test.ts',
  'test/proof/honest-time.test.ts',
  'test/command/agent-walk.test.ts',
  'test/command/answers.test.ts',
  'test/command/engine-manual.test.ts',
  'test/command/manual-run.test.ts',
  'test/command/nothing-to-do.test.ts',
  'test/command/resume.test.ts',
  'test/command/two-services.test.ts',
  'test/rooms/cluster/database.test.ts',
  'test/rooms/cluster/files.test.ts',
  'test/rooms/cluster/leader.test.ts',
  'test/rooms/cluster/settle.test.ts',
  'test/rooms/cluster/worker.test.ts',
  'test/rooms/disk/looked-into.test.ts',
  'test/rooms/lock/git.test.ts',
  'test/rooms/review/campaign-host.test.ts',
  'test/rooms/review/thumbs.test.ts',
  'test/command/review.test.ts',
  'test/rooms/service/polling/simulation.test.ts',
  'test/rooms/sandbox/media.test.ts',
  'test/proof/package/**/*.test.ts',
  'test/proof/workflows/**/*.test.ts',
  'test/command/rehearsal.test.ts',
  'test/command/approve.test.ts',
  'test/command/posts.test.ts',
  'test/command/saved-plan.test.ts',
  'test/command/printed-commands.test.ts',
  'test/command/documents.test.ts',
  'test/command/service-document.test.ts',
  'test/command/service-moved.test.ts',
  'test/command/security/named-files.test.ts',
  'test/command/purchase-journal.test.ts',
  'test/command/security/committed-state.test.ts',
  'test/command/conduct/ends.test.ts',
  'test/command/conduct/pipelines.test.ts',
  'test/command/conduct/publish.test.ts',
];

/**
 * Whether these words of a command line name tests by their files: `test/command/saved-plan.test.ts`, or `saved-plan`.
 * Folders do not count: they stand for what is in them, and that has its long ones.
 */
export function namesTests(argv: readonly string[]): boolean {
  const words = argv.filter((word, index) => !word.startsWith('-') && !/^--?[^=]+$/.test(argv[index - 1] ?? ''));
  const names = longTests.map((path) => path.slice(path.lastIndexOf('/') + 1)).filter((name) => !name.startsWith('*'));
  return words.some((word) => word.endsWith('.test.ts') || names.some((name) => name.startsWith(word)));
}
