import { relative, resolve } from 'node:path';

/** GitHub looks for files from the root of the checkout, whatever folder the command runs in. */
export function toCheckoutPath(file: string): string {
  const root = process.env.GITHUB_WORKSPACE;
  if (root === undefined || root === '') return file;
  const path = relative(root, resolve(file)).replaceAll('\\', '/');
  return path === '' || path.startsWith('..') ? file : path;
}
