import { trailOf } from '../../graph/expand/draft.ts';
import type { Graph, OpenRequest, Step } from '../../graph/graph.ts';
import type { Origins } from '../../graph/trace/tracer.ts';
import { call } from '../../ground/advice.ts';
import type { Place } from '../../ground/diagnostic.ts';
import { canonicalJson, type Json } from '../../ground/json.ts';
import { defined, groupBy } from '../../ground/values.ts';
import type { Purchase, StepRecord } from '../../lock/record.ts';
import { type CanaryRule, type GateRule, type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import { writeYaml } from '../../manifest/yaml/write-yaml.ts';
import { publishes } from '../../plan/actions.ts';
import { isBought } from '../../plan/consent.ts';
import type { Cause, Change } from '../../plan/plan.generated.ts';
import type { Plan, PlanRow } from '../../plan/plan.ts';
import type { DecidedStep } from '../../plan/situation/find-purchases.ts';
import type { Paste } from '../advice-text.ts';
import {
  type Block,
  bad,
  command,
  type Document,
  type Fact,
  facts,
  faint,
  good,
  jsonOf,
  line,
  stack,
  strong,
  warning,
} from '../document.ts';
import { countOf, priceText } from '../numbers.ts';
import { escapeQuoted, safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { withCanary } from './plan-items.ts';

interface Explanation {
  row: PlanRow;
  step: DecidedStep;
  unsaved?: string;
  record?: StepRecord;
}

export function explainView({ row, step, unsaved, record }: Explanation, paste: Paste): Document {
  const { address, kind, action, reason } = row;
  return [
    line([strong(address), `  ${kind}  `, strong(action), `: ${withCanary(reason.text, row)}`]),
    unsaved === undefined
      ? undefined
      : stack(
          line(`not saved: ${unsaved}`),
          command('to accept the file as it is, for 0 credits', paste(call('accept', address))),
        ),
    facts(factsOf(row, step, paste)),
    line('request', fieldLines(step.request, reason.changes ?? [])),
    record && line('on record', record.purchases.map(purchaseLine)),
  ];
}

function factsOf(row: PlanRow, step: DecidedStep, paste: Paste): (Fact | undefined)[] {
  const waits = [...(row.canaries ?? []), ...step.needs];
  return [
    { label: 'spends', text: spendText(row) },
    row.discards ? { label: 'discards', text: `${countOf(row.discards, 'credit')} of paid work` } : undefined,
    decidedFact(row, step, paste),
    // Posts and uploads do not save a file.
    step.save === '' ? undefined : { label: 'saves to', text: `${step.save}.…` },
    { label: 'waits for', text: waits.length === 0 ? 'nothing' : waits.join(', ') },
    { label: 'fingerprint', text: step.fingerprint },
    row.order && { label: 'key', text: row.order.key },
  ];
}

const sources: Readonly<Record<NonNullable<PlanRow['price']>['source'], string>> = {
  lock: 'as charged before',
  'other-lock': 'as charged in another campaign',
  prices: 'by `prices` of the manifest',
  documented: 'as documented',
  list: 'as the service lists it',
  unknown: '',
};

function spendText({ credits: now, price, wouldCost, blockedBy }: PlanRow): string {
  const isLater = blockedBy === 'gate' && wouldCost !== undefined;
  const credits = isLater ? wouldCost : now;
  const until = credits === null ? ' until the first job of this kind and size is charged' : '';
  const source = price === undefined || price.source === 'unknown' ? '' : ` (${sources[price.source]}: ${price.class})`;
  return `${isLater ? '0 credits now, then ' : ''}${priceText({ credits, price })}${until}${source}`;
}

function decidedFact({ wouldCost }: PlanRow, { address, decided }: DecidedStep, paste: Paste): Fact | undefined {
  if (decided === undefined) return undefined;
  if (decided.pinned === undefined)
    return { label: 'accepted', text: 'the output is accepted for the current request' };
  const cost = wouldCost === undefined ? '' : `price to buy the step again: ${priceText({ credits: wouldCost })}; `;
  const isInManifest = decided.pinned === 'manifest';
  const by = isInManifest
    ? 'by `pin: true` in the task'
    : `to remove the pin: ${paste(call('pin', address, '--undo'))}`;
  return { label: 'pinned', text: `${cost}${by}` };
}

function fieldLines(request: OpenRequest, changes: readonly Change[]): Document {
  const changed = groupBy(changes, ({ field }) => field.split('.')[0] ?? field);
  const fields = [...new Set([...Object.keys(request), ...changed.keys()])].sort();
  return fields.flatMap((field) => {
    const own = changed.get(field);
    if (own === undefined) return [line(`${field}: ${shown(request[field])}`)];
    return own.flatMap(changeLines);
  });
}

function changeLines({ field, before, after, cause }: Change): Document {
  if (cause?.is === 'step')
    return [line(warning(`~ ${field}: ${safeText(cause.name, 300)}, which has a different output now`))];
  const from = cause === undefined ? '' : faint(`  (${safeText(describeCause(cause), 300)})`);
  return [
    before === undefined ? undefined : line(bad(`- ${field}: ${shown(before)}`)),
    after === undefined ? undefined : line([good(`+ ${field}: ${shown(after)}`), from]),
  ];
}

function describeCause({ name, file, line }: Cause): string {
  return file === undefined ? name : `${file}${line === undefined ? '' : `:${line}`} ${name}`;
}

function shown(value: Json | undefined): string {
  if (value === undefined) return '';
  const written = writeReferences(value);
  return safeText(typeof written === 'string' ? written : canonicalJson(written), 2000);
}

function purchaseLine(purchase: Purchase): Block {
  const { generation, attempt, state, jobId, credits, error, outputs, forgotten, writtenOff } = purchase;
  const parts = [
    `${generation}.${attempt} ${state}`,
    jobId === undefined ? undefined : `job ${jobId}`,
    credits === undefined ? undefined : countOf(credits, 'credit'),
    outputs?.[0]?.path,
    forgotten ? 'forgotten' : undefined,
    writtenOff ? 'bought again on purpose' : undefined,
    error,
  ];
  return line(safeText(parts.filter((part) => part !== undefined).join(', '), 1000));
}

interface Origin {
  file: string;
  line: number;
  column: number;
  /** Path such as `defaults.image` if the value does not come from the task itself. */
  from?: string;
  reads?: string[];
}

interface ExpandedStep {
  address: string;
  trail: string[];
  origins: { [path: string]: Origin };
  values: { [name: string]: Json };
}

interface Expansion {
  campaign: string;
  values: { [name: string]: Json };
  steps: ExpandedStep[];
}

export function makeExpansion(graph: Graph, manifest: Manifest, filesOf?: Origins['filesOf']): Expansion {
  const tasks = new Map(manifest.tasks.map((task) => [task.id, task]));
  const { budget, concurrency, selectors, prices } = graph;
  return {
    campaign: graph.name,
    values: {
      ...(budget !== undefined && { budget: { credits: budget } }),
      ...(concurrency !== undefined && { service: { concurrency } }),
      ...(Object.keys(selectors).length > 0 && { selectors }),
      ...(Object.keys(prices).length > 0 && { prices }),
    },
    steps: graph.steps.map((step): ExpandedStep => {
      const { address, kind } = step;
      const task = tasks.get(step.task);
      const values = { task: step.task, kind, ...valuesOf(step, task) };
      if (task !== undefined)
        return { address, trail: trailOf(step), origins: originsOf(task, manifest, { address, filesOf }), values };
      // A template created this upload.
      return { address, trail: [`upload of ${step.file?.path}`], origins: { with: originAt(step.place) }, values };
    }),
  };
}

function originAt({ file, start }: Place, more: Pick<Origin, 'from' | 'reads'> = {}): Origin {
  return { file, line: start.line, column: start.column, ...more };
}

function originsOf(
  task: Task,
  { places }: Manifest,
  { address, filesOf }: { address: string; filesOf: Origins['filesOf'] | undefined },
): { [path: string]: Origin } {
  const { kind, key, matrix, save, tags, timeoutMs: timeout, retry, expect, limits, gate, canary, needs } = task;
  const written = { kind, key, matrix, save, timeout, retry, expect, limits, gate, canary };
  const lists = { tags, pin: task.pin === true ? ['pin'] : [], needs };
  const names = [
    ...Object.entries(written).flatMap(([name, value]) => (value === undefined ? [] : [name])),
    ...Object.entries(lists).flatMap(([name, { length }]) => (length === 0 ? [] : [name])),
  ];
  return {
    ...Object.fromEntries(
      task.with.map(({ field, path }) => {
        const reads = [...(filesOf?.(address, field) ?? [])];
        const from = path[0] === 'defaults' ? `defaults.${path[1]}` : undefined;
        const more = defined({ from, reads: reads.length === 0 ? undefined : reads });
        return [`with.${field}`, originAt(places.value(path), more)];
      }),
    ),
    ...Object.fromEntries(names.map((name) => [name, originAt(places.value(taskPath(task.id, name)))])),
  };
}

function valuesOf(step: Step, task: Task | undefined): { [name: string]: Json } {
  const { key, matrix, take, request, needs, save, tags, rules } = step;
  const { timeoutMs, retry, expect, pin } = rules ?? {};
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

export function expandText({ campaign, values, steps }: Expansion): string {
  const tasks = new Set(steps.map(({ values: own }) => own.task)).size;
  const head = `# ${safeText(campaign)}, expanded: ${countOf(tasks, 'task')}, ${countOf(steps.length, 'step')}\n`;
  const campaignText = yamlText({ version: 1, name: campaign, ...values });
  if (steps.length === 0) return `${head}${campaignText}steps: {}\n`;
  return `${head}${campaignText}\nsteps:\n${steps.map(stepText).join('\n')}`;
}

function stepText({ address, values, trail, origins }: ExpandedStep): string {
  const text = yamlText({ [address]: values }, ([, ...path]) => {
    const origin = origins[path.join('.')];
    return origin && safeText(describeOrigin(origin));
  });
  const lines = text.trimEnd().split('\n');
  const way = trail.length > 0 ? [`# ${trail.map((part) => safeText(part, 120)).join(' › ')}`] : [];
  return [...way, ...lines].map((line) => (line === '' ? '\n' : `  ${line}\n`)).join('');
}

function yamlText(value: { [key: string]: Json }, commentOf?: (path: readonly string[]) => string | undefined): string {
  return escapeQuoted(writeYaml(value, { isQuoted, ...defined({ commentOf }) }));
}

function isQuoted(text: string): boolean {
  return /##|::|[ \t]$/m.test(text) || text.split('\n').some((line) => safeText(line, line.length * 10) !== line);
}

function describeOrigin({ file, line, from, reads = [] }: Origin): string {
  const where = [`${file}:${line}`, ...reads].join(', reads ');
  return from === undefined ? where : `from ${from}, ${where}`;
}

export function expandJson({ campaign, values, steps }: Expansion): Json {
  return jsonOf('expansion', {
    campaign,
    ...values,
    steps: steps.map(({ address, values: own, trail, origins }) => ({ address, ...own, trail, origins })),
  });
}

function writeReferences(value: Json): Json {
  if (Array.isArray(value)) return value.map(writeReferences);
  if (value === null || typeof value !== 'object') return value;
  if (typeof value.$ref === 'string') return `{{${value.$ref}.${String(value.field)}}}`;
  if (Array.isArray(value.$text)) return value.$text.map((part) => String(writeReferences(part))).join('');
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, writeReferences(item)]));
}

const longestValue = 20_000;

export function requestsText({ rows }: Plan, style: Style): string {
  const blocks = rows.flatMap((row) => {
    if (row.order === undefined || !(isBought(row) || publishes(row))) return [];
    const yaml = writeYaml(row.order.request as { [field: string]: Json }).trimEnd();
    const lines = yaml.split('\n').map((line) => `  ${safeText(line, longestValue)}`);
    return [`${style.bold(safeText(row.address))}  ${row.kind}\n${lines.join('\n')}\n`];
  });
  const blocked = rows.filter(({ action }) => action === 'blocked').length;
  const rest = blocked === 0 ? [] : [`${countOf(blocked, 'blocked step')} not shown: see \`explain --origins\`\n`];
  return [...blocks, ...rest].join('\n');
}
