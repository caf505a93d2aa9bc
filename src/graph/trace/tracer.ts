import type { Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isScalar, type Path, valueAt } from '../../ground/values.ts';
import { besideManifest } from '../../manifest/file-path.ts';
import { type Manifest, taskPath } from '../../manifest/manifest.ts';
import { renderTemplate, type Scope } from '../../manifest/template/render-template.ts';
import type { Expression, NamePath, Part, Template } from '../../manifest/template/template.ts';
import type { Draft } from '../expand/draft.ts';
import { beginExpansion, expandTasks } from '../expand/expand-tasks.ts';
import { findRowAtHand, scopeOf } from '../expand/tables.ts';
import { orderTasks } from '../expand/task-edges.ts';
import type { Expansion, GraphFacts } from '../expansion.ts';
import { readTextFile } from '../render/read-text.ts';

/** Place in the campaign that gives a value of a request, or gave another one before. */
export interface Origin {
  is: 'template' | 'default' | 'variable' | 'data' | 'matrix';
  /** `tasks.hero.with.prompt`, `defaults.image.model`, `vars.product`, the column of a data file, an axis. */
  name: string;
  /** Path as seen from the working folder. */
  file: string;
  line: number;
  /** Sheet of a workbook, whose rows count as lines. */
  sheet?: string;
}

/** A value of a step's request that was another one when it was bought. `path`: from the request down. */
export interface Difference {
  path: Path;
  before: Json;
  after: Json;
}

export interface Origins {
  /** Finds what made a value differ; `undefined` where the texts of the campaign do not tell. */
  trace(address: string, difference: Difference): Origin | undefined;
  /** Finds what gives a top-level field of a step's request: where it is written, then what is filled in there. */
  find(address: string, field: string): readonly Origin[];
}

/**
 * Makes the origins of the campaign as it is now. Expands the manifest when it is first asked; nothing is rendered or
 * checked again. The campaign as it was before is not known: a value that fits the template as it stands now, with other
 * data in it, is reported as a change of the data.
 */
export function makeOrigins(manifest: Manifest, facts: GraphFacts): Origins {
  let known: { expansion: Expansion; drafts: ReadonlyMap<string, Draft> } | undefined;
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
      return [originAt(written.path, manifest), ...byName.values()];
    },
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
  const { written, isWhole } = writtenAt(field.value, inside);
  const template = typeof written === 'string' ? expansion.templates.get(written) : undefined;
  if (template === undefined) return own;
  if (template.whole?.is === 'name') return sourceOf(template.whole, draft, expansion) ?? own;
  if (!isWhole || typeof before !== 'string' || typeof after !== 'string') return own;
  const files = new Map<string, Origin>();
  const scope: Scope = {
    ...scopeOf(draft, expansion),
    output: () => undefined,
    file(path, { helper, written: call }) {
      const at = { folder: draft.task.folder, place: manifest.places.value(field.path) };
      const read = helper === 'read' ? readTextFile(path, at, expansion) : undefined;
      if (read === undefined || !('text' in read)) return undefined;
      files.set(call, { is: 'data', name: 'text', file: besideManifest(manifest.file, read.path), line: 1 });
      return read.text;
    },
  };
  const source = changedSource(template, scope, before);
  const ofFile = source === undefined ? undefined : files.get(source);
  if (ofFile !== undefined) return ofFile;
  const found = source === undefined ? undefined : template.paths.find(({ parts }) => parts.join('.') === source);
  return found === undefined ? own : (sourceOf(found, draft, expansion) ?? own);
}

/** The value at a path, or the text above it that gives all of it. */
function writtenAt(value: Json, path: Path): { written: Json | undefined; isWhole: boolean } {
  const above = path.findIndex((_, index) => typeof valueAt(value, path.slice(0, index)) === 'string');
  return above < 0
    ? { written: valueAt(value, path), isWhole: true }
    : { written: valueAt(value, path.slice(0, above)), isWhole: false };
}

/** The name whose value makes the difference: it is filled in, or decides which branch is taken. */
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

/** Finds where the value of a name in a template comes from. */
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
  return { file, line: start.line, ...(sheet !== undefined && { sheet }) };
}

/**
 * Takes a template apart into the words that are its own and the texts that are filled in, as its scope gives them now.
 * A loop is one text, a condition counts by the branch that is taken. `flipped`: a name; where a condition asks for it, the
 * other branch counts. `undefined`: it gives no plain text.
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
    // What the name was is not known, and it may have no value now.
    const text = flipped !== undefined && sources.includes(flipped) ? '' : textOf(part, context);
    if (text === undefined) return false;
    pieces.push({ text, sources });
    return true;
  });
}

/** The names that conditions of a template ask for. */
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

/** The names that a part depends on, as they are written: `row.mood`. Conditions and lists come before what they govern. */
function sourcesIn(part: Part): string[] {
  switch (part.is) {
    case 'text':
      return [];
    case 'value':
      return sourcesOf(part.value);
    case 'choice':
      return [...sourcesOf(part.condition), ...[...part.then, ...part.else].flatMap(sourcesIn)];
    case 'loop':
      return [...sourcesOf(part.list), ...[...part.body, ...part.else].flatMap(sourcesIn)];
    default:
      return part satisfies never;
  }
}

function sourcesOf(expression: Expression): string[] {
  switch (expression.is) {
    case 'name':
      return [expression.parts.join('.')];
    case 'call':
      return expression.helper === 'read' ? [expression.written] : expression.arguments.flatMap(sourcesOf);
    default:
      return [];
  }
}

/** A piece of a rendered text: written in the template, or filled in from the sources that it names. */
export interface Piece {
  text: string;
  /** Names such as `row.mood`. Omitted for the template's own words. */
  sources?: readonly string[];
}

/** A template of hundreds of names is not worth a pass for each. */
export const mostSources = 40;

/**
 * Finds the sources whose values alone explain that a template once gave another text: the template's own words are all
 * in it, in order. Empty: they are not, so the template itself was another one. One source is preferred to several.
 */
export function findChangedSources(pieces: readonly Piece[], before: string): string[] {
  const sources = [...new Set(pieces.flatMap((piece) => piece.sources ?? []))];
  const alone = sources.slice(0, mostSources).find((source) => isExplainedBy(source, pieces, before));
  if (alone !== undefined) return [alone];
  // Without words of its own a template would explain any text.
  const hasWords = pieces.some(({ text, sources: of }) => of === undefined && /[\p{L}\p{N}]/u.test(text));
  const gaps = hasWords ? findGaps(pieces, before, (piece) => piece.sources !== undefined) : undefined;
  const changed = (gaps ?? []).filter(({ free, text }) => free.map((piece) => piece.text).join('') !== text);
  return [...new Set(changed.flatMap(({ free }) => free.flatMap(({ sources: [source] = [] }) => source ?? [])))];
}

/** Tells whether another value of this one source gives the earlier text. */
function isExplainedBy(source: string, pieces: readonly Piece[], before: string): boolean {
  return findGaps(pieces, before, ({ sources }) => sources?.includes(source) === true) !== undefined;
}

/**
 * Reads `before` as the pieces in order, where the free ones may be any text: what neighbouring free pieces are in it
 * together. The leftmost place of each fixed text is taken, which finds a reading whenever there is one, in linear time.
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
