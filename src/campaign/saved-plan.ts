import { existsSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { CommandError, exitCodes } from '../contract/exit.ts';
import { findWayOut, isInSameRepository } from '../disk/fs/own-tree.ts';
import { replaceFile } from '../disk/fs/replace.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import { orForgotten, readJsonFile } from '../disk/state/kept-json.ts';
import type { Graph } from '../graph/graph.ts';
import type { Json } from '../ground/json.ts';
import { canonicalJson } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import { isSpending } from '../plan/actions.ts';
import { advise, call } from '../plan/advice.ts';
import type { Plan, Retries } from '../plan/plan.ts';
import { publishes } from '../plan/post-consent.ts';
import { planJson } from '../report/plan/plan-json.ts';
import { safeJson, safeText } from '../report/safe-text.ts';
import { findContradiction } from './check-plan-file.ts';
import type { PlanningOptions } from './make-plan.ts';

/** A plan of a million steps is smaller. */
const mostBytes = 1 << 29;

/** Options that make the plan what it is, as the command line names them. */
export interface SettledOptions extends Omit<PlanningOptions, 'onUnknown'> {
  sandbox?: boolean | undefined;
  lock?: string | undefined;
  var?: Record<string, string> | undefined;
}

/** What `plan --out` keeps: a plan is made again when it is applied, and must come to the same. */
export interface SavedPlan {
  /** As the person gave it. */
  path: string;
  manifest: string;
  /** The name of the campaign, as it shows it. */
  campaign: string;
  options: SettledOptions;
  /** Digest of the service's address, if it was known. */
  service?: string;
  /** Digest of what all steps are: the manifest with its data, files and variables. */
  steps: string;
  /** The steps that it is about. */
  addresses: ReadonlySet<string>;
  /** The steps that `--redo` named. */
  redo: readonly string[];
  /** The posts that it names: whoever applies it agrees to them. */
  publishes: ReadonlySet<string>;
  /** What was to be bought, by address. */
  purchases: ReadonlyMap<string, SavedPurchase>;
  /** Open sends that were to be asked about beside the steps. */
  sends: ReadonlySet<string>;
}

export interface SavedPurchase {
  /** Absent where a job was to be collected, and only a failed one to be followed by another. */
  generation?: number;
  /** Of the last purchase that `retry:` allowed. */
  lastGeneration?: number;
  /** Of one purchase; `null`: unknown. */
  credits: number | null;
}

/** Writes the plan and all that it takes to make it again. Only ever over an earlier saved plan. */
export async function savePlan(
  path: string,
  plan: Plan,
  from: {
    file: string;
    options: SettledOptions;
    graph: Graph;
    service: string | undefined;
    redo: ReadonlySet<string>;
  },
): Promise<void> {
  if (!path.endsWith('.json')) {
    throw new CommandError(
      exitCodes.wrongUsage,
      `--out: ${safeText(path)} does not end in .json`,
      'name it as in campaign.plan.json, so that `apply` knows it for a plan',
    );
  }
  const wayOut = findWayOut(dirname(resolve(path)));
  if (wayOut !== undefined) {
    throw new CommandError(
      exitCodes.cannotWrite,
      `--out: ${safeText(path)} is not written: ${wayOut}`,
      'choose another name',
    );
  }
  const { file, options, graph, service, redo } = from;
  if (!isInSameRepository(path, file)) {
    throw new CommandError(
      exitCodes.wrongUsage,
      `--out: ${safeText(path)} lies in a repository, and the manifest outside of it`,
      'save it beside the manifest, or outside of any repository',
    );
  }
  if (existsSync(path) && (await readPlanFile(path)) === undefined) {
    throw new CommandError(
      exitCodes.cannotWrite,
      `--out: ${safeText(path)} is there already, and is no saved plan; it was left as it is`,
      'choose another name',
    );
  }
  const folder = dirname(resolve(path));
  const near = (other: string) => relative(folder, resolve(other)).split(sep).join('/');
  const { lock, ...given } = optionsToKeep(options);
  const purchases = plan.rows.flatMap(({ address, action, order }) =>
    isSpending(action) && order !== undefined && !order.asksOnly ? [[address, order.generation] as const] : [],
  );
  const retries = plan.rows.flatMap(({ address, order }) =>
    order?.retries === undefined ? [] : [[address, lastGenerationOf(order.retries)] as const],
  );
  const posts = plan.rows.filter(publishes).map(({ address }) => address);
  const saved = {
    manifest: near(file),
    options: { ...given, ...(lock !== undefined && { lock: near(lock) }) },
    ...(service !== undefined && { service }),
    steps: digestOfSteps(graph),
    generations: Object.fromEntries(purchases),
    ...(posts.length > 0 && { publishes: posts.sort() }),
    ...(redo.size > 0 && { redo: [...redo].sort() }),
    ...(retries.length > 0 && { retries: Object.fromEntries(retries) }),
  };
  const document = { ...(planJson(plan) as { [key: string]: Json }), saved };
  try {
    await replaceFile(path, `${safeJson(document, 2)}\n`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      exitCodes.cannotWrite,
      `--out ${safeText(path)} cannot be written: ${safeText(message)}`,
      'give a file in a folder that exists',
    );
  }
}

/** Undefined: it is no saved plan, but perhaps a manifest. */
export async function openSavedPlan(path: string): Promise<SavedPlan | undefined> {
  const document = await readPlanFile(path);
  if (document === undefined) return undefined;
  if (document.version !== 1) {
    const version = typeof document.version === 'number' ? `version ${document.version}` : 'an unknown version';
    throw new CommandError(
      exitCodes.wrongInput,
      `${safeText(path)} is a plan of ${version}; this version of mediabatch knows version 1`,
      'plan again with this version, or apply it with the one that made it',
    );
  }
  const { saved, rows } = document;
  if (!isMap(saved) || !Array.isArray(rows)) throw unusable(path, 'was printed, not saved');
  const { manifest, options, service, steps, generations, publishes: posts = [], redo = [], retries = {} } = saved;
  const isWhole =
    isPath(manifest) &&
    typeof steps === 'string' &&
    isMap(options) &&
    isMap(generations) &&
    isTexts(posts) &&
    isTexts(redo) &&
    isMap(retries) &&
    (service === undefined || typeof service === 'string');
  if (!isWhole) throw unusable(path, 'is not whole');
  const folder = dirname(resolve(path));
  const far = (other: string) => {
    const found = isAbsolute(other) ? other : resolve(folder, other);
    return relative('', found) || found;
  };
  const addresses = new Set<string>();
  const purchases = new Map<string, SavedPurchase>();
  const sends = new Set<string>();
  for (const row of rows) {
    if (!isMap(row) || typeof row.address !== 'string') throw unusable(path, 'is not whole');
    addresses.add(row.address);
    if (row.send !== undefined) {
      if (typeof row.send !== 'string') throw unusable(path, 'is not whole');
      sends.add(row.send);
      continue;
    }
    const purchase = readPurchase(row, { generations, retries });
    if (purchase === 'broken') throw unusable(path, 'is not whole');
    if (purchase !== undefined) purchases.set(row.address, purchase);
  }
  const given = readOptions(path, options);
  const wrong = findContradiction(document, saved); // I23
  if (wrong !== undefined) throw unusable(path, `does something else than it shows: ${safeText(wrong)}`);
  const named = { manifest: far(manifest), ...(given.lock !== undefined && { lock: far(given.lock) }) };
  for (const [what, other] of Object.entries(named)) {
    if (isInSameRepository(path, other)) continue;
    throw unusable(path, `its ${what} ${safeText(other)} lies outside of the repository that it is in`);
  }
  const { lock } = named;
  return {
    path,
    campaign: String(document.campaign),
    manifest: named.manifest,
    options: { ...given, ...(lock !== undefined && { lock }) },
    ...(typeof service === 'string' && { service }),
    steps,
    addresses,
    redo,
    publishes: new Set(posts),
    purchases,
    sends,
  };
}

function readPurchase(
  { address, credits, mayRetry }: { [key: string]: Json },
  from: { generations: { [key: string]: Json }; retries: { [key: string]: Json } },
): SavedPurchase | 'broken' | undefined {
  const pick = (numbers: { [key: string]: Json }) =>
    Object.hasOwn(numbers, String(address)) ? numbers[String(address)] : undefined;
  const generation = pick(from.generations);
  const lastGeneration = pick(from.retries);
  if (generation === undefined && lastGeneration === undefined) return undefined;
  const price = generation === undefined ? mayRetry : credits;
  const isNumber = (value: Json | undefined) => value === undefined || typeof value === 'number';
  if (!isNumber(generation) || !isNumber(lastGeneration)) return 'broken';
  if (typeof price !== 'number' && price !== null) return 'broken';
  return {
    ...(typeof generation === 'number' && { generation }),
    ...(typeof lastGeneration === 'number' && { lastGeneration }),
    credits: price,
  };
}

/** Of the last purchase that may follow when jobs fail. */
export function lastGenerationOf({ generation, left }: Retries): number {
  return generation + left - 1;
}

/** The object in a file that says of itself that it is a plan. Whatever else is wrong is for who reads manifests to say. */
async function readPlanFile(path: string): Promise<{ [key: string]: Json } | undefined> {
  const json = await orForgotten(() => readJsonFile(path, mostBytes));
  return isMap(json) && json.mediabatch === 'plan' ? json : undefined;
}

function optionsToKeep(options: SettledOptions): SettledOptions {
  const { sandbox, lock, select, exclude, redo, maxCredits, concurrency } = options;
  return {
    ...(sandbox === true && { sandbox }),
    ...(lock !== undefined && { lock }),
    ...(options.var !== undefined && { var: options.var }),
    ...(select !== undefined && { select }),
    ...(exclude !== undefined && { exclude }),
    ...(redo !== undefined && { redo }),
    ...(maxCredits !== undefined && { maxCredits }),
    ...(concurrency !== undefined && { concurrency }),
  };
}

/** No file has such a name, and no system takes it. */
function isPath(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}

function isTexts(value: Json): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function readOptions(path: string, json: { [key: string]: Json }): SettledOptions {
  const isSelection = (value: Json) => isTexts(value) && value.length > 0;
  const isCount = (value: Json) => typeof value === 'number' && Number.isInteger(value) && value >= 0;
  const shapes: { [name in keyof Required<SettledOptions>]: (value: Json) => boolean } = {
    sandbox: (value) => value === true,
    lock: isPath,
    var: (value) => isMap(value) && Object.values(value).every((text) => typeof text === 'string'),
    select: isSelection,
    exclude: isSelection,
    redo: isSelection,
    maxCredits: isCount,
    concurrency: (value) => isCount(value) && Number(value) >= 1 && Number(value) <= 1000,
  };
  for (const [name, value] of Object.entries(json)) {
    const fits = Object.hasOwn(shapes, name) && shapes[name as keyof SettledOptions](value);
    if (!fits) throw unusable(path, `has an option that is not known here, or not with this value: ${safeText(name)}`);
  }
  return json as SettledOptions;
}

function unusable(path: string, what: string): CommandError {
  return new CommandError(
    exitCodes.wrongInput,
    `${safeText(path)} is a plan, but ${what}`,
    advise`save one with ${{ ...call('plan', '--out', path), file: 'campaign.yaml' }}`,
  );
}

/** Of everything that makes a step what it is. */
export function digestOfSteps(graph: Graph): string {
  const steps = graph.steps.map(({ address, fingerprint, save, retry }) =>
    canonicalJson([address, fingerprint, save, retry === undefined ? null : { ...retry }]),
  );
  return digestOf(Buffer.from(`${graph.name}\n${steps.join('\n')}`)).sha256;
}
