import { CampaignError } from '../contract/failure.ts';
import type { Notify } from '../contract/notice.ts';
import type { SpendingLeft } from '../contract/spending.ts';
import type { OutputState } from '../disk/outputs/check-outputs.ts';
import { type BadPlace, findBadPlaces, findForeignFiles, mayBeOutput } from '../disk/outputs/check-places.ts';
import { readKeptDurations } from '../disk/state/caches.ts';
import { RunHistory } from '../disk/state/run-history.ts';
import type { Origins } from '../graph/trace/tracer.ts';
import { call, way } from '../ground/advice.ts';
import { defined, mapOf } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import type { Lock } from '../lock/record.ts';
import { assemblePlan } from '../plan/assemble.ts';
import type { Plan, PlanTotals, StepOrder } from '../plan/plan.ts';
import { isPost, sendsOf } from '../plan/posts/post-record.ts';
import type { PriceHints } from '../plan/prices/prices.ts';
import { wantedPath } from '../plan/select/names.ts';
import type { DecidedGraph, Match } from '../plan/situation/find-purchases.ts';
import { limit } from '../plan/situation/situation.ts';
import { shellWord } from '../report/advice-text.ts';
import { countOf } from '../report/numbers.ts';
import { shortList } from '../report/safe-text.ts';
import { tightestLimit } from './environment.ts';
import type { PlanningOptions } from './option-table.ts';
import type { CampaignPaths } from './paths.ts';
import { readLocalSends } from './restore-purchases.ts';
import { makeSelector } from './select-steps.ts';
import { findPriceHints, type ServiceFacts } from './service-facts.ts';
import type { Session } from './session.ts';

export interface MakePlanOptions extends PlanningOptions {
  /** Steps that the saved plan contains. `leftOut`: steps that the saved plan skipped because of a limit. */
  chosen?: { redo: ReadonlySet<string>; selected?: ReadonlySet<string>; leftOut?: ReadonlySet<string> } | undefined;
  limitThere?: SpendingLeft | undefined;
  /** True if the plan will be applied: a path that is not writable is then an error instead of a notice. */
  isRun?: boolean | undefined;
}

export interface MadePlan {
  plan: Plan;
  states: ReadonlyMap<string, OutputState>;
  redo: ReadonlySet<string>;
  selected?: ReadonlySet<string> | undefined;
  hints: PriceHints;
}

const defaultConcurrency = 8;

export async function makePlan(
  session: Session,
  { facts, origins }: { facts?: ServiceFacts | undefined; origins?: Origins | undefined },
  options: MakePlanOptions,
): Promise<MadePlan> {
  const { campaign, graph, lock, loaded } = session;
  const { paths, sandbox, replays, accountOf, notify, onSize } = campaign;
  const { redo: texts = [], isRun = false } = options;
  onSize({ steps: graph.steps.length });
  const { states, situation: everything } = await session.inspect();
  const { matches } = everything;
  const select = makeSelector(everything);
  const { selected, redo: asked } = options.chosen ?? {
    selected: select.chosen(options),
    redo: select.all('--redo', texts),
  };
  const settled = options.chosen !== undefined;
  const redo = excludePublishedPosts(asked, { texts, matches, settled, notify });
  if (redo.size > 0) refusePinned(everything.graph, redo);
  const hints = await findPriceHints(campaign, { ...everything, redo, facts });
  const here = sandbox ? undefined : await tightestLimit(campaign.environment.limits, Date.now());
  const there = sandbox ? undefined : options.limitThere;
  const limitNow = here === undefined || (there !== undefined && there.left < here.left) ? there : here;
  const lastBalance = sandbox ? undefined : await readLastBalance(paths);
  const sentHere = isRun && !sandbox ? await readLocalSends(campaign, graph, lock) : undefined;
  const plan = assemblePlan({
    hints,
    situation: limit(everything, { redo, selected }),
    causeOf: origins?.trace,
    replays,
    accountOf,
    now: Date.now(),
    concurrency: options.concurrency ?? graph.concurrency ?? defaultConcurrency,
    ...defined({ onUnknown: options.onUnknown, maxCredits: options.maxCredits, leftOut: options.chosen?.leftOut }),
    ...defined({ lists: facts?.refreshed }),
    account: defined({ limit: limitNow, lastBalance }),
    journal: defined({ restored: loaded.restored, sentHere }),
    durations: await readKeptDurations(paths),
  });
  // If the lock has no jobs, `refuseLostLock` reports existing outputs.
  const mayBeLost = loaded.isEmpty && options.new !== true;
  await checkPlaces(plan, lock, { paths, notify, isRun, mayBeLost });
  return { plan, states, redo, hints, selected };
}

