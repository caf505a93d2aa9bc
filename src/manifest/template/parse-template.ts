import { parse } from 'handlebars/dist/cjs/handlebars/compiler/base.js';
import { shorten } from '../../ground/values.ts';
import { listNames, nearestName } from '../suggest.ts';
import { readSource } from '../yaml/source.ts';
import { helpers } from './helpers.ts';
import type { Call, Expression, NamePath, ParsedTemplate, Part, Span, Template, TemplateFault } from './template.ts';

const maxTemplateBytes = 64 * 1024;
const maxTemplateNodes = 2000;
const maxTemplateDepth = 20;

/**
 * Parses a text as Handlebars. Allows only paths, a fixed list of helpers, `if`, `unless`, `each` and comments.
 * Handlebars itself never compiles or runs a template.
 */
export function parseTemplate(text: string): ParsedTemplate {
  if (new TextEncoder().encode(text).length > maxTemplateBytes) {
    const message = `a template of ${Math.ceil(text.length / 1024)} KiB is too long`;
    const hint = `a template may have ${maxTemplateBytes / 1024} KiB; put long strings into a data file`;
    return { faults: [{ code: 'MB1007', message, hint, start: 0, end: 1 }], paths: [] };
  }
  let program: hbs.AST.Program;
  try {
    program = parse(text);
  } catch {
    return { faults: [explainSyntax(text)], paths: [] };
  }
  return new Reduction(text).reduce(program);
}

function parses(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Tag extends Span {
  inside: string;
}

function explainSyntax(text: string): TemplateFault {
  const { tags, open } = findTags(text);
  if (open === undefined) return findUnbalanced(text, tags) ?? findWrongTag(text, tags) ?? wholeText(text);
  const message = `\`${shorten(text.slice(open), 40)}\` has no closing }}`;
  const hint = 'close the tag with }}, or write \\{{ for two braces that are text';
  return syntaxFault({ start: open, end: lineEnd(text, open) }, message, hint);
}

function syntaxFault({ start, end }: Span, message: string, hint: string): TemplateFault {
  return { code: 'MB1201', message, hint, start, end };
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
    const hint =
      last === undefined ? 'remove the closing tag, or open its block first' : `write {{/${last.name}}} here`;
    return syntaxFault(tag, message, hint);
  }
  const last = open.pop();
  if (last === undefined) return undefined;
  const hint = `write {{/${last.name}}} where the block ends`;
  return syntaxFault(last.tag, `${textOf(text, last.tag)} is not closed`, hint);
}

function findWrongTag(text: string, tags: readonly Tag[]): TemplateFault | undefined {
  const wrong = tags.find((tag) => {
    const block = /^#\s*([^\s}|]+)/.exec(tag.inside);
    const alone = text.slice(tag.start, tag.end);
    return !/^(else\b|\/|\^)/.test(tag.inside) && !parses(block === null ? alone : `${alone}{{/${block[1]}}}`);
  });
  if (wrong === undefined) return undefined;
  const hint =
    'write {{row.name}}, {{helper row.name}} or {{#if row.name}}…{{/if}}; strings in it go in double quotes; a name with other characters is row.[the name]';
  return syntaxFault(wrong, `${textOf(text, wrong)} is not a template expression`, hint);
}

function wholeText(text: string): TemplateFault {
  const start = Math.max(0, text.indexOf('{{'));
  const message = `\`${shorten(text.slice(start), 40)}\` cannot be parsed as a template`;
  const hint =
    'check that every {{#block}} has its {{/block}}, that each {{else}} is inside of a block, and that a } after }} has a space before it';
  return syntaxFault({ start, end: lineEnd(text, start) }, message, hint);
}

function textOf(text: string, tag: Tag): string {
  return `\`${shorten(text.slice(tag.start, tag.end), 40)}\``;
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end === -1 ? text.length : end;
}

type Node = hbs.AST.Node;

