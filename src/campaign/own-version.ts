import { readFileSync } from 'node:fs';

let version: string | undefined;

export function ownVersion(): string {
  if (version !== undefined) return version;
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  version = String((JSON.parse(text) as { version?: unknown }).version);
  return version;
}
