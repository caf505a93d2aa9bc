import { readFile } from 'node:fs/promises';

/** Returns the page, a single file that requests only `/sandbox/state`. */
export function pageHtml(): Promise<string> {
  return readFile(new URL('./assets/page.html', import.meta.url), 'utf8');
}
