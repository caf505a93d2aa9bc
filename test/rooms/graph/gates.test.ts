import { describe, expect, it, test } from 'vitest';
import { graphOf } from '../../rig/campaign.ts';
import { load, steps, tasks } from '../manifest/load.ts';

const takes = '  hero: { kind: image, foreach: [A, B], takes: 3, gate: { choose: 1 }, with: { prompt: "{{row}}" } }';
const styles = (gate: string) =>
  `  hero: { kind: image, foreach: [A, B], matrix: { style: [warm, cold], r: ["1:1", "9:16"] }, gate: ${gate}, with: { prompt: "{{row}} {{matrix.style}}" } }`;
const use = (rest: string) => `  use: { kind: image, ${rest} }`;

/** The references of each step of `use`, and how many steps it stands behind. */
function seen(...lines: string[]): string[] {
  return steps(tasks(...lines))
    .filter(({ task }) => task === 'use')
    .map(({ address, request, needs }) => {
      const references = JSON.stringify(request).match(/"\$ref":"[^"]+","field":"\w+"(,"pick":\d)?/g) ?? [];
      const names = references.map((one) =>
        one.replace(/"\$ref":"([^"]+)","field":"\w+"(?:,"pick":(\d))?/, '$1 $2').trim(),
      );
      return `${address} < ${names.join(', ')} of ${needs.length}`;
    });
}

describe('a gate', () => {
  it.each(['{ approve: true, REST }', '{ choose: 1, among: all, REST }'])('has the reasons of its task: %s', (gate) => {
    const written = gate.replace('REST', 'note: calm, reasons: [hands, "text in it"]');
    const { graph } = load(tasks(`  hero: { kind: image, foreach: [A, B], gate: ${written}, with: { prompt: x } }`));
    for (const { note, reasons } of graph?.gates ?? [])
      expect([note, reasons]).toEqual(['calm', ['hands', 'text in it']]);
    expect(graph?.gates?.length).toBeGreaterThan(0);
  });

  it('has a title for people: its template, else the first short text of the row that is more than a word', () => {
    const rows = 'foreach: [{ id: a1, name: Desk lamp, url: "https://x.test/a b" }, { id: b2 }]';
    const titles = (gate: string) =>
      steps(tasks(`  hero: { kind: image, ${rows}, key: "{{row.id}}", gate: ${gate}, with: { prompt: x } }`)).map(
        ({ title }) => title,
      );
    expect(titles('approve')).toEqual(['Desk lamp', 'b2']);
    expect(titles('{ approve: true, title: "No. {{row.id}}" }')).toEqual(['No. a1', 'No. b2']);
    // One word in `title` counts, and the title that a gate gives to a row is that of a film of the row.
    const shared = (given: string, cells: string) =>
      steps(
        tasks(
          `  hero: { kind: image, foreach: &rows [{ ${cells} }], key: a, gate: { approve: true${given} }, with: { prompt: x } }\n` +
            '  film: { kind: video, foreach: *rows, key: a, with: { prompt: x } }',
        ),
      ).map(({ title }) => title);
    expect(shared('', 'place: the old harbour, title: Apples')).toEqual(['Apples', 'Apples']);
    expect(shared(', title: "{{row.label}}"', 'place: the old harbour, label: Apples')).toEqual(['Apples', 'Apples']);
    const withoutRows = '  hero: { kind: image, gate: { approve: true, title: Hero }, with: { prompt: x } }';
    const other = '  film: { kind: video, with: { prompt: x } }';
    expect(steps(tasks(`${withoutRows}\n${other}`)).map(({ title }) => title)).toEqual(['Hero', undefined]);
    const { found } = load(
      tasks('  hero: { kind: image, gate: { approve: true, title: "{{row.x}}" }, with: { prompt: x } }'),
    );
    expect(found.join()).toContain('MB1203');
  });
});

const shown = 'with: { prompt: "{{tasks.hero.url}}" }';

