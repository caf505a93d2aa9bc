import { basename } from 'node:path';
import { RunHistory } from '../disk/state/run-history.ts';
import type { Json } from '../ground/json.ts';
import { isMap, type JsonMap } from '../ground/values.ts';
import type { CampaignPaths } from './paths.ts';

/**
 * Earlier runs on a lock, newest first, each with the lines of its history. Campaigns of one folder share it; a run whose
 * first line is damaged may be of any of them.
 */
export async function* runsOfLock({
  state,
  runs,
  lock,
}: CampaignPaths): AsyncGenerator<{ id: string; lines: readonly JsonMap[] }> {
  const history = new RunHistory(state, runs);
  for (const { id } of await history.list()) {
    const lines = ((await history.read(id)) ?? []).filter((line: Json) => isMap(line));
    const header = lines.find(({ mediabatch }) => mediabatch === 'run');
    if (header === undefined || header.lock === basename(lock)) yield { id, lines };
  }
}
