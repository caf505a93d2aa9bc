import type { Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { type Path, valueAt } from '../../ground/values.ts';
import { type Manifest, taskPath } from '../../manifest/manifest.ts';
import type { Scope } from '../../manifest/template/render-template.ts';
import type { NamePath, Template } from '../../manifest/template/template.ts';
import { type Draft, namesOf } from '../expand/draft.ts';
import { expandMatrix } from '../expand/expand-matrix.ts';
import { expandTasks } from '../expand/expand-tasks.ts';
import { resolveVars } from '../expand/resolve-vars.ts';
import { orderTasks } from '../expand/task-edges.ts';
import { readTaskRows } from '../expand/task-rows.ts';
import { Expansion, type GraphFacts } from '../expansion.ts';
import { findChangedSources, isExplainedBy, mostSources } from './align.ts';
import { conditionsOf, piecesOf } from './pieces.ts';

/** Place in the campaign that gives a value of a request, or gave another one before. */
export interface Origin {
  is: 'template' | 'default' | 'variable' | 'data' | 'matrix';
  /** `tasks.hero.with.prompt`, `defaults.image.model`, `vars.product`, the column of a data file, an axis. */
  name: string;
  /** Path as seen from the working folder. */
  file: string;
  line: number;
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
 * was before is not known: a value that fits the template as it stands now, with other data in it, is told as data.
 * Expands the manifest when it is first asked.
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
  const expansion = new Expansion(manifest, facts);
  expansion.vars = resolveVars(expansion);
  readTaskRows(expansion);
  for (const task of manifest.tasks) {
    const cells = expandMatrix(task, expansion);
    if (cells !== undefined) expansion.cells.set(task.id, cells);
  }
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
  const scope = { names: namesOf(draft, expansion.vars), output: () => undefined };
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
function sourceOf({ parts }: NamePath, draft: Draft, { manifest }: Expansion): Origin | undefined {
  const [root, ...names] = parts;
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

function positionOf({ file, start }: Place): { file: string; line: number } {
  return { file, line: start.line };
}
