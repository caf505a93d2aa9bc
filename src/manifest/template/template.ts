import type { DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, type JsonMap } from '../../ground/values.ts';

/** UTF-16 offsets in the text of the template. */
export interface Span {
  start: number;
  end: number;
}

/** A mistake in a template. The offsets are relative to the template, not to the manifest. */
export interface TemplateFault extends Span {
  code: DiagnosticCode;
  message: string;
  hint?: string;
  meant?: string | undefined;
}

export interface Template {
  text: string;
  body: Part[];
  /** Set if the whole text is one `{{path}}` or helper call: its value keeps its type. */
  whole?: NamePath | Call;
  paths: NamePath[];
}

export type Part =
  | { is: 'text'; text: string }
  | { is: 'value'; value: Expression }
  | { is: 'choice'; condition: Expression; negated: boolean; then: Part[]; else: Part[] }
  | { is: 'loop'; list: Expression; body: Part[]; else: Part[] };

export type Expression = NamePath | ItemPath | LoopName | Literal | Call;

export interface NamePath extends Span {
  is: 'name';
  parts: string[];
  written: string;
  /** Whether the value may be missing: in an argument of `default`, or in a condition. */
  optional: boolean;
  /** Whether the value is printed or is the whole result: only then may the value be an output of a step. */
  direct: boolean;
  /** Whether the value is printed into a text, and must therefore be a scalar. */
  printed: boolean;
}

/**
 * A path that starts at the item of a loop, for example `this.name`. `up`: which enclosing loop has the item: 0 is the
 * innermost loop.
 */
interface ItemPath extends Span {
  is: 'item';
  up: number;
  parts: string[];
  written: string;
  optional: boolean;
}

interface LoopName extends Span {
  is: 'loop';
  name: 'index' | 'key' | 'first' | 'last';
  written: string;
}

interface Literal extends Span {
  is: 'literal';
  value: string | number | boolean | null;
  written: string;
}

export interface Call extends Span {
  is: 'call';
  helper: string;
  arguments: Expression[];
  written: string;
}

export function isTemplate(text: string): boolean {
  return text.includes('{{');
}

/** A parsed text. `paths` includes the paths of wrong parts, so that names in wrong parts can be checked. */
export interface ParsedTemplate {
  template?: Template;
  faults: TemplateFault[];
  paths: NamePath[];
}

/** Strings that could mean true or false, and are refused as ambiguous. */
const unclear = /^(?:yes|no|y|n|on|off|ja|nein|oui|non|si|sí|wahr|falsch|vrai|faux|verdadero|falso|vero)$/i;

/** Parses true and false as spreadsheets and data files write them. An empty cell is false. */
export function readTruth(value: Json | undefined): boolean | undefined {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'string') return typeof value === 'boolean' ? value : undefined;
  const text = value.trim().toLowerCase();
  if (text === 'true') return true;
  return text === 'false' || text === '' ? false : undefined;
}

/**
 * Evaluates a condition. The text `false`, missing values, empty lists and 0 are false. Returns `undefined` for an
 * ambiguous string such as `no`. Other values are true.
 */
export function holds(value: Json | undefined): boolean | undefined {
  const truth = readTruth(value);
  if (truth !== undefined) return truth;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== 'string') return Boolean(value);
  if (/^\s*-?\d+(?:\.\d+)?\s*$/.test(value)) return Number(value) !== 0;
  return unclear.test(value.trim()) ? undefined : true;
}

/**
 * References to outputs of other steps. Only the functions in this file make references. A map in a data file that
 * looks like a reference is ordinary data.
 */
const ours = new WeakSet<object>();

/** `pick`: number of a picked step, if the address is the name of a gate. The lock determines the picked step. */
export function makeReference(address: string, field: string, pick?: number): JsonMap {
  const reference: JsonMap = { $ref: address, field, ...(pick !== undefined && { pick }) };
  ours.add(reference);
  return reference;
}

export function makeReferenceText(parts: Json[]): JsonMap {
  const text: JsonMap = { $text: parts };
  ours.add(text);
  return text;
}

export function isReference(value: Json): value is JsonMap {
  return isMap(value) && ours.has(value);
}
