import { isMap, ownValue } from '../ground/values.ts';
import { readManifestFile } from './read-file.ts';

/** Tells a manifest, with mistakes or without, from other files of its name: tables are YAML and JSON, too. */
export function isManifest(source: { file: string; text: string }): boolean {
  const { content } = readManifestFile(source, {});
  // Half edited it has no shape, and is one all the same.
  if (content === undefined) return /^["']?tasks["']?\s*:/m.test(source.text);
  const tasks = ownValue(content.value, 'tasks');
  return isMap(tasks) || (tasks === undefined && Array.isArray(ownValue(content.value, 'include')));
}
