import { trailOf } from '../../graph/expand/draft.ts';
import type { Graph, Step } from '../../graph/graph.ts';
import type { Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { type CanaryRule, type GateRule, type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import { writeReferences } from './write-references.ts';

/** Source position of a value. `from`: it is not written under the task's own name, but here. */
export interface Origin {
  place: Place;
  from?: string;
}

/** One step as a manifest would state it if it stated every step separately. */
export interface ExpandedStep {
  address: string;
  task: string;
  kind: string;
  /** Everything else in display order: `key`, `matrix`, `with`, `save` … */
  values: { [name: string]: Json };
  trail: string[];
  /** Origins by the path of a value: `kind`, `with.prompt`, `save`. */
  origins: ReadonlyMap<string, Origin>;
}

export interface Expansion {
  campaign: string;
  /** `budget`, `service`, `selectors`, `prices`: as they apply to all steps. */
  values: { [name: string]: Json };
  steps: ExpandedStep[];
}

/** Joins a manifest and its expansion: each value with its source position. */
export function makeExpansion(graph: Graph, manifest: Manifest): Expansion {
  const tasks = new Map(manifest.tasks.map((task) => [task.id, { task, origins: originsOf(task, manifest) }]));
  const { budget, concurrency, selectors, prices } = graph;
  return {
    campaign: graph.name,
    values: {
      ...(budget !== undefined && { budget: { credits: budget } }),
      ...(concurrency !== undefined && { service: { concurrency } }),
      ...(Object.keys(selectors).length > 0 && { selectors }),
      ...(Object.keys(prices).length > 0 && { prices }),
    },
    steps: graph.steps.map((step) => {
      const found = tasks.get(step.task);
      return {
        address: step.address,
        task: step.task,
        kind: step.kind,
        values: valuesOf(step, found?.task),
        // A template created it on the spot, not a task of the manifest.
        trail: found === undefined ? [`upload of ${step.file?.path}`] : trailOf(step),
        origins: found?.origins ?? new Map([['with', { place: step.place }]]),
      };
    }),
  };
}

function originsOf(task: Task, { places }: Manifest): Map<string, Origin> {
  const origins = new Map<string, Origin>();
  for (const { field, path } of task.with) {
    const from = path[0] === 'defaults' ? { from: `defaults.${path[1]}` } : {};
    origins.set(`with.${field}`, { place: places.value(path), ...from });
  }
  const written: [string, boolean][] = [
    ['kind', task.kind !== undefined],
    ['key', task.key !== undefined],
    ['matrix', task.matrix !== undefined],
    ['save', task.save !== undefined],
    ['tags', task.tags.length > 0],
    ['timeout', task.timeoutMs !== undefined],
    ['retry', task.retry !== undefined],
    ['expect', task.expect !== undefined],
    ['gate', task.gate !== undefined],
    ['canary', task.canary !== undefined],
    ['pin', task.pin === true],
    ['needs', task.needs.length > 0],
  ];
  for (const [name, isWritten] of written) {
    if (isWritten) origins.set(name, { place: places.value(taskPath(task.id, name)) });
  }
  return origins;
}

function valuesOf(step: Step, task: Task | undefined): { [name: string]: Json } {
  const { key, matrix, take, request, needs, save, tags, timeoutMs, retry, expect, pin } = step;
  return {
    ...(key !== undefined && { key }),
    ...(Object.keys(matrix).length > 0 && { matrix }),
    ...(take !== undefined && { take }),
    with: Object.fromEntries(Object.entries(request).map(([field, value]) => [field, writeReferences(value)])),
    ...(needs.length > 0 && { needs }),
    ...(save !== '' && { save }),
    ...(tags.length > 0 && { tags }),
    ...(timeoutMs !== undefined && { timeout: `${timeoutMs / 1000}s` }),
    ...(retry !== undefined && { retry: { ...retry } }),
    ...(expect !== undefined && { expect: JSON.parse(JSON.stringify(expect)) as Json }),
    ...(task?.gate !== undefined && { gate: writtenGate(task.gate) }),
    ...(task?.canary !== undefined && { canary: writtenCanary(task.canary) }),
    ...(pin === true && { pin }),
    ...(task?.description !== undefined && { description: task.description }),
  };
}

function writtenGate(gate: GateRule): Json {
  const note = gate.note === undefined ? {} : { note: gate.note };
  if (gate.is === 'approve') return gate.note === undefined ? 'approve' : { approve: true, ...note };
  const { choose, among } = gate;
  return { choose, among: among.by === 'axis' ? among.axis : among.by, ...note };
}

function writtenCanary({ first, asks }: CanaryRule): Json {
  const then = asks ? 'ask' : 'check';
  return { first, then };
}
