import type { Graph, OpenRequest } from '../../graph/graph.ts';
import type { Json } from '../../ground/json.ts';
import { lookUpIn } from '../../ground/values.ts';
import type { Lock } from '../../lock/record.ts';
import { isOpenSend } from '../../lock/sends.ts';
import { isPost, sendsOf } from '../posts/post-record.ts';
import type { Match } from './find-purchases.ts';

/** Condition under which a step is needed: the output of the step `of` has a part with this `index`, from 0. */
export interface PartCondition {
  of: string;
  fingerprint: string;
  index: number;
}

export type CountParts = (address: string, fingerprint: string) => number | undefined;

export function findConditions(graph: Graph): ReadonlyMap<string, readonly PartCondition[]> {
  const found = new Map<string, readonly PartCondition[]>();
  if (!graph.steps.some(({ part }) => part !== undefined)) return found;
  // Steps are in order of dependency, so the inputs of a step are already processed.
  for (const { address, part, request } of graph.steps) {
    const conditions = new Map<string, PartCondition>();
    const add = (condition: PartCondition) => conditions.set(JSON.stringify(condition), condition);
    if (part !== undefined) add(part);
    for (const used of collectReferences(request).single) found.get(used)?.forEach(add);
    if (conditions.size > 0) found.set(address, [...conditions.values()]);
  }
  return found;
}

export interface MissingPart {
  condition: PartCondition;
  parts: number;
}

export function findMissingPart(
  conditions: readonly PartCondition[] | undefined,
  count: CountParts,
): MissingPart | undefined {
  for (const condition of conditions ?? []) {
    const parts = count(condition.of, condition.fingerprint);
    if (parts !== undefined && condition.index >= parts) return { condition, parts };
  }
  return undefined;
}

export function describeMissingPart({ condition, parts }: MissingPart): string {
  return `${condition.of} has ${parts === 1 ? '1 part' : `${parts} parts`}`;
}

export function partCounter(matches: readonly Match[]): CountParts {
  const partsOf = ({ step, purchase }: Match): [string, number][] =>
    purchase?.state === 'done' && purchase.outputs !== undefined
      ? [[`${step.address} ${step.fingerprint}`, purchase.outputs.length]]
      : [];
  const count = lookUpIn(() => new Map(matches.flatMap(partsOf)));
  return (address, fingerprint) => count(`${address} ${fingerprint}`);
}

export function findOptional(
  request: OpenRequest,
  conditions: ReadonlyMap<string, readonly PartCondition[]>,
): { [address: string]: PartCondition[] } | undefined {
  if (conditions.size === 0) return undefined;
  const optional = [...collectReferences(request).listed].flatMap((address): [string, PartCondition[]][] => {
    const known = conditions.get(address);
    return known === undefined ? [] : [[address, [...known]]];
  });
  return optional.length === 0 ? undefined : Object.fromEntries(optional);
}

function collectReferences(request: OpenRequest): { single: Set<string>; listed: Set<string> } {
  const single = new Set<string>();
  const listed = new Set<string>();
  const visit = (value: Json, inList: boolean): void => {
    if (value === null || typeof value !== 'object') return;
    // A list with one item is treated as a single reference, because the list would be empty without the item.
    if (Array.isArray(value)) for (const item of value) visit(item, inList || value.length > 1);
    else if (typeof value.$ref === 'string') (inList ? listed : single).add(value.$ref);
    else if (Array.isArray(value.$text)) for (const part of value.$text) visit(part, false);
    else for (const item of Object.values(value)) visit(item, inList);
  };
  visit(request, false);
  for (const address of single) listed.delete(address);
  return { single, listed };
}

/** Finds unneeded steps without an output: steps whose part does not exist, and steps with a rejected input. */
export function findUnneeded(graph: Graph, matches: readonly Match[]): ReadonlySet<string> {
  const conditions = findConditions(graph);
  const count = partCounter(matches);
  const isUnneeded = (match: Match) =>
    isDecidedAgainst(match) ||
    (match.purchase === undefined && findMissingPart(conditions.get(match.step.address), count) !== undefined);
  return new Set(matches.filter(isUnneeded).map(({ step }) => step.address));
}

/** Returns whether an input was rejected. False while a job, an unresolved request or a sent post must be settled. */
function isDecidedAgainst({ step, purchase, record }: Match): boolean {
  if (step.rejected === undefined || record?.purchases.some(isOpenSend)) return false;
  if (record !== undefined && isPost(step.kind) && sendsOf(record).length > 0) return false;
  return purchase === undefined || purchase.state === 'refused' || purchase.state === 'failed';
}

export function partsOnRecord({ steps }: Pick<Lock, 'steps'>): CountParts {
  return (address, fingerprint) =>
    steps
      .get(address)
      ?.purchases.find((one) => one.state === 'done' && one.fingerprint === fingerprint && one.outputs !== undefined)
      ?.outputs?.length;
}
