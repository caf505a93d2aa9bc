import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import type { EngineRun } from '../../src/contract/engine-state.ts';
import { jsonOf } from '../../src/report/document.ts';
import { command, readLines, root } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { gitEnvironment } from '../rig/git-environment.ts';
import { makePlace, pictures, until } from '../rig/place.ts';
import { makeReader } from './buffer-terminal.ts';
import { runInProcess, workplaceForEach } from './in-process.ts';
import { folderWith, key, scripted } from './scripted.ts';

describe('documents', () => {
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

  test('a row names its data, take and review decision, and a post its target before its gate is decided', async () => {
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

  test('schemas describe the output about past runs, decisions and branches', async () => {
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
  /** How each command that takes `--json` is called; several ways where it prints several documents. */
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
    const commands = namedCommands(makeReader().program);
    return commands.flatMap(([name, { options }]) => (options.some(({ long }) => long === '--json') ? [name] : []));
  }

  test('every command with --json prints a document that a schema describes', async () => {
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
    expectDescribed(jsonOf('workers', { runs: [run], accounts: [account], workers: [worker] }) as never, 'workers');
  });
});

describe('history', () => {
  const apply = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'];
  const sandbox = ['--sandbox', '--sandbox-speed', '1000'];
  const run = (args: string[], cwd: string, more = {}) => command(args, { cwd, ...more });
  const linesOf = (folder: string, name: string) => readLines<{ event?: string; how?: string }>(join(folder, name));

  function schema(name: string): object {
    return JSON.parse(readFileSync(join(root, 'schemas', name), 'utf8'));
  }

  function place(): string {
    const path = makeFolder();
    writeFileSync(join(path, 'campaign.yaml'), pictures('a', 'b'));
    return path;
  }

  async function listed(folder: string, ...more: string[]) {
    const { code, out, err } = await runInProcess(['runs', 'campaign.yaml', '--json', ...more], {}, folder);
    expect(code, err).toBe(0);
    return JSON.parse(out).runs as { id: string; how?: string; exit?: number; spentNow: number; running: boolean }[];
  }

  test('a run records its events in the published form; a run with nothing to do records none', async () => {
    const folder = place();
    expect((await run([...apply, ...sandbox, '--events', 'events.jsonl'], folder)).code).toBe(0);
    expect((await run([...apply, ...sandbox, '--json'], folder)).code).toBe(0);
    const runs = join(folder, '.mediabatch/sandbox-runs');
    const [name = '', ...more] = readdirSync(runs);
    expect(more).toEqual([]);
    const written = linesOf(runs, name);
    const lines = written.filter(({ event }) => event !== undefined);
    const others = written.filter(({ event }) => event === undefined);
    expect([others[0], others.at(-1)]).toEqual([written[0], written.at(-1)]);
    expect(lines).toEqual(linesOf(folder, 'events.jsonl'));
    const ajv = new Ajv2020({ strict: false });
    ajv.addFormat('date-time', true);
    const isRunLine = ajv.compile(schema('run.schema.json'));
    const isEvent = ajv.compile(schema('event.schema.json'));
    for (const line of others) expect(isRunLine(line), JSON.stringify(isRunLine.errors)).toBe(true);
    expect(lines.every((line) => isEvent(line))).toBe(true);
    const [only] = await listed(folder, '--sandbox');
    expect(only).toMatchObject({ how: 'ended', exit: 0, spentNow: 4, running: false, outcomes: { done: 2 } });
    expect(await listed(folder)).toEqual([]);
    const show = (...args: string[]) => runInProcess(['runs', 'show', 'campaign.yaml', ...args], {}, folder);
    const shown = await show(only?.id.slice(-4) ?? '', '--sandbox');
    expect(shown, shown.err).toMatchObject({
      code: 0,
      out: expect.stringMatching(/pic +image +create +2 done +4 +2\n/),
    });
    const whole = JSON.parse((await show('--sandbox', '--json', only?.id ?? '')).out);
    expect(whole.steps).toMatchObject([{ files: ['out/a.png'] }, { files: ['out/b.png'] }]);
    expect(await show('zzzz', '--sandbox')).toMatchObject({ code: 64, err: expect.stringContaining(only?.id ?? '') });
  });

  test('a run is recorded as running, and as interrupted after a kill', async () => {
    const here = await makePlace(pictures('a'), { speed: 0.001 });
    const { child, ended } = here.start([...apply]);
    await until(() => here.service.ledger().length > 0);
    expect(await listed(here.folder)).toMatchObject([{ running: true }]);
    child.kill('SIGKILL');
    await ended;
    expect(await listed(here.folder)).toMatchObject([{ running: false }]);
    const text = (await runInProcess(['runs', 'campaign.yaml'], {}, here.folder)).out;
    expect(text).toContain('aborted');
  });

  test('signatures of links are neither in the history, nor in the lock, nor in the output of runs show', async () => {
    const error = `no: ${key} https://user:pass@cdn.example/a.png?X-Amz-Signature=abcdef&x=1 https://cdn.example/b`;
    const { env } = await scripted({ 'POST /image-generations/create': [400, { success: false, error }] });
    const folder = folderWith({ 'campaign.yaml': pictures('a') });
    expect((await run(apply, folder, { env })).code).toBe(3);
    const runs = join(folder, '.mediabatch/runs');
    for (const path of [join(runs, readdirSync(runs)[0] ?? ''), join(folder, 'campaign.lock.jsonl')]) {
      const text = readFileSync(path, 'utf8');
      expect(text).toContain('https://cdn.example/b');
      expect(text).toContain('://cdn.example/a.png?…');
      for (const secret of [key, 'Signature', 'abcdef', 'pass@']) expect(text).not.toContain(secret);
    }
    const [only] = await listed(folder);
    for (const more of [[], ['--json']]) {
      const { out } = await runInProcess(['runs', 'show', 'campaign.yaml', only?.id ?? '', ...more], {}, folder);
      expect(out).toContain('://cdn.example/a.png?…');
      // A form for reports of mistakes asks for it.
      for (const secret of [key, 'Signature', 'abcdef', 'pass@', 'prompt']) expect(out).not.toContain(secret);
    }
  });
});
