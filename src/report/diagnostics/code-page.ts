import type { Style } from '../style.ts';
import { wrapText } from '../text-width.ts';

/**
 * A page of `mediabatch help CODE`, read from `code-pages/`: a title, the cause, examples and `Fix: …`.
 * A fenced block is a file, with its name after the language. ```yaml tasks is a fragment of `tasks`, and
 * ```yaml manifest a fragment of the manifest. ```run COMMAND replaces `mediabatch validate campaign.yaml`.
 */
export interface CodePage {
  code: string;
  title: string;
  parts: PagePart[];
}

export type PagePart =
  | { is: 'text'; text: string }
  | { is: 'file'; name: string; text: string }
  /** A symbolic link, which no file block can show. */
  | { is: 'link'; name: string; to: string }
  | { is: 'run'; command: string };

/** Reads a page. @throws when it is malformed, which is a bug */
export function readCodePage(markdown: string): CodePage {
  const lines = markdown.split('\n');
  const title = /^# (MB\d{4}): (.+)$/.exec(lines.shift() ?? '');
  if (title === null) throw new Error('internal error: the page of a code has no title');
  const parts: PagePart[] = [];
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const fence = /^```(\S+) (.+)$/.exec(line);
    if (fence !== null) {
      const end = lines.indexOf('```');
      if (end === -1) throw new Error('internal error: a fence is not closed in the page of a code');
      parts.push(partOf(fence[1] ?? '', fence[2] ?? '', lines.splice(0, end + 1).slice(0, -1)));
    } else if (line !== '') parts.push({ is: 'text', text: line });
  }
  return { code: title[1] ?? '', title: title[2] ?? '', parts };
}

function partOf(language: string, name: string, lines: string[]): PagePart {
  const text = lines.map((line) => `${line}\n`).join('');
  switch (language) {
    case 'run':
      return { is: 'run', command: name };
    case 'link':
      return { is: 'link', name, to: text.trim() };
    default:
      return { is: 'file', name, text };
  }
}

/** Returns a page for a terminal. */
export function codePageText(page: CodePage, options: { style: Style; width: number }): string {
  const { style } = options;
  const width = Math.max(40, Math.min(100, options.width));
  const lines = [style.bold(`${page.code}: ${page.title}`), ''];
  for (const part of page.parts) lines.push(...linesOf(part, { style, width }), '');
  return `${lines.join('\n').trimEnd()}\n`;
}

function linesOf(part: PagePart, { style, width }: { style: Style; width: number }): string[] {
  switch (part.is) {
    case 'text':
      return wrapText(part.text, width, { maxLines: 100 });
    case 'file':
      return [style.dim(`  ${part.name}`), ...indented(part.text)];
    case 'link':
      return [style.dim(`  ${part.name}, a symbolic link to ${part.to}`)];
    case 'run':
      return [`  ${part.command}`];
    default:
      return part satisfies never;
  }
}

function indented(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`));
}
