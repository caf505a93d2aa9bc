import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { PlanRow } from '../../../src/plan/plan.ts';
import { explainView } from '../../../src/report/plan/explain-text.ts';
import { planText } from '../../../src/report/plan/plan-text.ts';
import { displayWidth } from '../../../src/report/text-width.ts';
import { graphOf, images, TestCampaign } from '../../rig/campaign.ts';
import { forAll } from '../../rig/runs.ts';
import { paste } from './paste.ts';
import { fullPlan, noColor, plan, type RowFacts, row, textOf } from './samples.ts';

const show = (rows: PlanRow[], more: { width?: number; all?: boolean } = {}) =>
  planText(plan(rows), { style: noColor, width: 100, ...more });

const manyRows = (count: number, more: RowFacts = {}) =>
  Array.from({ length: count }, (_, index) => row(`hero@${index}`, 'create', more));

describe('planText', () => {
  it('shows every action, in the order of what needs attention, and the money last', () => {
    expect(planText(fullPlan(), { style: noColor, width: 100 })).toMatchInlineSnapshot(`
      "aurora-launch

      + hero       image  2 steps  5 + ?  not bought yet (de,16:9  en,16:9)
      ~ theme      music              12  stylePrompt: piano → strings  gives up 12
      ^ jingle     music               6  job j-7 failed: overloaded; --redo retries it
      @ teaser@de  image                  job j-8 is running
      v teaser@en  image                  paid; images/en.png is missing
      > poster     image                  was placard
      ? voice      image                  it is not known whether the create request was charged
      ! clip       image                  job j-3 failed: moderated; --redo buys the step again
      x post       image                  needs clip, which is failed
      - old@x      image                  in the lock, not in the manifest; kept
      = 2 tasks           3 steps         up to date

      2 to create, 1 to redo, 1 to retry, 1 to collect, 1 to download, 1 to move, 1 unresolved, 1 failed,
      1 blocked, 1 no longer in the manifest, 3 up to date

      to spend      23 credits + 1 step of unknown price (one step of each price runs first; its charge
                    sets the price of the other steps)
      already paid  36
      reserved      4 for create requests with unknown charge (\`status --list\` shows the requests,
                    \`resolve\` records the charge)
      discarded     12 of paid work that will be replaced
      budget        120, 80 left now, at most 57 after this plan
      this run      at most 50 credits
      balance       12 345
      "
    `);
  });

  it('shows every step by itself when all are wanted', () => {
    const text = planText(fullPlan(), { style: noColor, width: 100, all: true });
    expect(text.match(/^[+=] .*$/gm)).toEqual([
      '+ hero@de,16:9  image   5  not bought yet',
      '+ hero@en,16:9  image   ?  not bought yet',
      '= logo          image      up to date',
      '= hero@de,1:1   image      up to date',
      '= hero@en,1:1   image      up to date',
    ]);
    expect(text.match(/^[-+~^@v>?!x=] /gm)).toHaveLength(fullPlan().rows.length);
  });

  it('does not call a plan up to date that has failed or blocked steps', () => {
    const text = show([row('a', 'keep'), row('b', 'failed'), row('c', 'blocked'), row('d', 'orphan')]);
    expect(text).toContain('1 failed, 1 blocked, 1 no longer in the manifest, 1 up to date');
    expect(text).toContain('! b');
  });

  it('has one line for a thousand steps of one task and cause, whatever is done with others', () => {
    const text = show([...manyRows(1000), row('logo', 'create'), row('hero@x', 'redo', { reason: 'prompt: a → b' })]);
    expect(text.match(/^[+~] .*$/gm)).toEqual([
      expect.stringMatching(/^\+ hero +image +1000 steps +5000 {2}not bought yet \(0 {2}1 {2}2 and 997 more\)$/),
      expect.stringMatching(/^\+ logo +image +5 {2}not bought yet$/),
      expect.stringMatching(/^~ hero@x +image +5 {2}prompt: a → b$/),
    ]);
    expect(show(manyRows(1000), { all: true }).match(/^\+ hero@\d+ +image +5 {2}not bought yet$/gm)).toHaveLength(1000);
  });

  const pick = (task: string, steps: number, carried: number) => ({ task, steps, carried });

  test.each<[string, Parameters<typeof plan>[1], string]>([
    ['known', { knownPrices: 12_000 }, 'to spend      12\u202f000 credits'],
    [
      'unknown',
      { unknownPrices: 2 },
      'to spend      5 credits + 2 steps of unknown price (one step of each price runs first; its charge',
    ],
    ['budget', { budget: 120, budgetLeft: 80 }, 'budget        120, 80 left now, 75 after this plan'],
    ['budget, unknown', { budget: 120, budgetLeft: 80, unknownPrices: 1 }, '80 left now, at most 75 after this plan'],
    ['over budget', { budget: 120, budgetLeft: 2 }, 'budget        120, 2 left: 3 too few for this plan'],
    ['nothing to spend', { knownPrices: 0, budget: 120, budgetLeft: 2 }, 'budget        120, 2 left'],
    ['cap', { maxCredits: 1 }, 'this run      at most 1 credit'],
    ['balance', { balance: 0 }, 'balance       0'],
    [
      'more than the account had',
      { lastBalance: { credits: 3, at: '2026-11-25T09:12:30.000Z' } },
      'account       likely 2 credits too few in the account, which had 3 at 2026-11-25 09:12 UTC\n',
    ],
    ['what the account had', { lastBalance: { credits: 5, at: '2026-11-25T09:12:30.000Z' } }, 'already paid  0\n'],
    [
      'nothing after the picks',
      { fit: { carries: 'now', missing: 9, afterPicks: [pick('hero', 3, 0)] } },
      'short         after the picks 9 credits are missing: the budget covers 0 of 3 steps of hero\n',
    ],
    [
      'a part after the picks',
      {
        fit: { carries: 'now', missing: 12, afterPicks: [pick('hero', 8, 5), pick('film', 2, 0), pick('song', 2, 2)] },
      },
      'after the picks 12 credits are missing: the budget covers 5 of 8 steps of hero, 0 of 2\n              steps of film\n',
    ],
    [
      'not even all that could be bought now',
      { fit: { carries: 'part', missing: 9, afterPicks: [pick('hero', 3, 1)] } },
      'short         after the picks 9 credits are missing: the budget covers 1 of 3 steps of hero',
    ],
    ['all after the picks', { fit: { carries: 'all', missing: 0, afterPicks: [pick('a', 1, 1)] } }, '5 credits\n'],
  ])('foot: %s', (_name, totals, line) => {
    expect(planText(plan([row('a', 'create')], totals), { style: noColor, width: 100 })).toContain(line);
  });

  test.each<[RowFacts[], string]>([
    [[{ wouldCost: 5 }, {}], '2 steps (5 credits)'],
    [[{ wouldCost: null }], '1 step (1 step of unknown price)'],
    [[{ wouldCost: 5 }, { wouldCost: null }], '2 steps (5 credits + 1 step of unknown price)'],
    [
      [{ wouldCost: 5 }, { wouldCost: null, price: { class: 'image', credits: null, source: 'list', likely: 3 } }],
      '2 steps (≈ 8 credits)',
    ],
  ])('a budget that is not enough never counts an unknown price as 0 %#', (blocked, words) => {
    const reason = { code: 'budget' as const, text: 'the budget is not enough' };
    const rows = blocked.map((more, index) =>
      row(`hero@${index}`, 'blocked', { blockedBy: 'budget', reason, ...more }),
    );
    expect(show(rows)).toContain(`the budget is not enough for ${words}\n`);
  });

  const word = fc.string({
    unit: fc.constantFrom('a', ' ', '漢', '🎉', '\u001b[2J', '\n::error::', '|'),
    maxLength: 120,
  });
  const someRow = fc.record({
    address: word.map((end) => `a${end}`),
    kind: word,
    reason: word,
    credits: fc.constantFrom(0, 5, 12_345, null),
    discards: fc.constantFrom(0, 7),
  });
  const narrow = { address: 'a', kind: '', reason: '', credits: 12_345, discards: 0 };
  forAll([fc.array(someRow, { minLength: 1, maxLength: 5 }), fc.integer({ min: 60, max: 140 }), fc.boolean()], {
    examples: [[[narrow, { ...narrow, kind: '\n::error::', credits: 0 }, { ...narrow, credits: null }], 60, false]],
  })('keeps within the width and its columns, whatever the addresses, kinds and reasons are', (values, width, all) => {
    const text = show(
      values.map((value) => row('hero', 'create', value)),
      { width, all },
    );
    for (const line of text.split('\n').slice(1)) expect(displayWidth(line)).toBeLessThanOrEqual(width);
    expect(text).not.toContain('\u001b');
    expect(text).not.toMatch(/^\s*::/m);
    const table = text.split('\n\n')[1]?.split('\n') ?? [];
    const starts = table.filter((line) => !line.startsWith(' '));
    expect(starts.every((line) => line.startsWith('+ '))).toBe(true);
    if (all) expect(starts).toHaveLength(values.length);
  });
});

