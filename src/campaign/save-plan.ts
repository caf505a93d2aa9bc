import { existsSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { findWayOut, isInSameRepository } from '../disk/fs/own-tree.ts';
import { replaceFile } from '../disk/fs/replace.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import type { Graph } from '../graph/graph.ts';
import { canonicalJson, type Json } from '../ground/json.ts';
import { messageOf } from '../ground/values.ts';
import { namedBy } from '../plan/agreement.ts';
import type { Saved } from '../plan/plan.generated.ts';
import type { Plan } from '../plan/plan.ts';
import { planJson } from '../report/plan/plan-json.ts';
import { safeJson } from '../report/safe-text.ts';
import { readPlanFile } from './own-file.ts';
import { optionsToKeep } from './saved-options.ts';

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
    ...(service !== undefined && { service }),
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

/** Digest of everything that determines the steps. */
export function digestOfSteps(graph: Graph): string {
  const steps = graph.steps.map(({ address, fingerprint, save, retry }) =>
    canonicalJson([address, fingerprint, save, retry === undefined ? null : { ...retry }]),
  );
  // Gates are part of the digest, because without a gate its dependent steps would be bought without a decision.
  const gates = (graph.gates ?? []).map(({ name, is, choose, members }) => canonicalJson([name, is, choose, members])); // I27 (saved)
  const canaries = (graph.canaries ?? []).map((one) => canonicalJson({ ...one })); // I28 (saved)
  return digestOf(Buffer.from([graph.name, ...steps, ...gates, ...canaries].join('\n'))).sha256;
}
