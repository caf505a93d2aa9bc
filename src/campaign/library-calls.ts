import { CampaignError } from '../contract/failure.ts';
import { nearestName } from '../manifest/suggest.ts';
import { type OptionRow, optionTable } from './option-table.ts';

/**
 * A function of the library: its arguments with the names of their fields, and a sample call. Everything else is in
 * the types.
 */
export interface LibraryCall {
  /** Field names by argument, in order; optional fields end in `?`. Null if the argument is not an options object. */
  readonly takes: Readonly<Record<string, readonly string[] | null>>;
  readonly example: string;
}

function optionNames(is: (row: OptionRow) => boolean): string[] {
  return Object.entries<OptionRow>(optionTable).flatMap(([name, row]) => (is(row) ? [name] : []));
}

const deciding = ['lockTimeoutMs', 'dryRun', 'confirm', 'askAboutMove'];
const chosen = ['names', 'select'];
const decides = (fields: readonly string[], more: readonly string[] = []) => ({
  campaign: null,
  chosen: fields,
  'options?': [...more, ...deciding],
});

/** Every function of the library. Its arguments are checked by this table, and the manual shows it. */
export const libraryCalls = {
  readEnvironment: { takes: { env: null, folder: null }, example: "readEnvironment(env, '.')" },
  load: {
    takes: {
      file: null,
      'options?': ['sandbox', 'environment', 'lock', 'vars', 'varFiles', 'strict', 'tell', 'onSize'],
    },
    example: "await load('campaign.yaml', { sandbox: true })",
  },
  plan: {
    takes: {
      campaign: null,
      'options?': optionNames((row) => row.settles === 'plan' || row === optionTable.onUnknown),
    },
    example: "await plan(campaign, { select: ['tag:launch'], maxCredits: 200 })",
  },
  apply: {
    takes: {
      planned: null,
      'options?': [
        ...optionNames((row) => row.settles === 'run'),
        ...['createTimeoutMs', 'lockTimeoutMs', 'signal', 'on', 'rehearsal'],
      ],
    },
    example: 'await apply(planned, { publish: true })',
  },
  compare: { takes: { campaign: null, ref: null }, example: "await compare(campaign, 'main')" },
  cost: {
    takes: { campaign: null, 'options?': ['by', 'since'] },
    example: "await cost(campaign, { by: ['kind', 'month'] })",
  },
  pick: {
    takes: decides(chosen, ['note', 'by', 'replace']),
    example: "await pick(campaign, { names: ['draft@lamp/2'] }, { note: 'calm light' })",
  },
  reject: {
    takes: decides(chosen, ['note', 'reason', 'by']),
    example: "await reject(campaign, { names: ['draft@lamp/1'] }, { reason: 'hands' })",
  },
  unpick: { takes: decides(chosen), example: "await unpick(campaign, { names: ['draft@lamp/2'] })" },
  pickFrom: {
    takes: { campaign: null, files: null, 'options?': deciding },
    example: "await pickFrom(campaign, ['ada.json', 'bo.json'])",
  },
  pin: { takes: decides(chosen), example: "await pin(campaign, { names: ['hero@lamp'] })" },
  unpin: { takes: decides(chosen), example: "await unpin(campaign, { select: ['tag:launch'] })" },
  accept: { takes: decides(chosen), example: "await accept(campaign, { select: ['state:changed'] })" },
  forget: {
    takes: decides([...chosen, 'orphans', 'force']),
    example: 'await forget(campaign, { orphans: true })',
  },
  move: {
    takes: decides(['from', 'to']),
    example: "await move(campaign, { from: 'hero@lamp', to: 'poster@lamp' })",
  },
  importStep: {
    takes: decides(['address', 'job', 'credits', 'offline']),
    example: "await importStep(campaign, { address: 'hero@lamp', job: '68d1f0c2', credits: 2 })",
  },
  adopt: { takes: decides(['jobs', 'onLooked']), example: 'await adopt(campaign, {}, { dryRun: true })' },
  resolve: {
    takes: { campaign: null, found: ['address', 'finding', 'send'], 'options?': deciding },
    example: "await resolve(campaign, { address: 'song', finding: { is: 'not-spent' } })",
  },
  readLock: { takes: { file: null, bytes: null }, example: "readLock('campaign.lock.jsonl', bytes)" },
} as const satisfies Record<string, LibraryCall>;

/**
 * Refuses a misspelt or unknown field of a library call, because an untyped caller that misspells a limit would run
 * without it.
 */
export function checkCall(name: keyof typeof libraryCalls, given: readonly unknown[]): void {
  const { takes, example }: LibraryCall = libraryCalls[name];
  for (const [index, [argument, known]] of Object.entries(takes).entries()) {
    if (known === null) continue;
    const strange = Object.entries(given[index] ?? {}).find(
      ([field, one]) => one !== undefined && !known.includes(field),
    );
    if (strange === undefined) continue;
    const [field] = strange;
    const near = nearestName(field, known);
    const meant = near === undefined ? `it takes ${known.join(', ')}` : `did you mean \`${near}\`?`;
    const message = `${name}: \`${argument.replace('?', '')}\` has an unknown field \`${field}\`: ${meant}`;
    throw new CampaignError({ code: 'MB3000', message, hint: `as in: ${example}`, value: field, known });
  }
}