function refusePinned(graph: DecidedGraph, redo: ReadonlySet<string>): void {
  const pinned = graph.steps.filter(({ address, decided }) => decided?.pinned !== undefined && redo.has(address));
  const [first] = pinned;
  if (first === undefined) return;
  const addresses = pinned.map(({ address }) => address);
  const others = pinned.length > 1 ? ` and ${pinned.length - 1} more are` : ' is';
  throw new CampaignError({
    code: 'MB3005',
    message: `--redo: ${first.address}${others} pinned, and pinned steps are not bought again`,
    hint:
      first.decided?.pinned === 'manifest'
        ? `remove \`pin: true\` from task \`${first.task}\`, or choose other steps; nothing was spent`
        : way('nothing was spent; choose other steps, or remove the pin', call('pin', ...addresses, '--undo')),
    addresses,
  });
}

async function checkPlaces(
  plan: Plan,
  lock: Lock,
  context: { paths: CampaignPaths; notify: Notify; isRun: boolean; mayBeLost: boolean },
): Promise<void> {
  const { paths, notify, isRun, mayBeLost } = context;
  const saves = plan.rows.flatMap(({ address, order }) => (order === undefined ? [] : savesOf(address, order)));
  const bad = await findBadPlaces(paths.outputs, saves, { ownRoot: paths.outputs !== paths.folder });
  const worst = bad.find(({ why }) => isRun || why !== 'not-writable');
  if (worst !== undefined) throw badPlaceError(worst);
  if (bad[0] !== undefined) notify({ is: 'notice', text: notWritable(bad[0]) });
  const ours = new Set<string>();
  for (const record of lock.steps.values()) {
    for (const { outputs } of record.purchases) for (const { path } of outputs ?? []) ours.add(path);
  }
  const kindOf = new Map(plan.rows.map(({ address, kind }) => [address, kind]));
  const strangers = await findForeignFiles(paths.outputs, saves, (path) => ours.has(path));
  const [stranger, ...others] = strangers.filter(({ address, path }) => {
    const media = kinds[kindOf.get(address) ?? '']?.media ?? 'none';
    return !mayBeLost || media === 'none' || !mayBeOutput(paths.outputs, path, media);
  });
  if (stranger === undefined) return;
  const more = others.length > 0 ? ` (and ${countOf(others.length, 'more file')})` : '';
  const text = `${stranger.path} is not recorded as an output of ${stranger.address}${more}; if the content differs from the download, the existing file is retained under another name`;
  const hint = way(
    'if the lock that recorded the file was lost, adopt the job of the file, so that the step is not bought twice',
    call('adopt'),
  );
  notify({ is: 'notice', code: 'MB1604', text, hint });
}

function savesOf(address: string, order: StepOrder): { address: string; save: string }[] {
  if (kinds[order.kind]?.media === 'none') return [];
  const count = Math.max(1, order.outputs?.length ?? 0);
  return Array.from({ length: count }, (_, index) => ({ address, save: wantedPath(order, index) }));
}

