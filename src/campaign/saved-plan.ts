import { dirname, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Approval } from '../contract/approval.ts';
import { CampaignError } from '../contract/failure.ts';
import { isInSameRepository } from '../disk/fs/own-tree.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import { keepApproval, listApprovals, lockName, readApproval } from '../disk/state/own-files.ts';
import type { Graph } from '../graph/graph.ts';
import { type Call, call, way } from '../ground/advice.ts';
import { canonicalJson, type Json } from '../ground/json.ts';
import { defined, isMap } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import { isOpenSend } from '../lock/sends.ts';
import { isSpending } from '../plan/actions.ts';
import {
  type Agreement,
  agreementFrom,
  findHidden,
  findUncovered,
  holdToCeilings,
  leftUnder,
  namedBy,
} from '../plan/agreement.ts';
import { findBehind } from '../plan/gates/block-at-gates.ts';
import type { Row, Saved, WrittenPlan } from '../plan/plan.generated.ts';
import type { Plan } from '../plan/plan.ts';
import { nextPurchase } from '../plan/purchases/key.ts';
import { sumAfterPicks, sumPrices } from '../plan/sum-up.ts';
import { planJson } from '../report/plan/plan-json.ts';
import { safeJson } from '../report/safe-text.ts';
import { requireAccess } from './environment.ts';
import type { MakePlanOptions } from './make-plan.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { findGiven, flagOf, isKept, type OptionRow, optionsToKeep, wordsOfPlan, wrongOptions } from './option-table.ts';
import { readPlanFile, saveOwnFile, typeOfOwn } from './own-file.ts';
import { shownPath } from './paths.ts';
import { findViolations, type Violation } from './validate-plan.generated.ts';

/** A plan written by `plan --out`. `apply` plans again, and the new plan must match the saved plan. */
export interface SavedPlan extends Agreement, Pick<Saved, 'manifest' | 'options' | 'service' | 'steps'> {
  path: string;
  digest: string;
  campaign: string;
  addresses: ReadonlySet<string>;
  redo: readonly string[];
  gates: NonNullable<WrittenPlan['gates']>;
}

const planVersion = 2;

export async function openSavedPlan(path: string): Promise<SavedPlan | undefined> {
  const document = await readPlanFile(path);
  if (document === undefined) return undefined;
  if (document.version !== planVersion) {
    const version = typeof document.version === 'number' ? `version ${document.version}` : 'an unknown version';
    throw new CampaignError({
      code: 'MB3101',
      message: `${path} is a plan of ${version}; this version of mediabatch reads version ${planVersion}`,
      hint: 'plan again with this version, or apply the plan with the version that made it',
      file: path,
    });
  }
  if (!isMap(document.saved)) throw unusable(path, 'was printed, not saved with --out');
  const [violation] = findViolations(document);
  if (violation !== undefined) throw unusable(path, describeViolation(violation));
  const plan = document as unknown as WrittenPlan & { saved: Saved };
  const wrong = findContradiction(plan); // I23
  if (wrong !== undefined) throw unusable(path, `its content contradicts what it shows: ${wrong}`);
  const { manifest, options, purchases, afterPicks = {}, publishes = [], redo = [], ...saved } = plan.saved;
  const folder = dirname(resolve(path));
  const far = (other: string) => shownPath(resolve(folder, other));
  const kept = optionsToKeep(options, far);
  const { lock, varFile } = kept;
  const files = (varFile ?? []).map((other) => ['variables file', other] as const);
  for (const [what, other] of [['manifest', far(manifest)], ['lock', lock], ...files] as const) {
    if (other === undefined || isInSameRepository(path, other)) continue;
    throw unusable(path, `its ${what} ${other} is outside the repository of the plan`);
  }
  // A plan from a git branch must not put secrets of a hidden file, such as `.env`, into requests.
  const hidden = varFile?.find((other) => other.split(/[\\/]/).some((part) => /^\.[^.]/.test(part)));
  if (hidden !== undefined) throw unusable(path, `its variables file ${hidden} is hidden`);
  const { ceiling } = plan.totals;
  return {
    ...saved,
    path,
    digest: digestOf(Buffer.from(canonicalJson(document))).sha256,
    campaign: plan.campaign,
    manifest: far(manifest),
    options: kept,
    addresses: new Set(plan.rows.map(({ address }) => address)),
    redo,
    gates: plan.gates ?? [],
    ...agreementFrom(plan.rows, { purchases, afterPicks, publishes, ceiling }),
  };
}

