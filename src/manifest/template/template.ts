import type { DiagnosticCode } from '../../ground/diagnostic.ts';

/** UTF-16 offsets in the text of the template, as read. */
export interface Span {
  start: number;
  end: number;
}

/** A mistake in a template; the caller knows where the template stands. */
export interface TemplateFault extends Span {
  code: DiagnosticCode;
  message: string;
  hint?: string;
  /** The replacement that was most likely meant. */
  meant?: string;
}

/** A text with templates in it, parsed and reduced to the allowed subset. */
export interface Template {
  text: string;
  body: Part[];
  /** Set when the text is exactly one `{{path}}` or `{{upload …}}`: then the value keeps its type. */
  whole?: NamePath | Call;
  /** Every path in it that starts at a root name, in order. */
  paths: NamePath[];
}

export type Part =
  | { is: 'text'; text: string }
  | { is: 'value'; value: Expression }
  | { is: 'choice'; condition: Expression; negated: boolean; then: Part[]; else: Part[] }
  | { is: 'loop'; list: Expression; body: Part[]; else: Part[] };

export type Expression = NamePath | ItemPath | LoopName | Literal | Call;

/** A path that starts at a root name: `row.sku`. */
export interface NamePath extends Span {
  is: 'name';
  parts: string[];
  /** The path as written. */
  written: string;
  /** Whether it may be missing: the argument of `default`, or a condition. */
  optional: boolean;
  /** True when printed or kept as it is, not handed to a helper or a block: only there can a task's output stand. */
  direct: boolean;
  /** True when it is printed into a text, so its value must be a scalar. */
  printed: boolean;
}

/** A path that starts at the item of a loop: `this.name`. `up` counts loops outwards from the innermost one. */
export interface ItemPath extends Span {
  is: 'item';
  up: number;
  parts: string[];
  written: string;
  optional: boolean;
}

export interface LoopName extends Span {
  is: 'loop';
  name: 'index' | 'key' | 'first' | 'last';
  written: string;
}

export interface Literal extends Span {
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

/** Tells whether a text has to be read as a template at all. */
export function isTemplate(text: string): boolean {
  return text.includes('{{');
}

export const maxTemplateBytes = 64 * 1024;
export const maxTemplateNodes = 2000;
export const maxTemplateDepth = 20;
export const maxOutputBytes = 256 * 1024;
/** Limit on the evaluations in one rendering, so that nested loops end. */
export const maxTemplateWork = 200_000;

/** A template, or its faults; and its paths, which can be checked even when something else is wrong. */
export interface ParsedTemplate {
  template?: Template;
  faults: TemplateFault[];
  paths: NamePath[];
}
