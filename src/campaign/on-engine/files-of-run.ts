import { checkOutputs } from '../../disk/outputs/outputs.ts';
import { kinds } from '../../kinds/index.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Lock } from '../../lock/record.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import type { FileBringer, FileToBring } from './bring-files.ts';

/** Files of the steps that a run has done which this folder does not have: they went elsewhere. */
export async function filesNotHere(
  { paths, seen }: Pick<OpenCampaign, 'paths' | 'seen'>,
  lock: Lock,
  outcomes: { readonly [step: string]: string },
): Promise<FileToBring[]> {
  const outputs = Object.entries(outcomes).flatMap(([address, outcome]) => {
    const record = outcome === 'done' ? lock.steps.get(address) : undefined;
    const media = record && kinds[record.kind]?.media;
    const [newest] = record?.purchases ?? [];
    if (record === undefined || media === undefined || media === 'none' || newest?.state !== 'done') return [];
    const own = (newest.outputs ?? []).filter(({ path }) => isOutputPath(path));
    return own.map((output) => ({ address, kind: record.kind, output }));
  });
  const states = await checkOutputs(
    paths.outputs,
    outputs.map(({ output }) => output),
    { seen },
  );
  return outputs.filter(({ output }) => states.get(output.path) === 'missing');
}

/** Says what did not come from the store, and what brings it. */
export function notBroughtText({ missing, trouble }: Pick<FileBringer, 'missing' | 'trouble'>): string {
  const why = trouble ?? 'the store does not have the bytes that the lock names';
  return `${namesOf(missing)} did not come from the store: ${why}. ${nextApply}`;
}

/** Says what did not come here. `store`: of the run; null: its files come to whoever is attached. */
export function notHereText(missing: readonly string[], { store }: { store: string | null }): string {
  const where = missing.length === 1 ? 'it is' : 'they are';
  if (store !== null)
    return `${namesOf(missing)} did not come here: ${where} in the store of the run, and no --store was given. ${nextApply}`;
  return `${namesOf(missing)} did not come here: ${where} where another \`apply\` was attached to the run. ${nextApply}`;
}

const nextApply = 'The next `apply` fetches what is missing, for 0 credits';

function namesOf(files: readonly string[]): string {
  const [first = ''] = files;
  if (files.length === 1) return first;
  return `${files.length} files (${files.slice(0, 3).join(', ')}${files.length > 3 ? ', …' : ''})`;
}
