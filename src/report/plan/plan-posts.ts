import type { Plan } from '../../plan/plan.ts';
import { postsOf } from '../../plan/post-consent.ts';
import type { Style } from '../style.ts';
import { footerLines } from './footer-lines.ts';
import { postsText } from './post-words.ts';

/** Posts that go public, listed apart from purchases: no credit covers them, and nothing takes them back. */
export function postLines({ rows }: Plan, options: { style: Style; width?: number }): string[] {
  const { bold } = options.style;
  const lines: string[] = [];
  const add = (label: string, text: string, paint = (line: string) => line) =>
    lines.push(...footerLines(label, text, { ...options, paint }));
  const published = postsOf(rows, 'published');
  const waiting = postsOf(rows, 'waiting');
  const isChanged = rows.some(({ changedSince }) => changedSince === true);
  if (published.length > 0) add('publishes', postsText(published), bold);
  if (waiting.length > 0)
    add('waiting', `${postsText(waiting)}; apply --publish sends ${waiting.length === 1 ? 'it' : 'them'}`);
  if (isChanged) add('posted', 'what is online stays as it is; only --redo of its very address sends another');
  return lines;
}
