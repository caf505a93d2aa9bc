import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { describeValue, type JsonMap, unknownValue } from '../../ground/values.ts';
import { type Manifest, taskPath } from '../../manifest/manifest.ts';
import { renderTemplate } from '../../manifest/template/render-template.ts';
import { isTemplate } from '../../manifest/template/template.ts';
import { placeFault, type TemplateCache, textId } from '../render/templates.ts';
import { type Draft, namesOf, withTrail } from './draft.ts';

/** Parts the steps of a task by its `when`. A step whose condition is wrong is left out, and told. */
export function applyCondition(
  drafts: Draft[],
  from: {
    manifest: Manifest;
    vars: JsonMap;
    templates: TemplateCache;
    wrongTexts: ReadonlySet<string>;
    diagnostics: Diagnostic[];
  },
): { kept: Draft[]; leftOut: Draft[] } {
  const task = drafts[0]?.task;
  if (task?.when === undefined || task.when === true) return { kept: drafts, leftOut: [] };
  const kept: Draft[] = [];
  const leftOut: Draft[] = [];
  for (const draft of drafts) (isWanted(draft, task.when, from) ? kept : leftOut).push(draft);
  return { kept, leftOut };
}

function isWanted(draft: Draft, when: string | boolean, from: Parameters<typeof applyCondition>[1]): boolean {
  if (typeof when === 'boolean') return when;
  const path = taskPath(draft.task.id, 'when');
  const { places } = from.manifest;
  const value = renderWhen(draft, when, { ...from, path });
  if (value === unknownValue) return false;
  const truth = readTruth(value);
  if (truth !== undefined) return truth;
  from.diagnostics.push(
    withTrail(
      {
        code: 'MB1409',
        severity: 'error',
        message: `\`when\` is ${describeValue(value)}, and must be true or false`,
        hint: 'compare it, as in "{{eq row.state \'live\'}}", or write true and false in the data',
        place: places.value(path),
      },
      draft,
    ),
  );
  return false;
}

function renderWhen(
  draft: Draft,
  when: string,
  from: Parameters<typeof applyCondition>[1] & { path: readonly (string | number)[] },
): Json {
  if (!isTemplate(when)) return when;
  const template = from.templates.get(when);
  if (template === undefined || from.wrongTexts.has(textId(from.path))) return unknownValue;
  const { row } = draft;
  const scope = { names: namesOf(draft, from.vars), ...(row === undefined ? {} : { rowLabel: row.label }) };
  const { value, faults } = renderTemplate(template, scope);
  for (const fault of faults) {
    const site = { text: when, path: from.path, places: from.manifest.places };
    from.diagnostics.push(withTrail(placeFault(fault, site), draft));
  }
  return value === undefined ? unknownValue : value;
}

/** A data file has texts; an empty cell says no. */
function readTruth(value: Json): boolean | undefined {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false' || value === '' || value === null) return false;
  return undefined;
}