function describeViolation({ instancePath, params }: Violation): string {
  const key = params.additionalProperty ?? params.missingProperty;
  const place = key === undefined ? instancePath : `${instancePath}/${key}`;
  const [, part, inside, option] = place.split('/');
  return part === 'saved' && inside === 'options' && option !== undefined
    ? `has an unknown option or option value: ${option}`
    : `is incomplete, or was written by another version: ${place}`;
}

function unusable(path: string, what: string): CampaignError {
  return new CampaignError({
    code: 'MB3101',
    message: `${path} is a plan, but ${what}`,
    hint: way('save a new plan', { ...call('plan', '--out', path), file: 'campaign.yaml' }),
    file: path,
  });
}

/** Returns how a saved plan's rows contradict its stored purchases, so that a manipulated plan cannot look free. */
export function findContradiction(plan: WrittenPlan & { saved: Saved }): string | undefined {
  const { rows, totals, saved } = plan;
  // An unresolved create request can have a row in addition to the row of its step.
  const steps = rows.filter(({ send }) => send === undefined);
  if (new Set(steps.map(({ address }) => address)).size < steps.length) return 'it has two rows for one step';
  for (const { address, action, credits } of rows) {
    if (!isSpending(action) && credits !== 0) return `${address} has a cost but buys nothing`;
  }
  const { purchases, afterPicks = {}, publishes = [] } = saved;
  const hidden = findHidden(agreementFrom(rows, { purchases, afterPicks, publishes, ceiling: totals.ceiling }));
  if (hidden !== undefined) return hidden;
  if (!isDeepStrictEqual(totals.afterPicks, sumAfterPicks(rows))) {
    return 'the steps after its gates do not add up to their total';
  }
  if ((totals.posts ?? 0) < publishes.length) return 'it publishes more posts than its total shows';
  const { toSpend, ceiling, knownPrices, unknownPrices, mayRetry = 0, estimate } = sumPrices(rows);
  if ((totals.mayRetry ?? 0) !== mayRetry) return 'its retries do not add up to their total';
  if (totals.knownPrices !== knownPrices || totals.unknownPrices !== unknownPrices)
    return 'its rows do not add up to its total';
  const shownPrice = ({ blockedBy, credits, wouldCost }: Row) => (blockedBy === 'gate' ? wouldCost : credits);
  const two = rows.find((row) => row.price !== undefined && row.price.credits !== shownPrice(row));
  if (two !== undefined) return `${two.address} has two prices`;
  if (totals.estimate !== undefined && !isDeepStrictEqual(totals.estimate, estimate)) {
    return 'its rows do not add up to its estimate';
  }
  if (totals.ceiling !== ceiling) return 'its rows do not add up to its ceiling';
  if (totals.toSpend !== toSpend) return 'its rows do not add up to its likely cost';
  if (totals.asksAgain !== undefined) return 'it needs an approval during the run, which no saved plan can have';
  const { maxCredits, concurrency = plan.concurrency } = saved.options;
  if (totals.maxCredits !== maxCredits) return 'its stored limit differs from its shown limit';
  return plan.concurrency === concurrency ? undefined : 'its stored concurrency differs from its shown one';
}

