import type { Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { defined, isScalar, type Path, valueAt } from '../../ground/values.ts';
import { besideManifest } from '../../manifest/file-path.ts';
import { type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import { renderTemplate, type Scope } from '../../manifest/template/render-template.ts';
import type { Call, Expression, NamePath, Part, Template } from '../../manifest/template/template.ts';
import type { Draft } from '../expand/draft.ts';
import { beginExpansion, expandTasks } from '../expand/expand-tasks.ts';
import { findRowAtHand, scopeOf } from '../expand/tables.ts';
import { orderTasks } from '../expand/task-edges.ts';
import type { Expansion, GraphFacts } from '../expansion.ts';
import { readTextFile } from '../render/read-text.ts';

/** Place in the campaign from which a value of a request comes, or came before. */
export interface Origin {
  is: 'template' | 'default' | 'variable' | 'data' | 'matrix';
  /** For example `tasks.hero.with.prompt`, `defaults.image.model`, `vars.product`, a column, or an axis. */
  name: string;
  /** Path relative to the working folder. */
  file: string;
  line: number;
  /** Sheet of a workbook. Its rows count as lines. */
  sheet?: string;
}

/** A value of a step's request that differs from the paid one. `path`: within the request. */
export interface Difference {
  path: Path;
  before: Json;
  after: Json;
}

export interface Origins {
  /** Finds the change that made a value differ; `undefined` where the campaign does not show it. */
  trace(address: string, difference: Difference): Origin | undefined;
  /** Finds the origins of a field: the place where it is written, then those of values filled in. */
  find(address: string, field: string): readonly Origin[];
  filesOf(address: string, field: string): readonly string[];
}

/**
 * Makes the origin finder of the campaign as it is now. Expands the manifest on first use, without rendering or
 * checking it again. The earlier campaign is not known: a value that fits the present template with other data is
 * reported as a change of the data.
 */
export function makeOrigins(manifest: Manifest, facts: GraphFacts): Origins {
  let known: { expansion: Expansion; drafts: ReadonlyMap<string, Draft> } | undefined;
  const files = (address: string, field: string) => {
    known ??= read();
    const draft = known.drafts.get(address);
    const written = draft?.task.with.find((one) => one.field === field);
    return draft === undefined || written === undefined ? [] : filesIn(written, draft, known.expansion);
  };
  const read = () => {
    const expansion = beginExpansion(manifest, facts);
    expandTasks(orderTasks(expansion) ?? manifest.tasks, expansion);
    const drafts = [...expansion.expanded.values()].flatMap((task) => task.drafts);
    return { expansion, drafts: new Map(drafts.map((draft) => [draft.address, draft])) };
  };
  return {
    trace(address, difference) {
      known ??= read();
      const draft = known.drafts.get(address);
      return draft && trace(draft, difference, known.expansion);
    },
    find(address, field) {
      known ??= read();
      const draft = known.drafts.get(address);
      const written = draft?.task.with.find((one) => one.field === field);
      if (draft === undefined || written === undefined) return [];
      const { expansion } = known;
      const names = textsIn(written.value).flatMap((text) => expansion.templates.get(text)?.paths ?? []);
      const filledIn = names.flatMap((name) => sourceOf(name, draft, expansion) ?? []);
      const byName = new Map(filledIn.map((origin) => [`${origin.is} ${origin.name}`, origin]));
      return [originAt(written.path, manifest), ...byName.values(), ...files(address, field)];
    },
    filesOf: (address, field) => files(address, field).map(({ file }) => file),
  };
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function filesIn({ value, path }: Task['with'][number], draft: Draft, expansion: Expansion): Origin[] {
  const found = new Map<string, Origin>();
  for (const text of textsIn(value)) {
    const template = expansion.templates.get(text);
    if (template === undefined || !callsIn(template.body).some(({ helper }) => helper === 'read')) continue;
    const { scope, files } = scopeWithFiles(path, draft, expansion);
    piecesOf(template, scope);
    for (const origin of files.values()) found.set(origin.file, origin);
  }
  return [...found.values()];
}

/** Returns the scope of a step, and the text files that a template reads in it, by the call as written. */
function scopeWithFiles(path: Path, draft: Draft, expansion: Expansion): { scope: Scope; files: Map<string, Origin> } {
  const { manifest } = expansion;
  const files = new Map<string, Origin>();
  const scope: Scope = {
    ...scopeOf(draft, expansion),
    output: () => undefined,
    file(written, { helper, written: call }) {
      const at = { folder: draft.task.folder, place: manifest.places.value(path) };
      const read = helper === 'read' ? readTextFile(written, at, expansion) : undefined;
      if (read === undefined || !('text' in read)) return undefined;
      files.set(call, { is: 'data', name: 'text', file: besideManifest(manifest.file, read.path), line: 1 });
      return read.text;
    },
  };
  return { scope, files };
}

function trace(draft: Draft, { path, before, after }: Difference, expansion: Expansion): Origin | undefined {
  const [name = '', ...inside] = path;
  const { manifest } = expansion;
  const field = draft.task.with.find((one) => one.field === name);
  if (field === undefined) return originAt(taskPath(draft.task.id, 'with'), manifest);
  const own = originAt([...field.path, ...inside], manifest);
  const { written, isWhole } = writtenAt(field.value, inside);
  const template = typeof written === 'string' ? expansion.templates.get(written) : undefined;
  if (template === undefined) return own;
  if (template.whole?.is === 'name') return sourceOf(template.whole, draft, expansion) ?? own;
  if (!isWhole || typeof before !== 'string' || typeof after !== 'string') return own;
  const { scope, files } = scopeWithFiles(field.path, draft, expansion);
  const source = changedSource(template, scope, before);
  const ofFile = source === undefined ? undefined : files.get(source);
  if (ofFile !== undefined) return ofFile;
  const lookup = callsIn(template.body).find(({ written: call }) => call === source);
  const [map, key] = lookup?.arguments ?? [];
  if (map?.is === 'name' && key !== undefined) {
    const name = textOf({ is: 'value', value: key }, { template, scope, flipped: undefined });
    const origin = sourceOf({ ...map, parts: [...map.parts, name ?? ''] }, draft, expansion);
    return origin?.is === 'variable' ? { ...origin, name: `${origin.name}.${name}` } : (origin ?? own);
  }
  const found = source === undefined ? undefined : template.paths.find(({ parts }) => parts.join('.') === source);
  return found === undefined ? own : (sourceOf(found, draft, expansion) ?? own);
}

/** Returns the value at a path, or the enclosing text from which all of it comes. */
function writtenAt(value: Json, path: Path): { written: Json | undefined; isWhole: boolean } {
  const above = path.findIndex((_, index) => typeof valueAt(value, path.slice(0, index)) === 'string');
  return above < 0
    ? { written: valueAt(value, path), isWhole: true }
    : { written: valueAt(value, path.slice(0, above)), isWhole: false };
}

/** Returns the name whose value makes the difference, because it is filled in or decides which branch is rendered. */
function changedSource(template: Template, scope: Scope, before: string): string | undefined {
  const pieces = piecesOf(template, scope);
  const [source] = pieces === undefined ? [] : findChangedSources(pieces, before);
  return (
    source ??
    conditionsOf(template.body)
      .slice(0, mostSources)
      .find((name) => {
        const others = piecesOf(template, scope, name);
        return others !== undefined && isExplainedBy(name, others, before);
      })
  );
}

function sourceOf(path: NamePath, draft: Draft, expansion: Expansion): Origin | undefined {
  const [root, ...names] = path.parts;
  const { manifest } = expansion;
  const row = findRowAtHand(path, draft, expansion);
  if (row !== undefined) {
    return row.place && { is: 'data', name: row.parts.join('.'), ...positionOf(row.place()) };
  }
  switch (root) {
    case 'vars': {
      const place = manifest.places.value(['vars', names[0] ?? '']);
      return { is: 'variable', name: `vars.${names[0]}`, ...positionOf(place) };
    }
    case 'row':
      return draft.row === undefined
        ? undefined
        : { is: 'data', name: names.join('.') || 'row', ...positionOf(draft.row.place()) };
    case 'matrix':
      return {
        is: 'matrix',
        name: names[0] ?? '',
        ...positionOf(manifest.places.key(taskPath(draft.task.id, 'matrix'))),
      };
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

/**
 * Splits a template into its own words and the texts that are filled in with the values of its scope. A loop is one
 * text; of a condition only the rendered branch is used. `flipped`: a name whose conditions use the other branch.
 * `undefined`: the template does not give plain text.
 */
export function piecesOf(template: Template, scope: Scope, flipped?: string): Piece[] | undefined {
  const pieces: Piece[] = [];
  return addParts(template.body, pieces, { template, scope, flipped }) ? pieces : undefined;
}

interface Context {
  template: Template;
  scope: Scope;
  flipped: string | undefined;
}

function addParts(parts: readonly Part[], pieces: Piece[], context: Context): boolean {
  const { flipped } = context;
  return parts.every((part) => {
    if (part.is === 'text') {
      pieces.push({ text: part.text });
      return true;
    }
    if (part.is === 'choice') {
      const then: Part[] = [{ is: 'text', text: 'yes' }];
      const answer = textOf({ ...part, then, else: [] }, context);
      if (answer === undefined) return false;
      const isFlipped = flipped !== undefined && sourcesOf(part.condition).includes(flipped);
      return addParts((answer === 'yes') === isFlipped ? part.else : part.then, pieces, context);
    }
    const sources = sourcesIn(part);
    // The earlier value of the flipped name is not known, and it may have no value now.
    const text = flipped !== undefined && sources.includes(flipped) ? '' : textOf(part, context);
    if (text === undefined) return false;
    pieces.push({ text, sources });
    return true;
  });
}

export function conditionsOf(parts: readonly Part[]): string[] {
  const names = parts.flatMap((part) =>
    part.is === 'choice' ? [...sourcesOf(part.condition), ...conditionsOf(part.then), ...conditionsOf(part.else)] : [],
  );
  return [...new Set(names)];
}

function textOf(part: Part, { template, scope }: Context): string | undefined {
  const { value } = renderTemplate({ text: template.text, body: [part], paths: [] }, scope);
  return isScalar(value) ? String(value) : undefined;
}

/** Lists names like `row.mood`. Those of conditions and lists come before those of their content. */
function sourcesIn(part: Part): string[] {
  return expressionsIn(part).flatMap(sourcesOf);
}

function expressionsIn(part: Part): Expression[] {
  switch (part.is) {
    case 'text':
      return [];
    case 'value':
      return [part.value];
    case 'choice':
      return [part.condition, ...[...part.then, ...part.else].flatMap(expressionsIn)];
    case 'loop':
      return [part.list, ...[...part.body, ...part.else].flatMap(expressionsIn)];
    default:
      return part satisfies never;
  }
}

function callsIn(parts: readonly Part[]): Call[] {
  const inside = (one: Expression): Call[] => (one.is === 'call' ? [one, ...one.arguments.flatMap(inside)] : []);
  return parts.flatMap(expressionsIn).flatMap(inside);
}

function sourcesOf(expression: Expression): string[] {
  switch (expression.is) {
    case 'name':
      return [expression.parts.join('.')];
    case 'call':
      // A file that is read, and a value that is looked up, are sources of their own.
      return expression.helper === 'read' || (expression.helper === 'lookup' && expression.arguments[0]?.is === 'name')
        ? [expression.written]
        : expression.arguments.flatMap(sourcesOf);
    default:
      return [];
  }
}

/** A piece of a rendered text: written in the template, or filled in from the names in `sources`. */
export interface Piece {
  text: string;
  /** Names such as `row.mood`. Omitted for the template's own words. */
  sources?: readonly string[];
}

/** Maximum number of names to try, because each takes a pass over the template. */
export const mostSources = 40;

/**
 * Finds the names whose values alone can explain an earlier text of a template: the text must contain the template's
 * own words in order. Empty if it does not, so that the template itself was different. One name is preferred to
 * several.
 */
export function findChangedSources(pieces: readonly Piece[], before: string): string[] {
  const sources = [...new Set(pieces.flatMap((piece) => piece.sources ?? []))];
  const alone = sources.slice(0, mostSources).find((source) => isExplainedBy(source, pieces, before));
  if (alone !== undefined) return [alone];
  // A template without words of its own would explain any text.
  const hasWords = pieces.some(({ text, sources: of }) => of === undefined && /[\p{L}\p{N}]/u.test(text));
  const gaps = hasWords ? findGaps(pieces, before, (piece) => piece.sources !== undefined) : undefined;
  const changed = (gaps ?? []).filter(({ free, text }) => free.map((piece) => piece.text).join('') !== text);
  return [...new Set(changed.flatMap(({ free }) => free.flatMap(({ sources: [source] = [] }) => source ?? [])))];
}

function isExplainedBy(source: string, pieces: readonly Piece[], before: string): boolean {
  return findGaps(pieces, before, ({ sources }) => sources?.includes(source) === true) !== undefined;
}

/**
 * Matches `before` with the pieces in order, where free pieces match any text, and returns the text of each run of
 * adjacent free pieces. Each fixed piece is matched at its leftmost position, which finds a match whenever there is
 * one, in linear time.
 */
function findGaps(
  pieces: readonly Piece[],
  before: string,
  isFree: (piece: Piece) => boolean,
): { free: Piece[]; text: string }[] | undefined {
  const gaps: { free: Piece[]; text: string; after: string }[] = [];
  let head = '';
  for (const piece of pieces) {
    const last = gaps.at(-1);
    if (!isFree(piece)) {
      if (last === undefined) head += piece.text;
      else last.after += piece.text;
    } else if (last?.after === '') last.free.push(piece);
    else gaps.push({ free: [piece], text: '', after: '' });
  }
  if (!before.startsWith(head)) return undefined;
  let at = head.length;
  for (const gap of gaps) {
    const { after } = gap;
    const found = gap === gaps.at(-1) ? before.length - after.length : before.indexOf(after, at);
    if (found < at || !before.startsWith(after, found)) return undefined;
    gap.text = before.slice(at, found);
    at = found + after.length;
  }
  return at === before.length ? gaps : undefined;
}
