import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Diagram, DiagramNode, GateNode, WorkNode } from '../../../src/report/diagram/diagram.ts';
import { type Arrow, layOut, type Point } from '../../../src/report/diagram/diagram-layout.ts';
import type { Link } from '../../../src/report/diagram/diagram-links.ts';
import { diagramSvg } from '../../../src/report/diagram/diagram-svg.ts';
import { diagramDot, diagramJson, diagramMermaid } from '../../../src/report/diagram/text-formats.ts';
import { runs } from '../../rig/runs.ts';

const none = { done: 0, running: 0, failed: 0, lost: 0, unresolved: 0, changed: 0, 'not-bought': 0, unneeded: 0 };
const free = { spent: 0, held: 0, toSpend: 0, expected: 0, waiting: 0, unpriced: 0 };

function task(id: string, more: Partial<WorkNode> = {}): WorkNode {
  return { is: 'task', id, task: id, kind: 'image', steps: 1, states: { ...none, done: 1 }, credits: free, ...more };
}

function gate(of: string, more: Partial<GateNode> = {}): GateNode {
  const states = { decided: 0, open: 2, contested: 0, rejected: 0 };
  return { is: 'gate', id: `gate:${of}`, task: of, asks: 'choose', choose: 1, states, ...more };
}

function diagram(nodes: DiagramNode[], edges: [string, string, ...Link[]][] = [], campaign = 'test'): Diagram {
  return { campaign, by: 'task', nodes, edges: edges.map(([from, to, ...links]) => ({ from, to, links })) };
}

/** One of each. */
const full = diagram(
  [
    task('hero', {
      steps: 12,
      states: { ...none, done: 8, failed: 1, 'not-bought': 3 },
      credits: { ...free, spent: 18, toSpend: 4, expected: 2, unpriced: 1 },
      description: 'each product on its ground',
    }),
    gate('hero'),
    task('talk', { kind: 'clipping', canary: { rule: 'ask', state: 'open' } }),
    task('clip', { fanOut: 'open', steps: 5, states: { ...none, 'not-bought': 5 }, credits: { ...free, waiting: 7 } }),
    task('poster', { kind: 'music', credits: { ...free, held: 3 } }),
  ],
  [
    ['hero', 'gate:hero', { is: 'gate' }],
    ['gate:hero', 'poster', { is: 'one', by: ['key', 'ratio'] }, { is: 'all' }],
    ['talk', 'clip', { is: 'part' }],
    ['clip', 'poster', { is: 'needs', by: [] }],
  ],
);

/** What names and descriptions may hold to get out of where they stand. */
const corpus = [
  '</text><script>alert(1)</script>',
  '"]; click n0 "javascript:alert(1)"',
  'end',
  'a"b\'c`d',
  '%%{init: {"theme":"dark"}}%%',
  'x]]>y<!-- z -->',
  '{{x}} [y] (z) |w| <u>',
  '&lt;b&gt; &#34; #quot;',
  'back\\slash\\',
  'line\nfeed\r\ttab',
  '\u202egnp.exe\u0000\u0007\ufffe\ud800',
  '日本語のとても長い名前です。これは切られます。もっともっと長くします',
  'emoji 🎨👩‍🚀 and é',
  '1. list\n- item',
];

const hostile = diagram(
  corpus.map((text, index) => task(`t${index}${text}`, { kind: text, description: text })),
  corpus
    .slice(1)
    .map((text, index) => [`t${index}${corpus[index]}`, `t${index + 1}${text}`, { is: 'one', by: [text] }]),
  corpus[0],
);

function svgOf(given: Diagram): string {
  const svg = diagramSvg(given);
  if (svg === undefined) throw new Error('nothing is drawn');
  return svg;
}

function mermaidOf(given: Diagram): string {
  const text = diagramMermaid(given);
  if (text === undefined) throw new Error('nothing is drawn');
  return text;
}

interface Element {
  name: string;
  attributes: { [name: string]: string };
  text: string;
}

