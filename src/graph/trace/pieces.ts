import { isScalar } from '../../ground/values.ts';
import { renderTemplate, type Scope } from '../../manifest/template/render-template.ts';
import type { Expression, Part, Template } from '../../manifest/template/template.ts';
import type { Piece } from './align.ts';

/**
 * Takes a template apart into the words that are its own and the texts that are filled in, as its scope gives them now.
 * A condition counts by the branch that is taken, a loop as one text. `undefined`: it gives no plain text.
 */
export function piecesOf(template: Template, scope: Scope): Piece[] | undefined {
  const pieces: Piece[] = [];
  return addParts(template.body, pieces, { template, scope }) ? pieces : undefined;
}

interface Context {
  template: Template;
  scope: Scope;
}

function addParts(parts: readonly Part[], pieces: Piece[], context: Context): boolean {
  return parts.every((part) => {
    switch (part.is) {
      case 'text':
        pieces.push({ text: part.text });
        return true;
      case 'choice': {
        const then: Part[] = [{ is: 'text', text: 'yes' }];
        const answer = textOf({ ...part, then, else: [] }, context);
        if (answer === undefined) return false;
        return addParts(answer === 'yes' ? part.then : part.else, pieces, context);
      }
      case 'value':
      case 'loop': {
        const text = textOf(part, context);
        if (text === undefined) return false;
        pieces.push({ text, sources: sourcesOf(part.is === 'value' ? part.value : part.list) });
        return true;
      }
      default:
        return part satisfies never;
    }
  });
}

function textOf(part: Part, { template, scope }: Context): string | undefined {
  const { value } = renderTemplate({ text: template.text, body: [part], paths: [] }, scope);
  return isScalar(value) ? String(value) : undefined;
}

/** The names that an expression depends on, as they are written: `row.mood`. */
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