/** Returns the addresses that were selected when the plan was saved. Its selections may now match other steps. */
export function chosenBy(saved: SavedPlan, lock: Lock): NonNullable<MakePlanOptions['chosen']> {
  const { select, exclude, first } = saved.options;
  const isPart = [select, exclude, first].some((one) => one !== undefined);
  const isOpen = (address: string) => {
    const { fingerprint, repeat } = saved.purchases.get(address) ?? {};
    const purchases = lock.steps.get(address)?.purchases ?? [];
    if (fingerprint === undefined || repeat === undefined) return false;
    const [newest] = purchases;
    // An interrupted redo continues with the same idempotency key.
    if (newest !== undefined && isOpenSend(newest) && newest.fingerprint === fingerprint) return true;
    return nextPurchase(purchases, fingerprint).repeat <= repeat;
  };
  // Steps that the saved plan skipped because of a limit stay skipped, even if the remaining limit is higher now.
  const left = [...saved.shown.values()].filter(({ reason }) => reason.code === 'limit');
  return {
    redo: new Set(saved.redo.filter(isOpen)),
    ...(isPart && { selected: saved.addresses }),
    ...(left.length > 0 && { leftOut: new Set(left.map(({ address }) => address)) }),
  };
}

/** Throws MB3102 if the current plan would create a step that the saved plan does not contain. */
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
    throw stale('the plan was made for another service address');
  }
  if (saved.steps !== digestOfSteps(graph) || saved.campaign !== graph.name) {
    throw stale('the manifest, its data, its files or its variables changed since the plan was made');
  }
  // A plan shows the cost of purchases after picks separately, so such a purchase must not be possible before the pick.
  const behind = findBehind(graph, saved.gates);
  const early = [...saved.afterPicks.keys()].find((address) => !behind.has(address));
  if (early !== undefined) throw stale(`${early} depends on no gate that the plan shows as open`);
  const found = findUncovered(saved, plan);
  if (found !== undefined) throw stale(found.text);
}

function planAgain({ path, options }: SavedPlan): Call {
  return call('plan', ...wordsOfPlan(options), '--out', path);
}

export function refuseReplanning(saved: SavedPlan, options: object): void {
  const isRefused = (row: OptionRow) => (row.besideSaved ?? (isKept(row) ? 'refused' : 'taken')) === 'refused';
  const stored = new Map<string, unknown>(Object.entries(saved.options));
  const [first] = findGiven(options, isRefused).filter(
    ({ name, row, value }) => row.settles !== 'campaign' || !isDeepStrictEqual(value, stored.get(name)),
  );
  if (first === undefined) return;
  const given = flagOf(first.row);
  const message = `${given} cannot be combined with a saved plan: ${saved.path} contains its own options`;
  const hint = way(`plan again, with ${given} and the options of the saved plan`, planAgain(saved));
  throw wrongOptions(message, hint, given);
}

export function refuseUncovered(agreement: Agreement, plan: Plan): void {
  const found = findUncovered(agreement, plan);
  if (found === undefined) return;
  const { text, addresses } = found;
  const hint = 'plan again; nothing was spent';
  throw new CampaignError({ code: 'MB3102', message: `the plan is stale: ${text}`, hint, addresses });
}

/** Limits a plan to the remaining credits of an approval, because all runs under one approval share its credits. */
export function limitToApproval(agreement: Agreement, plan: Plan, lock: Lock): Plan {
  const held = holdToCeilings(agreement, plan);
  const totals = { ...held.totals };
  totals.ceiling = leftUnder(agreement, held, lock); // I39 (again)
  return { ...held, totals };
}

