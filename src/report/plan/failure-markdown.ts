import type { Failure } from '../../contract/failure.ts';
import type { Paste } from '../advice-text.ts';
import { failureText } from '../failure-text.ts';
import { countOf } from '../numbers.ts';
import { makeStyle } from '../style.ts';
import { commentMarker } from './compare-markdown.ts';
import { mostCommentBytes } from './fit-comment.ts';
import { markdownCode } from './markdown-code.ts';

/** Most mistakes that are listed: as many as a person mends before looking again. */
const mostMistakes = 50;

/** Why there is no plan, for a comment on a pull request: as on a terminal, in a block of code in which nothing has a meaning. */
export function failureMarkdown(failure: Failure, { path, paste }: { path: string; paste: Paste }): string {
  const errors = 'diagnostics' in failure ? (failure.diagnostics ?? []).filter((one) => one.severity === 'error') : [];
  const what = errors.length > 0 ? countOf(errors.length, 'mistake') : 'there is no plan';
  const room = mostCommentBytes - 4_000;
  const textOf = (most: number) => failureText(failure, { style: makeStyle(false), paste, most }).trimEnd();
  let most = mostMistakes;
  let text = textOf(most);
  while (Buffer.byteLength(text) > room && most > 1) {
    most = Math.floor(most / 2);
    text = textOf(most);
  }
  // Of one that is too long by itself, its beginning.
  if (Buffer.byteLength(text) > room) text = `${text.slice(0, room / 3)}…`;
  return `${commentMarker(path)}\n\n### ${markdownCode(path)}: ${what}\n\n${codeBlock(text)}\n`;
}

/** A text as a block of code, closed by nothing in it. */
function codeBlock(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
