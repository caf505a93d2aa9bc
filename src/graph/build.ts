import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import { groupBy, isScalar, type JsonMap } from '../ground/values.ts';
import { limitDiagnostics } from '../manifest/collect.ts';
import { type Manifest, type Task, taskPath } from '../manifest/manifest.ts';
import { checkSaves } from './check/check-saves.ts';
import { checkDefaults, checkTask } from './check/check-task.ts';
import { mergeMistakes } from './check/merge-mistakes.ts';
import { canariesOf } from './expand/canaries.ts';
import { expandMatrix } from './expand/expand-matrix.ts';
import { countSteps } from './expand/expand-task.ts';
import { expandTasks } from './expand/expand-tasks.ts';
import { resolveVars } from './expand/resolve-vars.ts';
import { orderTasks } from './expand/task-edges.ts';
import { readTaskRows } from './expand/task-rows.ts';
import { Expansion, type GraphFacts } from './expansion.ts';
import type { Canary, Gate, Graph, Step } from './graph.ts';
import { fingerprintChoice } from './render/fingerprint.ts';
import { finishStep, type MadeUpload, uploadStep } from './render/finish-step.ts';
import { type RenderedStep, renderStep } from './render/render-step.ts';
import { renderValue } from './render/render-value.ts';
import { uploadTask } from './uploads.ts';

const maxSteps = 100_000;

/**
 * Expands a manifest into its steps. All mistakes are found at once, at most 100 are reported. There is no graph when
 * there is a mistake here, or when the manifest is not sound; its own mistakes are not repeated. `files` are files to
 * upload whose bytes nobody has read yet: read them and call again.
 */
export function buildGraph(
  manifest: Manifest,
  facts: GraphFacts,
): { graph?: Graph; diagnostics: Diagnostic[]; files: { path: string; place: Place }[] } {
  const expansion = new Expansion(manifest, facts);
  const { diagnostics, uploads } = expansion;
  expansion.vars = resolveVars(expansion);
  readTaskRows(expansion);
  for (const task of manifest.tasks) {
    const cells = expandMatrix(task, expansion);
    if (cells !== undefined) expansion.cells.set(task.id, cells);
    checkTask(task, expansion);
  }
  checkDefaults(expansion);
  const descriptions = renderDescriptions(expansion);
  const order = orderTasks(expansion);
  if (isTooLarge(expansion)) return { diagnostics: limitDiagnostics(diagnostics), files: [] };

  expandTasks(order ?? manifest.tasks, expansion);
  const rendered = renderSteps(expansion);
  const made = readMade(expansion);
  if (uploads.unread.size > 0) {
    return { diagnostics: [], files: [...uploads.unread].map(([path, place]) => ({ path, place })) };
  }
  const told = limitDiagnostics(mergeMistakes(expansion));
  const sound = manifest.sound && !told.some((diagnostic) => diagnostic.severity === 'error');
  if (!sound || order === undefined) return { diagnostics: told, files: [] };
  for (const { task, drafts, leftOut } of expansion.expanded.values()) {
    if (drafts.length === 0 && leftOut.length === 0 && task.rows.from !== 'parts')
      throw new Error(`internal error: task ${task.id} makes no steps, and nothing says why`);
  }
  const { notices } = expansion;
  const gates = manifest.tasks.flatMap(({ id }) => expansion.expanded.get(id)?.gates ?? []);
  const graph = assemble(manifest, { order, rendered, made, descriptions, warnings: told, notices, gates });
  return { graph, diagnostics: told, files: [] };
}

/** Counts the steps before any is made, so that a matrix of matrices costs nothing. Reports when there are too many. */
function isTooLarge(expansion: Expansion): boolean {
  const { manifest, cells } = expansion;
  const tasks = new Map(manifest.tasks.map((task) => [task.id, task]));
  let total = 0;
  const counts = new Map<string, number>();
  const countOf = (id: string): number => {
    const known = counts.get(id);
    if (known !== undefined) return known;
    // Circles through parts are reported elsewhere; here the recursion must only end.
    counts.set(id, 0);
    const task = tasks.get(id);
    const taskCells = cells.get(id);
    if (task === undefined || taskCells === undefined) return 0;
    const count = countSteps(task, expansion.rowsOf(id), taskCells, countOf);
    counts.set(id, count);
    return count;
  };
  for (const { id } of manifest.tasks) {
    const count = countOf(id);
    total += count;
    if (total <= maxSteps) continue;
    const limit = maxSteps.toLocaleString('en-US');
    expansion.reportError({
      code: 'MB1406',
      message: `the manifest makes more than ${limit} steps: task \`${id}\` alone makes ${count.toLocaleString('en-US')}`,
      hint: 'use fewer rows, matrix values or takes, or split the campaign into several manifests',
      place: manifest.places.key(taskPath(id)),
    });
    return true;
  }
  return false;
}

