import { describe, expect, it, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock } from '../../../src/lock/record.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { type DiagramFacts, type DiagramNode, makeDiagram } from '../../../src/report/diagram/diagram.ts';
import { graphOf } from '../../rig/campaign.ts';
import { deciding, job, lockOf, planOf, saved, stepOf } from '../plan/facts.ts';

function campaign(...lines: string[]): Graph {
  return graphOf(`version: 1\nname: test\ntasks:\n${lines.map((line) => `  ${line}`).join('\n')}\n`);
}

type Shown = Partial<DiagramFacts> & { lock?: Lock };

function draw(graph: Graph, { lock = lockOf({}), ...more }: Shown = {}) {
  return makeDiagram({ situation: situate(graph, lock), plan: planOf(graph, lock), by: 'task', ...more });
}

/** `hero → poster: one by key`. */
function edges(graph: Graph, more: Shown = {}): string[] {
  return draw(graph, more).edges.map(({ from, to, links }) => {
    const words = links.map((link) => ('by' in link ? [link.is, ...link.by].join(' ') : link.is));
    return `${from} → ${to}: ${words.join(' + ')}`;
  });
}

function nodeOf(nodes: readonly DiagramNode[], id: string): DiagramNode {
  const node = nodes.find((one) => one.id === id);
  if (node === undefined) throw new Error(`no node ${id} among ${nodes.map((one) => one.id).join()}`);
  return node;
}

const hero = 'hero: { kind: image, foreach: [a, b], matrix: { ratio: ["1:1", "9:16"] }, with: { prompt: "{{row}}" } }';

describe('edges say how steps join', () => {
  test.each([
    [
      'by key and axes',
      'image',
      'foreach: [a, b], matrix: { ratio: ["1:1", "9:16"] }',
      '"{{tasks.hero.url}}"',
      'one key ratio',
    ],
    [
      'by an axis',
      'image',
      'matrix: { ratio: ["1:1", "9:16"] }, from: { hero: { key: a } }',
      '"{{tasks.hero.url}}"',
      'one ratio',
    ],
    ['one that is picked', 'image', 'from: { hero: { key: a, ratio: "1:1" } }', '"{{tasks.hero.url}}"', 'one'],
    ['all', 'image', '', '"{{tasks.hero.urls}}"', 'all'],
    ['a list of some', 'image', 'from: { hero: { key: a } }', '"{{tasks.hero.urls}}"', 'several'],
    [
      'some of the same key',
      'image',
      'foreach: [a, b], from: { hero: { key: "{{key}}" } }',
      '"{{tasks.hero.urls}}"',
      'several key',
    ],
  ])('%s', (_name, kind, how, images, link) => {
    const list = images.includes('urls') ? images : `[${images}]`;
    const use = `use: { kind: ${kind}, ${how === '' ? '' : `${how}, `}with: { prompt: x, referenceImages: ${list} } }`;
    expect(edges(campaign(hero, use))).toEqual([`hero → use: ${link}`]);
  });

  it('only after it, with or without a join', () => {
    const late = 'late: { kind: image, foreach: [a, b], needs: [hero], with: { prompt: "{{row}}" } }';
    const last = 'last: { kind: image, needs: [hero], with: { prompt: x } }';
    expect(edges(campaign(hero, late, last))).toEqual(['hero → late: needs key', 'hero → last: needs']);
  });

  it('in several ways at once, each told once', () => {
    const two =
      'two: { kind: image, foreach: [a, b], with: { prompt: "{{row}} {{tasks.one.url}}", referenceImages: "{{tasks.one.urls}}" } }';
    const graph = campaign('one: { kind: image, foreach: [a, b], with: { prompt: "{{row}}" } }', two);
    expect(edges(graph)).toEqual(['one → two: one key + all']);
  });

  it('parts, whose number nobody knows yet', () => {
    const graph = campaign(
      'talk: { kind: clipping, with: { videoUrl: "https://a.example/t.mp4" } }',
      'share: { kind: thumbnail, foreach: "{{tasks.talk.clips}}", maxItems: 4, with: { title: x, prompt: "{{row.url}}" } }',
    );
    expect(edges(graph)).toEqual(['talk → share: part']);
    expect(nodeOf(draw(graph).nodes, 'share')).toMatchObject({ steps: 4, fanOut: 'open' });
  });
});

