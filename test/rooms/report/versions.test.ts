import { describe, expect, it } from 'vitest';
import type { Lock } from '../../../src/lock/record.ts';
import { compareVersions } from '../../../src/plan/compare/compare-versions.ts';
import {
  type Charge,
  type CostDimension,
  listCharges,
  sumCharges,
  tallyCharges,
} from '../../../src/plan/prices/charges.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { costCsv, costJson, costView } from '../../../src/report/cost-text.ts';
import { compareMarkdown, compareText } from '../../../src/report/plan/compare-text.ts';
import { terminalText } from '../../../src/report/render/terminal-text.ts';
import { safeJson } from '../../../src/report/safe-text.ts';
import { makeStyle } from '../../../src/report/style.ts';
import { displayWidth } from '../../../src/report/text-width.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, job, lockOf, picture, saved, song, stepOf, urlOf } from '../plan/facts.ts';
import { cellsOf, proseOf, spansOf } from './read-markdown.ts';

const keys = ['lamp,1:1', 'lamp,9:16', 'vase,1:1', 'vase,9:16'];
const heroes = (wood: string) =>
  keys.map((key) => picture(`hero@${key}`, { request: { prompt: `${key} on an ${wood} table` } }));
const cover = picture('cover', { request: { prompt: 'a cover', referenceImages: [urlOf('hero@lamp,9:16')] } });
const before = graphOfSteps([...heroes('oak'), cover, song('song@spring'), song('song@winter')]);
const after = graphOfSteps([...heroes('elm'), cover, song('song@spring'), song('song@autumn')], { budget: 200 });
const there: Lock = lockOf({
  ...Object.fromEntries(keys.map((key) => [`hero@${key}`, [saved(stepOf(before, `hero@${key}`), { credits: 2 })]])),
  'song@winter': [saved(stepOf(before, 'song@winter'))],
});
const autumn = stepOf(after, 'song@autumn');
const [lamp = '', vase = ''] = [keys[1], keys[2]].map((key) => `hero@${key}`);
const here: Lock = {
  ...there,
  steps: new Map([
    ...there.steps,
    ...lockOf({
      'song@autumn': [job(autumn)],
      [lamp]: [saved(stepOf(after, lamp), { generation: 2, credits: 3 }), saved(stepOf(before, lamp), { credits: 2 })],
      [vase]: [
        job(stepOf(after, vase), { state: 'failed', generation: 2 }),
        saved(stepOf(before, vase), { credits: 2 }),
      ],
      'hero@vase,9:16': [
        create(stepOf(after, 'hero@vase,9:16')),
        saved(stepOf(before, 'hero@vase,9:16'), { credits: 2 }),
      ],
    }).steps,
  ]),
};

const path = 'shop/campaign.yaml';
const commit = 'c0ffee'.repeat(7).slice(0, 40);
const compared = {
  campaign: 'aurora-launch',
  ref: 'main',
  commit,
  ...compareVersions({ graph: before, lock: there }, { graph: after, lock: here }),
};
const charges = listCharges(situate(after, here));
const costBy = (by: CostDimension[], all: readonly Charge[]) => ({
  campaign: 'aurora-launch',
  by,
  rows: tallyCharges(all, by),
  totals: sumCharges(all),
});
const costOf = (model: string) =>
  costBy(
    ['model'],
    charges.map((one) => ({ ...one, model })),
  );
const cost = costBy(['task', 'kind'], charges);

const texts = {
  compare: (style: ReturnType<typeof makeStyle>, width: number) => compareText(compared, { style, width }),
  cost: (style: ReturnType<typeof makeStyle>, width: number) => terminalText(costView(cost), { style, width }),
};

describe.each(Object.entries(texts))('%s', (_name, text) => {
  it.each([60, 80, 120])('at %i columns', (width) => {
    const plain = text(makeStyle(false), width);
    expect(plain.split('\n').filter((line) => displayWidth(line) > width)).toEqual([]);
    if (width === 80) expect(plain).toMatchSnapshot();
    const colored = text(makeStyle(true), width);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colors are such
    expect(colored.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain);
  });
});

it('as Markdown', () => {
  expect(compareMarkdown(compared, { path })).toMatchSnapshot();
});

it('a string of the campaign has no structure in Markdown', () => {
  const hostile = 'a|`b` | @team\\|';
  const steps = compared.steps.map((step) => ({
    ...step,
    ...(step.change === 'removed' && { address: `song@${hostile}`, text: hostile, kind: hostile }),
  }));
  const markdown = compareMarkdown({ ...compared, steps }, { path });
  const table = markdown.split('\n').filter((line) => line.startsWith('|'));
  expect(table.length).toBeGreaterThan(3);
  for (const line of table) {
    const cells = cellsOf(line);
    expect(cells).toHaveLength(6);
    for (const cell of cells) expect(proseOf(spansOf(cell))).not.toMatch(/[@`|]/);
  }
});

it('a model, a name or a commit is shown, and obeyed by nobody', () => {
  const evilName = '=HYPERLINK("http://x") \u001b[31m ##[error]\n';
  const hostile = costOf(evilName);
  expect(costCsv(hostile).split('\r\n')[1]).toMatch(/^"'=HYPERLINK\(""http:\/\/x""\) \\x1b\[31m #\\x23\[error\]\\n",/);
  expect(safeJson(costJson(hostile))).not.toMatch(/##\[/);
  const evil = { ...compared, campaign: evilName, ref: evilName };
  const shown = [
    terminalText(costView(hostile), { style: makeStyle(false), width: 200 }),
    compareText(evil, { style: makeStyle(false), width: 200 }),
    compareMarkdown(evil, { path }),
  ];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  for (const text of shown) expect(text).not.toMatch(/\u001b|##\[/);
  const inCsv = (row: string) => costCsv(costOf(row)).split('\r\n')[1];
  for (const row of ['+1+1', '-1|x', '+x', '-x', '@x', '=1']) expect(inCsv(row)).toMatch(/^'/);
  // A spreadsheet calculates nothing of a number.
  for (const row of ['+1', '-1']) expect(inCsv(row)).toMatch(/^[+-]1,/);
});
