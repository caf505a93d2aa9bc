import type { DiagnosticCode } from '../../ground/diagnostic.ts';

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
  meant?: string;
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

export const maxTemplateBytes = 64 * 1024;
export const maxTemplateNodes = 2000;
export const maxTemplateDepth = 20;
export const maxOutputBytes = 256 * 1024;
/** Maximum number of evaluations in one rendering, so that nested loops end. */
export const maxTemplateWork = 200_000;

/** Paths are included even if something is wrong, so that they can be checked. */
export interface ParsedTemplate {
  template?: Template;
  faults: TemplateFault[];
  paths: NamePath[];
}