/** Reads XML as strictly as a browser does: what is not well-formed throws. */
function readXml(xml: string): Element[] {
  const elements: Element[] = [];
  const open: Element[] = [];
  const token = /<!--[^-]*-->|<(\/)?([a-zA-Z]+)((?: [a-zA-Z:-]+="[^"<]*")*)(\/)?>|([^<]+)/gy;
  let end = 0;
  for (let found = token.exec(xml); found !== null; found = token.exec(xml)) {
    end = token.lastIndex;
    const [, closing, name, written = '', empty, text] = found;
    if (text !== undefined) {
      if (/&(?!#\d+;)/.test(text)) throw new Error(`no entity: ${text}`);
      const top = open.at(-1);
      if (top !== undefined) top.text += text.replace(/&#(\d+);/g, (_all, code) => String.fromCodePoint(Number(code)));
    } else if (closing !== undefined) {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes something else`);
    } else if (name !== undefined) {
      const pairs = [...written.matchAll(/([a-zA-Z:-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]);
      const element: Element = { name, attributes: Object.fromEntries(pairs), text: '' };
      elements.push(element);
      if (empty === undefined) open.push(element);
    }
  }
  if (end !== xml.length || open.length > 0) throw new Error(`not well-formed after ${xml.slice(end - 60, end + 60)}`);
  return elements;
}

describe('as SVG', () => {
  it('has a title, a description in words, and every node with its edges', () => {
    const elements = readXml(svgOf(full));
    const texts = elements.filter(({ name }) => name === 'text').map(({ text }) => text);
    expect(texts).toEqual(
      expect.arrayContaining([
        'test',
        '4 tasks, 19 steps · 18 cr spent · 3 cr reserved · ≈ 6 cr to spend · 7 cr waiting · 1 unpriced',
        'hero',
        'image · 12 steps',
        '8 done · 1 failed · 3 not bought',
        'gate: pick 1',
        '2 open',
        'image · up to 5 steps',
        'by key, ratio + all 2',
        'canary: the rest waits for a pick',
        'part of',
        'after',
      ]),
    );
    const [title, ...hovers] = elements.filter(({ name }) => name === 'title').map(({ text }) => text);
    expect(title).toBe('test');
    expect(hovers.find((text) => text.startsWith('hero\nimage'))).toContain('each product on its ground');
    const description = elements.find(({ name }) => name === 'desc')?.text;
    expect(description).toContain('gate:hero'.slice(5));
    expect(description).toContain('hero → poster (by key, ratio + all 2).');
    expect(elements.filter(({ name }) => name === 'path' || name === 'polygon').length).toBeGreaterThanOrEqual(5);
  });

  it('lets nothing out of its text, and has nothing that runs or is fetched', () => {
    const svg = svgOf(hostile);
    const elements = readXml(svg);
    const known = ['svg', 'title', 'desc', 'style', 'defs', 'marker', 'path', 'rect', 'text', 'g', 'polygon'];
    expect([...new Set(elements.map(({ name }) => name))].filter((name) => !known.includes(name))).toEqual([]);
    const attributes = elements.flatMap((element) => Object.keys(element.attributes));
    expect(attributes.filter((name) => name.startsWith('on') || name.includes('href'))).toEqual([]);
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\((?!#graph-head\))|@import/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
    expect(svg).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e\ufffe\uffff]/);
  });

  it('shortens long names, which are whole when pointed at', () => {
    const name = `a${'_very'.repeat(20)}_long_name`;
    const elements = readXml(svgOf(diagram([task(name)])));
    expect(elements.some(({ name: is, text }) => is === 'text' && text === name)).toBe(false);
    expect(elements.some(({ name: is, text }) => is === 'title' && text.startsWith(`${name}\n`))).toBe(true);
  });

  it('shows a state of one step among thousands', () => {
    const states = { ...none, done: 9999, failed: 1 };
    const bars = readXml(svgOf(diagram([task('big', { steps: 10_000, states })]))).filter(
      ({ attributes }) => attributes.class === 'failed' && attributes.height === '6',
    );
    expect(bars).toHaveLength(1);
    expect(Number(bars[0]?.attributes.width)).toBeGreaterThanOrEqual(3);
  });

  it('draws nothing of what nobody could read', () => {
    expect(diagramSvg(diagram(Array.from({ length: 301 }, (_, index) => task(`t${index}`))))).toBeUndefined();
    expect(readXml(svgOf(diagram([])))).not.toEqual([]);
  });
});

interface Area extends Point {
  width: number;
  height: number;
  what: string;
}

const overlap = (a: Area, b: Area) =>
  Math.abs(a.x - b.x) * 2 < a.width + b.width - 0.4 && Math.abs(a.y - b.y) * 2 < a.height + b.height - 0.4;

/** Boxes and labels that overlap, and lines that run through them. */
function collisions(width: number, heights: number[], arrows: Arrow[]): string[] {
  const { boxes, arrows: placed } = layOut(width, heights, arrows);
  const areas: Area[] = [
    ...boxes.map((at, index) => ({ ...at, width, height: heights[index] ?? 0, what: `box ${index}` })),
    ...placed.flatMap(({ label }, index) => {
      const size = arrows[index]?.label;
      return label === undefined || size === undefined ? [] : [{ ...label, ...size, what: `label ${index}` }];
    }),
  ];
  const found = areas.flatMap((one, index) =>
    areas.slice(index + 1).flatMap((other) => (overlap(one, other) ? [`${one.what} over ${other.what}`] : [])),
  );
  for (const [index, { points }] of placed.entries()) {
    // Level pieces only: bends are between columns, where nothing stands.
    for (const [at, start] of points.entries()) {
      const end = points[at + 1];
      if (end === undefined || start.y !== end.y) continue;
      const piece = { x: (start.x + end.x) / 2, y: start.y, width: end.x - start.x, height: 1, what: '' };
      for (const area of areas) {
        if (area.what !== `label ${index}` && overlap(piece, area)) found.push(`line ${index} through ${area.what}`);
      }
    }
  }
  return found;
}

describe('the layout', () => {
  const edge = (boxes: number) =>
    fc
      .tuple(fc.nat(boxes - 1), fc.nat(boxes - 1), fc.option(fc.integer({ min: 20, max: 180 })))
      .filter(([from, to]) => from < to);
  const arbitrary = fc.integer({ min: 2, max: 24 }).chain((boxes) =>
    fc.record({
      heights: fc.array(fc.integer({ min: 40, max: 110 }), { minLength: boxes, maxLength: boxes }),
      edges: fc.uniqueArray(edge(boxes), { maxLength: 40, selector: ([from, to]) => `${from} ${to}` }),
    }),
  );

  it('lets neither boxes nor labels overlap, nor lines run through them', () => {
    fc.assert(
      fc.property(arbitrary, ({ heights, edges }) => {
        const arrows = edges.map(([from, to, width]) => ({
          from,
          to,
          label: width === null ? undefined : { width, height: 18 },
        }));
        expect(collisions(200, heights, arrows)).toEqual([]);
      }),
      { numRuns: runs(150) },
    );
  });
});

describe('as Mermaid', () => {
  it('says what the picture says', () => {
    expect(mermaidOf(full)).toMatchSnapshot();
  });

  it('has only its own signs outside of letters and numbers', () => {
    const lines = mermaidOf(hostile).split('\n');
    const allowed =
      /^(?:%% mediabatch graph|flowchart LR| {2}acc(?:Title|Descr): [\p{L}\p{M}\p{N} .,/@+·≈…-]*| {2}n\d+\["[^"`<>\\|{}[\]()%;&]*(?:#\d+;|<br\/>|[^"`<>\\|{}[\]()%;&])*"\]| {2}n\d+ -->\|"(?:#\d+;|[^"`<>\\|{}[\]()%;&])*"\| n\d+|)$/u;
    expect(lines.filter((line) => !allowed.test(line))).toEqual([]);
    expect(lines).toHaveLength(4 + corpus.length * 2 - 1 + 1);
  });

  it('stays below what viewers draw, with names alone if need be', () => {
    const many = (count: number, name: string) =>
      diagram(Array.from({ length: count }, (_, index) => task(`${name}${index}`)));
    const short = mermaidOf(many(1300, 'a'));
    expect(short.length).toBeLessThanOrEqual(50_000);
    expect(short).toContain('%% names alone');
    expect(short).not.toContain('done');
    expect(diagramMermaid(many(900, 'a'.repeat(80)))).toBeUndefined();
    const edges = Array.from({ length: 501 }, (_, index): [string, string, Link] => [
      `t${index % 30}`,
      `t${30 + (index % 31)}`,
      { is: 'all' },
    ]);
    const tasks = Array.from({ length: 61 }, (_, index) => task(`t${index}`));
    expect(diagramMermaid(diagram(tasks, edges))).toBeUndefined();
    expect(diagramMermaid(diagram(tasks, edges.slice(1)))).toBeDefined();
  });
});

describe('as DOT', () => {
  it('says what the picture says', () => {
    expect(diagramDot(full)).toMatchSnapshot();
  });

  it('closes every quotation, whatever stands in it', () => {
    const text = diagramDot(hostile);
    const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, '""');
    expect(outside).not.toMatch(/[<>&'`\\](?!\s)|script|javascript/);
    expect(outside.split('\n').every((line) => /^(?:\/\/ mediabatch graph|digraph "" \{|\}|| {2}.*)$/.test(line))).toBe(
      true,
    );
    expect(text).toContain('back\\\\slash\\\\');
    expect(text).toContain('&amp;lt;b&gt;'.replace('&gt;', '&amp;gt;'));
  });
});

describe('as JSON', () => {
  const schema = JSON.parse(readFileSync(new URL('../../../schemas/graph.schema.json', import.meta.url), 'utf8'));
  const validate = new Ajv2020({ strict: true, strictRequired: false }).compile(schema);

  it('has its published form', () => {
    for (const one of [full, hostile, diagram([])]) {
      expect(validate(diagramJson(one)), JSON.stringify(validate.errors)).toBe(true);
    }
    const step = diagram([task('a', { is: 'step', fanOut: 'known' }), gate('a', { asks: 'approve' })]);
    expect(validate(diagramJson({ ...step, by: 'step' })), JSON.stringify(validate.errors)).toBe(true);
  });

  test.each<[string, object]>([
    ['another version', { version: 2 }],
    ['a node of no kind', { nodes: [{ ...task('a'), kind: undefined }] }],
    ['a state that there is not', { nodes: [{ ...task('a'), states: { ...none, sold: 1 } }] }],
    ['an edge that does not say how', { edges: [{ from: 'a', to: 'b', links: [] }] }],
  ])('refuses %s', (_name, change) => {
    const document = JSON.parse(JSON.stringify({ ...(diagramJson(full) as object), ...change }));
    expect(validate(document)).toBe(false);
  });
});

test('the same diagram is the same text, time and again', () => {
  const all = (one: Diagram) => [
    diagramSvg(one),
    diagramMermaid(one),
    diagramDot(one),
    JSON.stringify(diagramJson(one)),
  ];
  const first = all(full);
  all(hostile);
  expect(all(JSON.parse(JSON.stringify(full)))).toEqual(first);
});
