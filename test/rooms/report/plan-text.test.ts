import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { PlanRow } from '../../../src/plan/plan.ts';
import { markdownText, planMarkdown } from '../../../src/report/plan/plan-markdown.ts';
import { planText } from '../../../src/report/plan/plan-text.ts';
import { displayWidth } from '../../../src/report/text-width.ts';
import { fullPlan, noColor, plan, row } from './samples.ts';

const show = (rows: PlanRow[], more: { width?: number; all?: boolean } = {}) =>
  planText(plan(rows), { style: noColor, width: 100, ...more });

const manyRows = (count: number, more: Partial<PlanRow> = {}) =>
  Array.from({ length: count }, (_, index) => row(`hero@${index}`, 'create', more));

describe('planText', () => {
  it('shows every action, in the order of what needs attention', () => {
    expect(planText(fullPlan(), { style: noColor, width: 100 })).toMatchInlineSnapshot(`
      "aurora-launch: 2 to create, 1 to redo, 1 to retry, 1 to collect, 1 to download, 1 to move, 1 unresolved, 1 failed, 1 blocked, 1 no longer in the manifest, 3 up to date

      create: 2 steps, 5 credits, 1 of unknown price
        + hero@de,16:9  image   5  not bought yet
        + hero@en,16:9  image   ?  not bought yet

      redo: 1 step, 12 credits
        ~ theme         music  12  stylePrompt changed: “slow piano” → “slow strings”; discards 12

      retry: 1 step, 6 credits
        ^ jingle        music   6  job j-7 failed: overloaded; --redo asks

      attach: 1 step
        @ teaser@de     image      job j-8 is running

      download: 1 step
        v teaser@en     image      paid; images/en.png is missing

      move: 1 step
        > poster        image      same request as placard before

      unresolved: 1 step
        ? voice         image      it is not known whether the create was charged

      failed: 1 step
        ! clip          image      job j-3 failed: moderated; --redo buys it again

      blocked: 1 step
        x post          image      needs clip, which is failed

      orphan: 1 step
        - old@x         image      in the lock, not in the manifest; kept

      keep: 3 steps
        = logo          image      up to date
        = hero          image      2 steps up to date

      to spend      23 credits + 1 step of unknown price (the first of each goes alone and prices the rest)
      already paid  36
      held          4 for creates whose outcome is not known
      discarded     12 of paid work that is bought anew
      budget        120, 80 left now, at most 57 after this plan
      this run      at most 50 credits
      balance       12 345
      "
    `);
  });

  it('shows kept steps one by one when all are wanted', () => {
    const text = planText(fullPlan(), { style: noColor, width: 100, all: true });
    expect(text.match(/^ {2}= .*$/gm)).toEqual([
      '  = logo          image      up to date',
      '  = hero@de,1:1   image      up to date',
      '  = hero@en,1:1   image      up to date',
    ]);
  });

  it('puts reasons below where there is no room beside', () => {
    const rows = [
      row('hero@de,16:9', 'redo', { reason: 'prompt changed: “a lamp” → “a lamp on a table”', discards: 5 }),
    ];
    expect(show(rows, { width: 44 })).toMatchInlineSnapshot(`
      "aurora-launch: 1 to redo

      redo: 1 step, 5 credits
        ~ hero@de,16:9  image  5
            prompt changed: “a lamp” → “a lamp on
            a table”; discards 5

      to spend      5 credits
      already paid  0
      discarded     5 of paid work that is bought anew
      "
    `);
  });

  it('says so when there is nothing to do', () => {
    const rows = Array.from({ length: 14 }, (_, index) => row(`hero@${index}`, 'keep'));
    const done = plan(rows, { alreadyPaid: 70, budget: 120, budgetLeft: 50 });
    expect(planText(done, { style: noColor, width: 80 })).toMatchInlineSnapshot(`
      "Nothing to do: all 14 steps are up to date

      already paid  70
      budget        120, 50 left
      "
    `);
  });

  it('does not call a plan up to date that has failed or blocked steps', () => {
    const text = show([row('a', 'keep'), row('b', 'failed'), row('c', 'blocked'), row('d', 'orphan')]);
    expect(text).toContain('Nothing to do: 1 of 3 steps is up to date, 1 failed, 1 blocked');
    expect(text).toContain('! b');
  });

  it.each([
    [0, 'Nothing to do: there are no steps'],
    [1, 'Nothing to do: the only step is up to date'],
  ])('has words for %i steps', (count, words) => {
    expect(show(manyRows(count).map(({ address }) => row(address, 'keep')))).toContain(words);
  });

  it('folds a thousand rows of one task and action to twelve', () => {
    const text = show([...manyRows(1000), row('logo', 'create')]);
    expect(text.match(/^ {2}\+ hero@/gm)).toHaveLength(12);
    expect(text).toContain('    … and 988 more, 4940 credits\n');
    expect(text).toContain('create: 1001 steps, 5005 credits');
    expect(text).toContain('+ logo');
    expect(show([...manyRows(1000)], { all: true }).match(/^ {2}\+ hero@/gm)).toHaveLength(1000);
  });

  it('shows forty rows in full, and folds forty-one', () => {
    expect(show(manyRows(40)).match(/^ {2}\+ hero@/gm)).toHaveLength(40);
    expect(show(manyRows(41)).match(/^ {2}\+ hero@/gm)).toHaveLength(12);
  });

  it('counts unknown prices among folded rows', () => {
    expect(show(manyRows(50, { credits: null }))).toContain('… and 38 more, 38 of unknown price');
  });

  test.each<[string, Parameters<typeof plan>[1], string]>([
    ['known', { toSpend: 12_000 }, 'to spend      12\u202f000 credits'],
    [
      'unknown',
      { unknownPrices: 2 },
      'to spend      5 credits + 2 steps of unknown price (the first of each goes alone',
    ],
    ['budget', { budget: 120, budgetLeft: 80 }, 'budget        120, 80 left now, 75 after this plan'],
    ['budget, unknown', { budget: 120, budgetLeft: 80, unknownPrices: 1 }, '80 left now, at most 75 after this plan'],
    ['over budget', { budget: 120, budgetLeft: 2 }, 'budget        120, 2 left: 3 too few for this plan'],
    ['nothing to spend', { toSpend: 0, budget: 120, budgetLeft: 2 }, 'budget        120, 2 left'],
    ['cap', { maxCredits: 1 }, 'this run      at most 1 credit'],
    ['balance', { balance: 0 }, 'balance       0'],
  ])('foot: %s', (_name, totals, line) => {
    expect(planText(plan([row('a', 'create')], totals), { style: noColor, width: 100 })).toContain(line);
  });

  it('keeps within the width and its columns, whatever the addresses, kinds and reasons are', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', ' ', '漢', '🎉', '\u001b[2J', '\n::error::', '|'),
      maxLength: 120,
    });
    const someRow = fc.record({
      address: word,
      kind: word,
      reason: word,
      credits: fc.constantFrom(0, 5, 12_345, null),
    });
    fc.assert(
      fc.property(
        fc.array(someRow, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 40, max: 140 }),
        (values, width) => {
          const text = show(
            values.map((value) => row('hero', 'create', value)),
            { width, all: true },
          );
          const rowsOnly = text.split('\n\n')[1]?.split('\n') ?? [];
          expect(rowsOnly.length).toBeGreaterThan(values.length);
          for (const line of rowsOnly.slice(1)) expect(displayWidth(line)).toBeLessThanOrEqual(width);
          expect(text).not.toContain('\u001b');
          expect(text).not.toMatch(/^\s*::/m);
          expect(new Set(text.match(/^ {2}\+/gm))).toEqual(new Set(['  +']));
        },
      ),
    );
  });
});