function explain(campaign: TestCampaign, address: string): string {
  const row = campaign.plan().rows.find((candidate) => candidate.address === address);
  const step = campaign.graph.steps.find((candidate) => candidate.address === address);
  const record = campaign.file.read().steps.get(address);
  if (row === undefined || step === undefined) throw new Error(`no step ${address}`);
  return textOf(explainView({ row, step, ...(record && { record }) }, paste))
    .replace(/1:[0-9a-f]{64}/g, '1:…')
    .replace(/mb1-[0-9a-f]{40}/g, 'mb1-…')
    .replace(/job-[0-9a-f]{8}-1/g, 'job-1');
}

test('a post leaves no file', () => {
  const text = `version: 1
name: test
tasks:
  share: { kind: post, with: { accountIds: [a1], caption: hello } }
`;
  const told = explain(new TestCampaign(text), 'share');
  expect(told).toContain('share  post  create: not posted yet');
  expect(told).not.toContain('saves to');
});

test('a changed step: both strings of the field that changed, and what is on record', async () => {
  const campaign = new TestCampaign(images(1));
  await campaign.run();
  campaign.graph = graphOf(images(1).replace('a {{row}}', 'a red {{row}}'));
  expect(explain(campaign, 'pic@p1')).toMatchInlineSnapshot(`
    "pic@p1  image  redo: prompt: “a p1” → “a red p1”

    spends       3 credits (as charged before: image/alpha-2/resolution=2k)
    discards     3 credits of paid work
    saves to     output/pic-p1.…
    waits for    nothing
    fingerprint  1:…
    key          mb1-…

    request
      - prompt: a p1
      + prompt: a red p1

    on record
      1.1 done, job job-1, 3 credits, output/pic-p1.png
    "
  `);
});