it.each<[name: string, hero: string, keys: string, expected: string[]]>([
  [
    'is to what is picked of its takes, which take no part in joins',
    takes,
    `foreach: [A, B], takes: 2, ${shown}`,
    ['use@A/1 < hero@A 1 of 1', 'use@A/2 < hero@A 1 of 1', 'use@B/1 < hero@B 1 of 1', 'use@B/2 < hero@B 1 of 1'],
  ],
  [
    'is to the value of an axis; the others join as ever',
    styles('{ choose: 1, among: style }'),
    `foreach: [A], matrix: { style: [cold], r: ["9:16"] }, ${shown}`,
    ['use@A,cold,9:16 < hero@A,9:16 1 of 1'],
  ],
  [
    'is to one of all steps, from any row',
    styles('{ choose: 1, among: all }'),
    `foreach: [A], ${shown}`,
    ['use@A < hero 1 of 1'],
  ],
  [
    'is a list of as many as are picked',
    styles('{ choose: 2, among: all }'),
    'with: { prompt: x, referenceImages: "{{tasks.hero.urls}}" }',
    ['use < hero 1, hero 2 of 1'],
  ],
  [
    'with approve is to the step itself',
    styles('approve'),
    `foreach: [A], matrix: { style: [cold], r: ["1:1"] }, ${shown}`,
    ['use@A,cold,1:1 < hero@A,cold,1:1 of 1'],
  ],
  [
    'by `needs` is to all that are asked about',
    takes,
    'foreach: [B], needs: [hero], with: { prompt: x }',
    ['use@B <  of 1'],
  ],
])('a reference to a task with a gate: %s', (_name, first, keys, expected) => {
  expect(seen(first, use(keys))).toEqual(expected);
});

/** The takes with another choice at their gate. */
const choosing = (other: string) => takes.replace('choose: 1', other);

it.each<[name: string, lines: string[], at: string, says: string]>([
  ['more than there are', [choosing('choose: 4')], 'MB1103 4', 'chooses 4, but hero@A has 3 outputs'],
  ['an axis that is none', [styles('{ choose: 1, among: stile }')], 'MB1103 stile', 'is `stile`, which is not an axis'],
  [
    'takes where there is one',
    [takes.replace('takes: 3, ', '')],
    'MB1103 choose',
    'lets users choose among takes, but the task has only one take',
  ],
  ['approve with among', [choosing('approve: true, among: takes')], 'MB1103 among', 'both `approve` and `among`'],
  ['no number', [choosing('among: takes')], 'MB1102 gate', 'has no `choose`'],
  [
    'a misspelled number, without consequences for those who use it',
    [choosing('chose: 1'), use(`foreach: [A], ${shown}`)],
    'MB1101 chose',
    '`chose` is not a key of `gate`',
  ],
  ['a word that is none', [takes.replace('{ choose: 1 }', 'maybe')], 'MB1103 maybe', 'is "maybe"'],
  [
    'of an upload',
    ['  up: { kind: upload, gate: approve, with: { file: x.png } }'],
    'MB1103 gate',
    '`gate` of task `up` has no meaning: an upload costs nothing',
  ],
  [
    'a single reference to several',
    [choosing('choose: 2'), use(`foreach: [A], ${shown}`)],
    'MB1405 tasks.hero.url',
    'is one output, but 2 are picked',
  ],
  [
    '`from` that chooses what the gate chooses',
    [takes, use(`foreach: [A], from: { hero: { take: 2 } }, ${shown}`)],
    'MB1405 take',
    '`take` of `hero` is chosen at its gate',
  ],
  [
    'parts of what is chosen',
    [
      '  talk: { kind: clipping, takes: 2, gate: { choose: 1 }, with: { videoUrl: "https://a.example/x.mp4" } }',
      use('foreach: "{{tasks.talk.clips}}", maxItems: 2, with: { prompt: "{{row.url}}" }'),
    ],
    'MB1405 "{{tasks.talk.clips}}"',
    'cannot be used in `foreach`',
  ],
])('a gate that cannot be: %s', (_name, lines, at, says) => {
  const text = tasks(...lines);
  const { diagnostics } = load(text, { uploads: { 'x.png': { sha256: 'ab', bytes: 2 } } });
  const seen = diagnostics.map(({ code, place }) => `${code} ${text.slice(place?.start.offset, place?.end.offset)}`);
  expect(seen, JSON.stringify(diagnostics)).toEqual([at]);
  expect(diagnostics[0]?.message).toContain(says);
  expect(diagnostics[0]?.hint).toBeTruthy();
});

const campaign = (task: string) => `version: 1\nname: test\ntasks:\n  hero: { ${task} }\n`;

