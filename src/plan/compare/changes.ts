import type { OpenRequest, Step } from '../../graph/graph.ts';
import { canonicalJson, type Json } from '../../ground/json.ts';
import { defined, isMap, type Path } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { defaultedValue } from '../../kinds/price.ts';
import type { Purchase } from '../../lock/record.ts';
import type { Cause, Change, Reason } from '../plan.generated.ts';
import type { Match } from '../situation/find-purchases.ts';

export interface ChangeFacts {
  addressOf?: ((fingerprint: string) => string | undefined) | undefined;
  causeOf?: ((address: string, difference: { path: Path; before: Json; after: Json }) => Cause | undefined) | undefined;
}

interface Changes {
  changes: Change[];
  follows: string[];
}

/**
 * Compares the paid request with the wanted request, field by field. References in both requests are fingerprints. An
 * omitted field equals its documented default. `wanted.request`: the wanted request, whose references are addresses.
 */
export function findChanges(
  bought: OpenRequest,
  wanted: Pick<Step, 'address' | 'paidRequest'> & { kind?: string; request?: OpenRequest },
  facts: ChangeFacts = {},
): Changes {
  const kind = wanted.kind === undefined ? undefined : kinds[wanted.kind];
  const comparison = new Comparison(wanted.address, facts);
  const fields = [...new Set([...Object.keys(bought), ...Object.keys(wanted.paidRequest)])].sort();
  for (const field of fields) {
    comparison.compare([field], {
      before: defaultedValue(kind, field, bought),
      after: defaultedValue(kind, field, wanted.paidRequest),
      written: wanted.request?.[field],
    });
  }
  return { changes: comparison.changes, follows: [...comparison.follows] };
}

interface Values {
  before: Json | undefined;
  after: Json | undefined;
  written: Json | undefined;
}

class Comparison {
  readonly changes: Change[] = [];
  readonly follows = new Set<string>();
  readonly #address: string;
  readonly #facts: ChangeFacts;

  constructor(address: string, facts: ChangeFacts) {
    this.#address = address;
    this.#facts = facts;
  }

