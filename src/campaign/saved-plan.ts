import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CampaignError } from '../contract/failure.ts';
import { isInSameRepository } from '../disk/fs/own-tree.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import { call, way } from '../ground/advice.ts';
import { canonicalJson } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import { isSpending } from '../plan/actions.ts';
import { type Agreement, agreementFrom, findHidden } from '../plan/agreement.ts';
import { sumAfterPicks } from '../plan/gates/block-at-gates.ts';
import type { Row, Saved, WrittenPlan } from '../plan/plan.generated.ts';
import { sumPrices } from '../plan/prices/sum-prices.ts';
import { readPlanFile } from './own-file.ts';
import { optionsToKeep } from './saved-options.ts';
import { findViolations, type Violation } from './validate-plan.generated.ts';

/** A plan stored by `plan --out`. It is made again when it is applied, and the result must be the same. */
export interface SavedPlan extends Agreement, Pick<Saved, 'manifest' | 'options' | 'service' | 'steps'> {
  /** Path as given by the user. */
  path: string;
  /** Digest of its content, independent of formatting. */
  digest: string;
  campaign: string;
  addresses: ReadonlySet<string>;
  redo: readonly string[];
  gates: NonNullable<WrittenPlan['gates']>;
}

const planVersion = 2;

/** Opens a saved plan. Undefined if the file is no saved plan; it may be a manifest. */
export async function openSavedPlan(path: string): Promise<SavedPlan | undefined> {
  const document = await readPlanFile(path);
  if (document === undefined) return undefined;
  if (document.version !== planVersion) {
    const version = typeof document.version === 'number' ? `version ${document.version}` : 'an unknown version';
    throw new CampaignError({
      code: 'MB3101',
      message: `${path} is a plan of ${version}; this version of mediabatch reads version ${planVersion}`,
      hint: 'plan again with this version, or apply it with the one that made it',
      file: path,
    });
  }
  if (!isMap(document.saved)) throw unusable(path, 'was printed, not saved');
  const [violation] = findViolations(document);
  if (violation !== undefined) throw unusable(path, describeViolation(violation));
  const plan = document as unknown as WrittenPlan & { saved: Saved };
  const wrong = findContradiction(plan); // I23
  if (wrong !== undefined) throw unusable(path, `does something else than it shows: ${wrong}`);
  const { manifest, options, purchases, afterPicks = {}, publishes = [], redo = [], ...saved } = plan.saved;
  const folder = dirname(resolve(path));
  const far = (other: string) => {
    const found = isAbsolute(other) ? other : resolve(folder, other);
    return relative('', found) || found;
  };
  const kept = optionsToKeep(options, far);
  const { lock, varFile } = kept;
  const files = (varFile ?? []).map((other) => ['file of variables', other] as const);
  for (const [what, other] of [['manifest', far(manifest)], ['lock', lock], ...files] as const) {
    if (other === undefined || isInSameRepository(path, other)) continue;
    throw unusable(path, `its ${what} ${other} lies outside of the repository that it is in`);
  }
  // A branch must not be able to put a secret of this user into a request.
  const hidden = varFile?.find((other) => other.split(/[\\/]/).some((part) => /^\.[^.]/.test(part)));
  if (hidden !== undefined) throw unusable(path, `its file of variables ${hidden} is hidden`);
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
    ? `has an unknown option, or an option with an unknown value: ${option}`
    : `is not whole, or not of this version: ${place}`;
}

function unusable(path: string, what: string): CampaignError {
  return new CampaignError({
    code: 'MB3101',
    message: `${path} is a plan, but ${what}`,
    hint: way('save one', { ...call('plan', '--out', path), file: 'campaign.yaml' }),
    file: path,
  });
}

/**
 * Finds a difference between what a saved plan shows to people (rows and totals) and what it would do. Anybody who
 * can commit could otherwise write a plan that looks free and is not. Undefined if both agree.
 */
export function findContradiction(plan: WrittenPlan & { saved: Saved }): string | undefined {
  const { rows, totals, saved } = plan;
  // An open send can have its own row in addition to that of its step.
  const steps = rows.filter(({ send }) => send === undefined);
  if (new Set(steps.map(({ address }) => address)).size < steps.length) return 'it has two rows for one step';
  for (const { address, action, credits } of rows) {
    if (!isSpending(action) && credits !== 0) return `${address} costs something and buys nothing`;
  }
  const { purchases, afterPicks = {}, publishes = [] } = saved;
  const hidden = findHidden(agreementFrom(rows, { purchases, afterPicks, publishes, ceiling: totals.ceiling }));
  if (hidden !== undefined) return hidden;
  if (!isDeepStrictEqual(totals.afterPicks, sumAfterPicks(rows))) {
    return 'what follows its gates does not add up to its total';
  }
  if ((totals.posts ?? 0) < publishes.length) return 'it publishes more posts than its total says';
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
  if (totals.asksAgain !== undefined) return 'it needs an approval that cannot be asked for here';
  const { maxCredits, concurrency = plan.concurrency } = saved.options;
  if (totals.maxCredits !== maxCredits) return 'its limit differs from the one that it shows';
  return plan.concurrency === concurrency ? undefined : 'its concurrency differs from the one that it shows';
}
