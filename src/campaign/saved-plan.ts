import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { isInSameRepository } from '../disk/fs/own-tree.ts';
import { isMap } from '../ground/values.ts';
import { advise, call } from '../plan/advice.ts';
import { type Agreement, agreementFrom } from '../plan/agreement.ts';
import { ceilingOfRows } from '../plan/ceiling.ts';
import type { Saved, WrittenPlan } from '../plan/plan.generated.ts';
import { findContradiction } from './check-plan-file.ts';
import { readPlanFile } from './read-plan-file.ts';
import { optionsToKeep } from './saved-options.ts';
import { findViolations, type Violation } from './validate-plan.generated.ts';

/** A plan kept by `plan --out`. It is made again when it is applied, and must come out the same. */
export interface SavedPlan extends Agreement, Pick<Saved, 'manifest' | 'options' | 'service' | 'steps'> {
  /** Path as the person gave it. */
  path: string;
  /** The name of the campaign, as it shows it. */
  campaign: string;
  /** The steps that it is about. */
  addresses: ReadonlySet<string>;
  /** The steps that `--redo` named. */
  redo: readonly string[];
  /** Gates that it shows as not decided. */
  gates: NonNullable<WrittenPlan['gates']>;
}

const planVersion = 2;

/** Opens a saved plan. Undefined: the file is none, but perhaps a manifest. */
export async function openSavedPlan(path: string): Promise<SavedPlan | undefined> {
  const document = await readPlanFile(path);
  if (document === undefined) return undefined;
  if (document.version !== planVersion) {
    const version = typeof document.version === 'number' ? `version ${document.version}` : 'an unknown version';
    throw new CampaignError({
      code: 'MB3101',
      message: `${path} is a plan of ${version}; this version of mediabatch knows version ${planVersion}`,
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
  // A secret of this person must not become part of a request because a branch says so.
  const hidden = varFile?.find((other) => other.split(/[\\/]/).some((part) => /^\.[^.]/.test(part)));
  if (hidden !== undefined) throw unusable(path, `its file of variables ${hidden} is hidden`);
  const { ceiling = ceilingOfRows(plan.rows) } = plan.totals;
  return {
    ...saved,
    path,
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
    ? `has an option that is not known here, or not with this value: ${option}`
    : `is not whole, or not of this version: ${place}`;
}

function unusable(path: string, what: string): CampaignError {
  return new CampaignError({
    code: 'MB3101',
    message: `${path} is a plan, but ${what}`,
    hint: advise`save one with ${{ ...call('plan', '--out', path), file: 'campaign.yaml' }}`,
    file: path,
  });
}
