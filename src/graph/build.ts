import type { Diagnostic } from '../diagnostic.ts';
import { limitDiagnostics } from '../manifest/collect.ts';
import { type Manifest, type Task, taskPath } from '../manifest/manifest.ts';
import type { DataFile } from '../manifest/rows.ts';
import { isScalar, type JsonMap } from '../manifest/values.ts';
import { checkSaves } from './check-saves.ts';
import { checkDefaults, checkTask } from './check-task.ts';
import type { ExpandedTask } from './draft.ts';
import { type Cells, expandMatrix } from './expand-matrix.ts';
import { countSteps, expandTask } from './expand-task.ts';
import { findReferences, fingerprintStep, replaceReferences } from './fingerprint.ts';
import type { Graph, OpenRequest, Step } from './graph.ts';
import { indexSteps } from './join.ts';
import { type RenderedStep, renderStep, type Steps } from './render-step.ts';
import { renderValue } from './render-value.ts';
import { resolveVars } from './resolve-vars.ts';
import { orderTasks } from './task-edges.ts';
import { readTaskRows, type TaskRows } from './task-rows.ts';
import { createTemplateCache, placeFault, type TemplateCache } from './templates.ts';

const maxSteps = 100_000;

/**
 * Expands a manifest into its steps. `data` holds the files that `dataFiles` asks for, by their paths as written; `vars`
 * are values from outside for declared vars. All mistakes are found at once, at most 100 are told. There is no graph
 * when there is a mistake here, or when the manifest is not sound; its own mistakes are not told again.
 */
export function buildGraph(
  manifest: Manifest,
  facts: { data: ReadonlyMap<string, DataFile>; vars: Readonly<Record<string, string>> },
): { graph?: Graph; diagnostics: Diagnostic[] } {
  const templates = createTemplateCache();
  const wrongTexts = new Set<string>();
  const kindsByTask = new Map(manifest.tasks.map((task) => [task.id, task.kind]));
  const { vars, diagnostics } = resolveVars(manifest, { overrides: facts.vars, templates });
  const { rows, diagnostics: rowFaults } = readTaskRows(manifest, { data: facts.data, vars });
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
  if (tooMany !== undefined) return { diagnostics: limitDiagnostics([...diagnostics, tooMany]) };

  const steps = expandAll(manifest, { vars, rows, cells, templates, wrongTexts, diagnostics });
  const rendered = new Map<string, RenderedStep[]>();
  for (const [id, expanded] of steps.expanded) {
    const list = expanded.drafts.map((draft) => renderStep(draft, steps));
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
  const told = limitDiagnostics(diagnostics);
  const sound = manifest.sound && !told.some((diagnostic) => diagnostic.severity === 'error');
  if (!sound || order === undefined) return { diagnostics: told };
  for (const { task, drafts } of steps.expanded.values()) {
    if (drafts.length === 0) throw new Error(`internal error: task ${task.id} makes no steps, and nothing says why`);
  }
  return { graph: assemble(manifest, { order, rendered, descriptions, warnings: told }), diagnostics: told };
}

/** Counted before anything is made, so that a matrix of matrices costs nothing. */
function checkSize(
  manifest: Manifest,
  rows: ReadonlyMap<string, TaskRows>,
  cells: ReadonlyMap<string, Cells>,
): Diagnostic | undefined {
  let total = 0;
  for (const task of manifest.tasks) {
    const taskCells = cells.get(task.id);
    if (taskCells === undefined) continue;
    const count = countSteps(task, rows.get(task.id) ?? 'unknown', taskCells);
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
    vars: JsonMap;
    rows: ReadonlyMap<string, TaskRows>;
    cells: ReadonlyMap<string, Cells>;
    templates: TemplateCache;
    wrongTexts: ReadonlySet<string>;
    diagnostics: Diagnostic[];
  },
): Steps {
  const { vars, templates } = from;
  const expanded = new Map<string, ExpandedTask>();
  for (const task of manifest.tasks) {
    const rows = from.rows.get(task.id) ?? 'unknown';
    const cells = from.cells.get(task.id);
    if (cells === undefined) {
      expanded.set(task.id, { task, axes: [], hasKey: false, drafts: [], complete: false });
      continue;
    }
    const result = expandTask(task, { manifest, rows, cells, vars, templates, wrongTexts: from.wrongTexts });
    from.diagnostics.push(...result.diagnostics);
    expanded.set(task.id, result.expanded);
  }
  const indexes = new Map([...expanded].map(([id, one]) => [id, indexSteps(one)]));
  return { manifest, vars, templates, expanded, indexes, wrongTexts: from.wrongTexts };
}

/** Fingerprints need those of the steps before them, so steps are finished in their order. */
function assemble(
  manifest: Manifest,
  from: {
    order: readonly Task[];
    rendered: ReadonlyMap<string, RenderedStep[]>;
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
  const steps: Step[] = [];
  for (const task of from.order) {
    for (const rendered of from.rendered.get(task.id) ?? []) {
      const step = finishStep(rendered, { manifest, fingerprintOf });
      fingerprints.set(step.address, step.fingerprint);
      steps.push(step);
    }
  }
  return {
    name: manifest.name,
    steps,
    tasks: manifest.tasks.map((task) => {
      const description = from.descriptions.get(task.id);
      return {
        id: task.id,
        kind: task.kind ?? '',
        ...(description === undefined ? {} : { description }),
        steps: from.rendered.get(task.id)?.length ?? 0,
        ...(task.tags.length === 0 ? {} : { tags: task.tags }),
      };
    }),
    ...(manifest.budget === undefined ? {} : { budget: manifest.budget }),
    ...(manifest.concurrency === undefined ? {} : { concurrency: manifest.concurrency }),
    warnings: [...manifest.warnings, ...from.warnings],
  };
}

function finishStep(
  rendered: RenderedStep,
  from: { manifest: Manifest; fingerprintOf: (address: string) => string },
): Step {
  const { draft, save } = rendered;
  const kind = draft.task.kind ?? '';
  const request: OpenRequest = { ...rendered.request };
  const paidRequest = replaceReferences(request, from.fingerprintOf);
  const take = draft.take === undefined ? {} : { take: draft.take };
  return {
    address: draft.address,
    task: draft.task.id,
    kind,
    ...(draft.key === undefined ? {} : { key: draft.key }),
    matrix: draft.matrix,
    ...take,
    request,
    paidRequest,
    fingerprint: fingerprintStep({ kind, paidRequest, ...take }),
    needs: [...new Set([...findReferences(request), ...rendered.needs])].sort(),
    save,
    place: from.manifest.places.key(taskPath(draft.task.id)),
    trail: draft.trail,
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
