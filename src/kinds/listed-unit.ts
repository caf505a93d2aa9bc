import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';

/** Unit that credits are charged for. `unknown`: it is told, and not understood: then there is no price. */
export type ListedUnit = 'job' | { readonly seconds: number } | { readonly characters: number } | 'unknown';

/** Words for a unit, without a plural s: what one of them is. Whatever is not here is not understood. */
const words: { readonly [word: string]: ListedUnit } = {
  ...named('job', ['job', 'request', 'generation', 'call', 'creation', 'run']),
  ...named('job', ['flat', 'fixed', 'image', 'video', 'song', 'track', 'thumbnail', 'voiceover']),
  ...named({ seconds: 1 }, ['second', 'sec', 's']),
  ...named({ seconds: 60 }, ['minute', 'min']),
  ...named({ seconds: 3600 }, ['hour', 'hr', 'h']),
  ...named({ characters: 1 }, ['character', 'char']),
};

/** Fields of a unit that is written as a map, and what they hold. */
const unitFields = { unit: ['unit', 'per', 'name', 'type'], count: ['count', 'amount', 'quantity', 'size', 'value'] };

/**
 * Reads what credits are charged for: `second`, `per_second`, `1000 characters`, `1k chars`, `{ unit: second, count: 5 }`.
 * Nothing told is a job.
 */
export function readUnit(told: Json | undefined): ListedUnit {
  if (told === undefined || told === null) return 'job';
  if (typeof told === 'string') return readText(told);
  if (!isMap(told)) return 'unknown';
  const entries = Object.entries(told);
  const pick = (names: readonly string[]) => entries.filter(([name]) => names.includes(name));
  const [unit, ...units] = pick(unitFields.unit);
  const [count, ...counts] = pick(unitFields.count);
  if (units.length + counts.length > 0) return 'unknown';
  if (unit !== undefined) {
    if (typeof unit[1] !== 'string' || entries.length > (count === undefined ? 1 : 2)) return 'unknown';
    return times(readText(unit[1]), count === undefined ? 1 : Number(count[1]));
  }
  // { seconds: 5 }
  const [only, ...others] = entries;
  return only === undefined || others.length > 0 ? 'unknown' : times(readText(only[0]), Number(only[1]));
}

/** `second`, `10 seconds`, `1000 characters`: a unit as people read it. */
export function unitText(unit: ListedUnit): string {
  if (typeof unit === 'string') return unit;
  const [count, word] = 'seconds' in unit ? [unit.seconds, 'second'] : [unit.characters, 'character'];
  return count === 1 ? word : `${count} ${word}s`;
}

function readText(text: string): ListedUnit {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/[\s_/-]+/g, ' ')
    .trim()
    .replace(/^credits? ?/, '')
    .replace(/^(?:per|for|each|every) /, '')
    .replace(/^an? /, '');
  if (plain === '') return 'job';
  const [, digits, thousand, word = ''] = /^(\d{1,7}|\d{1,3},\d{3})? ?(k |thousand )?([a-z]+)$/.exec(plain) ?? [];
  const single = word.length > 1 ? word.replace(/s$/, '') : word;
  const unit = Object.hasOwn(words, single) ? words[single] : undefined;
  const count = (digits === undefined ? 1 : Number(digits.replace(',', ''))) * (thousand === undefined ? 1 : 1000);
  return unit === undefined ? 'unknown' : times(unit, count);
}

/** Multiplies a unit. From one amount for several jobs no price of a single job follows. */
function times(unit: ListedUnit, count: number): ListedUnit {
  const isCount = Number.isFinite(count) && count > 0 && count <= 10_000_000;
  if (!isCount || unit === 'unknown') return 'unknown';
  if (unit === 'job') return count === 1 ? 'job' : 'unknown';
  return 'seconds' in unit ? { seconds: unit.seconds * count } : { characters: unit.characters * count };
}

function named(unit: ListedUnit, list: readonly string[]): { [word: string]: ListedUnit } {
  return Object.fromEntries(list.map((word) => [word, unit]));
}
