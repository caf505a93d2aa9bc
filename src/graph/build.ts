import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import { isScalar, type JsonMap } from '../ground/values.ts';
import type { SchemaCompiler } from '../manifest/check/json-schema.ts';
import { limitDiagnostics } from '../manifest/collect.ts';
import { type Manifest, type Task, taskPath } from '../manifest/manifest.ts';
import type { DataFile } from '../manifest/rows/rows.ts';
import { checkSaves } from './check/check-saves.ts';
import { checkDefaults, checkTask } from './check/check-task.ts';
import type { RequestChecker } from './check/request-checker.ts';
import type { ExpandedTask } from './expand/draft.ts';
import { type Cells, expandMatrix } from './expand/expand-matrix.ts';
import { countSteps, expandTask } from './expand/expand-task.ts';
import { indexSteps } from './expand/join.ts';
import { pickPartSteps } from './expand/part-picks.ts';
import { rowsOfParts } from './expand/part-rows.ts';
import { resolveVars } from './expand/resolve-vars.ts';
import { orderTasks } from './expand/task-edges.ts';
import { readTaskRows, type TaskRows } from './expand/task-rows.ts';
import type { Graph, Step } from './graph.ts';
import { finishStep, type MadeUpload, uploadStep } from './render/finish-step.ts';
import { type RenderedStep, renderStep, type Steps } from './render/render-step.ts';
import { renderValue } from './render/render-value.ts';
import { createTemplateCache, placeFault, type TemplateCache } from './render/templates.ts';
import { type FileAnswer, Uploads, uploadTask } from './uploads.ts';

const maxSteps = 100_000;

/** What a manifest does not hold itself. */
export interface GraphFacts {
  /** The data files that `dataFiles` asks for, by their paths. */
  data: ReadonlyMap<string, DataFile>;
  /** Values from outside for declared vars. */
  vars: Readonly<Record<string, string>>;
  /** What is known of the files that are to be uploaded, by their paths. */
  files?: ReadonlyMap<string, FileAnswer>;
  /** Needed when a task has a schema for its rows. */
  schemaCompiler?: SchemaCompiler;
  checker?: RequestChecker;
}

/**
 * Expands a manifest into its steps. All mistakes are found at once, at most 100 are told. There is no graph
 * when there is a mistake here, or when the manifest is not sound; its own mistakes are not told again. `files` are files to
 * upload whose bytes nobody has read yet: read them and ask again.
 */
export function buildGraph(
  manifest: Manifest,
  facts: GraphFacts,
): { graph?: Graph; diagnostics: Diagnostic[]; files: { path: string; place: Place }[] } {
  const templates = createTemplateCache();
  const wrongTexts = new Set<string>();
  const kindsByTask = new Map(manifest.tasks.map((task) => [task.id, task.kind]));
  const { vars, diagnostics } = resolveVars(manifest, { overrides: facts.vars, templates });
  const { rows, diagnostics: rowFaults } = readTaskRows(manifest, { ...facts, vars });
  const cells = new Map<string, Cells>();
  diagnostics.push(...rowFaults);
  for (const task of manifest.tasks) {
    const expanded = expandMatrix(task, { manifest, vars });
    diagnostics.push(...expanded.diagnostics);
    if (expanded.cells !== undefined) cells.set(task.id, expanded.cells);
    const taskRows = rows.get(task.id) ?? 'unknown';
    const taskFacts = { manifest, vars, rows: taskRows, cells: expanded.cells, templates, kindsByTask, wrongTexts };
    diagnostics.push(...checkTask(task, taskFacts));
  }
  diagnostics.push(...checkDefaults(manifest, templates));
  const { descriptions, diagnostics: descriptionFaults } = renderDescriptions(manifest, { vars, templates });
  diagnostics.push(...descriptionFaults);
  const { order, diagnostics: orderFaults } = orderTasks(manifest, templates);
  diagnostics.push(...orderFaults);
  const tooMany = checkSize(manifest, rows, cells);
  if (tooMany !== undefined) return { diagnostics: limitDiagnostics([...diagnostics, tooMany]), files: [] };

  const uploads = new Uploads(facts.files ?? new Map());
  const expanded = expandAll(manifest, { order, vars, rows, cells, templates, wrongTexts, diagnostics });
  const indexes = new Map([...expanded].map(([id, one]) => [id, indexSteps(one)]));
  const checker = facts.checker === undefined ? {} : { checker: facts.checker };
  const steps: Steps = { manifest, vars, templates, expanded, indexes, wrongTexts, uploads, ...checker };
  const rendered = new Map<string, RenderedStep[]>();
  for (const [id, { drafts }] of expanded) {
    const list = drafts.map((draft) => renderStep(draft, steps));
    for (const one of list) diagnostics.push(...one.diagnostics);
    rendered.set(
      id,
      list.map((one) => one.step),
    );
  }
  const saves = [...rendered.values()].flat().filter((step) => step.save !== '');
  diagnostics.push(
    ...checkSaves(
      saves.map((step) => ({ draft: step.draft, path: step.save })),
      manifest,
    ),
  );
  const made = readMade(uploads, manifest, diagnostics);
  if (uploads.unread.size > 0) {
    return { diagnostics: [], files: [...uploads.unread].map(([path, place]) => ({ path, place })) };
  }
  const told = limitDiagnostics(diagnostics);
  const sound = manifest.sound && !told.some((diagnostic) => diagnostic.severity === 'error');
  if (!sound || order === undefined) return { diagnostics: told, files: [] };
  for (const { task, drafts, leftOut } of expanded.values()) {
    if (drafts.length === 0 && leftOut.length === 0 && task.rows.from !== 'parts')
      throw new Error(`internal error: task ${task.id} makes no steps, and nothing says why`);
  }
  return {
    graph: assemble(manifest, { order, rendered, made, descriptions, warnings: told }),
    diagnostics: told,
    files: [],
  };
}

