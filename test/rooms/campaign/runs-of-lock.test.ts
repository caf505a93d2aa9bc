import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { campaignPaths } from '../../../src/campaign/paths.ts';
import { findFinishedJobs } from '../../../src/campaign/runs-of-lock.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { job, lockOf, picture } from '../plan/facts.ts';

const first = '2026-01-01-0000-aaaa';

async function pathsWith(files: Record<string, unknown[]>) {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const paths = campaignPaths(join(path, 'campaign.yaml'), {});
  const folder = join(paths.state, paths.runs);
  mkdirSync(folder, { recursive: true });
  for (const [id, lines] of Object.entries(files)) {
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    writeFileSync(join(folder, `${id}.jsonl`), `${text}\n`);
  }
  return paths;
}

const header = (lock = 'campaign.lock.jsonl') => ({ mediabatch: 'run', version: 1, lock });
test('a job has finished where a run on this lock saw it, however often others of the folder ran since', async () => {
  const busy = Array.from({ length: 5 }, (_, index): [string, unknown[]] => [
    `2026-04-0${index + 1}-0000-dddd`,
    [header('other.lock.jsonl'), { event: 'job-completed', jobId: 'c' }],
  ]);
  const paths = await pathsWith({
    [first]: [header(), { event: 'job-completed', jobId: 'a' }, { event: 'job-completed', jobId: 'gone' }],
    ...Object.fromEntries(busy),
  });
  const steps = graphOfSteps(['a', 'b', 'c'].map((name) => picture(name))).steps;
  const lock = lockOf(Object.fromEntries(steps.map((step) => [step.address, [job(step, { jobId: step.address })]])));
  expect([...(await findFinishedJobs(paths, lock)).keys()]).toEqual(['a']);
});
