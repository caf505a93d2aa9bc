import { readFile } from 'node:fs/promises';

/** The page at `/`: one file that asks nobody but `/sandbox/state`. */
export function pageHtml(): Promise<string> {
  return readFile(new URL('./assets/page.html', import.meta.url), 'utf8');
}
