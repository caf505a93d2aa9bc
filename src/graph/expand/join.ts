import type { Diagnostic, Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { describeValue, groupBy, isScalar, type Path, shorten, unknownValue } from '../../ground/values.ts';
import { type Task, taskPath } from '../../manifest/manifest.ts';
import { suggestName } from '../../manifest/suggest.ts';
import type { Places } from '../../manifest/yaml/places.ts';
import type { Condition, Draft, ExpandedTask } from './draft.ts';

export function indexSteps(drafts: readonly Draft[]): ExpandedTask['find'] {
  const indexes = new Map<string, Map<string, Draft[]>>();
  return (conditions) => {
    if (conditions.length === 0) return drafts;
    const names = conditions.map((condition) => condition.name);
    const id = JSON.stringify(names);
    const valuesOf = (draft: Draft) => JSON.stringify(names.map((name) => attributeOf(draft, name)));
    const index = indexes.get(id) ?? groupBy(drafts, valuesOf);
    indexes.set(id, index);
    return index.get(JSON.stringify(conditions.map((condition) => condition.value))) ?? [];
  };
}

export function joinConditions(
  consumer: Draft,
  producer: ExpandedTask,
  picks: readonly Condition[],
): { conditions: Condition[]; automatic: number } {
  const picked = new Set(picks.map((pick) => pick.name));
  const automatic: Condition[] = [];
  if (producer.hasKey && consumer.key !== undefined && !picked.has('key')) {
    automatic.push({ name: 'key', value: consumer.key });
  }
  for (const axis of producer.axes) {
    const value = consumer.matrix[axis];
    if (value !== undefined && !picked.has(axis)) automatic.push({ name: axis, value });
  }
  return { conditions: [...picks, ...automatic], automatic: automatic.length };
}

export function readPicks(
  task: Task,
  producer: ExpandedTask,
  using: { places: Places; render(value: Json, path: Path): Json; report(error: Diagnostic): void },
): { name: string; values: string[] }[] | undefined {
  const { id } = producer.task;
  const names = attributeNames(producer.offered ?? producer);
  const picks: { name: string; values: string[] }[] = [];
  let isBroken = false;
  const wrong = (message: string, hint: string, place: Place) => {
    isBroken = true;
    using.report({ code: 'MB1405', severity: 'error', message, hint, place });
  };
  for (const { name, value } of task.from.find((one) => one.task === id)?.picks ?? []) {
    const path = taskPath(task.id, 'from', id, name);
    if (!names.includes(name)) {
      isBroken = true;
      if (!producer.complete) continue;
      const place = using.places.key(path);
      if (attributeNames(producer).includes(name)) {
        const hint = `remove \`${name}\` from \`from\`, because the reference is to the picked outputs; or remove \`gate\` from task \`${id}\``;
        wrong(`\`${name}\` of \`${id}\` is chosen at its gate, not by \`from\``, hint, place);
      } else {
        const hint = suggestName(name, names, { what: 'they have' });
        wrong(`the steps of \`${id}\` have no \`${shorten(name)}\``, hint, place);
      }
      continue;
    }
    const rendered = using.render(value, path);
    const list = Array.isArray(rendered) ? rendered : [rendered];
    const values = list.filter(isScalar).map(String);
    if (values.length === list.length) {
      picks.push({ name, values });
    } else if (list.includes(unknownValue)) {
      isBroken = true;
    } else {
      const odd = describeValue(list.find((item) => !isScalar(item)));
      const hint = 'use a column, such as "{{row.who}}", or split a cell, as in "{{split row.who}}"';
      const message = `\`from.${id}.${name}\` is ${odd}, but must be a value or a list of values`;
      wrong(message, hint, using.places.value(path));
    }
  }
  return isBroken ? undefined : picks;
}

export function attributeNames(producer: ExpandedTask): string[] {
  return [...(producer.hasKey ? ['key'] : []), ...producer.axes, ...((producer.task.takes ?? 1) > 1 ? ['take'] : [])];
}

export function attributeOf(draft: Draft, name: string): string {
  if (name === 'key') return draft.key ?? '';
  if (name === 'take') return draft.take === undefined ? '' : String(draft.take);
  return draft.matrix[name] ?? '';
}

export function explainJoin(
  path: { written: string; task: string; output: string },
  found: { candidates: readonly Draft[]; producer: ExpandedTask; conditions: readonly Condition[] },
): { message: string; hint: string } {
  const { candidates, producer, conditions } = found;
  const none = `\`${path.written}\` matches no step`;
  const leftOut = candidates.length === 0 ? findLeftOut(producer, conditions) : undefined;
  if (leftOut !== undefined) {
    const message = `${none}: ${leftOut.address} is left out by its \`when\``;
    return { message, hint: 'give this task the same `when`, or pick another step with `from:`' };
  }
  if (producer.drafts.length === 0) {
    const hint = `give \`${path.task}\` a row or a matrix cell, or remove the reference`;
    return { message: `${none}: \`${path.task}\` has no steps`, hint };
  }
  const pool = candidates.length > 0 ? candidates : producer.drafts;
  const picks = attributeNames(producer).flatMap((name) => {
    const [value = '', other] = new Set(pool.map((draft) => attributeOf(draft, name)));
    return candidates.length === 0 || other !== undefined ? [`${name}: ${quoted(value)}`] : [];
  });
  const way =
    picks.length === 0
      ? 'only a task without rows, matrix and takes has a single step'
      : `write \`from: { ${path.task}: { ${picks.join(', ')} } }\` to select one`;
  if (candidates.length === 0) {
    const asked = conditions.map(({ name, value }) => `${name} ${value}`).join(', ');
    const message = `${none}: no step of \`${path.task}\` has ${asked}`;
    return { message, hint: `its steps: ${listAddresses(producer.drafts)}; ${way}` };
  }
  const message = `\`${path.written}\` matches ${candidates.length} steps of \`${path.task}\`, but must match one`;
  const list = `{{tasks.${path.task}.${path.output}s}} is the list of all`;
  return { message, hint: `matches: ${listAddresses(candidates)}; ${way}, or ${list}` };
}

export function findLeftOut(producer: ExpandedTask, conditions: readonly Condition[]): Draft | undefined {
  return producer.leftOut.find((draft) => conditions.every(({ name, value }) => attributeOf(draft, name) === value));
}

function listAddresses(drafts: readonly Draft[]): string {
  const shown = drafts.slice(0, 4).map((draft) => draft.address);
  const more = drafts.length - shown.length;
  return more > 0 ? `${shown.join('  ')} and ${more} more` : shown.join('  ');
}

function quoted(value: string): string {
  return /^[A-Za-z][\w-]*$|^[0-9]$/.test(value) ? value : JSON.stringify(value);
}
