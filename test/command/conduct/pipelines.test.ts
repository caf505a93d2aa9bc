import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin, expectExit } from '../../rig/command.ts';
import { paidTwice, readLockFile, unrecorded } from '../../rig/oracle.ts';
import { createsSeen, makePlace, pictures, until } from '../../rig/place.ts';
import { type Deed, hasTerminals, runOnTerminal } from '../../rig/terminal.ts';
import { makeTrial, type Trial, withFaults } from '../../rig/trial.ts';

describe('pipelines', () => {
  const github = { GITHUB_ACTIONS: 'true', CI: 'true' };

  const pictures = (...rows: string[]) => `version: 1
name: conduct
tasks:
  pic: { kind: image, foreach: [${rows.join(', ')}], key: "{{row}}", with: { prompt: "::error::{{row}}", resolution: 1k } }
`;

  /** What the runner of GitHub obeys in a log: lines that begin with two colons, spaces aside, and `##[`. */
  const commandsIn = (text: string) =>
    text
      .split('\n')
      .flatMap((line) => (line.trimStart().startsWith('::') || line.includes('##[') ? [line.trim()] : []));

  test('a GitHub job annotates the manifest with failed steps, and strings of the campaign or the service are no commands', async () => {
    const error = 'moderated\n::stop-commands::x ##[error]y';
    const faults = withFaults([
      { on: 'create', match: 'error::b', do: { type: 'status', status: 400, body: { success: false, error } } },
    ]);
    const trial = await makeTrial(pictures('a', 'b'), faults);
    const { err } = await trial.apply([], { env: github, ends: 3 });
    expect(commandsIn(err)).toEqual([
      String.raw`::error file=campaign.yaml,title=pic@b::HTTP 400: moderated\n::stop-commands::x #\x23[error]y`,
    ]);
    expect(err).toMatch(/^pic@a {2}done {2}\d+ credits?, \d:\d\d, \S+ \(1 of 2\)$/m);
  });

  test('plan and apply annotate errors at their positions', async () => {
    const rows = Array.from({ length: 14 }, (_, index) => `  t${index}: { kind: image, with: { prompt: "{{rox}}" } }`);
    const trial = await makeTrial(`version: 1\nname: conduct\ntasks:\n${rows.join('\n')}\n`);
    for (const words of [['plan'], ['apply', '--yes']]) {
      const { code, err } = await trial.run([...words, 'campaign.yaml'], {
        env: { ...github, GITHUB_WORKSPACE: '/' },
      });
      expect(code).toBe(65);
      const [first, ...others] = commandsIn(err);
      const place = `${trial.path('campaign.yaml').slice(1)},line=4`;
      expect(first).toContain(`::error file=${place},`);
      expect(others).toHaveLength(13);
    }
  });

  test('-q prints one line for a successful run, and the failures of another', async () => {
    const faults = withFaults([
      { on: 'create', match: 'error::b', do: { type: 'status', status: 400, body: { success: false, error: 'no' } } },
    ]);
    const trial = await makeTrial(pictures('a', 'b'), faults);
    const well = await trial.apply(['-q', '-s', 'pic@a']);
    expect(well).toMatchObject({ code: 0, out: '' });
    expect(well.err).toMatch(/^conduct: 1 of 1 done; .* in \d:\d\d\n$/);
    const badly = await trial.apply(['--quiet']);
    expect(badly.code).toBe(3);
    expect(badly.err).toMatch(/^pic@b {2}refused {2}.*\nconduct: 1 of 2 steps done/);
    expect(badly.err).not.toMatch(/to spend|done {2}/);
  });

  test('-v prints every event; neither option changes the events', async () => {
    const trial = await makeTrial(pictures('a'));
    const { err } = await trial.apply(['-v']);
    for (const word of ['started', 'sending', 'created', 'saved']) expect(err).toContain(`pic@a  ${word}`);
    const loud = trial.events().map(({ event }) => event);
    await trial.apply(['-q', '--redo', 'pic']);
    expect(readFileSync(trial.path('events.jsonl'), 'utf8')).toContain('run-ended');
    const uneven = new Set(['job-progressed', 'credits-changed']);
    const steps = (events: string[]) => events.filter((event) => !uneven.has(event));
    expect(steps(trial.events().map(({ event }) => event)).slice(-steps(loud).length)).toEqual(steps(loud));
    const both = await trial.apply(['-q', '-v']);
    expect(both.code).toBe(64);
    expect(both.err).toContain("option '-q, --quiet' cannot be used with option '-v, --verbose'");
  });
});

