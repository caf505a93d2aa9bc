import { trailOf } from '../../graph/expand/draft.ts';
import type { Graph, Step } from '../../graph/graph.ts';
import type { Origins } from '../../graph/trace/tracer.ts';
import type { Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { defined } from '../../ground/values.ts';
import { type CanaryRule, type GateRule, type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import { writeYaml, type YamlOptions } from '../../manifest/yaml/write-yaml.ts';
import { countOf } from '../numbers.ts';
import { escapeQuoted, safeText } from '../safe-text.ts';

/** Source position of a value. `from`: where the value is defined, if not under the task's own name. */
export interface Origin {
  place: Place;
  from?: string;
  /** Paths of text files that its template reads. */
  reads?: readonly string[];
}

/** One step in the form of a manifest that lists every step separately. */
interface ExpandedStep {
  address: string;
  task: string;
  kind: string;
  /** All other values in display order: `key`, `matrix`, `with`, `save` … */
  values: { [name: string]: Json };
  trail: string[];
  /** Origins by the path of a value: `kind`, `with.prompt`, `save`. */
  origins: ReadonlyMap<string, Origin>;
}

export interface Expansion {
  campaign: string;
  /** Values that apply to all steps: `budget`, `service`, `selectors`, `prices`. */
  values: { [name: string]: Json };
  steps: ExpandedStep[];
}

export function makeExpansion(graph: Graph, manifest: Manifest, filesOf?: Origins['filesOf']): Expansion {
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
        // This upload was created by a template, not by a task of the manifest.
        trail: found === undefined ? [`upload of ${step.file?.path}`] : trailOf(step),
        origins: found ? withFiles(step, found.origins, filesOf) : new Map([['with', { place: step.place }]]),
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
    ['limits', task.limits !== undefined],
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

function withFiles(
  { address, request }: Step,
  origins: ReadonlyMap<string, Origin>,
  filesOf: Origins['filesOf'] | undefined,
): ReadonlyMap<string, Origin> {
  const reading = Object.keys(request).flatMap((field): [string, Origin][] => {
    const origin = origins.get(`with.${field}`);
    const reads = filesOf?.(address, field) ?? [];
    return origin === undefined || reads.length === 0 ? [] : [[`with.${field}`, { ...origin, reads }]];
  });
  return reading.length === 0 ? origins : new Map([...origins, ...reading]);
}

function valuesOf(step: Step, task: Task | undefined): { [name: string]: Json } {
  const { key, matrix, take, request, needs, save, tags, timeoutMs, retry, expect, pin } = step;
  return {
    ...defined({ key }),
    ...(Object.keys(matrix).length > 0 && { matrix }),
    ...defined({ take }),
    with: Object.fromEntries(Object.entries(request).map(([field, value]) => [field, writeReferences(value)])),
    ...(needs.length > 0 && { needs }),
    ...(save !== '' && { save }),
    ...(tags.length > 0 && { tags }),
    ...(timeoutMs !== undefined && { timeout: `${timeoutMs / 1000}s` }),
    ...defined({ retry: retry && { ...retry }, expect: expect && (JSON.parse(JSON.stringify(expect)) as Json) }),
    ...defined({ limits: task?.limits && { ...task.limits }, gate: task?.gate && writtenGate(task.gate) }),
    ...defined({ canary: task?.canary && writtenCanary(task.canary) }),
    ...(pin === true && { pin }),
    ...defined({ description: task?.description }),
  };
}

function writtenGate(gate: GateRule): Json {
  const { note, reasons } = gate;
  const words = defined({ note, reasons: reasons && [...reasons] });
  if (gate.is === 'approve') return Object.keys(words).length === 0 ? 'approve' : { approve: true, ...words };
  const { choose, among } = gate;
  return { choose, among: among.by === 'axis' ? among.axis : among.by, ...words };
}

function writtenCanary({ first, asks }: CanaryRule): Json {
  const then = asks ? 'ask' : 'check';
  return { first, then };
}

/** Replaces task names in references by step addresses. */
export function writeReferences(value: Json): Json {
  if (Array.isArray(value)) return value.map(writeReferences);
  if (value === null || typeof value !== 'object') return value;
  if (typeof value.$ref === 'string') return `{{${value.$ref}.${String(value.field)}}}`;
  if (Array.isArray(value.$text)) return value.$text.map((part) => String(writeReferences(part))).join('');
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, writeReferences(item)]));
}

/** Writes every step as valid YAML. A comment after each value states its source position. */
export function expandText({ campaign, values, steps }: Expansion): string {
  const tasks = new Set(steps.map(({ task }) => task)).size;
  const head = `# ${safeText(campaign)}, expanded: ${countOf(tasks, 'task')}, ${countOf(steps.length, 'step')}\n`;
  const campaignText = yamlText({ version: 1, name: campaign, ...values });
  if (steps.length === 0) return `${head}${campaignText}steps: {}\n`;
  return `${head}${campaignText}\nsteps:\n${steps.map(stepText).join('\n')}`;
}

function stepText({ address, task, kind, values, trail, origins }: ExpandedStep): string {
  const text = yamlText({ [address]: { task, kind, ...values } }, ([, ...path]) => {
    const origin = origins.get(path.join('.'));
    return origin && safeText(describeOrigin(origin));
  });
  const lines = text.trimEnd().split('\n');
  const way = trail.length > 0 ? [`# ${trail.map((part) => safeText(part, 120)).join(' › ')}`] : [];
  return [...way, ...lines].map((line) => (line === '' ? '\n' : `  ${line}\n`)).join('');
}

function yamlText(value: { [key: string]: Json }, commentOf?: YamlOptions['commentOf']): string {
  return escapeQuoted(writeYaml(value, { isQuoted, ...defined({ commentOf }) }));
}

/** Returns whether a text contains characters that a terminal, a log viewer or an editor would interpret or hide. */
function isQuoted(text: string): boolean {
  return /##|::|[ \t]$/m.test(text) || text.split('\n').some((line) => safeText(line, line.length * 10) !== line);
}

function describeOrigin({ place, from, reads = [] }: Origin): string {
  const where = [`${place.file}:${place.start.line}`, ...reads].join(', reads ');
  return from === undefined ? where : `from ${from}, ${where}`;
}

/**
 * Returns the expansion as JSON: `{mediabatch: 'expansion', version: 1, campaign, budget?, service?, selectors?,
 * prices?, steps: [{address, task, kind, key?, matrix?, take?, with, needs?, save?, …, trail, origins: {'with.prompt':
 * {file, line, column, from?, reads?}}}]}`.
 */
export function expandJson({ campaign, values, steps }: Expansion): Json {
  return {
    mediabatch: 'expansion',
    version: 1,
    campaign,
    ...values,
    steps: steps.map(({ address, task, kind, values: own, trail, origins }) => ({
      address,
      task,
      kind,
      ...own,
      trail,
      origins: Object.fromEntries([...origins].map(([name, origin]) => [name, placeJson(origin)])),
    })),
  };
}

function placeJson({ place: { file, start }, from, reads }: Origin): Json {
  return { ...{ file, line: start.line, column: start.column }, ...defined({ from, reads: reads && [...reads] }) };
}
