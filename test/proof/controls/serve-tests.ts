import { join } from 'node:path';
import { createVitest, type TestRunResult } from 'vitest/node';
import type { Shown } from '../invariants/register.ts';

// One vitest that lives as long as whoever forked this, because starting it takes longer than most of these tests. Its
// working folder is a copy of the tree. Asked over IPC; whoever asks alters no file before the answer is there.

export type Ask = { tests: readonly Shown[]; altered: readonly string[] };
export interface Seen {
  file: string;
  title: string;
  state: string;
  message: string;
}

const root = process.cwd();
const vitest = await createVitest('test', {
  root,
  config: join(root, 'test/vitest.config.ts'),
  watch: false,
  reporters: [{}],
});
await vitest.standalone();

function seenIn({ testModules }: TestRunResult): Seen[] {
  return testModules.flatMap((module) =>
    [...module.children.allTests()].map((test) => ({
      file: module.relativeModuleId,
      title: test.fullName.replaceAll(' > ', ' '),
      state: test.result().state,
      message: test.result().errors?.[0]?.message.split('\n')[0] ?? '',
    })),
  );
}

async function run({ tests, altered }: Ask): Promise<Seen[]> {
  for (const file of altered) vitest.invalidateFile(join(root, file));
  const quote = (title: string) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const names = [...new Set(tests.map(({ title }) => quote(title)))].join('|');
  vitest.setGlobalTestNamePattern(new RegExp(`(${names})`));
  const files = [...new Set(tests.map(({ file }) => file))];
  return seenIn(await vitest.runTestSpecifications(await vitest.globTestSpecifications(files)));
}

process.on('disconnect', () => void vitest.close().finally(() => process.exit()));
process.on('message', (ask: Ask) => {
  run(ask).then(
    (seen) => process.send?.(seen),
    (error: unknown) => process.send?.([{ file: '', title: '', state: 'not run', message: String(error) }]),
  );
});
process.send?.([]);
