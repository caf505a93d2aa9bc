#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import module from 'node:module';

// Asking for the version is the most frequent call of all (editors, CI, `which`): it loads nothing.
const [, , first] = process.argv;
if (first === '--version' || first === '-V') {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  process.stdout.write(`${(JSON.parse(text) as { version: string }).version}\n`);
} else {
  const { enableCompileCache } = module as { enableCompileCache?: () => void };
  enableCompileCache?.();
  const { main } = await import('./main.ts');
  process.exitCode = await main(process.argv.slice(2));
}
