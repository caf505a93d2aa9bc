import { type OptionRow, optionTable } from './option-table.ts';

/** A type of value, in the words of the manual and of errors. */
export interface Shape {
  readonly words: string;
  fits(value: unknown): boolean;
  /** Fields of a map, which has no others. */
  readonly fields?: Fields;
  readonly isOptional?: true;
}

export type Fields = Readonly<Record<string, Shape>>;

/** A function of the library: its arguments in their order, by name, and a call of it. */
export interface LibraryCall {
  readonly takes: Fields;
  readonly example: string;
}

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown) => typeof value === 'string';

const shape = (words: string, fits: Shape['fits']): Shape => ({ words, fits });
const map = (fields: Fields): Shape => ({ ...shape('a map', isObject), fields });
const optional = (one: Shape): Shape => ({ ...one, isOptional: true });

const text = shape('a text', isText);
const texts = shape('a list of texts', (value) => Array.isArray(value) && value.every(isText));
const flag = shape('true or false', (value) => typeof value === 'boolean');
/** Its range is checked with its meaning. */
const number = shape('a number', () => true);
const listener = shape('a function', (value) => typeof value === 'function');
const variables = shape('a map of texts', isObject);
const campaign = shape('what load gives', (value) => isObject(value) && 'paths' in value);
const loaded = shape('what load gives', (value) => isObject(value) && 'checked' in value);
const planned = shape('what plan gives', (value) => isObject(value) && 'plan' in value && 'campaign' in value);

/** Options as a program gives them. A range, or a choice of words, is checked with the meaning of the option. */
function optionFields(is: (row: OptionRow) => boolean): Fields {
  const rows = Object.entries<OptionRow>(optionTable).filter(([, row]) => is(row));
  return Object.fromEntries(rows.map(([name, row]) => [name, optional(optionShape(row))]));
}

function optionShape({ takes, words, flags }: OptionRow): Shape {
  if (words !== undefined) return shape(words.map((word) => `'${word}'`).join(' or '), () => true);
  if (takes === 'texts') return texts;
  if (takes !== undefined) return number;
  return flags.includes('<') ? text : flag;
}

const lockTimeoutMs = optional(number);
const deciding = {
  lockTimeoutMs,
  dryRun: optional(flag),
  confirm: optional(listener),
  askAboutMove: optional(listener),
};
const chosen = { names: optional(texts), select: optional(texts) };
const decides = (fields: Fields, more: Fields = {}): Fields => ({
  campaign,
  chosen: map(fields),
  options: optional(map({ ...more, ...deciding })),
});

/** Every function of the library. Calls are checked by this table, and the manual shows it. */
export const libraryCalls = {
  readEnvironment: {
    takes: { env: shape('the environment of the process', isObject), folder: text },
    example: "readEnvironment(env, '.')",
  },
  load: {
    takes: {
      file: text,
      options: optional(
        map({
          sandbox: optional(flag),
          environment: optional(shape('what readEnvironment gives', isObject)),
          lock: optional(text),
          vars: optional(variables),
          varFiles: optional(texts),
          strict: optional(flag),
          tell: optional(listener),
          onSize: optional(listener),
        }),
      ),
    },
    example: "await load('campaign.yaml', { sandbox: true })",
  },
  plan: {
    takes: {
      campaign: loaded,
      options: optional(map(optionFields((row) => row.settles === 'plan' || row === optionTable.onUnknown))),
    },
    example: "await plan(campaign, { select: ['tag:launch'], maxCredits: 200 })",
  },
  apply: {
    takes: {
      planned,
      options: optional(
        map({
          ...optionFields((row) => row.settles === 'run'),
          createTimeoutMs: optional(number),
          lockTimeoutMs,
          signal: optional(shape('an AbortSignal', (value) => value instanceof AbortSignal)),
          on: optional(listener),
          rehearsal: optional(map({ credits: optional(number), speed: optional(number), failRate: optional(number) })),
        }),
      ),
    },
    example: 'await apply(planned, { publish: true })',
  },
  compare: { takes: { campaign: loaded, ref: text }, example: "await compare(campaign, 'main')" },
  cost: {
    takes: { campaign: loaded, options: optional(map({ by: texts, since: optional(text) })) },
    example: "await cost(campaign, { by: ['kind', 'month'] })",
  },
  pick: {
    takes: decides(chosen, { note: optional(text), by: optional(text) }),
    example: "await pick(campaign, { names: ['draft@lamp/2'] }, { note: 'calm light' })",
  },
  reject: {
    takes: decides(chosen, { note: optional(text), reason: optional(text), by: optional(text) }),
    example: "await reject(campaign, { names: ['draft@lamp/1'] }, { reason: 'hands' })",
  },
  unpick: { takes: decides(chosen), example: "await unpick(campaign, { names: ['draft@lamp/2'] })" },
  pickFrom: {
    takes: { campaign, files: texts, options: optional(map(deciding)) },
    example: "await pickFrom(campaign, ['ada.json', 'bo.json'])",
  },
  pin: { takes: decides(chosen), example: "await pin(campaign, { names: ['hero@lamp'] })" },
  unpin: { takes: decides(chosen), example: "await unpin(campaign, { select: ['tag:launch'] })" },
  accept: { takes: decides(chosen), example: "await accept(campaign, { select: ['state:changed'] })" },
  forget: {
    takes: decides({ ...chosen, orphans: optional(flag), force: optional(flag) }),
    example: 'await forget(campaign, { orphans: true })',
  },
  move: {
    takes: decides({ from: text, to: text }),
    example: "await move(campaign, { from: 'hero@lamp', to: 'poster@lamp' })",
  },
  importStep: {
    takes: decides({ address: text, job: text, credits: optional(number), offline: optional(flag) }),
    example: "await importStep(campaign, { address: 'hero@lamp', job: '68d1f0c2', credits: 2 })",
  },
  adopt: {
    takes: decides({ jobs: optional(texts), onLooked: optional(listener) }),
    example: 'await adopt(campaign, {}, { dryRun: true })',
  },
  resolve: {
    takes: {
      campaign,
      found: map({
        address: text,
        finding: map({
          is: shape("'job', 'not-spent' or 'spend-again'", (value) =>
            ['job', 'not-spent', 'spend-again'].includes(String(value)),
          ),
          jobId: optional(text),
          credits: optional(number),
          recordId: optional(text),
        }),
        send: optional(text),
      }),
      options: optional(map({ lockTimeoutMs })),
    },
    example: "await resolve(campaign, { address: 'song', finding: { is: 'not-spent' } })",
  },
  readLock: {
    takes: {
      file: text,
      bytes: shape('bytes, as readFile gives them', (value) => value instanceof Uint8Array),
    },
    example: "readLock('campaign.lock.jsonl', bytes)",
  },
} as const satisfies Record<string, LibraryCall>;
