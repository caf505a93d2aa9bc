/*
 * Manifest and data → steps with edges and fingerprints.
 * Takes: a manifest and the rows of its tables. Paths of missing files are returned.
 * Returns: steps in topological order, or diagnostics with positions.
 * Independent of: the lock, prices, earlier purchases. A fingerprint depends only on values that affect the job (I6).
 */

import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import { defined, groupBy, isScalar, mustGet } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import { dropDefaults, priceClass } from '../kinds/price.ts';
import { limitDiagnostics, type Manifest, type Task, taskPath } from '../manifest/manifest.ts';
import { checkSaves } from './check/check-saves.ts';
import { checkDefaults, checkTask } from './check/check-task.ts';
import type { Draft } from './expand/draft.ts';
import { beginExpansion, expandTasks } from './expand/expand-tasks.ts';
import { orderTasks } from './expand/task-edges.ts';
import { type Expansion, type GraphFacts, uploadTask } from './expansion.ts';
import type { Canary, FileFact, Graph, GraphTask, OpenRequest, Step } from './graph.ts';
import { findReferences, fingerprintChoice, fingerprintStep, replaceReferences } from './render/fingerprint.ts';
import { renderStep } from './render/render-step.ts';

type RenderedStep = ReturnType<typeof renderStep>;

interface NeededFact {
  path: string;
  place: Place;
  as: 'digest' | 'text';
}

/**
 * Expands a manifest into its steps. Reports all mistakes at once, at most 100. Does not repeat mistakes found by the
 * manifest reader. If the manifest or the graph has a mistake, returns no graph. `files`: files that the caller must
 * read before it calls this function again, for a digest (uploads) or a text (`{{read …}}`).
 */
export function buildGraph(
  manifest: Manifest,
  facts: GraphFacts,
): { graph?: Graph; diagnostics: Diagnostic[]; files: NeededFact[] } {
  const expansion = beginExpansion(manifest, facts, checkTask);
  const { diagnostics, uploads } = expansion;
  checkDefaults(expansion);
  reportUsedCells(expansion);
  const descriptions = renderDescriptions(expansion);
  const order = orderTasks(expansion);
  if (!expandTasks(order ?? manifest.tasks, expansion)) {
    return { diagnostics: limitDiagnostics(diagnostics), files: [] };
  }
  const rendered = renderSteps(expansion);
  const made = readMade(expansion);
  const files = [
    ...[...uploads.unread].map(([path, place]) => ({ path, place, as: 'digest' as const })),
    ...[...expansion.unreadTexts].map(([path, place]) => ({ path, place, as: 'text' as const })),
  ];
  if (files.length > 0) return { diagnostics: [], files };
  const limited = limitDiagnostics(diagnostics);
  const sound = manifest.sound && !limited.some((diagnostic) => diagnostic.severity === 'error');
  if (!sound || order === undefined) return { diagnostics: limited, files: [] };
  const outlines = manifest.tasks.map((task) => outlineTask(task, { manifest, rendered, descriptions }));
  const { steps, canaries } = finishSteps(order, { rendered, made, expansion });
  const gates = manifest.tasks.flatMap(({ id }) => expansion.expanded.get(id)?.gates ?? []);
  const { name, budget, concurrency, index, selectors, prices } = manifest;
  const graph: Graph = {
    ...{ name, steps, budget, concurrency, selectors, prices },
    tasks: made.length === 0 ? outlines : [{ id: uploadTask, kind: 'upload', steps: made.length }, ...outlines],
    warnings: [...manifest.warnings, ...limited],
    ...defined({ index }),
    ...(gates.length > 0 && { gates }),
    ...(canaries.length > 0 && { canaries }),
    ...(expansion.notices.length > 0 && { notices: expansion.notices }),
  };
  return { graph, diagnostics: limited, files: [] };
}

