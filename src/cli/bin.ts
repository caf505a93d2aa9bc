#!/usr/bin/env node
/** Exit code if the process ends before the command has finished, as in Node for a promise that never settles. */
const unsettled = 13;
/** Exit code, repeated from `contract/exit.ts`, because `--version` does not load that module. */
const cannotWrite = 73;

async function run(argv: string[]): Promise<void> {
  process.exitCode = unsettled;
  // In containers the umask is often 000, but other users must not be able to change a lock or a journal.
  process.umask(process.umask() | 0o002);
  keepCompiledCode();
  const { main, flushed, endAtUnhandledErrors, explain } = await import('./main.ts');
  endAtUnhandledErrors((error) => {
    const exitCode = explain(error);
    void flushed().finally(() => process.exit(exitCode));
  });
  const exitCode = await main(argv);
  const lost = await flushed();
  if (lost !== undefined) {
    process.stderr.write(`error MB3301 ${lost}\n`, () => process.exit(cannotWrite));
    return;
  }
  // Exits without waiting for V8's background compilation, because all output and data are already written.
  process.exit(exitCode);
}

// Editors and CI call `--version` most often, so it loads no other module.
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

/**
 * Enables Node's compile cache in a folder of this user. Node's default folder is predictable and in the temporary
 * directory, so another user could inject code. `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE` take precedence.
 */
function keepCompiledCode(): void {
  const { enableCompileCache } = process.getBuiltinModule('node:module') as {
    enableCompileCache?(folder: string): unknown;
  };
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
    // The disk is read-only, or the user has no home: the code is compiled at every start.
  }
}

/** Returns undefined for a relative cache path, because it would lead into the campaign's folder. */
function ownCacheFolder(): string | undefined {
  const { isAbsolute, join } = process.getBuiltinModule('node:path');
  const { homedir } = process.getBuiltinModule('node:os');
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  const parent = (process.platform === 'win32' ? LOCALAPPDATA : XDG_CACHE_HOME) || join(homedir(), '.cache');
  return isAbsolute(parent) ? join(parent, 'mediabatch', 'code') : undefined;
}
