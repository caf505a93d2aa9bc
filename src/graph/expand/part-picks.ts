import { isScalar, type JsonMap, shorten, unknownValue } from '../../ground/values.ts';
import { type Task, taskPath } from '../../manifest/manifest.ts';
import { suggestName } from '../../manifest/suggest.ts';
import type { PartSource } from '../check/check-parts.ts';
import type { Expansion } from '../expansion.ts';
import { renderValue } from '../render/render-value.ts';
import type { Condition, Draft, ExpandedTask } from './draft.ts';
import { attributeNames, attributeOf } from './join.ts';

/**
 * Returns the steps whose parts a task goes through: all of the other task, or those that `from` picks. Absent when
 * that is wrong, which is reported here, once and not for each part.
 */
export function pickPartSteps(
  task: Task,
  { source, producer }: { source: PartSource; producer: ExpandedTask },
  expansion: Expansion,
): readonly Draft[] | undefined {
  const { templates, vars } = expansion;
  const { places } = expansion.manifest;
  const conditions: Condition[] = [];
  const names = attributeNames(producer);
  let isBroken = false;
  for (const { name, value } of task.from.find((one) => one.task === source.task)?.picks ?? []) {
    const path = taskPath(task.id, 'from', source.task, name);
    if (!names.includes(name)) {
      const message = `the steps of \`${source.task}\` have no \`${shorten(name)}\``;
      const hint = suggestName(name, names, { what: 'they have' });
      expansion.reportError({ code: 'MB1405', message, hint, place: places.key(path) });
      isBroken = true;
      continue;
    }
    const roots = typeof value === 'string' ? (templates.get(value)?.paths ?? []) : [];
    if (roots.some(({ parts }) => parts[0] !== 'vars')) {
      const message = `\`from\` of task \`${task.id}\` picks by what differs from row to row, but its rows are parts of what is picked`;
      const hint = 'write the value itself, or use vars';
      expansion.reportError({ code: 'MB1202', message, hint, place: places.value(path) });
      isBroken = true;
      continue;
    }
    const rendered = renderValue(value, path, {
      templates,
      scopeAt: () => ({ names: Object.assign(Object.create(null) as JsonMap, { vars }) }),
      onFault: (fault, site) => expansion.reportFault(fault, site),
    });
    if (isScalar(rendered)) conditions.push({ name, value: String(rendered) });
    else if (rendered === unknownValue) isBroken = true;
  }
  if (isBroken) return undefined;
  const isMeant = (draft: Draft) => conditions.every(({ name, value }) => attributeOf(draft, name) === value);
  const drafts = producer.drafts.filter(isMeant);
  if (drafts.length > 0 || conditions.length === 0 || producer.leftOut.some(isMeant)) return drafts;
  const asked = conditions.map(({ name, value }) => `${name} ${shorten(value)}`).join(', ');
  const message = `\`from\` picks no step of \`${source.task}\`: it has none with ${asked}`;
  const known = [...producer.drafts, ...producer.leftOut].slice(0, 4).map(({ address }) => address);
  const place = places.key(taskPath(task.id, 'from', source.task));
  const hint = known.length === 0 ? 'remove it' : `it has ${known.join('  ')}`;
  expansion.reportError({ code: 'MB1405', message, hint, place });
  return undefined;
}