function reportUsedCells({ manifest, templates, tables, cellErrors, diagnostics }: Expansion): void {
  if (cellErrors.length === 0) return;
  const { expressions } = templates;
  const whole = new RegExp(`[^.\\w-](?:${['row', ...tables.keys()].join('|')})[^.\\w-]`);
  const hasSchema = [...manifest.tasks, ...manifest.tables].some(({ schema }) => schema);
  const usesAll = hasSchema || expressions.some((text) => whole.test(text));
  const axes = manifest.tasks.flatMap(({ matrix }) => matrix?.axes.map(({ name }) => name) ?? []);
  const joined = manifest.tables.flatMap(({ on }) => on.map(({ column }) => column));
  const named = new Set(['id', ...axes, ...joined]);
  const others = diagnostics.splice(0);
  for (const { row, column, error } of cellErrors) {
    if (usesAll || named.has(column) || expressions.some((text) => text.includes(column))) diagnostics.push(error);
    else row[column] = '';
  }
  for (const other of others) diagnostics.push(other);
}

function renderSteps(expansion: Expansion): Map<string, RenderedStep[]> {
  const rendered = new Map<string, RenderedStep[]>();
  for (const { id } of expansion.manifest.tasks) {
    const drafts = expansion.expanded.get(id)?.drafts ?? [];
    for (const { address, row } of drafts) {
      expansion.facts.rows?.set(address, row === undefined || row.part !== undefined ? {} : { row: row.value });
    }
    rendered.set(
      id,
      drafts.map((draft) => renderStep(draft, expansion)),
    );
  }
  const all = [...rendered.values()].flat();
  shareTitles(all.filter(({ draft }) => draft.row !== undefined));
  const saves = all.flatMap(({ draft, save }) => (save === '' ? [] : [{ draft, path: save }]));
  checkSaves(saves, expansion);
  return rendered;
}

function readMade(expansion: Expansion): MadeUpload[] {
  const { uploads, manifest, kinds } = expansion;
  if (uploads.made.length > 0 && kinds.has(uploadTask)) {
    const message = `\`{{upload …}}\` makes steps of a task \`${uploadTask}\`, but the manifest already has a task with this name`;
    const place = manifest.places.key(taskPath(uploadTask));
    expansion.reportError({ code: 'MB1402', message, hint: 'rename the task', place });
  }
  return uploads.made.flatMap(({ address, path, place }): MadeUpload[] => {
    const found = uploads.read(path, { folder: '', place });
    if ('diagnostic' in found) expansion.report(found.diagnostic);
    return 'diagnostic' in found || found.file === undefined ? [] : [{ address, file: found.file, place }];
  });
}

/**
 * Finishes steps in topological order, because the fingerprint of a step includes the fingerprints of the steps that
 * its request refers to.
 */
function finishSteps(
  order: readonly Task[],
  from: { rendered: ReadonlyMap<string, RenderedStep[]>; made: readonly MadeUpload[]; expansion: Expansion },
): { steps: Step[]; canaries: Canary[] } {
  const { places } = from.expansion.manifest;
  const fingerprints = new Map<string, string>();
  const canaries: Canary[] = [];
  const fingerprintOf = (address: string) => mustGet(fingerprints, address);
  const steps: Step[] = from.made.map(uploadStep);
  for (const { address, fingerprint } of steps) fingerprints.set(address, fingerprint);
  for (const task of order) {
    const place = places.key(taskPath(task.id));
    const own: Step[] = [];
    for (const rendered of from.rendered.get(task.id) ?? []) {
      const step = finishStep(rendered, { fingerprintOf, place });
      fingerprints.set(step.address, step.fingerprint);
      own.push(step);
      steps.push(step);
    }
    canaries.push(...canariesOf(task, own));
    for (const { is, name, members } of from.expansion.expanded.get(task.id)?.gates ?? []) {
      if (is === 'choose') fingerprints.set(name, fingerprintChoice(members.map(fingerprintOf)));
    }
  }
  return { steps, canaries };
}

function outlineTask(
  { id, kind = '', tags, rights: own }: Task,
  from: {
    manifest: Manifest;
    rendered: ReadonlyMap<string, RenderedStep[]>;
    descriptions: ReadonlyMap<string, string>;
  },
): GraphTask {
  const rights = { ...from.manifest.rights, ...own };
  return defined({
    id,
    kind,
    description: from.descriptions.get(id),
    steps: from.rendered.get(id)?.length ?? 0,
    tags: tags.length === 0 ? undefined : tags,
    rights: Object.keys(rights).length === 0 ? undefined : rights,
  });
}

