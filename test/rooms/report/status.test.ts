import { describe, expect, it } from 'vitest';
import type { Graph, Step } from '../../../src/graph/graph.ts';
import type { Lock, Purchase, PurchaseState } from '../../../src/lock/record.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { makeStatus, type PresentFiles, type StatusView } from '../../../src/report/status/status.ts';
import { statusView, stepsView } from '../../../src/report/status/status-text.ts';
import { type AnyFacts, sendBy } from '../../rig/facts-of-purchase.ts';
import { paste } from './paste.ts';
import { place, textOf } from './samples.ts';

function step(address: string, fingerprint = `1:${address}`): Step {
  const task = address.split('@')[0] ?? address;
  const request = { prompt: 'a lamp', model: 'alpha-2' };
  return {
    address,
    task,
    kind: 'image',
    matrix: {},
    request,
    paidRequest: request,
    fingerprint,
    needs: [],
    save: `output/${address}`,
    place: place('campaign.yaml', [1, 1], [1, 2]),
    tags: [],
  };
}

function graph(steps: Step[], budget?: number): Graph {
  const ids = [...new Set(steps.map(({ task }) => task))];
  return {
    name: 'aurora-launch',
    steps,
    tasks: ids.map((id) => ({ id, kind: 'image', steps: steps.filter(({ task }) => task === id).length })),
    ...(budget !== undefined && { budget }),
    selectors: {},
    prices: {},
    warnings: [],
  };
}

function purchase(address: string, state: PurchaseState, more: AnyFacts = {}): Purchase {
  const hasJob = state !== 'intent' && state !== 'refused' && state !== 'unresolved';
  const output = { path: `output/${address}.png`, sha256: 'a'.repeat(64), bytes: 1, type: 'image/png' };
  return {
    fingerprint: `1:${address}`,
    generation: 1,
    attempt: 1,
    state,
    key: `key-${address}`,
    ...sendBy(state, `send of ${address}`),
    ...(hasJob && { jobId: `job-${address}`, credits: 5 }),
    ...(state === 'done' && { outputs: [output] }),
    ...more,
  } as Purchase;
}

function lock(purchases: { [address: string]: Purchase[] }): Lock {
  const steps = Object.entries(purchases).map(
    ([address, all]): [string, Lock['steps'] extends Map<string, infer R> ? R : never] => [
      address,
      { address, kind: 'image', purchases: all },
    ],
  );
  return { version: 2, steps: new Map(steps) };
}

const states: PurchaseState[] = ['done', 'running', 'failed', 'lost', 'unresolved', 'intent', 'refused'];
const steps = [...states.map((state) => step(`hero@${state}`)), step('hero@new'), step('hero@gone'), step('logo')];
const full = lock({
  ...Object.fromEntries(states.map((state) => [`hero@${state}`, [purchase(`hero@${state}`, state)]])),
  'hero@gone': [purchase('hero@gone', 'done')],
  logo: [purchase('logo', 'done')],
  'old@x': [purchase('old@x', 'done')],
});
const present: PresentFiles = new Map([
  ['output/hero@done.png', 'intact'],
  ['output/logo.png', 'changed'],
]);
const all = graph(steps, 120);
const facts = { situation: situate(all, full), present };

function taskIn(view: StatusView, id: string) {
  return view.tasks.find((task) => task.id === id);
}

