#!/usr/bin/env node
/** Node's exit code for a promise that can no longer settle. A run that just stops must not look like one that is done. */
const unsettled = 13;
/** Exit code when output could not be written. `contract/exit.ts` has it too, and is not loaded for `--version`. */
const cannotWrite = 73;

async function run(argv: string[]): Promise<void> {
  process.exitCode = unsettled;
  // Containers run with 000: nobody else may change what a lock or a journal says.
  process.umask(process.umask() | 0o002);
  keepCompiledCode();
  const { main, allSaid, endAtStrayErrors, explain, lostOutput } = await import('./main.ts');
  endAtStrayErrors((error) => {
    const exitCode = explain(error);
    void allSaid().finally(() => process.exit(exitCode));
  });
  const exitCode = await main(argv);
  await allSaid();
  const lost = lostOutput();
  if (lost !== undefined) {
    process.stderr.write(`error MB3301 ${lost}\n`, () => process.exit(cannotWrite));
    return;
  }
  // Everything is said and kept. What V8 is still compiling in other threads nobody needs.
  process.exit(exitCode);
}

// Asking for the version is the most frequent call of all (editors, CI, `which`): it loads nothing.
const [, , first] = process.argv;
if (first === '--version' || first === '-V') {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return;
    process.exitCode = cannotWrite;
    process.stderr.write(`error MB3301 stdout cannot be written: ${message}\n`);
  });
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  process.stdout.write(`${(JSON.parse(text) as { version: string }).version}\n`);
} else {
  void run(process.argv.slice(2));
}

interface CompileCache {
  enableCompileCache?(folder: string): unknown;
}

/**
 * Enables Node's compile cache, where available (22.8 and later). Node guards a cached file by a checksum and nothing else,
 * and its default folder is in the one for temporary files, under a predictable name: another user's code could run as
 * ours. So the folder is one of this user alone. A set `NODE_COMPILE_CACHE` or `NODE_DISABLE_COMPILE_CACHE` takes
 * precedence. Built-in modules are imported where they are needed: `--version` needs none of them.
 */
function keepCompiledCode(): void {
  const { enableCompileCache } = process.getBuiltinModule('node:module') as CompileCache;
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, NODE_V8_COVERAGE } = process.env;
  if (enableCompileCache === undefined) return;
  if (NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE || NODE_V8_COVERAGE) return;
  const { lstatSync, mkdirSync } = process.getBuiltinModule('node:fs');
  try {
    const folder = ownCacheFolder();
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
    if (isOurs) enableCompileCache(folder);
  } catch {
    // Read-only, or a user without a home: every start compiles again.
  }
}

/** Undefined where the environment names none: a relative path would lead into the campaign's folder. */
function ownCacheFolder(): string | undefined {
  const { isAbsolute, join } = process.getBuiltinModule('node:path');
  const { homedir } = process.getBuiltinModule('node:os');
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  const parent = (process.platform === 'win32' ? LOCALAPPDATA : XDG_CACHE_HOME) || join(homedir(), '.cache');
  return isAbsolute(parent) ? join(parent, 'mediabatch', 'code') : undefined;
}
