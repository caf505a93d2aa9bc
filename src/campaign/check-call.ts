import { CampaignError } from '../contract/failure.ts';
import { nearestName } from '../manifest/suggest.ts';
import { type Fields, isObject, type LibraryCall, libraryCalls, type Shape } from './library-calls.ts';

/**
 * Refuses a call of the library with anything but what it takes: a program without types would meet a TypeError of Node, or
 * have an option that is misspelt, such as a cap, passed over.
 */
export function checkCall(name: keyof typeof libraryCalls, given: readonly unknown[]): void {
  const { takes, example }: LibraryCall = libraryCalls[name];
  for (const [index, [argument, shape]] of Object.entries(takes).entries()) {
    const wrong = findWrong(argument, shape, given[index]);
    if (wrong === undefined) continue;
    const { text, value } = wrong;
    throw new CampaignError({ code: 'MB3003', message: `${name}: ${text}`, hint: `as in: ${example}`, value });
  }
}

interface Wrong {
  text: string;
  /** The value that was seen. */
  value: string;
}

function findWrong(name: string, { words, fits, fields, isOptional }: Shape, value: unknown): Wrong | undefined {
  if (value === undefined && isOptional) return undefined;
  const seen = describe(value);
  if (!fits(value)) return { text: `\`${name}\` is ${seen}, and is to be ${words}`, value: seen };
  return fields && isObject(value) ? findWrongField(name, fields, value) : undefined;
}

function findWrongField(name: string, fields: Fields, value: object): Wrong | undefined {
  const own = new Map<string, unknown>(Object.entries(value));
  const known = Object.keys(fields);
  const strange = [...own].find(([field, one]) => one !== undefined && !known.includes(field))?.[0];
  if (strange !== undefined) {
    const near = nearestName(strange, known);
    const meant = near === undefined ? `it takes ${known.join(', ')}` : `did you mean \`${near}\`?`;
    return { text: `\`${name}\` has a field \`${strange}\` that nothing reads: ${meant}`, value: strange };
  }
  for (const [field, shape] of Object.entries(fields)) {
    const wrong = findWrong(`${name}.${field}`, shape, own.get(field));
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const mostShown = 60;

function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (typeof value === 'string') return `the text ${JSON.stringify(value.slice(0, mostShown))}`;
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Promise) return 'a promise that nobody awaited';
  return typeof value === 'object' ? 'another object' : String(value);
}
