import { existsSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CampaignError } from '../contract/failure.ts';
import { findWayOut, isInSameRepository } from '../disk/fs/own-tree.ts';
import { replaceFile } from '../disk/fs/replace.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import type { Graph } from '../graph/graph.ts';
import { type Call, call, way } from '../ground/advice.ts';
import { canonicalJson, type Json } from '../ground/json.ts';
import { defined, messageOf } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import { isOpenSend } from '../lock/sends.ts';
import { type Agreement, findUncovered, holdToCeilings, namedBy } from '../plan/agreement.ts';
import { findBehind } from '../plan/gates/block-at-gates.ts';
import type { Saved } from '../plan/plan.generated.ts';
import type { Plan } from '../plan/plan.ts';
import { leftUnder } from '../plan/prices/ceiling.ts';
import { nextPurchase } from '../plan/purchases/key.ts';
import { planJson } from '../report/plan/plan-json.ts';
import { safeJson } from '../report/safe-text.ts';
import { findGiven, flagOf } from './check-options.ts';
import type { MakePlanOptions } from './make-plan.ts';
import type { OptionRow } from './option-table.ts';
import { readPlanFile } from './own-file.ts';
import { isKept, optionsToKeep, wordsOfPlan } from './saved-options.ts';
import type { SavedPlan } from './saved-plan.ts';

/**
 * Returns the addresses that the selections of a saved plan matched when it was made. Evaluating the selections again
 * could match other steps (a failed step may be running by now), and would redo steps that were already redone.
 */
export function chosenBy(saved: SavedPlan, lock: Lock): NonNullable<MakePlanOptions['chosen']> {
  const { select, exclude, first, sample } = saved.options;
  const isPart = [select, exclude, first, sample].some((one) => one !== undefined);
  const isOpen = (address: string) => {
    const { fingerprint, repeat } = saved.purchases.get(address) ?? {};
    const purchases = lock.steps.get(address)?.purchases ?? [];
    if (fingerprint === undefined || repeat === undefined) return false;
    const [newest] = purchases;
    // Its redo was interrupted, and is continued under the same key.
    if (newest !== undefined && isOpenSend(newest) && newest.fingerprint === fingerprint) return true;
    return nextPurchase(purchases, fingerprint).repeat <= repeat;
  };
  // The remaining limit may be larger by now. Steps that the plan omitted for the limit stay omitted.
  const left = [...saved.shown.values()].filter(({ reason }) => reason.code === 'limit');
  return {
    redo: new Set(saved.redo.filter(isOpen)),
    ...(isPart && { selected: saved.addresses }),
    ...(left.length > 0 && { leftOut: new Set(left.map(({ address }) => address)) }),
  };
}

/**
 * Throws when the plan, made again now, would buy anything that the saved plan does not name. Purchases that an
 * interrupted run has made since are not repeated, and the rest of the saved plan is carried out.
 */
export function refuseStale(saved: SavedPlan, now: { plan: Plan; graph: Graph; service: string | undefined }): void {
  const { plan, graph, service } = now;
  const stale = (why: string) =>
    new CampaignError({
      code: 'MB3102',
      message: `${saved.path} is stale: ${why}`,
      hint: way('nothing was spent; plan again, with the same options', planAgain(saved)),
      file: saved.path,
    });
  if (saved.service !== undefined && service !== undefined && saved.service !== service) {
    throw stale('it was made for another service address');
  }
  if (saved.steps !== digestOfSteps(graph) || saved.campaign !== graph.name) {
    throw stale('the manifest, its data, its files or its variables changed since it was made');
  }
  // The cost of purchases after picks is shown apart from the amount to spend, so a purchase that is possible at once
  // must not be listed there.
  const behind = findBehind(graph, saved.gates);
  const early = [...saved.afterPicks.keys()].find((address) => !behind.has(address));
  if (early !== undefined) throw stale(`${early} depends on none of the gates that the plan shows as open`);
  const found = findUncovered(saved, plan);
  if (found !== undefined) throw stale(found.text);
}

function planAgain({ path, options }: SavedPlan): Call {
  return call('plan', ...wordsOfPlan(options), '--out', path);
}

