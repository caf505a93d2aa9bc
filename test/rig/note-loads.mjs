// Preloaded into a command: writes the address of every module that it loads into the file LOADS_NOTED_IN, and knows no
// package named LOADS_MISSING.
import { register } from 'node:module';

const [file, missing] = [process.env.LOADS_NOTED_IN, process.env.LOADS_MISSING].map((text) =>
  JSON.stringify(text ?? ''),
);
const hooks = `
import { appendFileSync } from 'node:fs';
export async function resolve(specifier, context, next) {
  if (specifier !== ${missing}) return next(specifier, context);
  throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
}
export async function load(url, context, next) {
  if (${file} !== '') appendFileSync(${file}, url + '\\n');
  return next(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
