import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { describeValue, groupBy, isScalar, unknownValue } from '../../ground/values.ts';
import type { Condition, Draft, ExpandedTask } from './draft.ts';

/** Finds steps by their row key, matrix values and take. Builds one index for each set of names that is used. */
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

/** Returns the conditions of a join: equal row keys and matrix values, unless `from` replaces them. */
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

/** Reads a pick of `from`: a value or a list. `found` is omitted when it is neither, or was reported. */
export function readPick(
  rendered: Json,
  of: { task: string; name: string },
): { found?: string[]; problem?: Omit<Diagnostic, 'place'> } {
  const list = Array.isArray(rendered) ? rendered : [rendered];
  const found = list.filter(isScalar).map(String);
  if (found.length === list.length) return { found };
  if (list.includes(unknownValue)) return {};
  const odd = list.find((item) => !isScalar(item)) ?? null;
  const message = `\`from.${of.task}.${of.name}\` is ${describeValue(odd)}, but must be a value or a list of values`;
  const hint = `use a column, such as "{{row.who}}", or split a cell, as in "{{split row.who}}"`;
  return { problem: { code: 'MB1405', severity: 'error', message, hint } };
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
  const leftOut = findLeftOut(producer, conditions);
  if (candidates.length === 0 && leftOut !== undefined) {
    const message = `\`${path.written}\` matches no step: ${leftOut.address} is skipped by its \`when\``;
    return { message, hint: 'give this task the same `when`, or pick another step with `from:`' };
  }
  if (producer.drafts.length === 0) {
    const message = `\`${path.written}\` matches no step: \`${path.task}\` has no steps`;
    return { message, hint: `give \`${path.task}\` a row or a matrix cell, or remove the reference` };
  }
  const asked = conditions.map(({ name, value }) => `${name} ${value}`).join(', ');
  const pool = candidates.length > 0 ? candidates : producer.drafts;
  const telling = attributeNames(producer).filter(
    (name) => new Set(pool.map((draft) => attributeOf(draft, name))).size > 1 || candidates.length === 0,
  );
  const example = pool[0];
  const picks = telling.map((name) => `${name}: ${example === undefined ? '…' : quoted(attributeOf(example, name))}`);
  const way =
    picks.length === 0
      ? 'a task has one step only without rows, matrix and takes'
      : `write \`from: { ${path.task}: { ${picks.join(', ')} } }\` to select one`;
  const list = `{{tasks.${path.task}.${path.output}s}} is the list of all`;
  if (candidates.length === 0) {
    const message = `\`${path.written}\` matches no step: no step of \`${path.task}\` has ${asked}`;
    return { message, hint: `it has ${listAddresses(producer.drafts)}; ${way}` };
  }
  const message = `\`${path.written}\` matches ${candidates.length} steps of \`${path.task}\`, but must match one`;
  return { message, hint: `it could be ${listAddresses(candidates)}; ${way}, or ${list}` };
}

export function findLeftOut(producer: ExpandedTask, conditions: readonly Condition[]): Draft | undefined {
  return producer.leftOut.find((draft) => conditions.every(({ name, value }) => attributeOf(draft, name) === value));
}

export function explainEmptyList(
  path: { written: string; task: string },
  found: { producer: ExpandedTask; picks: readonly Condition[] },
): { message: string; hint: string } {
  const { producer, picks } = found;
  const leftOut = findLeftOut(producer, picks);
  if (leftOut !== undefined) {
    const what = producer.drafts.length === 0 ? `all steps of \`${path.task}\` are` : `${leftOut.address} is`;
    const message = `\`${path.written}\` is an empty list: ${what} left out by \`when\``;
    return { message, hint: 'give this task the same `when`, or remove the reference' };
  }
  if (producer.drafts.length === 0) {
    const message = `\`${path.written}\` is an empty list: \`${path.task}\` has no steps`;
    return { message, hint: `give \`${path.task}\` a row or a matrix cell, or remove the reference` };
  }
  const asked = picks.map(({ name, value }) => `${name} ${value}`).join(', ');
  const message = `\`${path.written}\` lacks a step: no step of \`${path.task}\` has ${asked}`;
  return { message, hint: `it has ${listAddresses(producer.drafts)}; change what \`from\` picks, or remove it` };
}

function listAddresses(drafts: readonly Draft[]): string {
  const shown = drafts.slice(0, 4).map((draft) => draft.address);
  const more = drafts.length - shown.length;
  return more > 0 ? `${shown.join('  ')} and ${more} more` : shown.join('  ');
}

function quoted(value: string): string {
  return /^[A-Za-z][\w-]*$|^[0-9]$/.test(value) ? value : JSON.stringify(value);
}
