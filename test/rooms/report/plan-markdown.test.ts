import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compareVersions } from '../../../src/plan/compare/compare-versions.ts';
import { named, paragraph, table } from '../../../src/report/document.ts';
import { commentMarker, compareMarkdown, failureMarkdown } from '../../../src/report/plan/compare-text.ts';
import { planMarkdown } from '../../../src/report/plan/plan-text.ts';
import { markdownText } from '../../../src/report/render/markdown-text.ts';
import { safeText } from '../../../src/report/safe-text.ts';
import { anyCharacter } from '../../rig/any-character.ts';
import { forAll } from '../../rig/runs.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { lockOf, picture } from '../plan/facts.ts';
import { cellsOf, proseOf, type Span, spansOf } from './read-markdown.ts';
import { fullPlan, plan, row } from './samples.ts';

const mostCommentBytes = 60_000;

const markdownCode = (text: string) => markdownText([paragraph(named(text))]).trimEnd();

/** What has a meaning to Markdown, HTML, a code host or a terminal, beside plain words. */
const hostile = [
  'a | b',
  'a \\| b',
  'a \\\\| b',
  'line one\nline two | x',
  '<img src=x onerror=alert(1)>',
  '</code></summary></details>',
  '`code` ``more``',
  '`',
  '``` \n```',
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
  '- item',
  'ends with \\',
  ' `x',
  'x` ',
];
const text = fc.oneof(
  fc.constantFrom(...hostile),
  fc
    .array(fc.oneof(fc.constantFrom('`', '|', '\\', ' ', 'x', '\n', '<', '*'), fc.constantFrom(...hostile)), {
      maxLength: 8,
    })
    .map((parts) => parts.join('')),
);
const shownText = (given: string, maxLength = 500) => safeText(given, maxLength).replace(/\s+/g, ' ').trim();
const codesOf = (spans: readonly Span[]) => spans.flatMap(({ is, text: of }) => (is === 'code' ? [of] : []));

describe('planMarkdown', () => {
  it('is a table with a row for each cause, the steps folded away, and the money last', () => {
    const markdown = planMarkdown(fullPlan());
    for (const part of [
      '| + | `hero` | `image` | 2 steps | 5 + ? | `not bought yet (de,16:9 en,16:9)` |\n| ~ | `theme` | `music` |  | 12 |',
      '| = | `2 tasks` |  | 3 steps |  | `up to date` |\n\n**2 to create, 1 to redo,',
      '<details><summary>create 2 steps of <code>hero</code></summary>\n\n- `hero@de,16:9`, 5 credits: `not bought yet`\n',
      '- budget: 120, 80 left now, at most 57 after this plan\n- this run: at most 50 credits\n',
    ]) {
      expect(markdown).toContain(part);
    }
  });

  forAll([text, text, text, text, text])('shows campaign texts unformatted', (campaign, key, kind, reason, output) => {
    const one = { kind, reason, credits: null };
    const address = `hero@${key}`;
    const rows = [
      row(address, 'create', one),
      row(`${address} again`, 'create', { ...one, output }),
      row('other', 'redo', one),
      row(key, 'keep', one),
    ];
    const { title, table, lists, prose } = readPlan(planMarkdown({ ...plan(rows), campaign }));
    expect(codesOf(title)).toEqual([shownText(campaign)].filter(Boolean));
    expect(table).toEqual([
      [[], ['hero'], [shownText(kind)].filter(Boolean), [], [], [expect.any(String)]],
      [[], ['other'], [shownText(kind)].filter(Boolean), [], [], [shownText(reason)].filter(Boolean)],
      [[], [shownText(key)].filter(Boolean), [shownText(kind)].filter(Boolean), [], [], expect.anything()],
    ]);
    expect(lists.slice(0, 2)).toEqual([
      [shownText(address), shownText(reason)].filter(Boolean),
      [shownText(`${address} again`), shownText(reason), shownText(output)].filter(Boolean),
    ]);
    expect(prose).not.toMatch(/[<&`*_~[\]!\\@#$|]|www\.|:\/\//);
  });

  forAll([text])('the name of a task, which a lock may have in any form, forms no HTML', (task) => {
    const rows = [1, 2].map((index) => row(`x@${index}`, 'orphan', { task, reason: 'kept' }));
    const summary = /<summary>orphan 2 steps of <code>(.*)<\/code><\/summary>/.exec(planMarkdown(plan(rows)));
    expect(summary?.[1]).toMatch(/^(?:[A-Za-z0-9_ -]|&#\d+;)*$/);
  });

  it.each([1, 250])(
    'lists as many steps as a comment holds, and counts the rest; their strings are %i long',
    (length) => {
      const rows = Array.from({ length: 10_000 }, (_, index) =>
        row(`${index % 2 === 0 ? 'hero' : 'logo'}@${index}`, 'create', { reason: 'x'.repeat(length) }),
      );
      const markdown = planMarkdown(plan(rows));
      const listed = markdown.match(/^- `(?:hero|logo)@/gm)?.length ?? 0;
      const counted = [...markdown.matchAll(/^- … and (\d+) more steps$/gm)].map(([, count]) => Number(count));
      expect(listed + counted.reduce((sum, count) => sum + count, 0)).toBe(10_000);
      expect(listed).toBeGreaterThan(100);
      expect(markdown.length).toBeGreaterThan(30_000);
      expect(markdown.length).toBeLessThan(65_536);
    },
  );

  it('cuts long strings', () => {
    expect(markdownCode('x'.repeat(501))).toBe(`\`${'x'.repeat(499)}…\``);
  });
});

forAll([fc.oneof(text, fc.string()), text])('a code span shows exactly the text, beside others', (given, other) => {
  const line = `${markdownCode(given)}, then: ${markdownCode(other)}`;
  expect(codesOf(spansOf(line))).toEqual([shownText(given), shownText(other)].filter(Boolean));
  expect(proseOf(spansOf(line))).toBe(', then: ');
  const columns = [{ title: 'one' }, { title: 'other' }];
  const [, , row = ''] = markdownText([table(columns, [[named(given), named(other)]])]).split('\n');
  const cells = cellsOf(row);
  expect(cells.map((cell) => codesOf(spansOf(cell)))).toEqual(
    [given, other].map((one) => [shownText(one)].filter(Boolean)),
  );
});

/** The codes of each part of a plan, and all that is no code. */
function readPlan(markdown: string) {
  const lines = markdown.split('\n');
  const rest = lines.filter((line) => !/^<\/?details>/.test(line) && !/^\| ---/.test(line));
  const table = lines.filter((line) => line.startsWith('|')).slice(2);
  const lists = lines.filter((line) => line.startsWith('- '));
  const cells = table.map((line) => cellsOf(line).map((cell) => spansOf(cell)));
  const listed = lists.map((line) => spansOf(line.slice(2)));
  const others = rest.filter((line) => !line.startsWith('|') && !line.startsWith('- ')).slice(1);
  return {
    title: spansOf(lines[0]?.slice('### '.length) ?? ''),
    table: cells.map((row) => row.map(codesOf)),
    lists: listed.map(codesOf),
    prose: [
      ...cells.flatMap((row) => row.slice(1)).map(proseOf),
      ...listed.map((spans) => proseOf(spans).replaceAll('**', '')),
      ...others.map((line) => proseOf(spansOf(line.replaceAll(/\*\*/g, '')))),
    ].join('\n'),
  };
}

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
  expect(rest.at(-2)).toMatch(/^… and \d+ more lines$/);
});