describe('gates stand between what they ask about and what uses it', () => {
  const graph = campaign(
    'look: { kind: music, takes: 2, foreach: [a, b], gate: { choose: 1 }, with: { model: song-7.5, prompt: "{{row}}" } }',
    'film: { kind: music, foreach: [a, b], gate: approve, with: { model: song-7.5, prompt: "{{row}} {{tasks.look.url}}" } }',
    'end: { kind: music, with: { model: song-7.5, prompt: "x" }, needs: [film] }',
  );

  it('by task', () => {
    expect(edges(graph)).toEqual([
      'look → gate:look: gate',
      'gate:look → film: one key',
      'film → gate:film: gate',
      'gate:film → end: needs',
    ]);
    expect(draw(graph).nodes.map(({ id }) => id)).toEqual(['look', 'gate:look', 'film', 'gate:film', 'end']);
  });

  it('by step', () => {
    const { nodes, edges: found } = draw(graph, { by: 'step' });
    expect(nodes.map(({ id }) => id).slice(0, 6)).toEqual([
      'look@a/1',
      'look@a/2',
      'gate:look@a',
      'look@b/1',
      'look@b/2',
      'gate:look@b',
    ]);
    expect(found.map(({ from, to }) => `${from} ${to}`)).toContain('gate:look@a film@a');
    expect(found.map(({ from, to }) => `${from} ${to}`)).not.toContain('gate:look@a film@b');
  });

  it('know what people decided, which changes no edge', () => {
    const step = stepOf(graph, 'look@a/1');
    const bought = lockOf({ 'look@a/1': [saved(step)] });
    const { fingerprint, jobId: job = '' } = saved(step);
    const lock = deciding(bought, 'look@a/1', { verdicts: [{ fingerprint, job, is: 'picked', revision: 1 }] });
    expect(nodeOf(draw(graph, { lock }).nodes, 'gate:look')).toMatchObject({
      asks: 'choose',
      choose: 1,
      states: { decided: 1, open: 1, contested: 0, rejected: 0 },
    });
    expect(edges(graph, { lock })).toEqual(edges(graph));
  });
});

describe('a node has', () => {
  const graph = campaign(
    'tune: { kind: music, foreach: [a, b, c, d], with: { model: song-7.5, prompt: "{{row}}" } }',
    'next: { kind: music, with: { model: song-7.5, prompt: "{{tasks.tune.url}}" }, from: { tune: { key: a } } }',
  );
  const lock: Lock = lockOf({
    'tune@a': [saved(stepOf(graph, 'tune@a'))],
    'tune@b': [job(stepOf(graph, 'tune@b'), { state: 'failed' })],
    'tune@c': [job(stepOf(graph, 'tune@c'))],
    'tune@gone': [saved(stepOf(graph, 'tune@a'), { fingerprint: '1:gone', jobId: 'gone' })],
  });

  it('its steps by state, and the credits of its task: rows that are gone were paid for, too', () => {
    const node = nodeOf(draw(graph, { lock }).nodes, 'tune');
    expect(node).toMatchObject({
      steps: 4,
      states: { done: 1, failed: 1, running: 1, 'not-bought': 1 },
      credits: { spent: 16, toSpend: 4, unpriced: 0 },
    });
  });

  it('only what is selected', () => {
    const selected = new Set(['tune@a', 'next']);
    const { nodes, edges: found } = draw(graph, { lock, selected });
    expect(nodeOf(nodes, 'tune')).toMatchObject({ steps: 1, credits: { spent: 4, toSpend: 0 } });
    expect(found).toHaveLength(1);
    expect(draw(graph, { lock, selected: new Set(['tune@b', 'next']) }).edges).toEqual([]);
  });

  it('no price that nobody knows', () => {
    const pictures = campaign('pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}" } }');
    expect(nodeOf(draw(pictures).nodes, 'pic')).toMatchObject({ credits: { toSpend: 0, expected: 0, unpriced: 2 } });
  });

  it('what waits for the budget', () => {
    const poor = { ...graph, budget: 4 };
    const { nodes } = draw(poor);
    const sum = (name: 'toSpend' | 'waiting') =>
      nodes.reduce((total, node) => total + (node.is === 'gate' ? 0 : node.credits[name]), 0);
    expect(sum('toSpend')).toBe(4);
    expect(sum('waiting')).toBeGreaterThan(0);
  });
});

