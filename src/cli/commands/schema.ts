import { readdir, readFile } from 'node:fs/promises';
import { kinds } from '../../kinds/index.ts';
import { pageText } from '../../report/manual/page-text.ts';
import { kindReference, kindsJson } from '../../report/manual/references.ts';
import type { Flags } from '../open.ts';
import { unknownName } from '../program/usage-errors.ts';
import { outAs, type Terminal } from '../terminal.ts';

const folder = new URL('../../../schemas/', import.meta.url);
const ending = '.schema.json';

export async function schema(name: string, options: Flags<'json'>, terminal: Terminal): Promise<void> {
  if (name === 'kinds') {
    const look = { style: terminal.outStyle, width: terminal.outWidth };
    const all = Object.values(kinds);
    await outAs(terminal, options, { text: () => pageText(kindReference(), look), json: () => kindsJson(all) });
    return;
  }
  const files = (await readdir(folder)).filter((file) => file.endsWith(ending)).sort();
  if (!files.includes(`${name}${ending}`)) {
    const known = files.map((file) => file.slice(0, -ending.length));
    throw unknownName('no schema', name, known);
  }
  terminal.out(await readFile(new URL(`${name}${ending}`, folder), 'utf8'));
}
