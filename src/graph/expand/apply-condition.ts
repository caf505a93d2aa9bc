import type { Json } from '../../ground/json.ts';
import { describeValue, unknownValue } from '../../ground/values.ts';
import { taskPath } from '../../manifest/manifest.ts';
import type { Expansion } from '../expansion.ts';
import { renderValue } from '../render/render-value.ts';
import { placeFault } from '../render/templates.ts';
import { type Draft, namesOf, withTrail } from './draft.ts';

/** Splits the steps of a task by its `when`. A step whose condition is wrong is left out, and reported. */
export function applyCondition(drafts: Draft[], expansion: Expansion): { kept: Draft[]; leftOut: Draft[] } {
  const when = drafts[0]?.task.when;
  if (when === undefined || when === true) return { kept: drafts, leftOut: [] };
  const kept: Draft[] = [];
  const leftOut: Draft[] = [];
  for (const draft of drafts) (isWanted(draft, when, expansion) ? kept : leftOut).push(draft);
  return { kept, leftOut };
}

function isWanted(draft: Draft, when: string | boolean, expansion: Expansion): boolean {
  const { manifest, templates, vars } = expansion;
  const path = taskPath(draft.task.id, 'when');
  const value = renderValue(when, path, {
    templates,
    scopeAt: () => ({ names: namesOf(draft, vars), rowLabel: draft.row?.label }),
    onFault: (fault, site) => expansion.report(withTrail(placeFault(fault, site, manifest.places), draft)),
  });
  if (value === unknownValue) return false;
  const truth = readTruth(value);
  if (truth !== undefined) return truth;
  const message = `\`when\` is ${describeValue(value)}, and must be true or false`;
  const hint = 'compare it, as in "{{eq row.state \'live\'}}", or write true and false in the data';
  const place = manifest.places.value(path);
  expansion.report(withTrail({ code: 'MB1409', severity: 'error', message, hint, place }, draft));
  return false;
}

/** Reads the texts of data files, too; an empty cell is false. */
function readTruth(value: Json): boolean | undefined {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false' || value === '' || value === null) return false;
  return undefined;
}
