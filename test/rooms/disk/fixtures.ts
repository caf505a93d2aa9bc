import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const sources = fileURLToPath(new URL('fixtures/', import.meta.url));
// Goes away with what the tests of a run share.
const built = mkdtempSync(join(process.env.MEDIABATCH_TEST_FILES ?? tmpdir(), 'fixtures-'));

// Once for all files of tests that share a process. A program that compiles its sources takes four times as long to start.
await build({
  input: readdirSync(sources).map((name) => join(sources, name)),
  platform: 'node',
  logLevel: 'warn',
  output: { dir: built, entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
});

/** The command line of a program in `fixtures/`. */
export function fixture(name: string, ...parameters: string[]): string[] {
  return [process.execPath, join(built, `${name}.mjs`), ...parameters];
}
