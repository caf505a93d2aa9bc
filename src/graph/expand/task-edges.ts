import type { Diagnostic, Place } from '../../ground/diagnostic.ts';
import { shorten } from '../../ground/values.ts';
import { type Task, taskPath } from '../../manifest/manifest.ts';
import { suggestName } from '../../manifest/suggest.ts';
import type { Expansion } from '../expansion.ts';
import { findTemplates } from '../render/templates.ts';

interface Edge {
  to: string;
  says: string;
  place(): Place;
}

/**
 * Sorts tasks in the order of the manifest, but each task after the tasks that it needs. If tasks need each other,
 * reports an error and returns `undefined`.
 */
export function orderTasks(expansion: Expansion): Task[] | undefined {
  const { manifest } = expansion;
  const tasks = new Map(manifest.tasks.map((task) => [task.id, task]));
  for (const task of manifest.tasks) checkNames(task, expansion);
  const edges = new Map(manifest.tasks.map((task) => [task.id, edgesOf(task, expansion)]));
  for (const task of manifest.tasks) checkIdlePicks(task, edges.get(task.id) ?? [], expansion);
  const order: Task[] = [];
  const state = new Map<string, 'open' | 'done'>();
  let circles = 0;

  function visit(start: Task): void {
    const trail: { task: Task; edges: readonly Edge[]; next: number }[] = [];
    const enter = (task: Task) => {
      state.set(task.id, 'open');
      trail.push({ task, edges: edges.get(task.id) ?? [], next: 0 });
    };
    enter(start);
    for (let frame = trail.at(-1); frame !== undefined; frame = trail.at(-1)) {
      const edge = frame.edges[frame.next];
      frame.next += 1;
      if (edge === undefined) {
        state.set(frame.task.id, 'done');
        order.push(frame.task);
        trail.pop();
        continue;
      }
      const target = tasks.get(edge.to);
      if (target === undefined || state.get(edge.to) === 'done') continue;
      if (state.get(edge.to) === 'open') {
        circles += 1;
        const from = trail.findIndex((one) => one.task.id === edge.to);
        const circle = trail.slice(from).flatMap((one) => one.edges[one.next - 1] ?? []);
        expansion.report(describeCircle(edge, circle));
      } else {
        enter(target);
      }
    }
  }

  for (const task of manifest.tasks) if (!state.has(task.id)) visit(task);
  return circles > 0 ? undefined : order;
}

function describeCircle(last: Edge, circle: readonly Edge[]): Diagnostic {
  const first = last.to;
  const names = [first, ...circle.map((edge) => edge.to)].join(' → ');
  const [edge = last, ...rest] = circle;
  const self = circle.length === 1;
  return {
    code: 'MB1404',
    severity: 'error',
    message: self ? `task \`${first}\` needs itself` : `tasks need each other in a circle: ${names}`,
    hint: self ? 'remove the reference' : 'remove one of these references',
    place: edge.place(),
    ...(self ? {} : { related: rest.map((one) => ({ message: one.says, place: one.place() })) }),
  };
}

function edgesOf(task: Task, { manifest, kinds, templates }: Expansion): Edge[] {
  const edges: Edge[] = [];
  for (const field of task.with) {
    for (const site of findTemplates(field.value, field.path)) {
      for (const path of templates.get(site.text)?.paths ?? []) {
        const [root, to] = path.parts;
        if (root !== 'tasks' || to === undefined || !kinds.has(to)) continue;
        const part = { text: site.text, start: path.start, end: path.end };
        const says = `\`${task.id}\` refers to \`${to}\``;
        edges.push({ to, says, place: () => manifest.places.within(site.path, part) });
      }
    }
  }
  if (task.rows.from === 'parts') {
    const { task: to } = task.rows;
    const says = `\`${task.id}\` uses the parts of \`${to}\``;
    edges.push({ to, says, place: () => manifest.places.value(taskPath(task.id, 'foreach')) });
  }
  for (const [index, to] of task.needs.entries()) {
    const path = taskPath(task.id, 'needs', index);
    edges.push({ to, says: `\`${task.id}\` needs \`${to}\``, place: () => manifest.places.value(path) });
  }
  return edges;
}

function checkIdlePicks(task: Task, edges: readonly Edge[], expansion: Expansion): void {
  const used = new Set(edges.map((edge) => edge.to));
  for (const { task: name } of task.from) {
    if (used.has(name) || !expansion.kinds.has(name)) continue;
    const message = `\`from\` of task \`${task.id}\` selects a step of \`${name}\`, but nothing in the task refers to \`${name}\``;
    const place = expansion.manifest.places.key(taskPath(task.id, 'from', name));
    const hint = 'remove the selection, or use {{tasks.…}} in `with`';
    expansion.report({ code: 'MB1405', severity: 'warning', message, hint, place });
  }
}

function checkNames(task: Task, expansion: Expansion): void {
  const { kinds, manifest } = expansion;
  const { places } = manifest;
  const unknown = (name: string, where: string, place: Place) => {
    const message = `\`${where}\` of task \`${task.id}\` names a task that does not exist: \`${shorten(name)}\``;
    const hint = suggestName(name, [...kinds.keys()], { what: 'tasks' });
    expansion.reportError({ code: 'MB1403', message, hint, place });
  };
  for (const [index, name] of task.needs.entries()) {
    if (kinds.has(name) || name.includes('{{')) continue;
    unknown(name, 'needs', places.value(taskPath(task.id, 'needs', index)));
  }
  for (const { task: name } of task.from) {
    if (!kinds.has(name)) unknown(name, 'from', places.key(taskPath(task.id, 'from', name)));
  }
}