const isPath = (node: Node): node is hbs.AST.PathExpression => node.type === 'PathExpression';
const isSubExpression = (node: Node): node is hbs.AST.SubExpression => node.type === 'SubExpression';
const isContent = (node: Node): node is hbs.AST.ContentStatement => node.type === 'ContentStatement';
const isMustache = (node: Node): node is hbs.AST.MustacheStatement => node.type === 'MustacheStatement';
const isBlock = (node: Node): node is hbs.AST.BlockStatement => node.type === 'BlockStatement';
const isLoopName = (name: string): name is Extract<Expression, { is: 'loop' }>['name'] => loopNames.includes(name);

function isTyped(value: Expression): value is NamePath | Call {
  if (value.is !== 'call') return value.is === 'name';
  const helper = helpers[value.helper];
  return helper?.makesStep === true || helper?.givesList === true;
}

class Reduction {
  readonly #text: string;
  readonly #lineStarts: readonly number[];
  readonly #faults: TemplateFault[] = [];
  readonly #paths: NamePath[] = [];
  #nodes = 0;
  #tooLarge = false;

  constructor(text: string) {
    this.#text = text;
    this.#lineStarts = readSource('', text).lineStarts;
  }

  reduce(program: hbs.AST.Program): ParsedTemplate {
    const body = this.#program(program, { loops: 0, depth: 0 });
    const template: Template = { text: this.#text, body, paths: this.#paths };
    const [first, ...rest] = program.body;
    const only = body[0];
    if (first?.type === 'MustacheStatement' && rest.length === 0 && only?.is === 'value' && isTyped(only.value)) {
      const span = this.#span(first);
      if (span.start === 0 && span.end === this.#text.length) {
        template.whole = only.value;
        if (only.value.is === 'name') only.value.printed = false;
      }
    }
    return {
      ...(this.#faults.length > 0 ? {} : { template }),
      faults: this.#faults,
      paths: this.#tooLarge ? [] : this.#paths,
    };
  }

  #program(program: hbs.AST.Program | undefined, at: { loops: number; depth: number }): Part[] {
    const parts: Part[] = [];
    for (const statement of program?.body ?? []) {
      const part = this.#statement(statement, at);
      if (part !== undefined) parts.push(part);
    }
    return parts;
  }

  #statement(node: hbs.AST.Statement, at: { loops: number; depth: number }): Part | undefined {
    if (!this.#count(node, at.depth)) return undefined;
    if (isContent(node)) return { is: 'text', text: node.value };
    if (node.type === 'CommentStatement') return undefined;
    if (isMustache(node)) return this.#mustache(node, at);
    if (isBlock(node)) return this.#block(node, at);
    this.#refuse(node, `${this.#show(node)} cannot be used`, 'write the text itself');
    return undefined;
  }

  #mustache(node: hbs.AST.MustacheStatement, at: { loops: number; depth: number }): Part | undefined {
    if (/^\{\{~?[{&]/.test(this.#written(node))) {
      this.#refuse(node, `${this.#show(node)} cannot be used`, 'write {{…}}: nothing is escaped in it');
      return undefined;
    }
    const value = this.#call(node, { ...at, optional: false, direct: true });
    return value === undefined ? undefined : { is: 'value', value };
  }

  #block(node: hbs.AST.BlockStatement, at: { loops: number; depth: number }): Part | undefined {
    const name = isPath(node.path) ? node.path.original : '';
    const opening = this.#opening(node);
    if (/^\{\{~?[\^{]/.test(this.#slice(opening)) || (name !== 'if' && name !== 'unless' && name !== 'each')) {
      const hint = 'the known blocks are {{#if}}, {{#unless}} and {{#each}}; write \\{{ for braces that are text';
      this.#refuseAt(opening, `the block \`${shorten(this.#slice(opening), 40)}\` is not known`, hint);
      return undefined;
    }
    const [value, extra] = node.params;
    if (value === undefined || extra !== undefined || (node.hash?.pairs.length ?? 0) > 0) {
      this.#refuseAt(opening, `{{#${name}}} takes exactly one value`, `write {{#${name} row.name}}`);
      for (const param of node.params) this.#expression(param, { ...at, optional: true });
      return undefined;
    }
    if ((node.program?.blockParams?.length ?? 0) > 0) {
      this.#refuseAt(opening, 'names with `as |…|` cannot be used', 'inside of {{#each}} the item is `this`');
      return undefined;
    }
    const deeper = { loops: at.loops, depth: at.depth + 1 };
    const condition = this.#expression(value, { ...deeper, optional: true });
    const inLoop = name === 'each' ? { ...deeper, loops: at.loops + 1 } : deeper;
    const then = this.#program(node.program, inLoop);
    const otherwise = this.#program(node.inverse, deeper);
    if (condition === undefined) return undefined;
    if (name === 'each') return { is: 'loop', list: condition, body: then, else: otherwise };
    return { is: 'choice', condition, negated: name === 'unless', then, else: otherwise };
  }

  #call(
    node: hbs.AST.MustacheStatement | hbs.AST.SubExpression,
    at: { loops: number; depth: number; optional: boolean; direct?: boolean },
  ): Expression | undefined {
    const head: Node = node.path;
    if (!isPath(head)) {
      this.#refuse(node, `${this.#show(node)} prints a fixed value`, 'write the value as text, without braces');
      return undefined;
    }
    const name = head.original;
    const helper = Object.hasOwn(helpers, name) ? helpers[name] : undefined;
    // A path with spaces, such as `row.Name (EN)`, is checked together with the words after it.
    if (head.parts.length > 1 && node.params.length > 0) this.#path(head, at);
    const deeper = { loops: at.loops, depth: at.depth + 1, optional: helper?.optional ?? true };
    const values = node.params.map((param) => this.#expression(param, deeper));
    if (node.hash !== undefined && node.hash.pairs.length > 0) {
      this.#refuse(
        node,
        `${this.#show(node)} has a named argument`,
        `write the values in their order, as in ${helper?.usage ?? '{{default row.style "plain"}}'}`,
      );
      return undefined;
    }
    if (helper === undefined) {
      if (node.params.length === 0 && node.type !== 'SubExpression') return this.#path(head, at);
      const known = Object.keys(helpers);
      const nearest = nearestName(name, known);
      const guess = nearest === undefined ? '' : `did you mean \`${nearest}\`? `;
      this.#refuse(head, `\`${shorten(name, 40)}\` is not a helper`, `${guess}Helpers: ${listNames(known)}`);
      return undefined;
    }
    const [fewest, most] = helper.takes;
    if (node.params.length < fewest || node.params.length > most) {
      const wanted = fewest === most ? `${fewest}` : `${fewest} to ${most}`;
      const values = wanted === '1' ? 'value' : 'values';
      this.#refuse(node, `\`${name}\` takes ${wanted} ${values}, not ${node.params.length}`, `write ${helper.usage}`);
      return undefined;
    }
    if (!values.every((value) => value !== undefined)) return undefined;
    if (helper.makesStep === true && at.direct !== true) {
      const hint = `use it alone: ${helper.usage}`;
      this.#refuse(node, `\`${name}\` cannot be passed to a helper or a block`, hint);
      return undefined;
    }
    const call: Call = {
      is: 'call',
      helper: name,
      arguments: values,
      written: this.#written(node),
      ...this.#span(node),
    };
    return call;
  }

  #expression(node: Node, at: { loops: number; depth: number; optional: boolean }): Expression | undefined {
    if (!this.#count(node, at.depth)) return undefined;
    if (isPath(node)) return this.#path(node, at);
    if (isSubExpression(node)) return this.#call(node, at);
    const literal = literalValue(node);
    if (literal === undefined) throw new Error(`internal error: a template expression of type ${node.type}`);
    return { is: 'literal', value: literal.value, written: this.#written(node), ...this.#span(node) };
  }

  #path(
    node: hbs.AST.PathExpression,
    at: { loops: number; optional: boolean; direct?: boolean },
  ): Expression | undefined {
    const span = this.#span(node);
    const written = this.#written(node);
    const parts = node.parts.map(String);
    const optional = at.optional;
    if (node.data) {
      const name = parts[0] ?? '';
      if (at.loops > 0 && node.depth === 0 && parts.length === 1 && isLoopName(name)) {
        return { is: 'loop', name, written, ...span };
      }
      const hint = '{{#each}} defines only @index, @key, @first and @last; row, vars and matrix need no prefix';
      this.#refuseAt(span, `\`${written}\` is not known`, hint);
      return undefined;
    }
    const ofItem = node.depth > 0 || /^(?:this(?:$|[./])|\.(?:$|\/))/.test(node.original);
    if (!ofItem || (node.depth > 0 && node.depth === at.loops && parts.length > 0)) {
      const path: NamePath = {
        is: 'name',
        parts,
        written,
        optional,
        direct: at.direct === true,
        printed: at.direct === true,
        ...span,
      };
      this.#paths.push(path);
      return path;
    }
    if (node.depth >= at.loops) {
      this.#refuseAt(
        span,
        `\`${written}\` refers to a loop item, but is not inside of that {{#each}}`,
        '`this` is the item of {{#each}}; outside of {{#each}}, write row, vars or matrix',
      );
      return undefined;
    }
    return { is: 'item', up: node.depth, parts, written, optional, ...span };
  }

  #count(node: Node, depth: number): boolean {
    this.#nodes += 1;
    if (this.#tooLarge) return false;
    if (this.#nodes <= maxTemplateNodes && depth <= maxTemplateDepth) return true;
    this.#tooLarge = true;
    const what = depth > maxTemplateDepth ? 'is nested too deeply' : 'has too many parts';
    const hint = `a template may have ${maxTemplateNodes} parts and ${maxTemplateDepth} levels; prepare the text in a data file`;
    this.#faults.push({ code: 'MB1007', message: `the template ${what}`, hint, ...this.#span(node) });
    return false;
  }

  #refuse(node: Node, message: string, hint: string): void {
    this.#refuseAt(this.#span(node), message, hint);
  }

  #refuseAt(span: Span, message: string, hint: string): void {
    this.#faults.push({ code: 'MB1202', message, hint, ...span });
  }

  #span(node: Node): Span {
    const start = (this.#lineStarts[node.loc.start.line - 1] ?? 0) + node.loc.start.column;
    const end = (this.#lineStarts[node.loc.end.line - 1] ?? 0) + node.loc.end.column;
    return { start, end: Math.max(start, end) };
  }

  #opening(node: Node): Span {
    const { start } = this.#span(node);
    const end = this.#text.indexOf('}}', start);
    return { start, end: end === -1 ? this.#text.length : end + 2 };
  }

  #slice(span: Span): string {
    return this.#text.slice(span.start, span.end);
  }

  #written(node: Node): string {
    return this.#slice(this.#span(node));
  }

  #show(node: Node): string {
    return `\`${shorten(this.#written(node), 40)}\``;
  }
}

const loopNames: readonly string[] = ['index', 'key', 'first', 'last'];

function literalValue(node: Node): { value: string | number | boolean | null } | undefined {
  switch (node.type) {
    case 'StringLiteral':
      return { value: (node as hbs.AST.StringLiteral).value.replaceAll('\\n', '\n') };
    case 'NumberLiteral':
      return { value: (node as hbs.AST.NumberLiteral).value };
    case 'BooleanLiteral':
      return { value: (node as hbs.AST.BooleanLiteral).value };
    case 'NullLiteral':
    case 'UndefinedLiteral':
      return { value: null };
    default:
      return undefined;
  }
}
