import { readFile } from 'node:fs/promises';

export function pageHtml(): Promise<string> {
  return readFile(new URL('./assets/page.html', import.meta.url), 'utf8');
}
