import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { compareVersions } from '../../../src/plan/compare/compare-versions.ts';
import { commentMarker, compareMarkdown, failureMarkdown } from '../../../src/report/plan/compare-markdown.ts';
import { planMarkdown } from '../../../src/report/plan/plan-markdown.ts';
import { mostCommentBytes } from '../../../src/report/render/markdown-text.ts';
import { anyCharacter } from '../../rig/any-character.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { lockOf, picture } from '../plan/facts.ts';
import { proseOf, spansOf } from './read-markdown.ts';
import { plan, row } from './samples.ts';

const lock = lockOf({});
const pictures = (task: string, count: number, prompt: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => picture(`${task}@${index}`, { request: { prompt: prompt(index) } }));

function comment(
  before: ReturnType<typeof pictures>,
  after: ReturnType<typeof pictures>,
  { path = 'campaign.yaml', campaign = 'spring' }: { path?: string; campaign?: string } = {},
): string {
  const compared = compareVersions({ graph: graphOfSteps(before), lock }, { graph: graphOfSteps(after), lock });
  return compareMarkdown({ campaign, ref: 'main', commit: 'c0ffee'.repeat(7), ...compared }, { path });
}

const listed = (markdown: string) => markdown.match(/^- `[^`]+@\d+`/gm)?.length ?? 0;
const counted = (markdown: string) =>
  [...markdown.matchAll(/^- … and ([\d\u202f]+) more steps?$/gm)].reduce(
    (sum, [, count = '']) => sum + Number(count.replaceAll('\u202f', '')),
    0,
  );

test('a marker is a comment of HTML whatever the manifest is called, and no other manifest has it', () => {
  expect(commentMarker('shop/campaign.yaml')).toBe('<!-- mediabatch:shop/campaign.yaml -->');
  expect(commentMarker('a --><b>/é.yaml')).toBe('<!-- mediabatch:a%20-%2d%3e%3cb%3e/%c3%a9.yaml -->');
  const path = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string({ unit: fc.constantFrom('-', '>', '%', '2', 'd', 'x') }),
  );
  fc.assert(
    fc.property(path, path, (one, other) => {
      const marker = commentMarker(one);
      expect(marker).toMatch(/^<!-- mediabatch:(?:(?!--)[A-Za-z0-9_./%-])* -->$/);
      expect(commentMarker(other) === marker).toBe(one === other);
    }),
  );
});

it.each([
  ['one task', [2000]],
  ['a long and a short one', [2000, 3]],
  ['many', Array.from({ length: 120 }, () => 20)],
  ['very many', Array.from({ length: 500 }, () => 3)],
])('says of too many steps how many it leaves out: %s', (_name, counts) => {
  const of = (word: string) =>
    counts.flatMap((count, task) => pictures(`t${task}`, count, (index) => `${'写'.repeat(60)} ${word} ${index}`));
  for (const markdown of [comment(of('oak'), of('elm')), comment([], of('elm'))]) {
    expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(mostCommentBytes);
    expect(Buffer.byteLength(markdown)).toBeGreaterThan(mostCommentBytes / 2);
    expect(markdown).not.toMatch(/<details>.*\n\n- …/);
    expect(markdown.match(/<details>/g)?.length ?? 0).toBe(markdown.match(/<\/details>/g)?.length ?? 0);
    if (counts.length < 3) expect(listed(markdown) + counted(markdown)).toBe(counts.reduce((all, one) => all + one));
  }
});

test('what a short task does not need is there for a long one', () => {
  const of = (word: string) => [
    ...pictures('few', 3, (index) => `${word} ${index}`),
    ...pictures('many', 1500, () => word),
  ];
  const markdown = comment(of('oak'), of('elm'));
  expect(markdown.match(/^- `few@/gm)).toHaveLength(3);
  expect(listed(markdown)).toBeGreaterThan(800);
});

test('a plan of many causes is cut, too', () => {
  const rows = Array.from({ length: 3000 }, (_, index) =>
    row(`t${index}@a`, 'create', { task: `t${index}`, reason: `"${'é'.repeat(100)}" ${index}` }),
  );
  const markdown = planMarkdown(plan(rows));
  expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(mostCommentBytes);
  const [, more] = /^… and (\d+) more rows for \d+ steps$/m.exec(markdown) ?? [];
  expect((markdown.match(/^\| `\+`/gm)?.length ?? 0) + Number(more)).toBe(3000);
});

test('a name is no markup, no person and no link outside of code', () => {
  const campaign = '--> <b>@team</b> `x` [a](https://evil.example) | #12';
  const markdown = comment(
    [],
    pictures('hero', 2, () => campaign),
    { campaign, path: `${campaign}.yaml` },
  );
  const [, ...lines] = markdown.split('\n');
  const prose = lines.map((line) => proseOf(spansOf(line))).join('\n');
  expect(prose.replaceAll(/<\/?(?:details|summary|code|sub)>/g, '')).not.toMatch(/[<>@]|https|\]\(|#\d/);
});

test('mistakes stand in a block of code that they cannot close, and fit', () => {
  const diagnostics = Array.from({ length: 2000 }, (_, index) => ({
    code: 'MB1001' as const,
    severity: 'error' as const,
    message: `\`\`\`\n\`\`\`\` </code> @team --> ${index} ${'é'.repeat(1500)}`,
  }));
  const failure = { code: 'MB3100' as const, message: 'x', file: 'campaign.yaml', diagnostics, sources: new Map() };
  const markdown = failureMarkdown(failure, { path: 'shop/campaign.yaml', paste: () => '' });
  expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(mostCommentBytes);
  const [marker, , title, , open, ...rest] = markdown.trimEnd().split('\n');
  expect(marker).toBe('<!-- mediabatch:shop/campaign.yaml -->');
  expect(title).toBe('### `shop/campaign.yaml`: 2000 mistakes');
  expect(open).toBe('`````text');
  expect(rest.at(-1)).toBe('`````');
  expect(rest.slice(0, -1).some((line) => line.startsWith('`````'))).toBe(false);
  expect(rest.at(-2)).toMatch(/^2000 errors, the first \d+ of them above$/);
});

test('of mistakes as many as fit are shown whole, and counted', () => {
  const diagnostics = Array.from({ length: 100 }, (_, index) => ({
    code: 'MB1001' as const,
    severity: 'error' as const,
    message: `mistake ${index} ${'a'.repeat(900)}`,
  }));
  const failure = { code: 'MB3100' as const, message: 'x', file: 'campaign.yaml', diagnostics, sources: new Map() };
  const markdown = failureMarkdown(failure, { path: 'campaign.yaml', paste: () => '' });
  const [, shown] = /^100 errors, the first (\d+) of them above$/m.exec(markdown) ?? [];
  expect(markdown.match(/mistake \d+ /g)).toHaveLength(Number(shown));
  expect(Number(shown)).toBeGreaterThan(30);
});
