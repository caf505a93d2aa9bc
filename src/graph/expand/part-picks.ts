import type { Diagnostic } from '../../ground/diagnostic.ts';
import { isScalar, type JsonMap, shorten, unknownValue } from '../../ground/values.ts';
import { type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import { suggestName } from '../../manifest/suggest.ts';
import type { PartSource } from '../check/check-parts.ts';
import { renderValue } from '../render/render-value.ts';
import { placeFault, type TemplateCache, textId } from '../render/templates.ts';
import type { Draft, ExpandedTask } from './draft.ts';
import { attributeNames, attributeOf, type Condition } from './join.ts';

/**
 * The steps whose parts a task goes through: all of the other task, or those that `from` picks. Absent when that is
 * wrong, which is told here, once and not for each part.
 */
export function pickPartSteps(
  task: Task,
  source: PartSource,
  from: {
    manifest: Manifest;
    producer: ExpandedTask;
    vars: JsonMap;
    templates: TemplateCache;
    wrongTexts: ReadonlySet<string>;
  },
): { drafts?: Draft[]; diagnostics: Diagnostic[] } {
  const { manifest, producer } = from;
  const { places } = manifest;
  const diagnostics: Diagnostic[] = [];
  const conditions: Condition[] = [];
  const names = attributeNames(producer);
  let isBroken = false;
  for (const { name, value } of task.from.find((one) => one.task === source.task)?.picks ?? []) {
    const path = taskPath(task.id, 'from', source.task, name);
    if (!names.includes(name)) {
      const message = `the steps of \`${source.task}\` have no \`${shorten(name)}\``;
      const hint = suggestName(name, names, { what: 'they have' });
      diagnostics.push({ code: 'MB1405', severity: 'error', message, hint, place: places.key(path) });
      continue;
    }
    const roots = typeof value === 'string' ? (from.templates.get(value)?.paths ?? []) : [];
    if (roots.some(({ parts }) => parts[0] !== 'vars')) {
      const message = `\`from\` of task \`${task.id}\` picks by what differs from row to row, but its rows are parts of what is picked`;
      const hint = 'write the value itself, or use vars';
      diagnostics.push({ code: 'MB1202', severity: 'error', message, hint, place: places.value(path) });
      continue;
    }
    const rendered = renderValue(value, path, {
      templates: from.templates,
      isWrong: (at) => from.wrongTexts.has(textId(at)),
      scopeAt: () => ({ names: Object.assign(Object.create(null) as JsonMap, { vars: from.vars }) }),
      onFault: (fault, site) => diagnostics.push(placeFault(fault, { ...site, places })),
    });
    if (isScalar(rendered)) conditions.push({ name, value: String(rendered) });
    else if (rendered === unknownValue) isBroken = true;
  }
  if (isBroken || diagnostics.length > 0) return { diagnostics };
  const isMeant = (draft: Draft) => conditions.every(({ name, value }) => attributeOf(draft, name) === value);
  const drafts = producer.drafts.filter(isMeant);
  if (drafts.length > 0 || conditions.length === 0 || producer.leftOut.some(isMeant)) return { drafts, diagnostics };
  const asked = conditions.map(({ name, value }) => `${name} ${shorten(value)}`).join(', ');
  const message = `\`from\` picks no step of \`${source.task}\`: it has none with ${asked}`;
  const known = [...producer.drafts, ...producer.leftOut].slice(0, 4).map(({ address }) => address);
  const place = places.key(taskPath(task.id, 'from', source.task));
  const hint = known.length === 0 ? 'remove it' : `it has ${known.join('  ')}`;
  diagnostics.push({ code: 'MB1405', severity: 'error', message, hint, place });
  return { diagnostics };
}