test.each<[name: string, task: string, expected: unknown]>([
  [
    'one is the first',
    'kind: image, takes: 2, canary: { then: ask }, with: { prompt: x }',
    [{ name: 'canary of hero', task: 'hero', first: 1, asks: true, members: ['hero/1', 'hero/2'] }],
  ],
  [
    'prices have canaries of their own',
    'kind: image, foreach: [A, B], matrix: { r: [1k, 4k] }, canary: 1, with: { prompt: "{{row}}", resolution: "{{matrix.r}}" }',
    [
      {
        ...{ name: 'canary of hero (image/alpha-2/resolution=1k)', task: 'hero', first: 1, asks: false },
        members: ['hero@A,1k', 'hero@B,1k'],
      },
      {
        ...{ name: 'canary of hero (image/alpha-2/resolution=4k)', task: 'hero', first: 1, asks: false },
        members: ['hero@A,4k', 'hero@B,4k'],
      },
    ],
  ],
  ['there are none without the key', 'kind: image, with: { prompt: x }', undefined],
])('%s', (_name, task, expected) => {
  expect(graphOf(campaign(task)).canaries).toEqual(expected);
});

describe('when', () => {
  const data = { 'rows.csv': 'sku,live,style\na,true,x\nb,false,\nc,,z\n' };
  const manifest = (when: string, more = '') => `version: 1
name: t
tasks:
  hero:
    kind: image
    foreach: rows.csv
    key: "{{row.sku}}"
    matrix: { ratio: ["1:1", "9:16"] }
    when: ${when}
    with: { prompt: "{{row.sku}}", aspectRatio: "{{matrix.ratio}}" }
${more}`;

  const addresses = (when: string) => steps(manifest(when), { data }).map(({ address }) => address);

  test.each([
    ['"{{row.live}}"', ['hero@a,1:1', 'hero@a,9:16']],
    ['"{{not row.style}}"', ['hero@b,1:1', 'hero@b,9:16']],
    [`"{{and row.live (eq matrix.ratio '1:1')}}"`, ['hero@a,1:1']],
    ['"{{eq key \'c\'}}"', ['hero@c,1:1', 'hero@c,9:16']],
    ['false', []],
  ])('%s', (when, wanted) => {
    expect(addresses(when)).toEqual(wanted);
  });

  test('true leaves everything', () => {
    expect(addresses('true')).toHaveLength(6);
  });

  test.each([
    ['"{{row.sku}}"', 'MB1409', '"a"'],
    ['"yes"', 'MB1103', '"yes"'],
    ['"{{row.lvie}}"', 'MB1203', 'row.lvie'],
    ['"{{tasks.hero.url}}"', 'MB1202', 'tasks'],
  ])('%s is refused: %s', (when, code, seen) => {
    const { diagnostics } = load(manifest(when), { data });
    expect(diagnostics[0]?.code, JSON.stringify(diagnostics)).toBe(code);
    expect(diagnostics[0]?.message).toContain(seen);
  });

  test('a list of steps that are all left out says so', () => {
    const cover = '  cover: { kind: image, with: { prompt: c, referenceImages: "{{tasks.hero.urls}}" } }\n';
    const { diagnostics } = load(manifest('false', cover), { data });
    expect(diagnostics.map(({ code }) => code)).toEqual(['MB1405']);
    expect(diagnostics[0]?.message).toContain(
      '`tasks.hero.urls` matches no step: hero@a,1:1 is left out by its `when`',
    );
    expect(diagnostics[0]?.hint).toContain('the same `when`');
  });

  test('a reference to a step that is left out says so', () => {
    const cover =
      '  cover: { kind: image, with: { prompt: c, referenceImages: ["{{tasks.hero.url}}"] }, from: { hero: { key: b, ratio: "1:1" } } }\n';
    const { diagnostics } = load(manifest('"{{row.live}}"', cover), { data });
    expect(diagnostics.map(({ code }) => code)).toEqual(['MB1405']);
    expect(diagnostics[0]?.message).toContain('hero@b,1:1 is left out by its `when`');
  });

  test('`needs` waits for its own row, and for nothing where that is left out', () => {
    const more = '  late: { kind: image, foreach: [a, b], needs: [hero], with: { prompt: "late {{row}}" } }\n';
    const made = steps(manifest('"{{row.live}}"', more), { data });
    const needsOf = (address: string) => made.find((step) => step.address === address)?.needs;
    expect(needsOf('late@a')).toEqual(['hero@a,1:1', 'hero@a,9:16']);
    expect(needsOf('late@b')).toEqual([]);
  });
});
