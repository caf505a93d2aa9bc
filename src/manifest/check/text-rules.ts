import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, mapOf, ownValue, type Path, shorten } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { readWholeParts, readWholeTable } from '../rows/read-row-source.ts';
import { nearestName, suggestName } from '../suggest.ts';
import { isTemplate } from '../template/template.ts';
import type { Places } from '../yaml/places.ts';
import { knownKeys } from './validate.generated.ts';

/** Finds unknown kinds, and templates in wrong places. */
export function checkTexts(value: Json, places: Places): Diagnostic[] {
  return [...checkKinds(value, places), ...checkTemplatePlaces(value, places)];
}

function checkKinds(value: Json, places: Places): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const known = Object.keys(kinds);
  const check = (kind: string, words: { code: 'MB1101' | 'MB1103'; message: string; place: Diagnostic['place'] }) => {
    if (kinds[kind] !== undefined || isTemplate(kind)) return;
    const { code, message, place } = words;
    const hint = suggestName(kind, known, { what: 'kinds' });
    const meant = nearestName(kind, known);
    const fix = place !== undefined && meant !== undefined ? { place, text: meant } : undefined;
    diagnostics.push({ code, severity: 'error', message, hint, place, fix });
  };
  const { defaults, tasks } = mapOf(value);
  for (const kind of Object.keys(mapOf(defaults))) {
    const place = places.key(['defaults', kind]);
    check(kind, { code: 'MB1101', message: `\`${shorten(kind)}\` in \`defaults\` is not a kind`, place });
  }
  for (const [id, task] of Object.entries(mapOf(tasks))) {
    const kind = ownValue(task, 'kind');
    if (typeof kind !== 'string') continue;
    const message = `task \`${id}\` has the unknown kind "${shorten(kind)}"`;
    check(kind, { code: 'MB1103', message, place: places.value(['tasks', id, 'kind']) });
  }
  return diagnostics;
}

export const templateFields: readonly string[] = ['with', 'key', 'when', 'save', 'description', 'from'];
const taskKeys = knownKeys['#/properties/tasks/additionalProperties'] ?? [];

function checkTemplatePlaces(value: Json, places: Places): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const refuse = (path: Path, what: string, hint: string) => {
    const place = places.value(path);
    diagnostics.push({ code: 'MB1202', severity: 'error', message: `${what} cannot be a template`, hint, place });
  };
  const visit = (item: Json | undefined, path: Path, what: string): void => {
    if (typeof item === 'string') {
      const hint =
        'templates are allowed only in `with`, `key`, `when`, `save`, `from`, `expect.ratio`, `gate.title`, `description` and `vars`';
      if (isTemplate(item)) refuse(path, what, hint);
    } else if (Array.isArray(item)) {
      for (const [index, child] of item.entries()) visit(child, [...path, index], what);
    } else if (isMap(item)) {
      for (const [key, child] of Object.entries(item)) visit(child, [...path, key], what);
    }
  };
  const root = isMap(value) ? value : {};
  visit(root.name, ['name'], 'the name of the campaign');
  visit(root.include, ['include'], 'a path in `include`');
  visit(root.selectors, ['selectors'], 'a selector');
  visit(root.outputs, ['outputs'], 'the path of the index');
  visit(root.rights, ['rights'], 'a value of `rights`');
  const owners = ['rows', 'tasks'].flatMap((section) =>
    Object.entries(mapOf(root[section])).map(([name, owner]) => ({ owner, at: [section, name] })),
  );
  for (const { owner, at } of owners) {
    if (!isMap(owner)) continue;
    for (const [key, item] of Object.entries(owner)) {
      const path = [...at, key];
      if (templateFields.includes(key) || !taskKeys.includes(key)) continue;
      if (key === 'foreach' && typeof item === 'string') {
        const hint =
          'write the path of one file, an inline list, exactly one {{vars.name}} or {{tables.name}}, or one {{tasks.name.clips}}';
        const isWhole = isWholeList(item) || readWholeParts(item) !== undefined;
        if (isTemplate(item) && !isWhole) refuse(path, 'a part of `foreach`', hint);
      } else if (key === 'matrix' && isMap(item)) {
        for (const [axis, values] of Object.entries(item)) {
          if (typeof values === 'string' && isWholeList(values)) continue;
          visit(values, [...path, axis], 'a value of a matrix');
        }
      } else if ((key === 'expect' || key === 'gate') && isMap(item)) {
        const { ratio: _ratio, title: _title, ...fixed } = item;
        visit(fixed, path, `\`${key}\``);
      } else {
        visit(item, path, key === 'foreach' && Array.isArray(item) ? 'a row' : `\`${key}\``);
      }
    }
  }
  return diagnostics;
}

export function isWholeList(text: string): boolean {
  return isWholeVar(text) || readWholeTable(text) !== undefined;
}

export function isWholeVar(text: string): boolean {
  return /^\{\{\s*vars\.[^{}\s]+\s*\}\}$/.test(text);
}