/** Renders the steps of each task, in the order in which the tasks are written. */
function renderSteps(expansion: Expansion): Map<string, RenderedStep[]> {
  const rendered = new Map<string, RenderedStep[]>();
  for (const { id } of expansion.manifest.tasks) {
    const drafts = expansion.expanded.get(id)?.drafts ?? [];
    rendered.set(
      id,
      drafts.map((draft) => renderStep(draft, expansion)),
    );
  }
  const saving = [...rendered.values()].flat().filter((step) => step.save !== '');
  checkSaves(
    saving.map((step) => ({ draft: step.draft, path: step.save })),
    expansion,
  );
  return rendered;
}

/** Reads the files of the steps that templates make in place. */
function readMade(expansion: Expansion): MadeUpload[] {
  const { uploads, manifest, kinds } = expansion;
  if (uploads.made.length > 0 && kinds.has(uploadTask)) {
    const message = `\`{{upload …}}\` makes steps of a task \`${uploadTask}\`, and the manifest has one of its own`;
    const place = manifest.places.key(taskPath(uploadTask));
    expansion.reportError({ code: 'MB1402', message, hint: 'give the task another name', place });
  }
  return uploads.made.flatMap(({ address, path, place }): MadeUpload[] => {
    const found = uploads.read(path, { folder: '', place });
    if ('diagnostic' in found) expansion.report(found.diagnostic);
    return 'diagnostic' in found || found.file === undefined ? [] : [{ address, file: found.file, place }];
  });
}

/** Finishes steps in topological order, because fingerprints need those of the steps before them. */
function assemble(
  manifest: Manifest,
  from: {
    order: readonly Task[];
    rendered: ReadonlyMap<string, RenderedStep[]>;
    made: readonly MadeUpload[];
    descriptions: ReadonlyMap<string, string>;
    warnings: readonly Diagnostic[];
    notices: readonly string[];
    gates: readonly Gate[];
  },
): Graph {
  const fingerprints = new Map<string, string>();
  const canaries: Canary[] = [];
  const fingerprintOf = (address: string): string => {
    const fingerprint = fingerprints.get(address);
    if (fingerprint === undefined) throw new Error(`internal error: ${address} is not before the step that needs it`);
    return fingerprint;
  };
  const steps: Step[] = from.made.map(uploadStep);
  for (const { address, fingerprint } of steps) fingerprints.set(address, fingerprint);
  const gatesByTask = groupBy(from.gates, ({ task }) => task);
  for (const task of from.order) {
    const place = manifest.places.key(taskPath(task.id));
    const own = (from.rendered.get(task.id) ?? []).map((rendered) => {
      const step = finishStep(rendered, { fingerprintOf, place });
      fingerprints.set(step.address, step.fingerprint);
      return step;
    });
    for (const step of own) steps.push(step);
    canaries.push(...canariesOf(task, own));
    for (const { is, name, members } of gatesByTask.get(task.id) ?? []) {
      if (is === 'choose') fingerprints.set(name, fingerprintChoice(members.map(fingerprintOf)));
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
    budget: manifest.budget,
    concurrency: manifest.concurrency,
    selectors: manifest.selectors,
    prices: manifest.prices,
    warnings: [...manifest.warnings, ...from.warnings],
    ...(from.gates.length > 0 && { gates: from.gates }),
    ...(canaries.length > 0 && { canaries }),
    ...(from.notices.length > 0 && { notices: from.notices }),
  };
}

/** Renders descriptions, which may use only vars and are the same for all steps of a task. */
function renderDescriptions(expansion: Expansion): Map<string, string> {
  const { manifest, templates, vars } = expansion;
  const descriptions = new Map<string, string>();
  const names = Object.assign(Object.create(null) as JsonMap, { vars });
  for (const { id, description } of manifest.tasks) {
    if (description === undefined) continue;
    const value = renderValue(description, taskPath(id, 'description'), {
      templates,
      scopeAt: () => ({ names }),
      onFault: (fault, site) => expansion.reportFault(fault, site),
    });
    if (isScalar(value)) descriptions.set(id, String(value));
  }
  return descriptions;
}
