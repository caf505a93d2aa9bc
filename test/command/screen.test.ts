import { describe, expect, test } from 'vitest';
import { bin } from '../rig/command.ts';
import type { Booking } from '../rig/oracle.ts';
import { type Deed, hasTerminals, runOnTerminal } from '../rig/terminal.ts';
import { makeTrial } from '../rig/trial.ts';

const manifest = `version: 1
name: two
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
`;

describe.runIf(hasTerminals)('on a terminal', () => {
  async function answer(keys: string, then: Deed[] = []) {
    const trial = await makeTrial(manifest);
    const command = [process.execPath, bin, 'apply', 'campaign.yaml', '--poll-interval', '10'];
    const { code, text } = await runOnTerminal(command, {
      cwd: trial.folder,
      env: trial.sandbox.env,
      deeds: [{ after: '[y/N]', keys }, ...then],
    });
    return { code, screen: text, bought: trial.sandbox.ledger().length };
  }

  test('it asks, and buys after yes; the cursor is back at the end', async () => {
    const { code, screen, bought } = await answer('y\r', [{ after: ['asked again', '[y/N]'], keys: 'y\r' }]);
    expect(code, screen).toBe(0);
    expect(bought).toBe(2);
    expect(screen).toContain('2 of 2');
    expect(screen.lastIndexOf('\u001b[?25h')).toBeGreaterThan(screen.lastIndexOf('\u001b[?25l'));
  });

  test('asks again for steps of unknown price after the first charge, and stops on no', async () => {
    const { code, screen, bought } = await answer('y\r', [{ after: ['asked again', '[y/N]'], keys: 'n\r' }]);
    expect(code, screen).toBe(4);
    expect(bought).toBe(1);
    expect(screen).toMatch(/Buy.* 2 steps of unknown price\?/);
    expect(screen).toMatch(/Spend.* 2 credits\?/);
    expect(screen).toContain('nothing more was spent');
  });

  test('no is no, and no error', async () => {
    const { code, screen, bought } = await answer('n\r');
    expect(code, screen).toBe(0);
    expect(bought).toBe(0);
    expect(screen).toContain('nothing was spent');
  });

  test('Ctrl-C at the question buys nothing and exits 130', async () => {
    const { code, screen, bought } = await answer('\u0003');
    expect(code, screen).toBe(130);
    expect(bought).toBe(0);
  });
});

describe.runIf(hasTerminals)('posts that may be out under another name', () => {
  const campaignOf = (...tasks: [name: string, caption: string, account: string][]) =>
    [
      'version: 1\nname: shop\ntasks:',
      ...tasks.map(
        ([name, caption, account]) =>
          `  ${name}: { kind: post, with: { accountIds: [${account}], caption: "${caption}" } }`,
      ),
    ].join('\n');
  const accounts = ['acc_a26a6b25c78b1c8d', 'acc_36c3a20f22ac6098'] as const;

  test('are confirmed one by one: a no to the first does not answer the second', async () => {
    const trial = await makeTrial(campaignOf(['one', 'Hello', accounts[0]], ['two', 'Good morning', accounts[1]]));
    expect((await trial.apply(['--publish'])).code).toBe(0);
    trial.write('campaign.yaml', campaignOf(['uno', 'Hello!', accounts[0]], ['due', 'Good morning!', accounts[1]]));
    const { code, text } = await runOnTerminal(
      [process.execPath, bin, 'apply', 'campaign.yaml', '--poll-interval', '10', '--publish'],
      {
        ...{ cwd: trial.folder, env: trial.sandbox.env, columns: 200 },
        deeds: [
          { after: '[y/N] ', keys: 'n\r' },
          { after: '[y/N] ', keys: 'y\r' },
        ],
      },
    );
    expect(code, text).toBe(5);
    const captions = (trial.sandbox.ledger() as Booking[]).map(({ body }) => body.caption);
    expect(captions).toEqual(['Hello', 'Good morning', expect.stringMatching(/^(Hello|Good morning)!$/)]);
  });
});