function renderDescriptions(expansion: Expansion): Map<string, string> {
  const { manifest, vars } = expansion;
  const descriptions = new Map<string, string>();
  for (const { id, description } of manifest.tasks) {
    if (description === undefined) continue;
    const value = expansion.render(description, taskPath(id, 'description'), () => ({ names: { vars } }));
    if (isScalar(value)) descriptions.set(id, String(value));
  }
  return descriptions;
}

const none = Object.freeze([]) as unknown as string[];

function shareTitles(all: readonly RenderedStep[]): void {
  const titles = new Map<string, string | undefined>();
  // Rows of different tasks may have the same label, so the values of the rows are compared as well.
  const nameOf = ({ row }: Draft) => JSON.stringify([row?.label, row?.value]);
  for (const { draft, title } of all) {
    if (draft.task.gate?.title === undefined) continue;
    const row = nameOf(draft);
    titles.set(row, titles.has(row) && titles.get(row) !== title ? undefined : title);
  }
  if (titles.size === 0) return;
  for (const step of all) {
    const title = titles.get(nameOf(step.draft));
    if (title !== undefined && step.draft.task.gate?.title === undefined) step.title = title;
  }
}

interface MadeUpload {
  address: string;
  file: FileFact & { path: string };
  place: Place;
}

function finishStep(rendered: RenderedStep, from: { fingerprintOf: (address: string) => string; place: Place }): Step {
  const { draft, save, title, file, unchecked, expect } = rendered;
  const { task, take, part } = draft;
  const kind = task.kind ?? '';
  const request: OpenRequest = { ...dropDefaults(kinds[kind], rendered.request) };
  const references = findReferences(request);
  const referred = references.length === 0 ? request : replaceReferences(request, from.fingerprintOf);
  const paidRequest = withDigest(referred, file);
  const needs = [...references, ...rendered.needs, ...(part === undefined ? [] : [part.of])];
  // Rare fields are added after the literal, because an object reserves memory for every property of its literal.
  const step: Step = {
    address: draft.address,
    task: task.id,
    kind,
    matrix: draft.matrix,
    request,
    paidRequest,
    fingerprint: fingerprintStep({ kind, paidRequest, take }),
    needs: needs.length === 0 ? none : [...new Set(needs)].sort(),
    save,
    tags: task.tags,
    place: from.place,
    ...defined({ key: draft.key, row: draft.row?.label }),
  };
  if (take !== undefined) step.take = take;
  if (title !== undefined) step.title = title;
  if (file !== undefined) step.file = file;
  if (part !== undefined) step.part = { ...part, fingerprint: from.fingerprintOf(part.of) };
  const { timeoutMs, retry, pin } = task;
  const rules = defined({ timeoutMs, retry, expect, pin });
  if (Object.keys(rules).length > 0) step.rules = rules;
  if (unchecked) step.unchecked = unchecked;
  return step;
}

function uploadStep({ address, file, place }: MadeUpload): Step {
  const request = { file: file.path };
  const paidRequest = withDigest(request, file);
  return {
    address,
    task: uploadTask,
    kind: 'upload',
    key: address.slice(uploadTask.length + 1),
    matrix: {},
    request,
    paidRequest,
    fingerprint: fingerprintStep({ kind: 'upload', paidRequest }),
    needs: [],
    save: '',
    file,
    tags: [],
    place,
  };
}

function withDigest(request: OpenRequest, file: FileFact | undefined): OpenRequest {
  return file === undefined ? request : { ...request, file: { $sha256: file.sha256 } };
}

const mostGroups = 12;

function canariesOf({ id, canary }: Pick<Task, 'id' | 'canary'>, steps: readonly Step[]): Canary[] {
  if (canary === undefined) return [];
  const byPrice = groupBy(steps, ({ kind, request }) => {
    const known = kinds[kind];
    return known === undefined ? kind : priceClass(known, request);
  });
  // If the price depends on the whole request, the rows of a task may have different price classes.
  const isByRow = byPrice.size > mostGroups && byPrice.size * 2 > steps.length;
  const groups = byPrice.size === 1 || isByRow ? new Map([['', [...steps]]]) : byPrice;
  return [...groups].map(([label, own]) => ({
    name: label === '' ? `canary of ${id}` : `canary of ${id} (${label})`,
    task: id,
    ...canary,
    members: own.map(({ address }) => address),
  }));
}