describe('planMarkdown', () => {
  it('is a table with the sums below', () => {
    expect(planMarkdown(fullPlan())).toMatchInlineSnapshot(`
      "### aurora-launch

      2 to create, 1 to redo, 1 to retry, 1 to collect, 1 to download, 1 to move, 1 unresolved, 1 failed, 1 blocked, 1 no longer in the manifest, 3 up to date

      | action | step | kind | credits | reason |
      | --- | --- | --- | ---: | --- |
      | create | hero&#64;<!-- -->de,16&#58;9 | image | 5 | not bought yet |
      | create | hero&#64;<!-- -->en,16&#58;9 | image | ? | not bought yet |
      | redo | theme | music | 12 | stylePrompt changed&#58; “slow piano” → “slow strings”; discards 12 |
      | retry | jingle | music | 6 | job j-7 failed&#58; overloaded; --redo asks |
      | attach | teaser&#64;<!-- -->de | image |  | job j-8 is running |
      | download | teaser&#64;<!-- -->en | image |  | paid; images/en&#46;png is missing |
      | move | poster | image |  | same request as placard before |
      | unresolved | voice | image |  | it is not known whether the create was charged |
      | failed | clip | image |  | job j-3 failed&#58; moderated; --redo buys it again |
      | blocked | post | image |  | needs clip, which is failed |
      | orphan | old&#64;<!-- -->x | image |  | in the lock, not in the manifest; kept |
      | keep | logo | image |  | 1 up to date |
      | keep | hero | image |  | 2 up to date |

      - to spend: 23 credits + 1 step of unknown price (the first of each goes alone and prices the rest)
      - already paid: 36
      - held: 4 for creates whose outcome is not known
      - discarded: 12 of paid work that is bought anew
      - budget: 120, 80 left now, at most 57 after this plan
      - this run: at most 50 credits
      - balance: 12 345
      "
    `);
  });

  test.each([
    'a | b',
    'a \\| b',
    'line one\nline two | x',
    '<img src=x onerror=alert(1)>',
    '`code` ``more``',
    '[link](https://evil.example)',
    '![image](https://evil.example/x.png)',
    'https://evil.example www.evil.example',
    '**bold** __bold__ ~~gone~~ *x* _y_',
    '&lt;img&gt; &#60;',
    '<!-- hidden',
    '@team #12',
    '$x$',
    '\u001b[2J\u202e',
    '# heading',
  ])('has no structure from data: %j', (data) => {
    const markdown = planMarkdown({
      ...plan([row(`x@${data}`, 'create', { reason: data, kind: data })]),
      campaign: data,
    });
    const table = markdown.split('\n').filter((line) => line.startsWith('|'));
    expect(table).toHaveLength(3);
    expect(table[2]?.split('|')).toHaveLength(7);
    const cells = `${table[2]?.split('|').slice(2, 6).join('')}${markdown.split('\n')[0]?.slice(4)}`;
    const structure = cells.replaceAll(/&#\d+;/g, '').replaceAll('<!-- -->', '');
    expect(structure).not.toMatch(/[<>&`*_~[\]!\\@#$|]|www\.|:\/\//);
  });

  it('shows exactly the text once entities are read', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        const read = markdownText(text, 10_000)
          .replaceAll('<!-- -->', '')
          .replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
        expect(read).toBe(text);
      }),
    );
  });

  it('cuts long texts', () => {
    expect(markdownText('x'.repeat(501))).toBe(`${'x'.repeat(499)}…`);
    expect(planMarkdown(plan([row('y'.repeat(301), 'create')]))).toContain(`| ${'y'.repeat(299)}… |`);
  });

  it('folds long lists and kept steps', () => {
    const kept = Array.from({ length: 300 }, (_, index) => row(`logo@${index}`, 'keep'));
    const markdown = planMarkdown(plan([...manyRows(1000), ...kept]));
    expect(markdown.split('\n').filter((line) => line.startsWith('|'))).toHaveLength(2 + 12 + 1 + 1);
    expect(markdown).toContain('| create | … and 988 more |  | 4940 credits |  |');
    expect(markdown).toContain('| keep | logo | image |  | 300 up to date |');
  });
});
