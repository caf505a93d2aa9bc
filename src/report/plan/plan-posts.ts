import type { Plan, PlanRow } from '../../plan/plan.ts';
import { postsOf } from '../../plan/post-consent.ts';
import { isAskedAbout } from '../../plan/post-record.ts';
import { safeText } from '../safe-text.ts';
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
  const asked = rows.filter(isAskedAbout);
  const isChanged = rows.some(({ changedSince }) => changedSince === true);
  if (published.length > 0) add('publishes', postsText(published), bold);
  if (waiting.length > 0)
    add('waiting', `${postsText(waiting)}; apply --publish sends ${waiting.length === 1 ? 'it' : 'them'}`);
  if (asked.length > 0) add('asks', askedText(asked));
  if (isChanged) add('posted', 'what is online stays as it is; only --redo of its very address sends another');
  return lines;
}

/** Asks about the first of the posts that may be out under another name: each is a question of its own. */
function askedText(asked: readonly PlanRow[]): string {
  const [{ address, beside } = { address: '' }] = asked;
  const others = asked.length === 1 ? '' : ` (and ${asked.length - 1} more like it)`;
  return `is ${safeText(address, 200)} the post that is out as ${safeText(beside?.address ?? '', 200)}${others}? That waits for a person, whatever --publish says`;
}
