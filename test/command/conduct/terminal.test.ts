import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bin, root } from '../../rig/command.ts';
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
    const command = [
      process.execPath,
      '--import',
      trial.path('crash.mjs'),
      bin,
      'apply',
      'campaign.yaml',
      '--yes',
      '--bell',
    ];
    const { code, text } = await runOnTerminal([...command, '--poll-interval', '10'], {
      cwd: trial.folder,
      env: { ...trial.sandbox.env, WT_SESSION: 'c0ffee' },
      deeds: [{ after: ['\u001b[?25l', ' running'], ...what }],
    });
    expect(code, text).toBe(expected);
    expect(text).toContain('\u001b[?25l');
    expect(text.lastIndexOf('\u001b[?25h')).toBeGreaterThan(text.lastIndexOf('\u001b[?25l'));
    // The progress in the tab of the terminal is taken away, and people are called.
    expect(text).toContain('\u001b]9;4;3;0\u001b\\');
    expect(text.match(/\]9;4;\d+;\d+/g)?.at(-1)).toBe(']9;4;0;0');
    expect(text).toContain('\u0007');
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

describe.runIf(hasTerminals)('a page of the manual on a terminal (python3)', () => {
  const read = (PAGER: string, rows = 24, more = {}) =>
    runOnTerminal([process.execPath, bin, 'help', 'recovery'], {
      cwd: root,
      rows,
      env: { PAGER, AI_AGENT: '', ...more },
    });

  test.each([
    ['is read in the pager', "sed 's/^/paged /'", 24, true],
    ['that fits the screen is not', "sed 's/^/paged /'", 2000, false],
    ['nor where there is none', '', 24, false],
    ['nor where it is not here', 'no-such-pager', 24, false],
  ])('%s', async (_what, pager, rows, isPaged) => {
    const { code, text } = await read(pager, rows);
    expect(code, text).toBe(0);
    expect(text).toContain('What if it dies');
    expect(text.includes('paged ')).toBe(isPaged);
  });

  test('that a program reads is not', async () => {
    const { text } = await read("sed 's/^/paged /'", 24, { AI_AGENT: 'x' });
    expect(text).not.toContain('paged ');
  });
});
