import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A test that shows an invariant: its file, and its title or the beginning of one that a table completes. */
export interface Shown {
  file: string;
  title: string;
}

export interface Invariant {
  id: string;
  says: string;
  shown: Shown[];
}

/** What comes in place of a protected line, or of a part of it. */
export type Switch = { line: string } | { part: string; by: string };

/** A protection that is switched off. */
export interface Control {
  /** In its file, at the protected line: an invariant, and a word where a file has several marks of it: `I9 (rename)`. */
  mark: string;
  off: string;
  file: string;
  switch: Switch;
  /** What must then fail. */
  seenBy: Shown;
  /** The test runs the built command, so the altered sources are built first. */
  built: boolean;
}

/** `invariants.txt`, whose head says what its lines are. */
export const { invariants, controls } = parseRegister(
  readFileSync(join(import.meta.dirname, 'invariants.txt'), 'utf8').split('\n'),
);

export function invariantOf({ mark }: Pick<Control, 'mark'>): string {
  return mark.split(' ')[0] ?? mark;
}

function parseRegister(lines: readonly string[]): { invariants: readonly Invariant[]; controls: readonly Control[] } {
  const invariants: Invariant[] = [];
  const controls: Control[] = [];
  let off: { text: string; built: boolean } | undefined;
  for (const line of lines.filter((text) => text.trim() !== '' && !text.startsWith('#'))) {
    const [, id, says] = /^(I\d+) (.+)$/.exec(line) ?? [];
    const [, path, title] = /^ {2}(\S+) › (.+)$/.exec(line) ?? [];
    const [, built, text] = /^ {4}off( in the build)?: (.+)$/.exec(line) ?? [];
    const [, file, word, part, by] = /^ {6}(\S+)( \([^)]+\))?: (?:«([^»]+)» )?→ «([^»]*)»$/.exec(line) ?? [];
    const invariant = invariants.at(-1);
    const seenBy = invariant?.shown.at(-1);
    if (id && says) invariants.push({ id, says, shown: [] });
    else if (path && title) invariant?.shown.push({ file: `test/${path}.test.ts`, title });
    else if (text) off = { text, built: built !== undefined };
    else if (file && by !== undefined && invariant && seenBy && off) {
      const text = by.replaceAll('⏎', '\n');
      const change = part === undefined ? { line: text } : { part, by: text };
      const { text: what, built } = off;
      controls.push({ mark: `${invariant.id}${word ?? ''}`, off: what, file, switch: change, seenBy, built });
    } else throw new Error(`invariants.txt has a line that is nothing: ${line}`);
  }
  return { invariants, controls };
}
