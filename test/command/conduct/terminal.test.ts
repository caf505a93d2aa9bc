import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bin } from '../../rig/command.ts';
import { paidTwice } from '../../rig/oracle.ts';
import { type Deed, hasTerminals, runOnTerminal } from '../../rig/terminal.ts';
import { makeTrial } from '../../rig/trial.ts';

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
    expect(small).toMatch(/pic {6}[█▒·]{10} {2}\d\/2/);
    expect(text).toContain('all 2 steps done');
    expect(text.lastIndexOf('\u001b[?25h')).toBeGreaterThan(text.lastIndexOf('\u001b[?25l'));
  });
});
