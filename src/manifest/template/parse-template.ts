import { parse } from 'handlebars/dist/cjs/handlebars/compiler/base.js';
import { shorten } from '../../ground/values.ts';
import { reduceTemplate } from './reduce-template.ts';
import { maxTemplateBytes, type ParsedTemplate, type TemplateFault } from './template.ts';

/**
 * Parses a text as Handlebars and keeps only what is allowed: paths, a fixed list of helpers, `if`, `unless`, `each`
 * and comments. Handlebars itself never compiles or runs anything.
 */
export function parseTemplate(text: string): ParsedTemplate {
  if (new TextEncoder().encode(text).length > maxTemplateBytes) {
    const message = `a template of ${Math.ceil(text.length / 1024)} KiB is too long`;
    const hint = `a template may have ${maxTemplateBytes / 1024} KiB; put long texts into a data file`;
    return { faults: [{ code: 'MB1007', message, hint, start: 0, end: 1 }], paths: [] };
  }
  let program: hbs.AST.Program;
  try {
    program = parse(text);
  } catch {
    return { faults: [explainSyntax(text, parses)], paths: [] };
  }
  return reduceTemplate(text, program);
}

function parses(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Tag {
  start: number;
  end: number;
  /** Text between the braces, without `~` and surrounding white space. */
  inside: string;
}

/**
 * Explains why and where a template cannot be parsed, because the parser names only a line. `parses` returns whether a
 * text alone is a template, by which the wrong tag is found.
 */
function explainSyntax(text: string, parses: (text: string) => boolean): TemplateFault {
  const { tags, open } = findTags(text);
  if (open !== undefined) {
    return {
      code: 'MB1201',
      message: `\`${shorten(text.slice(open), 40)}\` has no closing }}`,
      hint: 'close it with }}, or write \\{{ for two braces that are text',
      start: open,
      end: Math.min(text.length, lineEnd(text, open)),
    };
  }
  return findUnbalanced(text, tags) ?? findWrongTag(text, tags, parses) ?? wholeText(text);
}

function findTags(text: string): { tags: Tag[]; open?: number } {
  const tags: Tag[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf('{{', at);
    if (start === -1) return { tags };
    if (text[start - 1] === '\\') {
      at = start + 2;
      continue;
    }
    const long = text.startsWith('{{!--', start);
    const closing = text.indexOf(long ? '--' : '}}', start + (long ? 5 : 2));
    const braces = closing === -1 ? -1 : text.indexOf('}}', closing);
    if (braces === -1) return { tags, open: start };
    const end = braces + 2;
    tags.push({ start, end, inside: text.slice(start + 2, braces).replaceAll(/^[~\s]+|[~\s]+$/g, '') });
    at = end;
  }
}

function findUnbalanced(text: string, tags: readonly Tag[]): TemplateFault | undefined {
  const open: { tag: Tag; name: string }[] = [];
  for (const tag of tags) {
    const opened = /^[#^]\s*([^\s}|]+)/.exec(tag.inside);
    const closed = /^\/\s*([^\s}]*)/.exec(tag.inside);
    if (opened !== null) open.push({ tag, name: opened[1] ?? '' });
    if (closed === null) continue;
    const last = open.pop();
    if (last !== undefined && last.name === closed[1]) continue;
    const message =
      last === undefined
        ? `${textOf(text, tag)} closes a block that is not open`
        : `${textOf(text, tag)} closes \`${closed[1]}\`, but the open block is ${textOf(text, last.tag)}`;
    const hint = last === undefined ? 'remove it, or open the block before it' : `write {{/${last.name}}} here`;
    return { code: 'MB1201', message, hint, start: tag.start, end: tag.end };
  }
  const last = open.pop();
  if (last === undefined) return undefined;
  return {
    code: 'MB1201',
    message: `${textOf(text, last.tag)} is not closed`,
    hint: `write {{/${last.name}}} where the block ends`,
    start: last.tag.start,
    end: last.tag.end,
  };
}

function findWrongTag(
  text: string,
  tags: readonly Tag[],
  parses: (text: string) => boolean,
): TemplateFault | undefined {
  for (const tag of tags) {
    const block = /^#\s*([^\s}|]+)/.exec(tag.inside);
    if (/^(else\b|\/|\^)/.test(tag.inside)) continue;
    const alone = text.slice(tag.start, tag.end);
    if (parses(block === null ? alone : `${alone}{{/${block[1]}}}`)) continue;
    return {
      code: 'MB1201',
      message: `${textOf(text, tag)} is not a template expression`,
      hint: 'write {{row.name}}, {{helper row.name}} or {{#if row.name}}…{{/if}}; texts in it go in double quotes; a name with other characters is row.[the name]',
      start: tag.start,
      end: tag.end,
    };
  }
  return undefined;
}

function wholeText(text: string): TemplateFault {
  const start = Math.max(0, text.indexOf('{{'));
  return {
    code: 'MB1201',
    message: `\`${shorten(text.slice(start), 40)}\` cannot be parsed as a template`,
    hint: 'check that every {{#block}} has its {{/block}} and that {{else}} stands inside of one',
    start,
    end: lineEnd(text, start),
  };
}

function textOf(text: string, tag: Tag): string {
  return `\`${shorten(text.slice(tag.start, tag.end), 40)}\``;
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end === -1 ? text.length : end;
}
