import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { bin } from '../../rig/command.ts';
import { hasTerminals, runOnTerminal } from '../../rig/terminal.ts';
import { makeTrial, type Trial } from '../../rig/trial.ts';

// Each test starts several processes, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000 });

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
      'no run of campaign.yaml is in progress, and none is recorded here\nto begin one: mediabatch apply campaign.yaml\n',
    );
    await trial.run(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10']);
    const over = await trial.run(['status', 'campaign.yaml', '--follow']);
    expect(over.err).toMatch(/^no run of campaign\.yaml is in progress; the last one, [\w-]+, ended with exit 0\n/);
    expect(over.err).toMatch(/\nwhat it did: mediabatch runs show campaign\.yaml ([\w-]+)\n/);
    const [, id = ''] = /runs show campaign\.yaml ([\w-]+)/.exec(over.err) ?? [];
    expect(await trial.run(['runs', 'show', 'campaign.yaml', id])).toMatchObject({ code: 0 });
  });

  test('prints the run in lines without a terminal, until it ends', async () => {
    const trial = await makeTrial(manifest, { service: { speed: 5 } });
    const run = await startRun(trial);
    const { code, err } = await trial.run(['status', 'campaign.yaml', '--follow']);
    expect(code, err).toBe(0);
    expect(err).toContain('shop: 3 steps');
    expect(err).toContain('shop: all 3 steps done');
    expect(err).toContain('the run ended with exit 0\n');
    expect(run.signalCode).toBe(null);
  });

  test('reports a run whose process was killed, and how to go on', async () => {
    const trial = await makeTrial(manifest, { service: { speed: 0.2 } });
    const run = await startRun(trial);
    const killed = { onErr: () => void run.kill('SIGKILL') };
    const { code, err } = await trial.run(['status', 'campaign.yaml', '--follow'], killed);
    expect(code, err).toBe(0);
    expect(err).toContain('the process of the run is gone');
    expect(err).toContain('mediabatch apply campaign.yaml\n');
  });

  test('foreign lines in the history are not events', async () => {
    const trial = await makeTrial(manifest, { service: { speed: 5 } });
    await startRun(trial);
    const [name] = readdirSync(trial.path('.mediabatch/runs'));
    const odd = [
      '{"event":"step-finished","address":"pic@a","task":"pic","outcome":"done","credits":"\\u001b[2J"}',
      '{"at":"never","event":"noticed","message":"at no time"}',
      '{"event":"run-started"',
    ];
    writeFileSync(trial.path(`.mediabatch/runs/${name}`), `${odd.join('\n')}\n`, { flag: 'a' });
    const { code, err } = await trial.run(['status', 'campaign.yaml', '--follow']);
    expect(code, err).toBe(0);
    expect(err).not.toContain('\u001b[2J');
    expect(err).not.toContain('at no time');
    expect(err).toContain('all 3 steps done');
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

  test('says what the run says of time: what is left of it, and what is usual', async () => {
    const six = manifest.replace('[a, b, c]', '[a, b, c, d, e, f]');
    const trial = await makeTrial(six, { service: { speed: 1 } });
    await trial.run(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10']);
    trial.write('campaign.yaml', six.replace('{{row}}"', 'a {{row}}"'));
    await startRun(trial);
    const { code, text } = await runOnTerminal(follow, {
      cwd: trial.folder,
      env: { NO_COLOR: '1' },
      columns: 80,
      rows: 24,
      deeds: [{ after: [' left', ' of about '], keys: '\u0003' }],
    });
    expect(code, stripVTControlCharacters(text)).toBe(0);
  });
});
