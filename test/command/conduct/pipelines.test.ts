import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bin } from '../../rig/command.ts';
import { paidTwice, readLockFile, unrecorded } from '../../rig/oracle.ts';
import { createsSeen, makePlace, pictures, until } from '../../rig/place.ts';
import { type Deed, hasTerminals, runOnTerminal } from '../../rig/terminal.ts';
import { makeTrial, withFaults } from '../../rig/trial.ts';

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

  test('the log of a GitHub job obeys nothing that a campaign or the service says', async () => {
    const error = 'moderated\n::stop-commands::x ##[error]y';
    const faults = withFaults([
      { on: 'create', match: 'error::b', do: { type: 'status', status: 400, body: { success: false, error } } },
    ]);
    const trial = await makeTrial(pictures('a', 'b'), faults);
    const { code, err } = await trial.apply([], { env: github });
    expect(code, err).toBe(3);
    expect(commandsIn(err)).toEqual([]);
    expect(err).toMatch(/^pic@a {2}done {2}\d+ credits?, \d:\d\d, \S+ \(1 of 2\)$/m);
  });

  test('mistakes are annotations at their places, from plan and apply', async () => {
    const rows = Array.from({ length: 14 }, (_, index) => `  t${index}: { kind: image, with: { prompt: "{{rox}}" } }`);
    const trial = await makeTrial(`version: 1\nname: conduct\ntasks:\n${rows.join('\n')}\n`);
    for (const words of [['plan'], ['apply', '--yes']]) {
      const { code, err } = await trial.run([...words, 'campaign.yaml'], { env: { ...github, GITHUB_WORKSPACE: '/' } });
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

const manifest = `version: 1
name: two
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
`;

/** Skipped where there is no python3 to make a terminal with. */
describe.runIf(hasTerminals)('a terminal is given back as it was (python3)', () => {
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

  test('after it was made smaller and larger during a run', async () => {
    const trial = await makeTrial(manifest, { service: { speed: 3 } });
    const { code, text } = await runOnTerminal(
      [process.execPath, bin, 'apply', 'campaign.yaml', '--yes', '--poll-interval', '10'],
      {
        cwd: trial.folder,
        env: { ...trial.sandbox.env, NO_COLOR: '1' },
        columns: 120,
        rows: 40,
        deeds: [
          { after: ['\u001b[?25l', ' running'], size: { columns: 40, rows: 5 } },
          { after: 'two  ', size: { columns: 80, rows: 24 } },
        ],
      },
    );
    expect(code, text).toBe(0);
    const small = text.slice(text.indexOf(' running'));
    // With five rows, and no more than four of them used, tasks stand in place of steps.
    expect(small).toMatch(/pic {2}\d of 2/);
    expect(text).toContain('all 2 steps done');
    expect(text.lastIndexOf('\u001b[?25h')).toBeGreaterThan(text.lastIndexOf('\u001b[?25l'));
  });
});

const args = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', '--concurrency', '1'];

test.each([
  ['throws at an event of its own', `throw new Error('assert(!this.paused)')`],
  ['rejects a promise that nobody has', `void Promise.reject(new Error('assert(!this.paused)'))`],
  ['throws for every thing that comes', `setInterval(() => { throw new Error('assert(!this.paused)'); }, 1)`],
])('a library that %s ends a run as runs end: what is paid is on record, and said to be', async (_name, does) => {
  const place = await makePlace(pictures('a', 'b', 'c'), {
    faults: [{ on: 'create', do: { type: 'delay', ms: 600 } }],
  });
  // When the test says so, while a create is on the wire.
  writeFileSync(place.path('library.cjs'), `process.on('SIGUSR2', () => { ${does} });\n`);
  const run = place.start(args, { NODE_OPTIONS: `--require ${place.path('library.cjs')}` });
  await until(() => createsSeen(place.service) === 1);
  run.child.kill('SIGUSR2');
  expect(await run.ended).toEqual({ code: 1, signal: null });
  expect(run.err()).toMatch(
    /internal error this is a bug in mediabatch: assert\(!this\.paused\)\n {2}→ everything paid so far is on record in campaign\.lock\.jsonl; run again to go on\n {2}please report it with these lines:\n {2}mediabatch \d+\.\d+\.\d+, Node v\d.*\n {2}command: apply --yes --poll-interval --concurrency\n {2}Error: assert/,
  );
  expect(createsSeen(place.service)).toBe(1);
  expect(place.service.ledger()).toHaveLength(1);
  expect(unrecorded(place.service.ledger(), readLockFile(place.path('campaign.lock.jsonl')))).toEqual([]);
  expect([...readLockFile(place.path('campaign.lock.jsonl')).steps.keys()]).toHaveLength(1);
  const again = await place.apply();
  expect(again.code, again.err).toBe(0);
  expect(place.service.ledger()).toHaveLength(3);
  expect(paidTwice(place.service.ledger())).toEqual([]);
  for (const name of ['a', 'b', 'c']) expect(existsSync(place.path(`out/${name}.png`))).toBe(true);
});

test('outside a run the error is a message as well', async () => {
  const place = await makePlace(pictures('a'));
  writeFileSync(
    place.path('library.cjs'),
    `const { exit } = process; process.exit = (code) => { process.exit = exit; setImmediate(() => { throw new Error('boom'); }); };\n`,
  );
  const run = place.start(['plan', 'campaign.yaml'], { NODE_OPTIONS: `--require ${place.path('library.cjs')}` });
  expect(await run.ended).toEqual({ code: 1, signal: null });
  expect(run.err()).toContain('internal error this is a bug in mediabatch: boom\n  please report it with these lines:');
  expect(run.err()).not.toContain('Node.js v');
  // A report is pasted in public.
  expect(run.err()).not.toContain(place.path(''));
});
