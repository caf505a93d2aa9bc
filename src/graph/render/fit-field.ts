import type { Json } from '../../ground/json.ts';
import type { Field } from '../../kinds/kind.ts';
import { isTemplate } from '../../manifest/template/template.ts';
import { readTruth } from '../../manifest/template/truth.ts';

/**
 * Converts a rendered value to the type of its field, for example `"5"` to a number, because some table formats have
 * only strings. `undefined` when a template left an optional field empty.
 */
export function fitField(value: Json, written: Json, field: Field | undefined): Json | undefined {
  if (field === undefined) return value;
  const isRendered = typeof written === 'string' && isTemplate(written);
  if (isRendered && field.required !== true && isEmpty(value)) return undefined;
  switch (field.type) {
    case 'number':
      return readNumber(value) ?? value;
    case 'boolean':
      return (typeof value === 'string' ? readTruth(value) : undefined) ?? value;
    case 'string':
      return isRendered ? asText(value) : value;
    case 'strings': {
      if (!Array.isArray(value)) return value;
      const isMade = (index: number): boolean => {
        const entry = Array.isArray(written) ? written[index] : undefined;
        return isRendered || (typeof entry === 'string' && isTemplate(entry));
      };
      const kept = value.flatMap((entry, index) => {
        if (!isMade(index)) return [entry];
        return isEmpty(entry) ? [] : [asText(entry)];
      });
      const isLeftEmpty = kept.length === 0 && (isRendered || value.length > 0);
      return isLeftEmpty && field.required !== true ? undefined : kept;
    }
    default:
      return value;
  }
}

function isEmpty(value: Json): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '');
}

function asText(value: Json): Json {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

/** Reads a plain number, for example `5` or `-0.5`. Undefined for other values. */
function readNumber(value: Json): number | undefined {
  return typeof value === 'string' && /^\s*-?\d{1,15}(?:\.\d{1,15})?\s*$/.test(value) ? Number(value) : undefined;
}
