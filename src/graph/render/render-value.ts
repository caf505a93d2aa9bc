import type { Json } from '../../ground/json.ts';
import { emptyMap, isMap, type Path, unknownValue } from '../../ground/values.ts';
import { renderTemplate, type Scope } from '../../manifest/template/render-template.ts';
import { isTemplate, type TemplateFault } from '../../manifest/template/template.ts';
import type { Templates } from './templates.ts';

/** Renders templates at any depth. A text that fails becomes `unknownValue`, and its faults are reported. */
export function renderValue(
  value: Json,
  path: Path,
  using: {
    templates: Templates;
    /** If omitted, templates are not rendered and count as unknown. */
    scopeAt?: (site: { text: string; path: Path }) => Scope;
    onFault?: (fault: TemplateFault, site: { text: string; path: Path }) => void;
  },
): Json {
  if (value === unknownValue) return value;
  if (typeof value === 'string') {
    if (!isTemplate(value)) return value;
    const template = using.templates.get(value);
    if (template === undefined || using.scopeAt === undefined || !using.templates.isSound(path)) return unknownValue;
    const site = { text: value, path };
    const result = renderTemplate(template, using.scopeAt(site));
    for (const fault of result.faults) using.onFault?.(fault, site);
    // `null` is a value, which is either sent or rejected by the check of its field.
    return result.value === undefined ? unknownValue : result.value;
  }
  if (Array.isArray(value)) return value.map((item, index) => renderValue(item, [...path, index], using));
  if (!isMap(value)) return value;
  const copy = emptyMap();
  for (const [key, item] of Object.entries(value)) copy[key] = renderValue(item, [...path, key], using);
  return copy;
}
