import { type CodeCache, openCodeCache } from '../disk/code-cache.ts';

type Load = (specifier: string) => unknown;
type Wrapper = (
  exports: unknown,
  require: Load,
  module: { exports: unknown },
  filename: string,
  dirname: string,
) => void;

const head = '(function (exports, require, module, __filename, __dirname) {';

/**
 * Loads the files of the build as `require` does, and keeps what V8 made of them: to compile them again costs more than
 * all else that a short command does. Built-in modules are asked for here, not imported: `--version` needs none of them.
 */
export function createLoader(folder: string): Load {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const { join } = process.getBuiltinModule('node:path');
  const { createRequire } = process.getBuiltinModule('node:module');
  const { Script } = process.getBuiltinModule('node:vm');
  const cache: CodeCache | undefined = openCodeCache(folder);
  const requireElsewhere = createRequire(join(folder, 'main.cjs'));
  const modules = new Map<string, { exports: unknown }>();

  function load(specifier: string): unknown {
    // Node has to load what imports modules for the others: V8 does not know who asks when it has a script from a cache.
    if (!specifier.startsWith('./') || specifier === './import-module.cjs') return requireElsewhere(specifier);
    const name = specifier.slice(2);
    const known = modules.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    modules.set(name, module);
    const filename = join(folder, name);
    const source = readFileSync(filename);
    const cachedData = cache?.read(name, source);
    const options = { filename, ...(cachedData !== undefined && { cachedData }) };
    const script = new Script(`${head}${source.toString()}\n})`, options);
    if (cachedData === undefined || script.cachedDataRejected === true) cache?.keepAtExit(name, source, script);
    const run = script.runInThisContext() as Wrapper;
    run.call(module.exports, module.exports, load, module, filename, folder);
    return module.exports;
  }
  return load;
}
