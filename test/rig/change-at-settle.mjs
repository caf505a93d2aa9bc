// Loaded before the command: once a run has settled its lock, it carries out `at-settle.mjs` of its folder, if that is there.
import { existsSync, promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const { rename } = promises;

promises.rename = async (from, to) => {
  await rename.call(promises, from, to);
  const script = resolve('at-settle.mjs');
  if (String(to).endsWith('.lock.jsonl') && existsSync(script)) await import(pathToFileURL(script).href);
};

syncBuiltinESMExports();
