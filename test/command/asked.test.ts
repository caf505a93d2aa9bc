import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { requireAccess } from '../../src/campaign/environment.ts';
import { askPerson } from '../../src/cli/consent.ts';
import { bin } from '../rig/command.ts';
import type { Booking } from '../rig/oracle.ts';
import { answerOnTerminal, type Deed, hasTerminals, runOnTerminal } from '../rig/terminal.ts';
import { makeTrial, withFaults } from '../rig/trial.ts';
import { sitAtTheKeys } from './buffer-terminal.ts';

describe('a prompt', () => {
  const question = 'Spend 3 credits?';

  test('does not wait for a closed terminal', async () => {
    const { keys, terminal } = sitAtTheKeys();
    keys.end('y\n');
    expect(await askPerson(question, { yes: undefined, terminal })).toBe('no');
  });

  test('input before the question is ignored, input after it counts', async () => {
    const { keys, terminal } = sitAtTheKeys(() => void keys.write('n\n'));
    keys.write('y\n');
    expect(await askPerson(question, { yes: undefined, terminal })).toBe('no');
  });

  const manifest = `version: 1
name: busy
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
`;

  test('a wait of a day that the service requests is reported with its end, and stops create requests', async () => {
    const busy = { type: 'status', status: 429, headers: { 'retry-after': '86400' } };
    const trial = await makeTrial(manifest, withFaults([{ on: 'create', times: 99, do: busy }]));
    const { err } = await trial.apply([], { ends: 69 });
    expect(err).toMatch(
      /stopped {2}nothing more is bought, because the service asks the run to wait until \d{4}-\d\d-\d\d \d\d:\d\d/,
    );
    expect(err).toContain('to let the run wait for the service: mediabatch apply campaign.yaml --patience 25h\n');
    expect(trial.sandbox.ledger()).toEqual([]);
    expect(trial.events().find(({ event }) => event === 'spending-stopped')).toMatchObject({ because: 'throttled' });
  });

  const campaign = 'version: 1\nname: t\nbudget: { credits: 20 }\ntasks: { a: { kind: image, with: { prompt: x } } }\n';
  const secret = 'k3y_live_0123456789abcdef';

  /** As they come out of shells, `.env` files, CI settings and copied headers. */
  const wrong: [text: string, says: string][] = [
    [`"${secret}"`, 'begins with "'],
    [`'${secret}`, "begins with '"],
    [`${secret}"`, 'ends with "'],
    [`\\"${secret}\\"`, 'begins with \\"'],
    [`“${secret}”`, 'U+201C'],
    [`Bearer ${secret}`, 'begins with Bearer'],
    [`bearer:${secret}`, 'begins with bearer'],
    ['Bearer', 'begins with Bearer'],
    [`Authorization: Bearer ${secret}`, 'begins with Authorization:'],
    [`MEDIABATCH_API_KEY=${secret}`, 'begins with MEDIABATCH_API_KEY='],
    [`export MEDIABATCH_API_KEY=${secret}`, 'begins with export MEDIABATCH_API_KEY='],
    ['<your key>', 'begins with <'],
    ['$KEY', 'begins with $'],
    ['%KEY%', 'begins with %'],
    [`${secret}\r\nx-other: 1`, 'U+000D'],
    [`${secret} ${secret}`, 'U+0020'],
    [`${secret}\u200b`, 'U+200B'],
    [`k\u0435y_live_0123456789abcdef`, 'U+0435'],
    [`${secret}😀`, 'U+1F600'],
    [`${secret},`, 'ends with ,'],
  ];

  test.each(wrong)('%j is refused before any request, and never shown', async (text, says) => {
    const use = () => requireAccess({ baseUrl: 'https://host.example/api/v1', token: text });
    expect(use).toThrow(says);
    expect(use).not.toThrow(/0123456789|k3y/);
  });

  test.each([
    secret,
    'other-1_live_A.B-C~D+E/F=',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    'token_live_1234567',
    'bearer-2_live_1234567',
    '17|abcdef',
  ])('%s is accepted', (text) => {
    expect(requireAccess({ baseUrl: 'https://host.example/api/v1', token: text }).token).toBe(text);
  });

  describe('with a malformed key', () => {
    test('apply ends with 77 and sends no request; plan works, and reports nothing about the key’s abilities', async () => {
      const trial = await makeTrial(campaign);
      const env = { MEDIABATCH_API_KEY: `"${secret}"` };
      const { code, err } = await trial.apply([], { env });
      expect(code).toBe(77);
      expect(err).toContain('MEDIABATCH_API_KEY begins with ", so the key was not sent');
      expect(err).not.toContain('0123456789');
      expect(trial.sandbox.ledger()).toHaveLength(0);
      expect(readdirSync(trial.folder)).not.toContain('campaign.lock.jsonl');
      const plan = await trial.run(['plan', 'campaign.yaml'], { env });
      expect(plan.code).toBe(0);
      expect(plan.err).not.toContain('not an API key');
    });
  });
});

describe('apply', () => {
  const manifest = `version: 1
name: two
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
`;

  describe.runIf(hasTerminals)('on a terminal', () => {
    test.each<[string, string, Deed[], { exits: number; bought: number; says: RegExp[] }]>([
      [
        'it asks, buys after yes, asks again for steps of unknown price after the first charge, and stops on no',
        'y\r',
        [{ after: ['approve again', '[y/N]'], keys: 'n\r' }],
        {
          exits: 4,
          bought: 1,
          says: [/Buy.* 2 steps of unknown price\?/, /Spend.* 2 credits\?/, /nothing more was spent/],
        },
      ],
      ['no buys nothing and exits 0', 'n\r', [], { exits: 0, bought: 0, says: [/nothing was spent/] }],
      ['Ctrl-C at the question buys nothing and exits 130', '\u0003', [], { exits: 130, bought: 0, says: [] }],
    ])('%s; the cursor is back at the end', async (_title, keys, then, { exits, bought, says }) => {
      const trial = await makeTrial(manifest);
      const command = [process.execPath, bin, 'apply', 'campaign.yaml', '--poll-interval', '10'];
      const { code, text } = await runOnTerminal(command, {
        cwd: trial.folder,
        env: trial.sandbox.env,
        deeds: [{ after: '[y/N]', keys }, ...then],
      });
      expect([code, trial.sandbox.ledger().length], text).toEqual([exits, bought]);
      for (const words of says) expect(text).toMatch(words);
      expect(text.lastIndexOf('\u001b[?25h')).toBeGreaterThanOrEqual(text.lastIndexOf('\u001b[?25l'));
    });
  });

  describe.runIf(hasTerminals)('posts that may be published under another name', () => {
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
      const { code, text } = await answerOnTerminal(['apply', 'campaign.yaml', '--poll-interval', '10', '--publish'], {
        cwd: trial.folder,
        env: trial.sandbox.env,
        answers: ['n\r', 'y\r'],
      });
      expect(code, text).toBe(5);
      const captions = (trial.sandbox.ledger() as Booking[]).map(({ body }) => body.caption);
      expect(captions).toEqual(['Hello', 'Good morning', expect.stringMatching(/^(Hello|Good morning)!$/)]);
    });
  });
});
