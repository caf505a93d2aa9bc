import { checkSavePath } from '../../graph/render/save-path.ts';
import { defined, emptyMap, isScalar, type JsonMap } from '../../ground/values.ts';
import { parseTemplate } from '../../manifest/template/parse-template.ts';
import { renderTemplate } from '../../manifest/template/render-template.ts';
import type { Template } from '../../manifest/template/template.ts';
import { withoutExtension } from '../select/names.ts';
import type { OutputEntry } from './list-outputs.ts';

/** A file, and its path within the delivery folder. */
export interface NamedDelivery<File extends OutputEntry = OutputEntry> {
  file: File;
  name: string;
  /** The first value of the layout that is empty for this file, as written. */
  empty?: string;
}

const layoutNames = ['row', 'matrix', 'key', 'task', 'kind', 'take', 'part', 'path'] as const;

interface Problem {
  problem: string;
  hint: string;
}

/**
 * Names files by a layout, which is a template without the file extension. Without a layout, files keep their paths.
 * Two files with the same name, and a name that a file system rejects, are problems.
 */
export function nameDeliveries<File extends OutputEntry>(
  files: readonly File[],
  layout = '{{path}}',
): NamedDelivery<File>[] | Problem {
  const template = readLayout(layout);
  if ('problem' in template) return template;
  const named: NamedDelivery<File>[] = [];
  const owners = new Map<string, string>();
  for (const file of files) {
    const rendered = render(template, file);
    if (typeof rendered !== 'string') return rendered;
    const name = rendered + file.output.path.slice(withoutExtension(file.output.path).length);
    // Some file systems do not distinguish names that differ only in case.
    const same = name.normalize('NFC').toLowerCase();
    const other = owners.get(same);
    if (other !== undefined) {
      const hint = 'put into --layout what tells them apart, as in {{key}}, {{matrix.ratio}}, {{take}} or {{part}}';
      return { problem: `${other} and ${file.address} would both be ${name}`, hint };
    }
    owners.set(same, file.address);
    named.push({ file, name, ...defined({ empty: findEmpty(template, file) }) });
  }
  return named;
}

function readLayout(layout: string): Template | Problem {
  const { template, faults, paths } = parseTemplate(layout);
  const [fault] = faults;
  const known = `a layout may use ${layoutNames.join(', ')}`;
  if (fault !== undefined || template === undefined) {
    return { problem: fault?.message ?? 'it cannot be read', hint: fault?.hint ?? known };
  }
  const odd = paths.find(({ parts }) => !layoutNames.some((name) => name === parts[0]));
  return odd === undefined ? template : { problem: `there is no \`${odd.parts.join('.')}\``, hint: known };
}

function render(template: Template, file: OutputEntry): string | Problem {
  const { value, faults } = renderTemplate(template, { names: namesOf(file), rowLabel: `the row of ${file.address}` });
  const [fault] = faults;
  if (fault !== undefined) {
    return {
      problem: `for ${file.address}: ${fault.message}`,
      hint: fault.hint ?? 'leave such steps out with --select',
    };
  }
  if (value === undefined || !isScalar(value)) {
    return { problem: `for ${file.address} it gives no text`, hint: 'write a path, as in {{row.sku}}/{{task}}' };
  }
  const path = String(value);
  const wrong = checkSavePath(path);
  return wrong === undefined ? path : { problem: `for ${file.address}: ${wrong.message}`, hint: wrong.hint };
}

function findEmpty(template: Template, file: OutputEntry): string | undefined {
  const names = namesOf(file);
  for (const part of template.body) {
    if (part.is !== 'value') continue;
    if (renderTemplate({ text: '', body: [part], paths: [] }, { names }).value === '')
      return `{{${part.value.written.replaceAll(/^\{\{|\}\}$/g, '')}}}`;
  }
  return undefined;
}

function namesOf(file: OutputEntry): JsonMap {
  const { row, matrix, key, task, kind, take, part, output } = file;
  const names = Object.assign(emptyMap(), { task, kind, path: withoutExtension(output.path) });
  names.matrix = Object.assign(emptyMap(), matrix);
  if (row !== undefined) names.row = row;
  if (key !== undefined) names.key = key;
  if (take !== undefined) names.take = take;
  if (part !== undefined) names.part = part;
  return names;
}