/** Counted before anything is made, so that a matrix of matrices costs nothing. */
function checkSize(
  manifest: Manifest,
  rows: ReadonlyMap<string, TaskRows>,
  cells: ReadonlyMap<string, Cells>,
): Diagnostic | undefined {
  let total = 0;
  const counts = new Map<string, number>();
  const countOf = (id: string): number => {
    const known = counts.get(id);
    if (known !== undefined) return known;
    // Tasks that go through each other's parts are told elsewhere; here they must only come to an end.
    counts.set(id, 0);
    const task = manifest.tasks.find((one) => one.id === id);
    const taskCells = cells.get(id);
    if (task === undefined || taskCells === undefined) return 0;
    const count = countSteps(task, rows.get(id) ?? 'unknown', taskCells, countOf);
    counts.set(id, count);
    return count;
  };
  for (const task of manifest.tasks) {
    const count = countOf(task.id);
    total += count;
    if (total <= maxSteps) continue;
    const limit = maxSteps.toLocaleString('en-US');
    return {
      code: 'MB1406',
      severity: 'error',
      message: `the manifest makes more than ${limit} steps: task \`${task.id}\` alone makes ${count.toLocaleString('en-US')}`,
      hint: 'use fewer rows, matrix values or takes, or split the campaign into several manifests',
      place: manifest.places.key(taskPath(task.id)),
    };
  }
  return undefined;
}

function expandAll(
  manifest: Manifest,
  from: {
    /** Absent when the tasks need each other in a circle. */
    order: readonly Task[] | undefined;
    vars: JsonMap;
    rows: ReadonlyMap<string, TaskRows>;
    cells: ReadonlyMap<string, Cells>;
    templates: TemplateCache;
    wrongTexts: ReadonlySet<string>;
    diagnostics: Diagnostic[];
  },
): Map<string, ExpandedTask> {
  const { vars, templates, wrongTexts } = from;
  const expanded = new Map<string, ExpandedTask>();
  // Parts need the steps that they are parts of, so tasks are expanded in their order.
  for (const task of from.order ?? manifest.tasks) {
    const cells = from.cells.get(task.id);
    const rows = rowsOfTask(task, { ...from, manifest, expanded });
    if (cells === undefined) {
      expanded.set(task.id, { task, axes: [], hasKey: false, drafts: [], leftOut: [], complete: false });
      continue;
    }
    const result = expandTask(task, { manifest, rows, cells, vars, templates, wrongTexts });
    from.diagnostics.push(...result.diagnostics);
    expanded.set(task.id, result.expanded);
  }
  return new Map(
    manifest.tasks.flatMap(({ id }) => {
      const one = expanded.get(id);
      return one === undefined ? [] : [[id, one] as const];
    }),
  );
}

