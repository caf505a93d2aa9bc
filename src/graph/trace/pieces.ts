import { isScalar } from '../../ground/values.ts';
import { renderTemplate, type Scope } from '../../manifest/template/render-template.ts';
import type { Expression, Part, Template } from '../../manifest/template/template.ts';
import type { Piece } from './align.ts';

/**
 * Takes a template apart into the words that are its own and the texts that are filled in, as its scope gives them now.
 * A loop is one text, a condition counts by the branch that is taken. `flipped`: a name; where a condition asks for it, the
 * other branch counts. `undefined`: it gives no plain text.
 */
export function piecesOf(template: Template, scope: Scope, flipped?: string): Piece[] | undefined {
  const pieces: Piece[] = [];
  return addParts(template.body, pieces, { template, scope, flipped }) ? pieces : undefined;
}

interface Context {
  template: Template;
  scope: Scope;
  flipped: string | undefined;
}

function addParts(parts: readonly Part[], pieces: Piece[], context: Context): boolean {
  const { flipped } = context;
  return parts.every((part) => {
    if (part.is === 'text') {
      pieces.push({ text: part.text });
      return true;
    }
    if (part.is === 'choice') {
      const then: Part[] = [{ is: 'text', text: 'yes' }];
      const answer = textOf({ ...part, then, else: [] }, context);
      if (answer === undefined) return false;
      const isFlipped = flipped !== undefined && sourcesOf(part.condition).includes(flipped);
      return addParts((answer === 'yes') === isFlipped ? part.else : part.then, pieces, context);
    }
    const sources = sourcesIn(part);
    // What the name was is not known, and it may have no value now.
    const text = flipped !== undefined && sources.includes(flipped) ? '' : textOf(part, context);
    if (text === undefined) return false;
    pieces.push({ text, sources });
    return true;
  });
}

/** The names that conditions of a template ask for. */
export function conditionsOf(parts: readonly Part[]): string[] {
  const names = parts.flatMap((part) =>
    part.is === 'choice' ? [...sourcesOf(part.condition), ...conditionsOf(part.then), ...conditionsOf(part.else)] : [],
  );
  return [...new Set(names)];
}

function textOf(part: Part, { template, scope }: Context): string | undefined {
  const { value } = renderTemplate({ text: template.text, body: [part], paths: [] }, scope);
  return isScalar(value) ? String(value) : undefined;
}

/** The names that a part depends on, as they are written: `row.mood`. Conditions and lists come before what they govern. */
function sourcesIn(part: Part): string[] {
  switch (part.is) {
    case 'text':
      return [];
    case 'value':
      return sourcesOf(part.value);
    case 'choice':
      return [...sourcesOf(part.condition), ...[...part.then, ...part.else].flatMap(sourcesIn)];
    case 'loop':
      return [...sourcesOf(part.list), ...[...part.body, ...part.else].flatMap(sourcesIn)];
    default:
      return part satisfies never;
  }
}

function sourcesOf(expression: Expression): string[] {
  switch (expression.is) {
    case 'name':
      return [expression.parts.join('.')];
    case 'call':
      return expression.arguments.flatMap(sourcesOf);
    default:
      return [];
  }
}
