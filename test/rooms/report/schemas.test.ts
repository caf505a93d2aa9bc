import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, it, test } from 'vitest';
import { diagnosticsJson } from '../../../src/report/diagnostics/diagnostics-text.ts';
import { planJson } from '../../../src/report/plan/plan-json.ts';
import { undescribed } from '../../rig/undescribed.ts';
import { at, eventfulRun, fullPlan, mistake, place, plan, row, runStarted } from './samples.ts';

type Schema = { [key: string]: unknown };

function read(name: string): Schema {
  return JSON.parse(readFileSync(new URL(`../../../schemas/${name}`, import.meta.url), 'utf8'));
}

function compile(schema: Schema): ValidateFunction {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  return ajv.compile(schema);
}

const planSchema = read('plan.schema.json');
const eventSchema = read('event.schema.json');
const diagnosticsSchema = read('diagnostics.schema.json');

describe('plan.schema.json', () => {
  const validate = compile(planSchema);
  const broken = (change: (document: Schema & { rows: Schema[]; totals: Schema }) => void) => {
    const document = JSON.parse(JSON.stringify(planJson(fullPlan())));
    change(document);
    return document;
  };

  it('describes what the plan prints, small or full', () => {
    const post = { accounts: ['a'], at: '2030-05-01', perhaps: true as const };
    const posts = [
      row('a', 'create', { credits: 0, post }),
      row('b', 'blocked', { blockedBy: 'consent', post }),
      row('c', 'keep', { changedSince: true }),
    ];
    const cause = { is: 'data', name: 'mood', file: 'products.csv', line: 14 } as const;
    const changes = [
      { field: 'prompt', before: 'warm', after: 'cold', cause },
      { field: 'images', before: ['a', null], after: { from: [1, true] } },
      { field: 'image', cause: { is: 'step', name: 'hero' } as const },
    ];
    const changed = row('a', 'redo', { reason: { code: 'changed', text: 'told', changes, follows: ['hero'] } });
    const small = [plan([changed]), plan([]), plan([row('a', 'create', { credits: null })]), plan(posts, { posts: 1 })];
    for (const value of [...small, fullPlan()]) {
      expect(validate(planJson(value)), JSON.stringify(validate.errors)).toBe(true);
    }
  });

  test.each<[string, Schema]>([
    ['another version', broken((document) => Object.assign(document, { version: 1 }))],
    ['a reason as text', broken(({ rows }) => Object.assign(rows[0] ?? {}, { reason: 'up to date' }))],
    [
      'a reason of a kind that there is not',
      broken(({ rows }) => Object.assign(rows[0] ?? {}, { reason: { code: 'whim', text: 'whim' } })),
    ],
    ['an unknown action', broken(({ rows }) => Object.assign(rows[0] ?? {}, { action: 'buy' }))],
    ['no credits', broken(({ rows }) => delete rows[0]?.credits)],
    ['an order', broken(({ rows }) => Object.assign(rows[0] ?? {}, { order: {} }))],
  ])('refuses %s', (_name, document) => {
    expect(validate(document)).toBe(false);
  });
});

describe('event.schema.json', () => {
  const validate = compile(eventSchema);

  it('describes every event of a run', () => {
    const waiting = at(0, {
      event: 'step-left',
      address: 'share',
      task: 'share',
      kind: 'post',
      action: 'blocked',
      reason: 'waits',
      blockedBy: 'selection',
    });
    for (const event of [...eventfulRun(), waiting, at(0, runStarted([], { posts: 1 }))]) {
      expect(validate(JSON.parse(JSON.stringify(event))), `${event.event}: ${JSON.stringify(validate.errors)}`).toBe(
        true,
      );
    }
  });

  it('knows exactly the events that a run can have', () => {
    const seen = new Set(eventfulRun().map(({ event }) => event));
    const known = (eventSchema.oneOf as { $ref: string }[]).map(({ $ref }) => $ref.replace('#/$defs/', ''));
    expect(new Set(known)).toEqual(seen);
  });

  test.each<[string, Schema]>([
    ['an unknown event', { at: at(0, runStarted([])).at, event: 'job-vanished' }],
    ['an event without a time', { event: 'noticed', message: 'm' }],
    ['a field too many', { ...at(0, { event: 'noticed', message: 'm' }), secret: 's' }],
    ['a job without id', { ...at(0, { event: 'job-completed', address: 'a', jobId: '' }) }],
    ['an unknown outcome', { ...finished(), outcome: 'great' }],
    ['credits left out', { ...finished(), credits: undefined }],
  ])('refuses %s', (_name, event) => {
    expect(validate(JSON.parse(JSON.stringify(event)))).toBe(false);
  });
});

function finished(): Schema {
  return { ...at(0, { event: 'step-finished', address: 'a', task: 'a', outcome: 'done', credits: 1 }) };
}

describe('diagnostics.schema.json', () => {
  const validate = compile(diagnosticsSchema);
  const at = place('campaign.yaml', [7, 18], [7, 26]);
  const full = mistake('m', {
    hint: 'h',
    place: at,
    related: [{ message: 'r', place: at }],
    trail: ['task hero'],
    fix: { place: at, text: 'row.name' },
  });
  const report = JSON.parse(JSON.stringify(diagnosticsJson([full, mistake('m')], { file: 'f', steps: 1, tasks: 1 })));
  const broken = (change: (diagnostic: Schema) => void) => {
    const copy = structuredClone(report);
    change(copy.diagnostics.at(-1));
    return copy;
  };

  it('describes a report, and a list of reports', () => {
    const all = { mediabatch: 'diagnostics', version: 1, valid: false, files: [report] };
    for (const document of [report, all]) expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
  });

  test.each<[string, Schema]>([
    ['no message', broken((one) => delete one.message)],
    ['a line 0', broken((one) => Object.assign((one.range as { start: Schema }).start, { line: 0 }))],
    ['a fix without text', broken((one) => delete (one.fix as Schema).text)],
    ['a field too many', broken((one) => Object.assign(one, { place: {} }))],
  ])('refuses %s', (_name, document) => {
    expect(validate(document)).toBe(false);
  });
});

test.each([
  ['plan', 2, planSchema],
  ['diagnostics', 1, diagnosticsSchema],
  ['event', 1, eventSchema],
])('%s.schema.json has its name, and words for every property', (name, version, schema) => {
  expect(schema.$id).toBe(`urn:mediabatch:${name}:${version}`);
  expect(undescribed(schema)).toEqual([]);
});
