import type { DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, type JsonMap } from '../../ground/values.ts';

/** UTF-16 offsets in the text of the template, as read. */
export interface Span {
  start: number;
  end: number;
}

/** A mistake in a template, without the place of the template. */
export interface TemplateFault extends Span {
  code: DiagnosticCode;
  message: string;
  hint?: string;
  meant?: string | undefined;
}

export interface Template {
  text: string;
  body: Part[];
  /** The only part of the text, if that is `{{path}}` or a call. Its value keeps its type. */
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
  /** True if the value may be missing: an argument of `default`, or a condition. */
  optional: boolean;
  /** True if the value is printed or kept as it is. Only then can it be an output of a step. */
  direct: boolean;
  /** True if the value is printed into a text: it must be a scalar. */
  printed: boolean;
}

/** A path that starts at the item of a loop, for example `this.name`. `up` counts loops outwards. */
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

/** A parsed text. `paths` includes those of wrong parts, for checks. */
export interface ParsedTemplate {
  template?: Template;
  faults: TemplateFault[];
  paths: NamePath[];
}

/** Strings for true or false that are refused as ambiguous. */
const unclear = /^(?:yes|no|y|n|on|off|ja|nein|oui|non|si|sí|wahr|falsch|vrai|faux|verdadero|falso|vero)$/i;

/** Parses true and false as in spreadsheets and data files; an empty cell is false. */
export function readTruth(value: Json | undefined): boolean | undefined {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'string') return typeof value === 'boolean' ? value : undefined;
  const text = value.trim().toLowerCase();
  if (text === 'true') return true;
  return text === 'false' || text === '' ? false : undefined;
}

/**
 * Evaluates a condition. `readTruth` parses true and false. Missing values, empty lists and 0 are false; others are
 * true. Undefined for a string such as `no`.
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
 * References to outputs of other steps. Only the functions here make them. A map in a data file that looks like a
 * reference is ordinary data.
 */
const ours = new WeakSet<object>();

/** `pick`: the address is that of a gate, and refers to its `pick`th picked step. The lock determines the step. */
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

export function holdsReference(value: Json): boolean {
  if (value === null || typeof value !== 'object') return false;
  return isReference(value) || Object.values(value).some(holdsReference);
}

export function findForeignKey(value: Json): string | undefined {
  if (value === null || typeof value !== 'object' || isReference(value)) return undefined;
  if (!Array.isArray(value)) {
    const own = Object.keys(value).find((key) => key.startsWith('$'));
    if (own !== undefined) return own;
  }
  for (const item of Object.values(value)) {
    const found = findForeignKey(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
