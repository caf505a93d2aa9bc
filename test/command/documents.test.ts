import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { makeProgram } from '../../src/cli/program/program.ts';
import type { EngineRun } from '../../src/contract/engine-state.ts';
import { workersJson } from '../../src/report/tables/workers-text.ts';
import { gitEnvironment } from '../rig/git-environment.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { workplaceForEach } from './workplace.ts';

const place = workplaceForEach();
const quick = ['--sandbox', '--sandbox-speed', '100000'];
const account = 'acc_a26a6b25c78b1c8d';
const manifest = `version: 1
name: shop
budget: { credits: 30 }
prices: { image: 2 }
tasks:
  draft:
    kind: image
    foreach: [lamp, vase]
    takes: 2
    gate: { choose: 1 }
    with: { prompt: "a {{row}}", resolution: 1k }
  final:
    kind: image
    foreach: [lamp, vase]
    matrix: { ratio: ["1:1", "9:16"] }
    with: { prompt: "the {{row}}", referenceImages: ["{{tasks.draft.url}}"], aspectRatio: "{{matrix.ratio}}" }
  share:
    kind: post
    foreach: [lamp, vase]
    from: { final: { ratio: "1:1" } }
    with: { accountIds: [${account}], caption: "{{row}}", media: ["{{tasks.final.url}}"], scheduledAt: "2099-03-01T09:00:00Z" }
`;

interface Row {
  address: string;
}

/** What a command prints with `--json`, held against the schema of its document. */
async function documentOf(...args: string[]) {
  const { out, err } = await place.run(...args, '--json');
  const document = JSON.parse(out === '' ? JSON.stringify(err) : out);
  expectDescribed(document, args.join(' '));
  return { document, row: (address: string) => document.rows.find((row: Row) => row.address === address) };
}

function expectDescribed(document: { mediabatch: string }, what: string): void {
  // One run is described beside the list of all.
  const name = document.mediabatch === 'run' ? 'runs' : document.mediabatch;
  const path = new URL(`../../schemas/${name}.schema.json`, import.meta.url);
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
  ajv.addFormat('date-time', (text: string) => !Number.isNaN(Date.parse(text)));
  const isDescribed = ajv.compile(JSON.parse(readFileSync(path, 'utf8')));
  expect(isDescribed(document), `${what}: ${JSON.stringify(isDescribed.errors)}`).toBe(true);
}

test('a row says of which data, take and verdict it is, and a post where it goes before its gate is decided', async () => {
  place.write('campaign.yaml', manifest);
  const post = { accounts: [account], at: '2099-03-01T09:00:00Z' };
  const applied = await documentOf('apply', 'campaign.yaml', ...quick, '--yes');
  expect(applied.document).toMatchObject({ again: 'changed', person: true, paid: 'recorded' });
  expect(applied.row('share@lamp')).toEqual({ address: 'share@lamp', state: 'blocked', because: 'gate', post });
  await place.run('pick', 'campaign.yaml', 'draft@lamp/2', '--sandbox', '--by', 'Ada');
  const planned = await documentOf('plan', 'campaign.yaml', '--sandbox');
  expect(planned.row('draft@lamp/2')).toMatchObject({ key: 'lamp', take: 2 });
  expect(planned.row('final@lamp,9:16')).toMatchObject({ key: 'lamp', matrix: { ratio: '9:16' }, action: 'create' });
  expect(planned.row('final@vase,9:16')).toMatchObject({ matrix: { ratio: '9:16' }, blockedBy: 'gate' });
  expect(planned.row('share@vase')).toMatchObject({ blockedBy: 'gate', post });
  expect(planned.document.totals.fit).toMatchObject({ carries: 'all', missing: 0 });
  const status = await documentOf('status', 'campaign.yaml', '--sandbox');
  expect(status.document).toMatchObject({ again: 'changed', person: true, paid: 'recorded' });
  expect(status.row('draft@lamp/2')).toMatchObject({ key: 'lamp', take: 2, verdict: { is: 'picked', by: 'Ada' } });
  expect(status.row('draft@vase/1').verdict).toBeUndefined();
  expect(status.row('final@lamp,9:16')).toMatchObject({ matrix: { ratio: '9:16' }, state: 'not-bought' });
  expect(status.row('share@vase')).toMatchObject({ state: 'not-bought', post });
});

