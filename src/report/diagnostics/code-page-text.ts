import { titles } from '../../contract/failure.ts';
import type { Style } from '../style.ts';
import { wrapText } from '../text-width.ts';
import type { CodePage, PagePart } from './code-page.ts';

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
