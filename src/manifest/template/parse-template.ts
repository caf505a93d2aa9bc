import { parse } from 'handlebars/dist/cjs/handlebars/compiler/base.js';
import { reduceTemplate } from './reduce-template.ts';
import { maxTemplateBytes, type ParsedTemplate } from './template.ts';
import { explainSyntax } from './template-syntax.ts';

/**
 * Parses a text as Handlebars and keeps only what is allowed: paths, the closed list of helpers, `if`, `unless`, `each`
 * and comments. Handlebars itself never compiles or runs anything.
 */
export function parseTemplate(text: string): ParsedTemplate {
  if (new TextEncoder().encode(text).length > maxTemplateBytes) {
    const message = `a template of ${Math.ceil(text.length / 1024)} KiB is too long`;
    const hint = `a template may have ${maxTemplateBytes / 1024} KiB; put long texts into a data file`;
    return { faults: [{ code: 'MB1205', message, hint, start: 0, end: 1 }], paths: [] };
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
