import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { indexRunsByJob } from '../../../src/campaign/cost.ts';
import { campaignPaths } from '../../../src/campaign/paths.ts';
import { findFinishedJobs } from '../../../src/campaign/runs-of-lock.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { job, lockOf, picture } from '../plan/facts.ts';

const [first, second, others] = ['2026-01-01-0000-aaaa', '2026-02-01-0000-bbbb', '2026-03-01-0000-cccc'];

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

async function runsOf(files: Record<string, unknown[]>) {
  return indexRunsByJob(await pathsWith(files));
}

const header = (lock = 'campaign.lock.jsonl') => ({ mediabatch: 'run', version: 1, lock });
const created = (address: string, jobId: string) => ({ event: 'job-created', address, jobId });

test('a job belongs to the run that made it: not to one that collected it, nor to another campaign of the folder', async () => {
  const runOf = await runsOf({
    [first]: [header(), created('hero', 'a'), created('side', '7')],
    [second]: [
      header(),
      { event: 'job-completed', address: 'hero', jobId: 'a' },
      created('hero', 'b'),
      created('song', '7'),
    ],
    [others]: [header('other.lock.jsonl'), created('hero', 'c')],
  });
  const found = (address: string, id: string) => runOf({ address, id });
  expect([found('hero', 'a'), found('hero', 'b'), found('hero', 'c')]).toEqual([first, second, undefined]);
  // Renamed since; and one id of two kinds.
  expect(found('front', 'a')).toBe(first);
  expect([found('side', '7'), found('song', '7'), found('elsewhere', '7')]).toEqual([first, second, undefined]);
});

test('of a job that two runs saw made, the earlier one; half lines and other things are left out', async () => {
  const runOf = await runsOf({
    [second]: [header(), created('hero', 'a')],
    [first]: [
      '{"mediabatch":"run","lo',
      'null',
      '[]',
      '{"event":"job-created","jobId":3}',
      created('hero', 'a'),
      '{"ev',
    ],
  });
  expect(runOf({ address: 'hero', id: 'a' })).toBe(first);
});

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

test('without history nobody knows', async () => {
  expect((await runsOf({}))({ address: 'hero', id: 'a' })).toBeUndefined();
});
