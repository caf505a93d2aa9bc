import { titles } from '../../contract/failure.ts';
import type { Style } from '../style.ts';
import { wrapText } from '../text-width.ts';

/**
 * A page that `mediabatch help CODE` shows, read from `code-pages/`: Markdown with a title, paragraphs, and the
 * sections “Wrong” and “Right”. Fenced blocks are files (with their names after the language), or output of a command.
 */
export interface CodePage {
  code: string;
  title: string;
  /** The meaning, in paragraphs. */
  meaning: string[];
  wrong: PageSection;
  right: PageSection;
  related: string[];
}

export interface PageSection {
  parts: PagePart[];
}

export type PagePart =
  | { is: 'text'; text: string }
  | { is: 'file'; name: string; text: string }
  /** A symbolic link, which no file block can show. */
  | { is: 'link'; name: string; to: string }
  | { is: 'says'; command: string; text: string }
  /** A command that does it right, where that is another one. */
  | { is: 'run'; command: string };

/** Reads a page. @throws when it is malformed, which is a bug */
export function readCodePage(markdown: string): CodePage {
  const lines = markdown.split('\n');
  const title = /^# (MB\d{4}): (.+)$/.exec(lines.shift() ?? '');
  const sections = new Map<string, PagePart[]>([['', []]]);
  let parts = sections.get('') ?? [];
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const heading = /^## (.+)$/.exec(line)?.[1];
    const fence = /^```(\S+) (.+)$/.exec(line);
    if (heading !== undefined) {
      parts = [];
      sections.set(heading, parts);
    } else if (fence !== null) {
      const end = lines.indexOf('```');
      if (end === -1) throw new Error('internal error: a fence is not closed in a page of a code');
      parts.push(partOf(fence[1] ?? '', fence[2] ?? '', lines.splice(0, end + 1).slice(0, -1)));
    } else if (line !== '') parts.push({ is: 'text', text: line });
  }
  const textOf = (name: string) =>
    (sections.get(name) ?? []).flatMap((part) => (part.is === 'text' ? [part.text] : []));
  const [wrong, right] = [sections.get('Wrong'), sections.get('Right')];
  if (title === null || wrong === undefined || right === undefined) {
    throw new Error('internal error: a page of a code has no title, or not both sections');
  }
  return {
    code: title[1] ?? '',
    title: title[2] ?? '',
    meaning: textOf(''),
    wrong: { parts: wrong },
    right: { parts: right },
    related: textOf('Related').flatMap((text) => text.match(/MB\d{4}/g) ?? []),
  };
}

function partOf(language: string, name: string, lines: string[]): PagePart {
  const text = lines.map((line) => `${line}\n`).join('');
  switch (language) {
    case 'says':
      return { is: 'says', command: name, text };
    case 'run':
      return { is: 'run', command: name };
    // A line that was not written to its end.
    case 'torn':
      return { is: 'file', name, text: text.slice(0, -1) };
    case 'link':
      return { is: 'link', name, to: text.trim() };
    default:
      return { is: 'file', name, text };
  }
}

/** A page for a terminal: the meaning, a wrong example, the message about it, a right example. */
export function codePageText(page: CodePage, options: { style: Style; width: number }): string {
  const { style } = options;
  const width = Math.max(40, Math.min(100, options.width));
  const lines = [style.bold(`${page.code}: ${page.title}`), ''];
  for (const text of page.meaning) lines.push(...paragraph(text, width), '');
  lines.push(style.bold('Wrong'), '', ...partsOf(page.wrong.parts, { style, width }));
  lines.push(style.bold('Right'), '', ...partsOf(page.right.parts, { style, width }));
  if (page.related.length > 0) {
    lines.push(style.bold('Related'), '');
    for (const code of page.related) lines.push(`  ${code}  ${titles[code]}`);
    lines.push('');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

function paragraph(text: string, width: number): string[] {
  return wrapText(text, width, { maxLines: 100 });
}

function partsOf(parts: readonly PagePart[], { style, width }: { style: Style; width: number }): string[] {
  return parts.flatMap((part) => {
    switch (part.is) {
      case 'text':
        return [...paragraph(part.text, width), ''];
      case 'file':
        return [style.dim(`  ${part.name}`), ...indented(part.text), ''];
      case 'link':
        return [style.dim(`  ${part.name}, a symbolic link to ${part.to}`), ''];
      case 'says':
        return [style.dim(`  ${part.command} says`), ...indented(part.text), ''];
      case 'run':
        return [`  ${part.command}`, ''];
      default:
        return part satisfies never;
    }
  });
}

function indented(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`));
}
