#!/usr/bin/env node
import { keepCompiledCode } from './keep-compiled-code.ts';

/** Node's exit code for a promise that can no longer settle. A run that just stops must not look like one that is done. */
const unsettled = 13;

async function run(argv: string[]): Promise<void> {
  process.exitCode = unsettled;
  keepCompiledCode();
  const { main, allSaid, endAtStrayErrors, explain } = await import('./main.ts');
  endAtStrayErrors((error) => {
    const exitCode = explain(error);
    void allSaid().finally(() => process.exit(exitCode));
  });
  const exitCode = await main(argv);
  await allSaid();
  // Everything is said and kept. What V8 is still compiling in other threads nobody needs.
  process.exit(exitCode);
}

// Asking for the version is the most frequent call of all (editors, CI, `which`): it loads nothing.
const [, , first] = process.argv;
if (first === '--version' || first === '-V') {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  process.stdout.write(`${(JSON.parse(text) as { version: string }).version}\n`);
} else {
  void run(process.argv.slice(2));
}
