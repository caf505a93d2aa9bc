import type { Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isScalar, type Path, valueAt } from '../../ground/values.ts';
import { type Manifest, taskPath } from '../../manifest/manifest.ts';
import { renderTemplate, type Scope } from '../../manifest/template/render-template.ts';
import type { Expression, NamePath, Part, Template } from '../../manifest/template/template.ts';
import type { Draft } from '../expand/draft.ts';
import { beginExpansion, expandTasks } from '../expand/expand-tasks.ts';
import { findRowAtHand, scopeOf } from '../expand/tables.ts';
import { orderTasks } from '../expand/task-edges.ts';
import type { Expansion, GraphFacts } from '../expansion.ts';

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

/** Finds what made a value differ; `undefined` where the texts of the campaign do not tell. */
export type Tracer = (address: string, difference: Difference) => Origin | undefined;

/** Finds what gives a top-level field of a step's request: where it is written, then what is filled in there. */
export type OriginFinder = (address: string, field: string) => readonly Origin[];

/** Makes a finder for the campaign as it is now. Expands the manifest when it is first asked. */
export function makeOriginFinder(manifest: Manifest, facts: GraphFacts): OriginFinder {
  let campaign: Campaign | undefined;
  return (address, field) => {
    campaign ??= readCampaign(manifest, facts);
    const draft = campaign.drafts.get(address);
    const written = draft?.task.with.find((one) => one.field === field);
    if (draft === undefined || written === undefined) return [];
    const { expansion } = campaign;
    const names = textsIn(written.value).flatMap((text) => expansion.templates.get(text)?.paths ?? []);
    const filledIn = names.flatMap((name) => sourceOf(name, draft, expansion) ?? []);
    const byName = new Map(filledIn.map((origin) => [`${origin.is} ${origin.name}`, origin]));
    return [originAt(written.path, manifest), ...byName.values()];
  };
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/**
 * Traces values of requests back to the templates, variables, defaults and data that they come from. The campaign as it
 * was before is not known: a value that fits the current template with other data is reported as a change of the data.
 * Expands the manifest on first use.
 */
export function makeTracer(manifest: Manifest, facts: GraphFacts): Tracer {
  let campaign: Campaign | undefined;
  return (address, difference) => {
    campaign ??= readCampaign(manifest, facts);
    const draft = campaign.drafts.get(address);
    return draft === undefined ? undefined : trace(draft, difference, campaign.expansion);
  };
}

interface Campaign {
  expansion: Expansion;
  drafts: ReadonlyMap<string, Draft>;
}

function readCampaign(manifest: Manifest, facts: GraphFacts): Campaign {
  const expansion = expand(manifest, facts);
  const drafts = [...expansion.expanded.values()].flatMap((task) => task.drafts);
  return { expansion, drafts: new Map(drafts.map((draft) => [draft.address, draft])) };
}

/** The expansion up to the steps' addresses and rows; nothing is rendered or checked again. */
function expand(manifest: Manifest, facts: GraphFacts): Expansion {
  const expansion = beginExpansion(manifest, facts);
  expandTasks(orderTasks(expansion) ?? manifest.tasks, expansion);
  return expansion;
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
  const scope = { ...scopeOf(draft, expansion), output: () => undefined };
  const source = changedSource(template, scope, before);
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
      return expression.arguments.flatMap(sourcesOf);
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
  const found = hasWords ? align(pieces, before, (piece) => piece.sources !== undefined) : undefined;
  if (found === undefined) return [];
  const changed = pieces.flatMap((piece, index) => {
    const [source] = piece.sources ?? [];
    return source === undefined || found[index] === piece.text ? [] : [source];
  });
  return [...new Set(changed)];
}

type IsFree = (piece: Piece) => boolean;

/** Tells whether another value of this one source gives the earlier text. */
function isExplainedBy(source: string, pieces: readonly Piece[], before: string): boolean {
  return align(pieces, before, ({ sources }) => sources?.includes(source) === true) !== undefined;
}

/**
 * Reads `before` as the pieces in order, where the free ones may be any text: what each of them is in it. The leftmost
 * place of each fixed text is taken, which finds a reading whenever there is one, in linear time.
 */
function align(pieces: readonly Piece[], before: string, isFree: IsFree): string[] | undefined {
  const texts: string[] = pieces.map(() => '');
  let at = 0;
  let open: number | undefined;
  const close = (end: number) => {
    if (open !== undefined) texts[open] = before.slice(at, end);
  };
  for (let index = 0; index < pieces.length; ) {
    const piece = pieces[index];
    if (piece === undefined) break;
    if (isFree(piece)) {
      open ??= index;
      index += 1;
      continue;
    }
    // Neighbouring fixed pieces are one text, which must be found whole.
    let fixed = '';
    const from = index;
    for (let next = pieces[index]; next !== undefined && !isFree(next); next = pieces[index]) {
      fixed += next.text;
      index += 1;
    }
    const isLast = index === pieces.length;
    const start = open === undefined ? at : isLast ? before.length - fixed.length : before.indexOf(fixed, at);
    if (start < at || !before.startsWith(fixed, start)) return undefined;
    close(start);
    open = undefined;
    at = start + fixed.length;
    for (let own = from; own < index; own += 1) texts[own] = pieces[own]?.text ?? '';
  }
  if (open === undefined) return at === before.length ? texts : undefined;
  close(before.length);
  return texts;
}
