import { type Document, LineCounter, parseAllDocuments, visit, type YAMLParseError } from 'yaml';
import { type Advice, type Shell, shell, way } from '../../ground/advice.ts';
import type { Diagnostic, DiagnosticCode, Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { describeValue, isMap, shorten } from '../../ground/values.ts';
import { nulWords } from '../check/unsendable.ts';
import { curlyHint } from '../suggest.ts';
import { type FilePlaces, readTree, type YamlCodes } from './places.ts';
import { placeBetween, readSource, type Source } from './source.ts';

interface YamlFaults extends YamlCodes {
  empty: DiagnosticCode;
  emptyHint: Advice<Shell>;
}

const manifestFaults: YamlFaults = {
  empty: 'MB1102',
  wrong: 'MB1003',
  twice: 'MB1004',
  tooLarge: 'MB1007',
  unquoted: 'MB1008',
  number: 'MB1103',
  unsendable: 'MB1106',
  emptyHint: [
    'a manifest needs `version: 1`, `name:` and `tasks:`',
    way('to create a campaign', shell('mediabatch', 'init')),
  ],
};

/** Error codes for a schema of rows. A schema is never sent to the service, so any number is valid. */
const schemaFaults: YamlFaults = {
  empty: 'MB1302',
  wrong: 'MB1302',
  twice: 'MB1302',
  tooLarge: 'MB1302',
  unquoted: 'MB1302',
  emptyHint: 'write a list with one row per item',
};

export const yamlFaults = {
  manifest: manifestFaults,
  included: {
    ...manifestFaults,
    emptyHint: 'add `tasks:`, `vars:` or `defaults:` to the file, or remove the file from `include`',
  },
  /** A JSON schema is read as YAML, so that messages and places are the same as for YAML. */
  schema: schemaFaults,
  data: { ...schemaFaults, number: 'MB1302', unsendable: 'MB1106' },
} satisfies { [form: string]: YamlFaults };

/**
 * Reads one YAML 1.2 document. `value` is omitted if the file is empty or has wrong syntax. Each wrong value in the
 * file is replaced by `unknownValue`.
 */
export function readYaml(
  source: Source,
  faults: YamlFaults,
): { value?: Json; places?: FilePlaces; diagnostics: Diagnostic[] } {
  const lineEnd = (start: number) => start + (/[\r\n]|$/.exec(source.text.slice(start))?.index ?? 0);
  const fail = (code: DiagnosticCode, start: number, words: Pick<Diagnostic, 'message' | 'hint'>, end?: number) => {
    const place = placeBetween(source, start, end ?? lineEnd(start));
    const diagnostic: Diagnostic = { code, severity: 'error', ...words, place };
    return { diagnostics: [diagnostic] };
  };
  const nul = source.text.indexOf('\0');
  if (nul !== -1) return fail(faults.wrong, nul, nulWords, nul + 1);
  const empty = () => fail(faults.empty, 0, { message: `${source.file} is empty`, hint: faults.emptyHint });
  let documents: ReturnType<typeof parseAllDocuments>;
  try {
    // The parser does not support a carriage return alone as a line end.
    const text = source.text.includes('\n') ? source.text : source.text.replaceAll('\r', '\n');
    documents = parseAllDocuments(text, {
      version: '1.2',
      merge: true,
      uniqueKeys: false,
      prettyErrors: false,
      lineCounter: new LineCounter(),
      logLevel: 'silent',
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return fail(faults.tooLarge, 0, {
      message: 'the values are nested too deeply',
      hint: 'use fewer levels of lists and maps',
    });
  }
  const list = Array.isArray(documents) ? documents : [];
  const [document, second] = list;
  if (document === undefined || (second === undefined && document.contents === null && document.errors.length === 0)) {
    return empty();
  }
  if (list.some(({ errors }) => errors.length > 0)) {
    const { code = 'wrong', message, hint, start, end } = explainYamlErrors(list, source);
    return fail(faults[code], start, { message, hint }, end);
  }
  if (second !== undefined) {
    const start = startOfDocument(source.text, second.range?.[0] ?? 0, document.range?.[2] ?? 0);
    const hint = 'keep only one document: move the other document to a separate file, or remove the --- line';
    return fail(faults.wrong, start, { message: 'there is more than one YAML document in the file', hint });
  }
  const { yaml } = document.directives ?? {};
  if (yaml?.explicit === true && yaml.version !== '1.2') {
    return fail(faults.wrong, 0, { message: 'only YAML 1.2 is read', hint: 'remove the %YAML line' });
  }
  const { value, places, diagnostics } = readTree(document, { source, codes: faults });
  if (value === null) return empty();
  return { value, places, diagnostics };
}

function startOfDocument(text: string, start: number, after: number): number {
  const marker = text.slice(0, Math.max(start, after) + 4).lastIndexOf('\n---');
  return marker === -1 ? start : marker + 1;
}

const words: { readonly [code: string]: { message: string; hint: string } } = {
  BAD_INDENT: {
    message: 'the indentation does not fit the lines above',
    hint: 'indent with two spaces per level, and close every [ and {',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'this value has a second `: `, on its line or on a deeper one below',
    hint: 'quote the string if the colon belongs to it: "…: …"; otherwise check the indentation of the lines below',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'this line is not `key: value`',
    hint: 'look for a missing `: `, a missing quote or a wrong indentation here or one line above',
  },
  MISSING_CHAR: {
    message: 'something is not closed or a `:` is missing',
    hint: 'look for a missing quote, bracket or colon here or above',
  },
  BAD_SCALAR_START: {
    message: 'an unquoted string cannot start with this character',
    hint: 'put the string in quotes',
  },
  UNEXPECTED_TOKEN: {
    message: 'unexpected text after the value',
    hint: 'put the whole string in quotes, or check the indentation',
  },
  BAD_DQ_ESCAPE: {
    message: 'this backslash escape does not exist in double quotes',
    hint: 'write \\\\ for a backslash, or use single quotes',
  },
  BAD_ALIAS: { message: 'the alias is not written correctly', hint: 'an alias is *name, as in `<<: *name`' },
  RESOURCE_EXHAUSTION: { message: 'the values are nested too deeply', hint: 'use fewer levels of lists and maps' },
};

interface Cause {
  code?: 'unquoted' | 'tooLarge';
  message: string;
  hint: string | undefined;
  start: number;
  end: number;
}

function explainYamlErrors(documents: readonly Document[], source: Source): Cause {
  const sorted = documents.flatMap(({ errors }) => errors).sort((a, b) => a.pos[0] - b.pos[0]);
  const [first] = sorted as [YAMLParseError, ...YAMLParseError[]];
  const known = Object.hasOwn(words, first.code) ? words[first.code] : undefined;
  const [start, end] = first.pos;
  const isTooLarge = first.code === 'RESOURCE_EXHAUSTION';
  return (
    findConflict(source) ??
    findUnquotedTemplate(source, sorted) ??
    findOddIndentation(source, sorted) ??
    (isTooLarge ? undefined : (findCurlyQuote(source, start) ?? findUnclosed(first, documents, source.text))) ?? {
      ...(isTooLarge && { code: 'tooLarge' }),
      message: `not valid YAML: ${known?.message ?? plainSentence(first.message)}`,
      hint: known?.hint,
      start,
      end,
    }
  );
}

function findConflict({ text }: Source): Cause | undefined {
  const start = text.search(/^(<{7}|>{7})( |$)/m);
  if (start === -1) return undefined;
  const hint = 'resolve the conflict and remove the lines with <<<<<<<, ======= and >>>>>>>';
  return { message: 'the file holds merge conflict markers', hint, start, end: start + 7 };
}

function lineAt({ text, lineStarts }: Source, number: number): { start: number; text: string } {
  const start = lineStarts[number - 1] ?? 0;
  return { start, text: text.slice(start, lineStarts[number]).trimEnd() };
}

function lineNumberAt(source: Source, offset: number): number {
  return placeBetween(source, offset, offset).start.line;
}

function findCurlyQuote(source: Source, offset: number): Cause | undefined {
  const line = lineAt(source, lineNumberAt(source, offset));
  const before = /^[^"'#“„‘]*?(?::[ \t]+|-[ \t]+|[[{,][ \t]*|^[ \t]*)(?=[“”„‘])/.exec(line.text)?.[0];
  if (before === undefined) return undefined;
  const start = line.start + before.length;
  return { message: 'not valid YAML: curly quotes do not quote a string', hint: curlyHint, start, end: start + 1 };
}

function findOddIndentation(source: Source, errors: readonly YAMLParseError[]): Cause | undefined {
  for (const { pos } of errors) {
    const line = lineAt(source, lineNumberAt(source, pos[0]));
    const [, spaces = '', odd] = /^( *)([^\S \ufeff])/.exec(line.text) ?? [];
    if (odd === undefined) continue;
    const message = `${odd === '\t' ? 'a tab' : 'a no-break space, or another that only looks like a space,'} is used for indentation`;
    const hint = 'use spaces: two per level; most editors can convert tabs';
    const start = line.start + spaces.length;
    return { message, hint, start, end: start + 1 };
  }
  return undefined;
}

function findUnquotedTemplate(source: Source, errors: readonly YAMLParseError[]): Cause | undefined {
  for (const { pos } of errors) {
    const number = lineNumberAt(source, pos[0]);
    for (const line of [number, number - 1].filter((one) => one > 0).map((one) => lineAt(source, one))) {
      const before = /^[^"'#]*?(?::|-)[ \t]+(?=\{\{)/.exec(line.text)?.[0];
      if (before === undefined) continue;
      const text = shorten(line.text.slice(before.length)).replaceAll('"', '\\"');
      const message = 'a string that starts with {{ is not quoted, so YAML reads it as a map';
      const [start, end] = [line.start + before.length, line.start + line.text.length];
      return { code: 'unquoted', message, hint: `quote the whole string: "${text}"`, start, end };
    }
  }
  return undefined;
}

function plainSentence(message: string): string {
  const line = message.split('\n')[0] ?? message;
  return line.charAt(0).toLowerCase() + line.slice(1);
}

function findUnclosed(
  { message: problem, pos: [end] }: YAMLParseError,
  documents: readonly Document[],
  text: string,
): Cause | undefined {
  if (!/^Missing closing|end with a [}\]]$/.test(problem)) return undefined;
  let start = -1;
  for (const document of documents) {
    visit(document, {
      Node(_key, { range }) {
        if (range?.[1] === end && /["'[{]/.test(text.charAt(range[0]))) start = range[0];
      },
    });
  }
  if (start === -1) return undefined;
  const mark = text.charAt(start);
  const closing = { '{': '}', '[': ']' }[mark] ?? mark;
  const message = `not valid YAML: this ${closing === mark ? 'quote' : 'bracket'} is not closed`;
  const hint = `add the closing ${closing}; further lines must be indented deeper than their key`;
  return { message, hint, start, end: start + 1 };
}

export interface PlacedVar {
  name: string;
  value: Json;
  place: Place;
}

const varFaults = { ...yamlFaults.data, emptyHint: 'write one var per line, as in product: Aurora Lamp' };

export function readVarFile(file: string, text: string): { vars: PlacedVar[]; diagnostics: Diagnostic[] } {
  const { value, places, diagnostics } = readYaml(readSource(file, text), varFaults);
  if (value === undefined || places === undefined) return { vars: [], diagnostics };
  if (!isMap(value)) {
    const message = `${file} is ${describeValue(value)}, not a map of vars`;
    const wrong: Diagnostic = {
      code: 'MB1302',
      severity: 'error',
      message,
      hint: varFaults.emptyHint,
      place: places.value([]),
    };
    return { vars: [], diagnostics: [...diagnostics, wrong] };
  }
  const vars = Object.entries(value).map(([name, one]) => ({ name, value: one, place: places.key([name]) }));
  return { vars, diagnostics };
}