function notWritable({ address, path }: BadPlace): string {
  const where = path === '.' ? 'this folder' : `the folder ${path}`;
  return `${where} is not writable, so ${address} cannot be saved: apply would end with exit code 73`;
}

const moveAway = 'move the existing file away, or choose another `save:`';
const badPlaces = {
  symlink: {
    code: 'MB1605',
    is: 'is a symbolic link',
    hint: 'outputs are written only to real folders below the manifest: replace the link with a folder, or choose another `save:`',
  },
  'not-a-folder': { code: 'MB1604', is: 'is a file, not a folder', hint: moveAway },
  'not-a-file': { code: 'MB1604', is: 'is not a plain file', hint: moveAway },
  'too-long': {
    code: 'MB1604',
    is: 'is longer than the system allows',
    hint: 'move the campaign to a folder with a shorter path, or choose a shorter `save:`',
  },
  'not-writable': {
    code: 'MB3301',
    is: 'is not writable',
    hint: 'fix the permissions of the folder (or the read-only mount), and run again; nothing was spent',
  },
} as const;

function badPlaceError({ address, path, why }: BadPlace): CampaignError {
  const { is, ...rest } = badPlaces[why];
  const message = `${address} cannot be saved: ${path} ${is}`;
  if (rest.code === 'MB3301') return new CampaignError({ ...rest, message, path });
  return new CampaignError({ ...rest, message, path, address });
}

const mostShown = 5;

/**
 * Removes published posts from `--redo` unless the user named their exact address, so that a wildcard cannot publish a
 * post again. Throws MB3005 if this removes every step, except for a saved plan (`settled`).
 */
function excludePublishedPosts(
  redo: ReadonlySet<string>,
  context: { texts: readonly string[]; matches: readonly Match[]; settled: boolean; notify: Notify },
): ReadonlySet<string> {
  const { texts, matches, settled, notify } = context;
  if (redo.size === 0) return redo;
  // A selection is split at spaces (“or”), because no address contains a space.
  const named = new Set(texts.flatMap((text) => text.split(/\s+/)));
  const spared = matches.filter(
    ({ step }) => redo.has(step.address) && isPost(step.kind) && !named.has(step.address), // I24
  );
  const left = new Set(redo);
  for (const { step } of spared) left.delete(step.address);
  const sent = spared.filter(({ record }) => record !== undefined && sendsOf(record).length > 0);
  if (sent.length === 0) return left;
  const addresses = sent.map(({ step }) => step.address);
  const are = addresses.length === 1 ? 'is' : 'are';
  const what = `${shortList(addresses, mostShown)} ${are} already posted, and only an exact address publishes a post again`;
  const words = addresses.slice(0, mostShown).map((address) => `--redo ${shellWord(address)}`);
  const hint = `${words.join(' ')}${addresses.length > mostShown ? ' …' : ''}`;
  if (left.size === 0 && sent.length === spared.length && !settled) {
    const own = { message: `--redo: ${what}`, hint: `give the exact address of each post: ${hint}. Nothing was sent` };
    throw new CampaignError({ code: 'MB3005', ...own, addresses });
  }
  notify({ is: 'notice', text: `--redo: ${what} (${hint}); only the other selected steps are redone` });
  return left;
}

const mostRuns = 5;

/** Returns the balance that the service last reported to a run on this machine. No API request returns the balance. */
async function readLastBalance({ state, runs }: CampaignPaths): Promise<PlanTotals['lastBalance']> {
  const history = new RunHistory(state, runs);
  for (const { id } of (await history.list()).slice(0, mostRuns)) {
    const lines = (await history.readEnds(id)) ?? [];
    for (const line of lines.toReversed()) {
      const { balance, at } = mapOf(line);
      const isValid = typeof balance === 'number' && Number.isSafeInteger(balance) && balance >= 0;
      if (isValid && typeof at === 'string' && !Number.isNaN(Date.parse(at))) return { credits: balance, at };
    }
  }
  return undefined;
}
