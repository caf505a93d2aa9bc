// Preloaded into a command: it knows no package named MISSING_PACKAGE.
import { register } from 'node:module';

const hooks = `
export async function resolve(specifier, context, next) {
  if (specifier !== ${JSON.stringify(process.env.MISSING_PACKAGE)}) return next(specifier, context);
  throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