describe('makeStatus', () => {
  it('tells jobs that run from those that have finished and are not saved', () => {
    const jobId = full.steps.get('hero@running')?.purchases[0]?.jobId ?? '';
    const view = makeStatus({ ...facts, finishedJobs: new Set([jobId, 'another']) });
    expect(taskIn(view, 'hero')).toMatchObject({ states: { running: 1, done: 2 }, unsaved: 1 });
    expect(view.rows.filter(({ unsaved }) => unsaved).map(({ address }) => address)).toEqual(['hero@running']);
    const text = textOf(statusView(view, { paste }));
    expect(text).toContain('2 of 9  1 finished, not saved · 1 failed');
    expect(text).not.toContain('running');
  });

  it('counts missing files, not the steps that they are of', () => {
    const output = (n: number) => ({ path: `clips/${n}.mp4`, sha256: '0'.repeat(64), bytes: 1, type: 'video/mp4' });
    const clips = [1, 2, 3].map(output);
    const three = lock({ 'hero@done': [purchase('hero@done', 'done', { outputs: clips })] });
    const two: PresentFiles = new Map([['clips/2.mp4', 'intact']]);
    expect(taskIn(makeStatus({ ...facts, situation: situate(all, three), present: two }), 'hero')?.filesMissing).toBe(
      2,
    );
  });

  it('counts each step of the manifest in one state', () => {
    const view = makeStatus(facts);
    expect(taskIn(view, 'hero')).toEqual({
      id: 'hero',
      kind: 'image',
      steps: 9,
      states: { done: 2, running: 1, failed: 1, lost: 1, unresolved: 2, changed: 0, 'not-bought': 2, unneeded: 0 },
      unsaved: 0,
      filesMissing: 1,
    });
    expect(taskIn(view, 'logo')?.filesMissing).toBe(1);
    expect(view.credits).toEqual({ spent: 35, held: 0, heldUnknown: 2, budget: 120, left: 0 });
    expect(view.orphans).toEqual(['old@x']);
    expect(view.campaign).toBe('aurora-launch');
  });

  it('holds the price of creates whose outcome is not known, once it is known', () => {
    const request = step('a').request;
    const known = lock({ a: [purchase('a', 'unresolved', { request })], b: [purchase('b', 'done', { request })] });
    const view = makeStatus({ ...facts, situation: situate(graph([step('a'), step('b')], 12), known) });
    expect(view.credits).toEqual({ spent: 5, held: 5, heldUnknown: 0, budget: 12, left: 2 });
  });

  it('says of a changed input that something else was bought, and a renamed step for what it was', () => {
    const changed = step('a', '1:other');
    const renamed = step('new-name', '1:old-name');
    const bought = lock({ a: [purchase('a', 'done')], 'old-name': [purchase('old-name', 'done')] });
    const view = makeStatus({ ...facts, situation: situate(graph([changed, renamed]), bought) });
    expect(taskIn(view, 'a')?.states).toMatchObject({ done: 0, changed: 1, 'not-bought': 0 });
    expect(taskIn(view, 'new-name')?.states).toMatchObject({ done: 1 });
    expect(view.orphans).toEqual([]);
  });

  it('has something to say of a campaign that has not begun', () => {
    const view = makeStatus({ ...facts, situation: situate(graph([step('a')], 12), lock({})), present: new Map() });
    expect(textOf(statusView(view, { paste }))).toMatchInlineSnapshot(`
      "aurora-launch: 0 of 1 step done

      a  image  0 of 1  1 not bought

      credits  0 spent · 12 of 12 left
      "
    `);
  });
});

describe('statusView', () => {
  it('is a line per task, the money, and what needs attention', () => {
    expect(textOf(statusView(makeStatus(facts), { paste }))).toMatchInlineSnapshot(`
      "aurora-launch: 3 of 10 steps done

      hero  image  2 of 9  1 running · 1 failed · 1 lost · 2 unresolved · 2 not bought · 1 file missing
      logo  image  1 of 1  1 file missing

      credits  35 spent · 2 creates of unknown price · 0 of 120 left
      files    2 paid files missing or changed; apply fetches them for free
      orphans  1 step in the lock, not in the manifest: old@x

      failed
        2 steps
          hero@failed, hero@lost
          to buy all 2 again: mediabatch apply campaign.yaml --redo 'state:failed state:lost'
      "
    `);
  });

  it('lists ten of many orphans, and lets nothing from outside through', () => {
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`old@\u001b${index}`, [purchase(`old@${index}`, 'done')]]),
    );
    const text = textOf(statusView(makeStatus({ ...facts, situation: situate(graph([]), lock(many)) }), { paste }));
    expect(text).toContain('30 steps in the lock, not in the manifest: old@\\x1b0, ');
    expect(text).toContain(', … and 20 more');
    expect(text).not.toContain('\u001b');
  });
});

describe('stepsView', () => {
  it('cuts what the service says of a step', () => {
    const steps = [{ address: 'a', task: 'a', kind: 'image', state: 'failed', error: 'x'.repeat(501) }] as const;
    expect(textOf(stepsView(steps))).toContain(` ${'x'.repeat(499)}…\n`);
  });
});