export async function savePlan(
  path: string,
  plan: Plan,
  from: { campaign: OpenCampaign; graph: Graph; options: object; redo: ReadonlySet<string> },
): Promise<void> {
  const { campaign, graph, options, redo } = from;
  const { file, service, paths } = campaign;
  const refuse = (why: string, hint: string) => {
    throw wrongOptions(`--out: ${path} ${why}`, hint, '--out');
  };
  if (!path.endsWith('.json')) {
    refuse(
      'does not end in .json',
      'choose a name such as campaign.plan.json, so that `apply` recognizes the file as a plan',
    );
  }
  if (!isInSameRepository(path, file)) {
    const hint = 'save the plan next to the manifest, or outside any repository';
    refuse('is in a git repository, but the manifest is outside it', hint);
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
  await saveOwnFile(path, `${safeJson(document, 2)}\n`, {
    lock: paths.lock,
    isOwn: (start) => typeOfOwn(start) === 'plan',
    what: 'saved plan',
  });
}

function digestOfSteps(graph: Graph): string {
  const steps = graph.steps.map(({ address, fingerprint, save, rules: { retry } = {} }) =>
    canonicalJson([address, fingerprint, save, retry === undefined ? null : { ...retry }]),
  );
  // The digest includes gates: if a gate were removed, the steps behind it would be bought without a review decision.
  const gates = (graph.gates ?? []).map(({ name, is, choose, members }) => canonicalJson([name, is, choose, members])); // I27 (saved)
  const canaries = (graph.canaries ?? []).map((one) => canonicalJson({ ...one })); // I28 (saved)
  return digestOf(Buffer.from([graph.name, ...steps, ...gates, ...canaries].join('\n'))).sha256;
}

export type Approved = { is: 'approved'; approval: Approval } | { is: 'not'; why?: string };

/** Returns the approval if it is valid for this plan, lock and account, has not expired and is not used up. */
export async function findApproval(
  saved: Pick<SavedPlan, 'path' | 'digest'>,
  { campaign, now }: { campaign: OpenCampaign; now: number },
): Promise<Approved> {
  const approval = await readApproval({ digest: saved.digest, lock: lockName(campaign.paths.lock) });
  if (approval === undefined) return { is: 'not', ...(await explainRefusal(saved)) };
  const why = whyUnusable(approval, now);
  if (why !== undefined) return { is: 'not', why };
  const isOther = approval.account !== campaign.accountOf(saved.digest); // I43 (account)
  if (isOther) return { is: 'not', why: `${approval.by} approved the plan for another account (another API key)` };
  return { is: 'approved', approval };
}

export function whyUnusable({ by, at, until, ended }: Approval, now: number): string | undefined {
  if (ended !== undefined) return `the plan that ${by} approved at ${at} was already applied`;
  if (now >= Date.parse(until)) return `the approval of ${by} was valid until ${until}`;
  if (now < Date.parse(at))
    return `the approval of ${by} is dated ${at}, which is later than the clock of this machine`;
  return undefined;
}

export async function storeApproval(
  { path, digest, campaign: name }: Pick<SavedPlan, 'path' | 'digest' | 'campaign'>,
  { campaign, what, by, at, until }: { campaign: OpenCampaign; what: string; by: string; at: number; until: number },
): Promise<void> {
  if (!campaign.sandbox) requireAccess(campaign.environment, { rehearses: false });
  const account = campaign.accountOf(digest);
  const times = { at: new Date(at).toISOString(), until: new Date(until).toISOString() };
  const plan = resolve(path);
  const lock = lockName(campaign.paths.lock);
  const bound = { plan, digest, lock, ...defined({ account }) };
  if (await keepApproval({ version: 1, ...bound, campaign: name, what, by, ...times })) return;
  throw new CampaignError({
    code: 'MB3301',
    message: 'the approval cannot be stored: this user has no writable state folder',
    hint: 'set XDG_STATE_HOME to a folder outside of any working tree',
    path: plan,
  });
}

export async function endApproval(approval: Approval, now: number): Promise<void> {
  await keepApproval({ ...approval, ended: new Date(now).toISOString() });
}

async function explainRefusal({ path, digest }: Pick<SavedPlan, 'path' | 'digest'>): Promise<{ why?: string }> {
  const others = await listApprovals();
  const same = others.find((one) => one.digest === digest);
  if (same !== undefined) return { why: `${same.by} approved the plan for another lock, ${same.lock}` };
  const before = others.find(({ plan }) => plan === resolve(path));
  return before === undefined ? {} : { why: `the plan has changed since ${before.by} approved it at ${before.at}` };
}