describe('an interrupted command', () => {
  const manifest = `version: 1
name: two
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
`;

  /** Skipped where there is no python3 to make a terminal with. */
  describe.runIf(hasTerminals)('the terminal is restored (python3)', () => {
    test.each<[string, Omit<Deed, 'after'>, number]>([
      ['Ctrl-C', { keys: '\u0003' }, 130],
      ['SIGTERM', { signal: 'SIGTERM' }, 130],
      ['SIGHUP', { signal: 'SIGHUP' }, 130],
      ['a crash of our own', { signal: 'SIGUSR2' }, 1],
    ])('after %s', async (_name, what, expected) => {
      const trial = await makeTrial(manifest, { service: { speed: 0.5 } });
      writeFileSync(trial.path('crash.mjs'), `process.on('SIGUSR2', () => { throw new Error('boom'); });\n`);
      const command = [process.execPath, '--import', trial.path('crash.mjs'), bin, 'apply', 'campaign.yaml', '--yes'];
      const { code, text } = await runOnTerminal([...command, '--poll-interval', '10'], {
        cwd: trial.folder,
        env: { ...trial.sandbox.env },
        deeds: [{ after: ['\u001b[?25l', ' running'], ...what }],
      });
      expect(code, text).toBe(expected);
      expect(text).toContain('\u001b[?25l');
      expect(text.lastIndexOf('\u001b[?25h')).toBeGreaterThan(text.lastIndexOf('\u001b[?25l'));
      expect(paidTwice(trial.sandbox.ledger())).toEqual([]);
    });
  });

  const args = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', '--concurrency', '1'];

  test.each([
    ['throws at an event of its own', `throw new Error('assert(!this.paused)')`],
    ['rejects a promise that no code awaits', `void Promise.reject(new Error('assert(!this.paused)'))`],
    ['throws on every timer tick', `setInterval(() => { throw new Error('assert(!this.paused)'); }, 1)`],
  ])('a library that %s ends the run with an internal error, and every paid job is on record', async (_name, does) => {
    const place = await makePlace(pictures('a', 'b', 'c'), {
      faults: [{ on: 'create', do: { type: 'delay', ms: 600 } }],
    });
    // When the test says so, while a create is on the wire.
    writeFileSync(place.path('library.cjs'), `process.on('SIGUSR2', () => { ${does} });\n`);
    const run = place.start(args, { NODE_OPTIONS: `--require ${place.path('library.cjs')}` });
    await until(() => createsSeen(place.service) === 1);
    run.child.kill('SIGUSR2');
    expect(await run.ended).toMatchObject({ code: 1, signal: null });
    expect(run.err()).toMatch(
      /internal error this is a bug in mediabatch: assert\(!this\.paused\)\n {2}→ everything paid so far is on record in campaign\.lock\.jsonl; run again to continue\n {2}please report it with these lines:\n {2}mediabatch \d+\.\d+\.\d+, Node v\d.*\n {2}command: apply --yes --poll-interval --concurrency\n {2}Error: assert/,
    );
    expect(createsSeen(place.service)).toBe(1);
    expect(place.service.ledger()).toHaveLength(1);
    expect(unrecorded(place.service.ledger(), readLockFile(place.path('campaign.lock.jsonl')))).toEqual([]);
    expect([...readLockFile(place.path('campaign.lock.jsonl')).steps.keys()]).toHaveLength(1);
    await place.apply([], { ends: 0 });
    expect(place.service.ledger()).toHaveLength(3);
    expect(paidTwice(place.service.ledger())).toEqual([]);
    for (const name of ['a', 'b', 'c']) expect(existsSync(place.path(`out/${name}.png`))).toBe(true);
  });

  test('outside a run the error is a message, too', async () => {
    const place = await makePlace(pictures('a'));
    writeFileSync(
      place.path('library.cjs'),
      `const { exit } = process; process.exit = (code) => { process.exit = exit; setImmediate(() => { throw new Error('boom'); }); };\n`,
    );
    const run = place.start(['plan', 'campaign.yaml'], { NODE_OPTIONS: `--require ${place.path('library.cjs')}` });
    expect(await run.ended).toMatchObject({ code: 1, signal: null });
    expect(run.err()).toContain(
      'internal error this is a bug in mediabatch: boom\n  please report it with these lines:',
    );
    expect(run.err()).not.toContain('Node.js v');
    // A report is pasted in public.
    expect(run.err()).not.toContain(place.path(''));
  });
});