function rowsOfTask(
  task: Task,
  from: {
    manifest: Manifest;
    vars: JsonMap;
    rows: ReadonlyMap<string, TaskRows>;
    expanded: ReadonlyMap<string, ExpandedTask>;
    templates: TemplateCache;
    wrongTexts: ReadonlySet<string>;
    diagnostics: Diagnostic[];
  },
): TaskRows {
  const rows = from.rows.get(task.id) ?? 'unknown';
  if (task.rows.from !== 'parts' || rows === 'unknown') return rows;
  const producer = from.expanded.get(task.rows.task);
  if (producer === undefined || !producer.complete) return 'unknown';
  const { drafts, diagnostics } = pickPartSteps(task, task.rows, { ...from, producer });
  from.diagnostics.push(...diagnostics);
  return drafts === undefined ? 'unknown' : rowsOfParts(task, task.rows, { manifest: from.manifest, drafts });
}

/** The steps that templates make on the spot, with their files; and what is wrong with them. */
function readMade(uploads: Uploads, manifest: Manifest, diagnostics: Diagnostic[]): MadeUpload[] {
  const [first] = uploads.made;
  if (first !== undefined && manifest.tasks.some(({ id }) => id === uploadTask)) {
    const message = `\`{{upload …}}\` makes steps of a task \`${uploadTask}\`, and the manifest has one of its own`;
    const place = manifest.places.key(taskPath(uploadTask));
    diagnostics.push({ code: 'MB1402', severity: 'error', message, hint: 'give the task another name', place });
  }
  return uploads.made.flatMap(({ address, path, place }): MadeUpload[] => {
    const found = uploads.read(path, { folder: '', place });
    if ('diagnostic' in found) diagnostics.push(found.diagnostic);
    return 'diagnostic' in found || found.file === undefined ? [] : [{ address, file: found.file, place }];
  });
}

/** Fingerprints need those of the steps before them, so steps are finished in their order. */
function assemble(
  manifest: Manifest,
  from: {
    order: readonly Task[];
    rendered: ReadonlyMap<string, RenderedStep[]>;
    made: readonly MadeUpload[];
    descriptions: ReadonlyMap<string, string>;
    warnings: readonly Diagnostic[];
  },
): Graph {
  const fingerprints = new Map<string, string>();
  const fingerprintOf = (address: string): string => {
    const fingerprint = fingerprints.get(address);
    if (fingerprint === undefined) throw new Error(`internal error: ${address} is not before the step that needs it`);
    return fingerprint;
  };
  const steps: Step[] = from.made.map(uploadStep);
  for (const { address, fingerprint } of steps) fingerprints.set(address, fingerprint);
  for (const task of from.order) {
    const place = manifest.places.key(taskPath(task.id));
    for (const rendered of from.rendered.get(task.id) ?? []) {
      const step = finishStep(rendered, { fingerprintOf, place });
      fingerprints.set(step.address, step.fingerprint);
      steps.push(step);
    }
  }
  return {
    name: manifest.name,
    steps,
    tasks: [
      ...(from.made.length === 0 ? [] : [{ id: uploadTask, kind: 'upload', steps: from.made.length }]),
      ...manifest.tasks.map((task) => {
        const description = from.descriptions.get(task.id);
        return {
          id: task.id,
          kind: task.kind ?? '',
          ...(description === undefined ? {} : { description }),
          steps: from.rendered.get(task.id)?.length ?? 0,
          ...(task.tags.length === 0 ? {} : { tags: task.tags }),
        };
      }),
    ],
    ...(manifest.budget === undefined ? {} : { budget: manifest.budget }),
    ...(manifest.concurrency === undefined ? {} : { concurrency: manifest.concurrency }),
    selectors: manifest.selectors,
    prices: manifest.prices,
    warnings: [...manifest.warnings, ...from.warnings],
  };
}

/** A description may use vars and nothing else; it is the same for all steps of a task. */
function renderDescriptions(
  manifest: Manifest,
  from: { vars: JsonMap; templates: TemplateCache },
): { descriptions: Map<string, string>; diagnostics: Diagnostic[] } {
  const { places } = manifest;
  const diagnostics: Diagnostic[] = [];
  const descriptions = new Map<string, string>();
  const names = Object.assign(Object.create(null) as JsonMap, { vars: from.vars });
  for (const { id, description } of manifest.tasks) {
    if (description === undefined) continue;
    const value = renderValue(description, taskPath(id, 'description'), {
      templates: from.templates,
      scopeAt: () => ({ names }),
      onFault: (fault, site) => diagnostics.push(placeFault(fault, { ...site, places })),
    });
    if (isScalar(value)) descriptions.set(id, String(value));
  }
  return { descriptions, diagnostics };
}