test('what commands print of the past, of decisions and of branches is described', async () => {
  place.write('campaign.yaml', manifest);
  const git = (...words: string[]) => execFileSync('git', words, { cwd: place.folder, env: gitEnvironment });
  git('init', '--quiet');
  git('add', 'campaign.yaml');
  git('commit', '--quiet', '--message', 'a campaign');
  await place.run('apply', 'campaign.yaml', ...quick, '--yes');
  const here = ['campaign.yaml', '--sandbox'];
  const picked = await documentOf('pick', 'campaign.yaml', 'draft@lamp/1', '--sandbox', '--by', 'Ada');
  expect(picked.document.steps).toMatchObject([{ address: 'draft@lamp/1', result: 'recorded' }]);
  const costs = await documentOf('cost', ...here, '--by', 'task,kind');
  expect(costs.document).toMatchObject({ totals: { spent: 8 }, approved: { assets: 1 } });
  const { document: all } = await documentOf('runs', ...here);
  expect(all.runs).toMatchObject([{ how: 'ended', spentNow: 8 }]);
  const { document: shown } = await documentOf('runs', 'show', 'campaign.yaml', all.runs[0].id, '--sandbox');
  expect(shown.steps).toHaveLength(10);
  git('add', '.');
  git('commit', '--quiet', '--message', 'drafts');
  place.write('campaign.yaml', manifest.replace('the {{row}}', 'one {{row}}').replace('takes: 2', 'takes: 3'));
  const compared = await documentOf('plan', ...here, '--compare', 'HEAD');
  expect(compared.document.steps).toContainEqual(expect.objectContaining({ change: 'added' }));
  const missing = await documentOf('unlock', ...here);
  expect(missing.document).toMatchObject({ code: 'MB3408', again: 'changed', person: false, paid: 'nothing' });
  const { document: report } = await documentOf('report', ...here);
  expect(report).toMatchObject({ paths: ['campaign.sandbox.report/index.html'], shown: 4, lacking: 0 });
});

const here = ['campaign.yaml', '--sandbox'];
/** How each command that takes `--json` is called; several ways where it prints several documents. Absent: as above. */
const calls: Readonly<Record<string, readonly (readonly string[])[]>> = {
  validate: [['campaign.yaml'], ['campaign.yaml', 'campaign.yaml']],
  schema: [['kinds']],
  outputs: [here],
  approve: [['--list']],
  explain: [
    ['campaign.yaml', 'draft@lamp/1', '--sandbox'],
    ['campaign.yaml', 'final@lamp,9:16', '--sandbox', '--origins'],
  ],
  'list voices': [['--sandbox'], []],
  'list models': [['--sandbox'], []],
  'list accounts': [['--sandbox']],
  'list jobs': [['--sandbox']],
  'list uploads': [['--sandbox']],
  upload: [['logo.png', '--sandbox']],
  doctor: [['--sandbox'], []],
  gc: [[...here, '--yes']],
  destroy: [['campaign.yaml', 'song', '--sandbox', '--yes']],
  // Each needs what this place has not, and says so.
  resolve: [['campaign.yaml', 'draft@lamp/1', '--sandbox', '--not-sent']],
  workers: [['--engine', 'postgres://127.0.0.1:1/none']],
};
/**
 * Those of the tests above; decisions that print what `pick` does; and a request, which is a document of the service.
 */
const others = [
  ...['plan', 'apply', 'status', 'pick', 'cost', 'runs', 'runs show', 'unlock', 'report'],
  ...['reject', 'accept', 'pin', 'forget', 'move', 'adopt'],
];

/** Commands that take `--json`, as they are typed. */
function commandsWithJson(): string[] {
  const commands = namedCommands(makeProgram({ ...bufferTerminal(), exit() {} }));
  return commands.flatMap(([name, { options }]) => (options.some(({ long }) => long === '--json') ? [name] : []));
}

test('every command that takes --json prints a document that is described', async () => {
  place.write('campaign.yaml', `${manifest}  song: { kind: music, with: { prompt: a song, model: song-7.5 } }\n`);
  place.write('logo.png', `\x89PNG\r\n\x1a\n`);
  await place.run('apply', 'campaign.yaml', ...quick, '--yes');
  const undescribed = commandsWithJson().filter((name) => !(name in calls) && !others.includes(name));
  expect(undescribed).toEqual([]);
  const seen = new Set<string>();
  for (const [name, ways] of Object.entries(calls)) {
    for (const words of ways) seen.add((await documentOf(...name.split(' '), ...words)).document.mediabatch);
  }
  expect([...seen].sort()).toEqual([
    ...['accounts', 'approvals', 'destroy', 'diagnostics', 'doctor', 'expansion', 'explanation', 'failure', 'gc'],
    ...['jobs', 'kinds', 'models', 'outputs', 'uploads', 'voices'],
  ]);
});

test('the state of an engine is described', () => {
  const run: EngineRun = {
    ...{ id: 'r', account: 'a', campaign: 'shop', host: 'h', manifest: 'c.yaml' },
    ...{ submittedMs: 5.5, endedMs: 1, exit: 3, error: 'no', store: null, protocol: 1 },
    ...{
      state: 'ended',
      lacks: 'leader',
      credits: 3,
      steps: { done: 1, failed: 0, waiting: 0, left: 1, of: 2 },
      files: { wanted: 0, saved: 1, failed: 0 },
    },
  };
  const account = { id: 'a', head: null, beatMs: 1, error: 'no' };
  const worker = {
    ...{ id: 'w', account: 'a', host: 'h', pid: 1, protocol: 1, version: '1', store: 's3://b', files: 2, beatMs: 3 },
    ...{ isSilent: false, isHead: true },
  };
  expectDescribed(workersJson({ runs: [run], accounts: [account], workers: [worker] }) as never, 'workers');
});
