import { LineCounter, parseAllDocuments } from 'yaml';
import { type Advice, type Shell, shell, way } from '../../ground/advice.ts';
import type { Diagnostic, DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { nulWords } from '../check/unsendable.ts';
import { type FilePlaces, findPlaces } from './places.ts';
import { placeBetween, readSource, type Source } from './source.ts';
import { explainYamlErrors } from './yaml-errors.ts';
import { readTree } from './yaml-tree.ts';

interface YamlFaults {
  empty: DiagnosticCode;
  wrong: DiagnosticCode;
  twice: DiagnosticCode;
  tooLarge: DiagnosticCode;
  unquoted: DiagnosticCode;
  /**
   * Code for a number that is not read as written. Omitted, like the next one, when nothing in the file is ever sent.
   */
  number?: DiagnosticCode;
  unsendable?: DiagnosticCode;
  emptyHint: Advice<Shell>;
}

export const manifestFaults: YamlFaults = {
  empty: 'MB1102',
  wrong: 'MB1003',
  twice: 'MB1004',
  tooLarge: 'MB1007',
  unquoted: 'MB1008',
  number: 'MB1103',
  unsendable: 'MB1106',
  emptyHint: [
    'a manifest needs `version: 1`, `name:` and `tasks:`',
    way('to write one to start from', shell('mediabatch', 'init')),
  ],
};

export const includedFaults: YamlFaults = {
  ...manifestFaults,
  emptyHint: 'write `tasks:`, `vars:` or `defaults:` into it, or take it out of `include`',
};

/** For a schema of rows, which is never sent, any number is valid, for example `maximum: 18446744073709551615`. */
const schemaFaults: YamlFaults = {
  empty: 'MB1302',
  wrong: 'MB1302',
  twice: 'MB1302',
  tooLarge: 'MB1302',
  unquoted: 'MB1302',
  emptyHint: 'write a list with one row per item',
};

export const dataFaults: YamlFaults = { ...schemaFaults, number: 'MB1302', unsendable: 'MB1106' };

/**
 * Reads one YAML 1.2 document. `value` is omitted when there is none or its syntax is wrong. Mistakes in single values
 * are reported, and these values are `unknownValue`.
 */
export function readYaml(
  source: Source,
  faults: YamlFaults,
): { value?: Json; places?: FilePlaces; diagnostics: Diagnostic[] } {
  const fail = (code: DiagnosticCode, start: number, words: Pick<Diagnostic, 'message' | 'hint'>) => {
    const end = /[\r\n]|$/.exec(source.text.slice(start))?.index ?? 0;
    const place = placeBetween(source, start, start + end);
    const diagnostic: Diagnostic = { code, severity: 'error', ...words, place };
    return { diagnostics: [diagnostic] };
  };
  const nul = source.text.indexOf('\0');
  if (nul !== -1) {
    const diagnostic: Diagnostic = {
      code: faults.wrong,
      severity: 'error',
      ...nulWords,
      place: placeBetween(source, nul, nul + 1),
    };
    return { diagnostics: [diagnostic] };
  }
  const empty = () => fail(faults.empty, 0, { message: `${source.file} is empty`, hint: faults.emptyHint });
  let documents: ReturnType<typeof parseAllDocuments>;
  try {
    documents = parseAllDocuments(source.text, {
      version: '1.2',
      merge: true,
      uniqueKeys: false,
      prettyErrors: false,
      lineCounter: new LineCounter(),
      logLevel: 'silent',
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return fail(faults.tooLarge, 0, { message: 'the values are nested too deeply', hint: 'write them flatter' });
  }
  const list = Array.isArray(documents) ? documents : [];
  const [document, second] = list;
  if (document === undefined || (second === undefined && document.contents === null && document.errors.length === 0)) {
    return empty();
  }
  const errors = list.flatMap((one) => one.errors);
  if (errors.length > 0) {
    return { diagnostics: explainYamlErrors(errors, { source, codes: faults }) };
  }
  if (second !== undefined) {
    const start = startOfDocument(source.text, second.range?.[0] ?? 0, document.range?.[2] ?? 0);
    const hint = 'keep only one document: write the other one into a file of its own, or remove the --- line';
    return fail(faults.wrong, start, { message: 'there is more than one YAML document in the file', hint });
  }
  const { yaml } = document.directives ?? {};
  if (yaml?.explicit === true && yaml.version !== '1.2') {
    return fail(faults.wrong, 0, { message: 'only YAML 1.2 is read', hint: 'remove the %YAML line' });
  }
  const { value, tree, diagnostics } = readTree(document, { source, codes: faults });
  if (value === null) return empty();
  return { value, places: findPlaces(tree), diagnostics };
}

function startOfDocument(text: string, start: number, after: number): number {
  const marker = text.slice(0, Math.max(start, after) + 4).lastIndexOf('\n---');
  return marker === -1 ? start : marker + 1;
}

/** Reads a schema in JSON or YAML. JSON is read as YAML, so that messages and places are the same. */
export function readWholeYaml(file: string, text: string): { value?: Json | undefined; diagnostics: Diagnostic[] } {
  const { value, diagnostics } = readYaml(readSource(file, text), schemaFaults);
  return { value, diagnostics };
}
