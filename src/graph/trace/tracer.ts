import type { Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { defined, isScalar, type Path, valueAt } from '../../ground/values.ts';
import { besideManifest } from '../../manifest/file-path.ts';
import { type Manifest, taskPath } from '../../manifest/manifest.ts';
import { renderTemplate, type Scope } from '../../manifest/template/render-template.ts';
import type { Expression, NamePath, Template } from '../../manifest/template/template.ts';
import type { Draft } from '../expand/draft.ts';
import { beginExpansion, expandTasks } from '../expand/expand-tasks.ts';
import { findCurrentRow, scopeOf } from '../expand/tables.ts';
import { orderTasks } from '../expand/task-edges.ts';
import type { Expansion, GraphFacts } from '../expansion.ts';

export interface Origin {
  is: 'template' | 'default' | 'variable' | 'data' | 'matrix';
  name: string;
  file: string;
  line: number;
  sheet?: string;
}

/** A value of a step's request that differs from the paid request. `path`: path within the request. */
interface Difference {
  path: Path;
  before: Json;
  after: Json;
}

export interface Origins {
  trace(address: string, difference: Difference): Origin | undefined;
  find(address: string, field: string): readonly Origin[];
  filesOf(address: string, field: string): readonly string[];
}

/**
 * Makes the origin finder. Expands the manifest on first use, without rendering or checks. The earlier manifest is
 * unknown: if the current template with other data could have produced the earlier value, the data counts as changed.
 */
export function makeOrigins(manifest: Manifest, facts: GraphFacts): Origins {
  let known: { expansion: Expansion; drafts: ReadonlyMap<string, Draft> } | undefined;
  const open = () => {
    const expansion = beginExpansion(manifest, facts);
    expandTasks(orderTasks(expansion) ?? manifest.tasks, expansion);
    const drafts = [...expansion.expanded.values()].flatMap((task) => task.drafts);
    return { expansion, drafts: new Map(drafts.map((draft) => [draft.address, draft])) };
  };
  const read = (address: string, field: string) => {
    known ??= open();
    const { expansion, drafts } = known;
    const draft = drafts.get(address);
    const written = draft?.task.with.find((one) => one.field === field);
    if (draft === undefined || written === undefined) return undefined;
    const templates = textsIn(written.value).flatMap((text) => expansion.templates.get(text) ?? []);
    const from = { path: written.path, draft, expansion };
    const all = templates.flatMap((template) => [...renderPieces(template, from).files.values()]);
    const files = [...new Map(all.map((origin) => [origin.file, origin])).values()];
    return { ...from, templates, files };
  };
  return {
    trace(address, difference) {
      known ??= open();
      const draft = known.drafts.get(address);
      return draft && trace(draft, difference, known.expansion);
    },
    find(address, field) {
      const found = read(address, field);
      if (found === undefined) return [];
      const { path, templates, draft, expansion, files } = found;
      const filledIn = templates.flatMap(({ paths }) =>
        paths.flatMap((name) => sourceOf(name, draft, expansion) ?? []),
      );
      const byName = new Map(filledIn.map((origin) => [`${origin.is} ${origin.name}`, origin]));
      return [originAt(path, manifest), ...byName.values(), ...files];
    },
    filesOf: (address, field) => (read(address, field)?.files ?? []).map(({ file }) => file),
  };
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function trace(draft: Draft, { path, before, after }: Difference, expansion: Expansion): Origin | undefined {
  const [name = '', ...inside] = path;
  const { manifest } = expansion;
  const field = draft.task.with.find((one) => one.field === name);
  if (field === undefined) return originAt(taskPath(draft.task.id, 'with'), manifest);
  const own = originAt([...field.path, ...inside], manifest);
  const above = inside.findIndex((_, index) => typeof valueAt(field.value, inside.slice(0, index)) === 'string');
  const written = valueAt(field.value, above < 0 ? inside : inside.slice(0, above));
  const template = typeof written === 'string' ? expansion.templates.get(written) : undefined;
  if (template === undefined) return own;
  if (template.whole?.is === 'name') return sourceOf(template.whole, draft, expansion) ?? own;
  if (above >= 0 || typeof before !== 'string' || typeof after !== 'string') return own;
  const { pieces, files } = renderPieces(template, { path: field.path, draft, expansion });
  const source = findChangedSource(pieces, before);
  const found = template.paths.find(({ parts }) => parts.join('.') === source);
  return files.get(source ?? '') ?? (found && sourceOf(found, draft, expansion)) ?? own;
}

function sourceOf(path: NamePath, draft: Draft, expansion: Expansion): Origin | undefined {
  const [root, ...names] = path.parts;
  const { manifest } = expansion;
  const row = findCurrentRow(path, draft, expansion);
  if (row !== undefined) {
    return row.place && { is: 'data', name: row.parts.join('.') || 'row', ...positionOf(row.place()) };
  }
  switch (root) {
    case 'vars': {
      const place = manifest.places.value(['vars', names[0] ?? '']);
      return { is: 'variable', name: `vars.${names[0]}`, ...positionOf(place) };
    }
    case 'row':
      return draft.row && { is: 'data', name: names.join('.') || 'row', ...positionOf(draft.row.place()) };
    case 'matrix': {
      const place = manifest.places.key(taskPath(draft.task.id, 'matrix'));
      return { is: 'matrix', name: names[0] ?? '', ...positionOf(place) };
    }
    default:
      return undefined;
  }
}

function originAt(path: Path, { places }: Manifest): Origin {
  const isDefault = path[0] === 'defaults';
  return { is: isDefault ? 'default' : 'template', name: path.join('.'), ...positionOf(places.value(path)) };
}

function positionOf({ file, start, sheet }: Place): { file: string; line: number; sheet?: string } {
  return { file, line: start.line, ...defined({ sheet }) };
}

/** Piece of a rendered text. `sources`: names of the values that filled the piece. Omitted for the template's text. */
interface Piece {
  text: string;
  sources?: readonly string[];
}

/**
 * Splits a rendered template into literal texts and filled-in texts. Returns no pieces if the template has conditions
 * or loops. `files`: text files that the template reads, by the call as written.
 */
function renderPieces(
  template: Template,
  { path, draft, expansion }: { path: Path; draft: Draft; expansion: Expansion },
): { pieces: Piece[]; files: Map<string, Origin> } {
  const { manifest } = expansion;
  const files = new Map<string, Origin>();
  const scope: Scope = {
    ...scopeOf(draft, expansion),
    output: () => undefined,
    file(written, { helper, written: call }) {
      const at = { folder: draft.task.folder, place: manifest.places.value(path) };
      const read = helper === 'read' ? expansion.readText(written, at) : undefined;
      if (read === undefined || !('text' in read)) return undefined;
      files.set(call, { is: 'data', name: 'text', file: besideManifest(manifest.file, read.path), line: 1 });
      return read.text;
    },
  };
  const pieces = template.body.map((part): Piece | undefined => {
    if (part.is === 'text') return { text: part.text };
    const { value } = renderTemplate({ text: template.text, body: [part], paths: [] }, scope);
    return part.is === 'value' && isScalar(value) ? { text: String(value), sources: sourcesOf(part.value) } : undefined;
  });
  return { pieces: pieces.every((piece) => piece !== undefined) ? pieces : [], files };
}

function sourcesOf(expression: Expression): string[] {
  if (expression.is === 'name') return [expression.parts.join('.')];
  if (expression.is !== 'call') return [];
  return expression.helper === 'read' ? [expression.written] : expression.arguments.flatMap(sourcesOf);
}

const mostSources = 40;

function findChangedSource(pieces: readonly Piece[], before: string): string | undefined {
  const sources = [...new Set(pieces.flatMap((piece) => piece.sources ?? []))];
  return sources.slice(0, mostSources).find((source) => isExplainedBy(source, pieces, before));
}

function isExplainedBy(source: string, pieces: readonly Piece[], before: string): boolean {
  const fixed = [''];
  for (const { text, sources } of pieces) {
    if (sources?.includes(source) === true) fixed.push('');
    else fixed.push(`${fixed.pop()}${text}`);
  }
  const [head = '', ...rest] = fixed;
  const tail = rest.pop() ?? '';
  let at = before.startsWith(head) ? head.length : -1;
  for (const text of rest) {
    const found = at < 0 ? -1 : before.indexOf(text, at);
    at = found < 0 ? -1 : found + text.length;
  }
  return at >= 0 && before.length - tail.length >= at && before.endsWith(tail);
}