describe('canaries', () => {
  const tune = (then: string) =>
    campaign(
      `tune: { kind: music, foreach: [a, b, c], canary: { first: 1, then: ${then} }, with: { model: song-7.5, prompt: "{{row}}" } }`,
    );
  const seatsOf = (graph: Graph, lock: Lock) =>
    draw(graph, { lock, by: 'step' }).nodes.flatMap((node) => (node.is !== 'gate' && node.canary ? [node.id] : []));

  test.each(['check', 'ask'])('are a mark on their task, and on the steps that go first (%s)', (then) => {
    const graph = tune(then);
    expect(nodeOf(draw(graph).nodes, 'tune')).toMatchObject({ canary: { rule: then, state: 'open' } });
    expect(draw(graph).edges).toEqual([]);
    expect(seatsOf(graph, lockOf({}))).toEqual(['tune@a']);
  });

  it('have proven themselves when nothing waits any more', () => {
    const graph = tune('check');
    const lock = lockOf({ 'tune@b': [saved(stepOf(graph, 'tune@b'))] });
    expect(nodeOf(draw(graph, { lock }).nodes, 'tune')).toMatchObject({ canary: { rule: 'check', state: 'proven' } });
    expect(seatsOf(graph, lock)).toEqual([]);
  });

  it('wait still when the one that went first failed', () => {
    const graph = tune('check');
    const lock = lockOf({ 'tune@a': [job(stepOf(graph, 'tune@a'), { state: 'failed' })] });
    expect(nodeOf(draw(graph, { lock }).nodes, 'tune')).toMatchObject({ canary: { state: 'open' } });
  });
});

it('draws nothing of no steps', () => {
  const graph = campaign('none: { kind: image, foreach: [a], when: false, with: { prompt: x } }');
  expect(draw(graph)).toMatchObject({ nodes: [], edges: [] });
  expect(draw(graph, { by: 'step' })).toMatchObject({ nodes: [], edges: [] });
});

it('has edges that lead forward only, for 10,000 steps as well', () => {
  const rows = Array.from({ length: 2500 }, (_, index) => `p${index}`).join(', ');
  const graph = campaign(
    `a: { kind: music, foreach: [${rows}], with: { model: song-7.5, prompt: "{{row}}" } }`,
    `b: { kind: music, foreach: [${rows}], with: { model: song-7.5, prompt: "{{tasks.a.url}}" } }`,
    `c: { kind: music, foreach: [${rows}], with: { model: song-7.5, prompt: "{{tasks.b.url}}" }, needs: [a] }`,
    `d: { kind: music, foreach: [${rows}], with: { model: song-7.5, prompt: "{{tasks.c.url}}" } }`,
  );
  const { nodes, edges: found } = draw(graph, { by: 'step' });
  expect(nodes).toHaveLength(10_000);
  const at = new Map(nodes.map(({ id }, index) => [id, index]));
  expect(found.filter(({ from, to }) => (at.get(from) ?? 0) >= (at.get(to) ?? 0))).toEqual([]);
  expect(edges(graph)).toEqual(['a → b: one key', 'a → c: needs key', 'b → c: one key', 'c → d: one key']);
});