describe('follow', () => {
  const manifest = `version: 1
name: shop
tasks:
  pic: { kind: image, foreach: [a, b, c], with: { prompt: "{{row}}", resolution: 1k } }
`;

  /** A run whose jobs take some seconds, once its history has begun. */
  async function startRun(trial: Trial): Promise<ChildProcess> {
    const { CI: _ci, ...env } = process.env;
    const runs = trial.path('.mediabatch/runs');
    const count = () => (existsSync(runs) ? readdirSync(runs).length : 0);
    const before = count();
    const child = spawn(process.execPath, [bin, 'apply', 'campaign.yaml', '--yes', '--poll-interval', '50'], {
      cwd: trial.folder,
      env: { ...env, ...trial.sandbox.env },
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    while (child.exitCode === null && count() === before) await sleep(50);
    return child;
  }

  const follow = [process.execPath, bin, 'status', 'campaign.yaml', '--follow'];

  describe('status --follow', () => {
    test('prints the next command when nothing runs, with and without a run on record', async () => {
      const trial = await makeTrial(manifest);
      const none = await trial.run(['status', 'campaign.yaml', '--follow']);
      expect(none).toMatchObject({ code: 0, out: '' });
      expect(none.err).toBe(
        'no run of campaign.yaml is in progress, and no earlier run is recorded on this machine\nto start a run: mediabatch apply campaign.yaml\n',
      );
      await trial.run(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10']);
      const over = await trial.run(['status', 'campaign.yaml', '--follow']);
      expect(over.err).toMatch(
        /^no run of campaign\.yaml is in progress, and the last run, [\w-]+, ended with exit 0\n/,
      );
      expect(over.err).toMatch(/\nwhat it did: mediabatch runs show campaign\.yaml ([\w-]+)\n/);
      const [, id = ''] = /runs show campaign\.yaml ([\w-]+)/.exec(over.err) ?? [];
      expect(await trial.run(['runs', 'show', 'campaign.yaml', id])).toMatchObject({ code: 0 });
    });

    test('prints the run in lines without a terminal, until it ends', async () => {
      const trial = await makeTrial(manifest, { service: { speed: 5 } });
      const run = await startRun(trial);
      const { err } = await trial.run(['status', 'campaign.yaml', '--follow'], { ends: 0 });
      expect(err).toContain('shop: 3 steps');
      expect(err).toContain('shop: all 3 steps done');
      expect(err).toContain('the run ended with exit 0\n');
      expect(run.signalCode).toBe(null);
    });

    test('reports a run whose process was killed, and the command to continue', async () => {
      const trial = await makeTrial(manifest, { service: { speed: 0.2 } });
      const run = await startRun(trial);
      const killed = { onErr: () => void run.kill('SIGKILL') };
      const { err } = await expectExit(0, trial.run(['status', 'campaign.yaml', '--follow'], killed));
      expect(err).toContain('the process of the run is gone');
      expect(err).toContain('mediabatch apply campaign.yaml\n');
    });
  });

  /** Skipped where there is no python3 to make a terminal with. */
  describe.runIf(hasTerminals)('status --follow on a terminal (python3)', () => {
    test('shows the screen of the run, and Ctrl-C ends only the view', async () => {
      const trial = await makeTrial(manifest, { service: { speed: 0.2 } });
      const run = await startRun(trial);
      const { code, text } = await runOnTerminal(follow, {
        cwd: trial.folder,
        env: { NO_COLOR: '1' },
        columns: 80,
        rows: 24,
        deeds: [{ after: ['pic', ' running'], keys: '\u0003' }],
      });
      const said = stripVTControlCharacters(text);
      expect(code, said).toBe(0);
      expect(said).toContain('0 of 3 done');
      expect(said).toContain('stopped watching; the run continues');
      expect(text.lastIndexOf('\u001b[?25h')).toBeGreaterThan(text.lastIndexOf('\u001b[?25l'));
      expect(run.exitCode).toBe(null);
    });
  });
});
