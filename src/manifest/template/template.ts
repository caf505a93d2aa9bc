import type { DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, type JsonMap } from '../../ground/values.ts';

/** UTF-16 offsets in the text of the template, as read. */
export interface Span {
  start: number;
  end: number;
}

/** A mistake in a template. The caller knows the place of the template. */
export interface TemplateFault extends Span {
  code: DiagnosticCode;
  message: string;
  hint?: string;
  meant?: string | undefined;
}

/** A text with templates, parsed and reduced to the allowed subset. */
export interface Template {
  text: string;
  body: Part[];
  /** Set when the text is exactly one `{{path}}` or `{{upload …}}`; the value then keeps its type. */
  whole?: NamePath | Call;
  /** All paths that start at a root name, in order. */
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
  /** True when the value may be missing: the argument of `default`, or a condition. */
  optional: boolean;
  /** True when the value is printed or kept as it is. Only then can it be a task's output. */
  direct: boolean;
  /** True when the value is printed into a text, so it must be a scalar. */
  printed: boolean;
}

/**
 * A path that starts at the item of a loop, for example `this.name`. `up` counts loops from the innermost one outwards.
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

/** Paths are included even if something is wrong, so that they can be checked. */
export interface ParsedTemplate {
  template?: Template;
  faults: TemplateFault[];
  paths: NamePath[];
}

/** Strings that users write for true or false. They are refused as ambiguous. */
const unclear = /^(?:yes|no|y|n|on|off|ja|nein|oui|non|si|sí|wahr|falsch|vrai|faux|verdadero|falso|vero)$/i;

/**
 * Parses true and false as spreadsheets and data files write them; an empty cell is false. Undefined for other values.
 */
export function readTruth(value: Json | undefined): boolean | undefined {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'string') return typeof value === 'boolean' ? value : undefined;
  const text = value.trim().toLowerCase();
  if (text === 'true') return true;
  return text === 'false' || text === '' ? false : undefined;
}

/**
 * Evaluates a condition of a template. True and false are parsed by `readTruth`; other values are true, except missing
 * ones, empty lists and the number 0. Undefined for a string such as `no`.
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
 * References to outputs of other steps. Only the functions here make them: a map of a data file or a manifest that
 * looks like a reference is ordinary data, and must never refer to a step.
 */
const ours = new WeakSet<object>();

export function makeReference(address: string, field: string): JsonMap {
  const reference: JsonMap = { $ref: address, field };
  ours.add(reference);
  return reference;
}

/** Refers to the output of the `pick`th picked step of a gate, from 1. The lock determines the step. */
export function makePickReference(gate: string, field: string, pick: number): JsonMap {
  const reference: JsonMap = { $ref: gate, field, pick };
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