/** Refuses options that were settled when the plan was saved, unless they name the same lock and variables. */
export function refuseReplanning(saved: SavedPlan, options: object): void {
  const isRefused = (row: OptionRow) => (row.besideSaved ?? (isKept(row) ? 'refused' : 'taken')) === 'refused';
  const stored = new Map<string, unknown>(Object.entries(saved.options));
  const [first] = findGiven(options, isRefused).filter(
    ({ name, row, value }) => row.settles !== 'campaign' || !isDeepStrictEqual(value, stored.get(name)),
  );
  if (first === undefined) return;
  const given = flagOf(first.row);
  throw new CampaignError({
    code: 'MB3000',
    message: `${given} cannot be combined with a saved plan: ${saved.path} contains its own options`,
    hint: way(`plan again, with ${given} and the options that it was saved with`, planAgain(saved)),
    options: [given],
  });
}

export function refuseUncovered(agreement: Agreement, plan: Plan): void {
  const found = findUncovered(agreement, plan);
  if (found === undefined) return;
  const { text, addresses } = found;
  const hint = 'plan again; nothing was spent';
  throw new CampaignError({ code: 'MB3102', message: `the plan is stale: ${text}`, hint, addresses });
}

/** Returns the plan limited to the rest of an agreement, whose ceiling counts the charges of all runs under it. */
export function goOnUnder(agreement: Agreement, plan: Plan, lock: Lock): Plan {
  const held = holdToCeilings(agreement, plan);
  const totals = { ...held.totals };
  totals.ceiling = leftUnder(agreement, held, lock); // I39 (again)
  return { ...held, totals };
}

/** Writes the plan with everything that is needed to make it again. Overwrites only an earlier saved plan. */
export async function savePlan(
  path: string,
  plan: Plan,
  from: {
    file: string;
    options: object;
    graph: Graph;
    service: string | undefined;
    redo: ReadonlySet<string>;
  },
): Promise<void> {
  if (!path.endsWith('.json')) {
    throw unsaved('MB3000', path, {
      why: 'does not end in .json',
      hint: 'choose a name such as campaign.plan.json, so that `apply` recognizes it as a plan',
    });
  }
  const wayOut = findWayOut(dirname(resolve(path)));
  if (wayOut !== undefined) {
    throw unsaved('MB3301', path, { why: `cannot be written: ${wayOut}`, hint: 'choose another name' });
  }
  const { file, options, graph, service, redo } = from;
  if (!isInSameRepository(path, file)) {
    throw unsaved('MB3000', path, {
      why: 'is in a git repository, but the manifest is outside it',
      hint: 'save it next to the manifest, or outside any repository',
    });
  }
  if (existsSync(path) && (await readPlanFile(path)) === undefined) {
    throw unsaved('MB3301', path, {
      why: 'already exists and is not a saved plan; it was not changed',
      hint: 'choose another name',
    });
  }
  const folder = dirname(resolve(path));
  const near = (other: string) => relative(folder, resolve(other)).split(sep).join('/');
  const { purchases, afterPicks, publishes } = namedBy(plan);
  const saved: Saved = {
    manifest: near(file),
    options: optionsToKeep(options, near),
    ...defined({ service }),
    steps: digestOfSteps(graph),
    purchases,
    ...(Object.keys(afterPicks).length > 0 && { afterPicks }),
    ...(publishes.length > 0 && { publishes: publishes.toSorted() }),
    ...(redo.size > 0 && { redo: [...redo].sort() }),
  };
  const document = { ...(planJson(plan) as { [key: string]: Json }), saved };
  try {
    await replaceFile(path, `${safeJson(document, 2)}\n`);
  } catch (error) {
    throw new CampaignError({
      code: 'MB3301',
      message: `--out ${path} cannot be written: ${messageOf(error)}`,
      hint: 'choose a path in an existing folder',
      path,
    });
  }
}

function unsaved(code: 'MB3000' | 'MB3301', path: string, { why, hint }: { why: string; hint: string }): CampaignError {
  return new CampaignError({ code, message: `--out: ${path} ${why}`, hint, path });
}

function digestOfSteps(graph: Graph): string {
  const steps = graph.steps.map(({ address, fingerprint, save, retry }) =>
    canonicalJson([address, fingerprint, save, retry === undefined ? null : { ...retry }]),
  );
  // Gates are part of the digest, because without a gate its dependent steps would be bought without a decision.
  const gates = (graph.gates ?? []).map(({ name, is, choose, members }) => canonicalJson([name, is, choose, members])); // I27 (saved)
  const canaries = (graph.canaries ?? []).map((one) => canonicalJson({ ...one })); // I28 (saved)
  return digestOf(Buffer.from([graph.name, ...steps, ...gates, ...canaries].join('\n'))).sha256;
}