  compare(path: Path, { before, after, written }: Values): void {
    if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after)) return;
    const field = path.join('.');
    if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
      for (const [index, item] of before.entries()) {
        const own = Array.isArray(written) ? written[index] : undefined;
        this.compare([...path, index], { before: item, after: after[index], written: own });
      }
      return;
    }
    const [old, now] = [referenceIn(before), referenceIn(after)];
    if (now !== undefined) {
      this.#compareSteps(field, { old, now, written });
      return;
    }
    const digests = [digestIn(before), digestIn(after)] as const;
    if (digests[1] !== undefined) {
      const name = typeof written === 'string' ? written : field;
      this.changes.push({ field, ...defined({ before: digests[0], after: digests[1] }), cause: { is: 'file', name } });
      return;
    }
    const [from, to] = [this.#readable(before), this.#readable(after)];
    const cause =
      from === undefined || to === undefined
        ? undefined
        : this.#facts.causeOf?.(this.#address, { path, before: from, after: to });
    this.changes.push({ field, ...defined({ before: from, after: to, cause }) });
  }

  #compareSteps(
    field: string,
    { old, now, written }: { old: string | undefined; now: string; written: Json | undefined },
  ): void {
    const address = referenceIn(written) ?? this.#facts.addressOf?.(now);
    const earlier = old === undefined ? undefined : this.#facts.addressOf?.(old);
    if (old !== undefined && address !== undefined && (earlier === undefined || earlier === address)) {
      this.changes.push({ field, cause: { is: 'step', name: address } });
      this.follows.add(address);
      return;
    }
    this.changes.push({ field, ...defined({ before: earlier, after: address }) });
  }

  #readable(value: Json | undefined): Json | undefined {
    if (value === undefined) return undefined;
    const fingerprint = referenceIn(value);
    if (fingerprint !== undefined) return this.#facts.addressOf?.(fingerprint) ?? 'another step';
    if (Array.isArray(value)) return value.map((item) => this.#readable(item) ?? null);
    if (!isMap(value)) return value;
    if (Array.isArray(value.$text)) return value.$text.map((part) => String(this.#readable(part))).join('');
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#readable(item) ?? null]));
  }
}

export function changeReason(
  code: Reason['code'],
  { bought, match }: { bought: Purchase | undefined; match: Match },
  { facts, notify = (change) => change }: { facts: ChangeFacts; notify?: (change: string) => string },
): Reason {
  if (bought?.request === undefined) return { code, text: notify('an input changed') };
  const { step } = match;
  const paidRequest = step.decided?.wanted?.paidRequest ?? step.paidRequest;
  const { changes, follows } = findChanges(bought.request, { ...step, paidRequest }, facts);
  return {
    code,
    text: notify(describeChanges(changes)),
    ...(changes.length > 0 && { changes }),
    ...(follows.length > 0 && { follows }),
  };
}

function referenceIn(value: Json | undefined): string | undefined {
  return isMap(value) && typeof value.$ref === 'string' ? value.$ref : undefined;
}

function digestIn(value: Json | undefined): string | undefined {
  return isMap(value) && typeof value.$sha256 === 'string' ? value.$sha256 : undefined;
}

/** Describes how a request changed, on one line. `whose`: returns a suffix for a step: `, whose prompt changed`. */
export function describeChanges(changes: readonly Change[], whose: (address: string) => string = () => ''): string {
  if (changes.length === 0) return 'an input changed';
  const others = changes.filter(({ cause }) => cause?.is !== 'step');
  const own = [...new Set(others.map((change) => describeChange(change)))];
  const [followed, ...more] = [...new Set(changes.flatMap(({ cause }) => (cause?.is === 'step' ? cause.name : [])))];
  if (followed === undefined) return own.join('; ');
  const rest = more.length === 0 ? '' : ` and ${more.length} more`;
  return [...own, `follows ${followed}${rest}${whose(followed)}`].join('; ');
}

/** Describes the change of one field. `several`: the text is for several rows of a data file, and names no row. */
export function describeChange({ field, before, after, cause }: Change, several = false): string {
  if (cause?.is === 'file') return `${cause.name} changed`;
  const name = nameOf(field, cause, several);
  if (before === undefined) return `${name} is new`;
  if (after === undefined) return `${name} is gone`;
  if (typeof before === 'string' && typeof after === 'string') return `${name}: ${describeWords(before, after)}`;
  if (isScalar(before) && isScalar(after)) return `${name}: ${String(before)} → ${String(after)}`;
  if (Array.isArray(before) && Array.isArray(after)) return `${name}: ${before.length} → ${after.length} items`;
  return `${name} changed`;
}

function nameOf(field: string, cause: Cause | undefined, several: boolean): string {
  switch (cause?.is) {
    case 'data':
      return `${nameRow(cause, several)} ${cause.name}`;
    case 'variable':
    case 'default':
      return cause.name;
    default:
      return field;
  }
}

function nameRow({ file = 'data', line, sheet }: Cause, several: boolean): string {
  const isNamed = line !== undefined && !several;
  if (sheet === undefined) return `${file}${isNamed ? `:${line}` : ''}`;
  return `${file}, sheet ${sheet}${isNamed ? `, row ${line},` : ''}`;
}

function isScalar(value: Json): boolean {
  return value === null || typeof value !== 'object';
}

const shownWords = 5;

/** Scripts (such as Chinese) without spaces between words: each character is compared as a word. */
const unspaced = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}';
const word = new RegExp(
  `[${unspaced}]\\p{M}*|\\p{P}{1,3}(?=\\s|$)|[^\\s${unspaced}]+?(?=\\p{P}{0,3}(?:[\\s${unspaced}]|$))`,
  'gu',
);

/**
 * Describes which words of a string changed: `oak → elm`. If words were only added or removed, the text includes the
 * neighbouring words: `“a lamp” → “a red lamp”`.
 */
function describeWords(before: string, after: string): string {
  const [old, now] = [[...before.matchAll(word)], [...after.matchAll(word)]];
  const most = Math.min(old.length, now.length);
  const isSame = (inOld: number, inNow: number) => old.at(inOld)?.[0] === now.at(inNow)?.[0];
  let start = 0;
  while (start < most && isSame(start, start)) start += 1;
  let end = 0;
  while (end < most - start && isSame(-1 - end, -1 - end)) end += 1;
  const size = Math.max(old.length, now.length) - start - end;
  if (size === 0) return 'white space';
  const cut = (text: string, words: RegExpExecArray[], around: number) => {
    const shown = words.slice(Math.max(0, start - around), words.length - Math.max(0, end - around));
    const last = shown[shownWords + 2 * around - 1] ?? shown.at(-1);
    const cutText = last === undefined ? '' : text.slice(shown[0]?.index, last.index + last[0].length);
    return `${cutText.replaceAll(/\s+/gu, ' ')}${last === shown.at(-1) ? '' : ' …'}`;
  };
  if (most > start + end) return `${cut(before, old, 0)} → ${cut(after, now, 0)}`;
  return `“${cut(before, old, 1)}” → “${cut(after, now, 1)}”`;
}
