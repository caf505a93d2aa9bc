import { CampaignError } from '../contract/failure.ts';
import { taskOfAddress } from '../graph/address.ts';
import type { Graph, Step } from '../graph/graph.ts';
import { type Advice, call, way } from '../ground/advice.ts';
import type { Lock } from '../lock/record.ts';
import { findNamed, type Named, nearNames, readName } from '../plan/select/names.ts';
import { findSteps } from '../plan/select/select.ts';
import type { Situation } from '../plan/situation/situation.ts';
import { makeSelector } from './select-steps.ts';

/**
 * Addresses that a decision is about, in the order of the graph, then sorted. They are given by name (an address, a
 * task, or either with `*` in it) or by selections. `orphans`: addresses that are only in the lock can be named, too.
 */
export function chooseSteps(
  names: readonly string[],
  select: readonly string[] | undefined,
  situation: Situation,
  orphans: readonly string[] = [],
): string[] {
  if (names.length === 0 && select === undefined) {
    throw new CampaignError({
      code: 'MB3000',
      message: 'no steps are selected: name them, or use -s',
      hint: 'for example hero@lamp, hero, "hero@*" or -s tag:launch; nothing was recorded',
      options: ['--select'],
    });
  }
  const { written: graph, lock } = situation;
  const known: Named[] = [...graph.steps, ...orphans.map(onlyInLock)];
  const chosen = new Set(select === undefined ? [] : makeSelector(situation).all('--select', select));
  for (const name of names) {
    const found = findByName(name, known).map(({ address }) => address);
    const meant = found.length > 0 ? found : findSteps({ text: name, literal: true }, graph);
    if (meant.length === 0) throw nothingMatched(name, known, lock);
    for (const address of meant) chosen.add(address);
  }
  return known.map(({ address }) => address).filter((address) => chosen.has(address));
}

/**
 * Returns recorded addresses that match the names. Steps that the manifest no longer contains can be named, too, so
 * the names are matched against the lock. If nothing matches, it is a usage error.
 */
export function chooseRecorded(
  names: readonly string[],
  { graph, lock, orphans }: { graph: Graph; lock: Lock; orphans: readonly string[] | undefined },
): Set<string> {
  if (names.length === 0 && orphans === undefined) {
    throw new CampaignError({
      code: 'MB3000',
      message: 'no steps are selected: name addresses, or use --orphans for steps that the manifest no longer has',
      hint: way('nothing was removed; to see the orphans', call('status')),
      options: ['--orphans'],
    });
  }
  const known = [...lock.steps.keys()].map(onlyInLock);
  const chosen = new Set(orphans);
  for (const name of names) {
    const found = findByName(name, known);
    if (found.length === 0) throw nothingRecorded(name, { known, graph });
    for (const { address } of found) chosen.add(address);
  }
  return chosen;
}

function findByName(name: string, known: readonly Named[]): Named[] {
  const addresses = new Set(known.map(({ address }) => address));
  return findNamed(
    readName(name, (text) => addresses.has(text)),
    known,
  );
}

function onlyInLock(address: string): Named {
  return { address, task: taskOfAddress(address) };
}

/** Returns one step of the manifest by its full address. */
export function requireStep<Any extends Step>(name: string, graph: { steps: readonly Any[] }): Any {
  const addresses = new Set(graph.steps.map(({ address }) => address));
  const { text } = readName(name, (one) => addresses.has(one));
  const step = graph.steps.find(({ address }) => address === text);
  if (step !== undefined) return step;
  const ofTask = graph.steps.filter(({ task }) => task === name);
  if (ofTask.length > 0) {
    const some = ofTask.slice(0, 5).map((one) => one.address);
    throw new CampaignError({
      code: 'MB3002',
      message: `${name} is a task with ${ofTask.length} steps`,
      hint: `name one: ${some.join(', ')}`,
      name,
    });
  }
  throw new CampaignError({
    code: 'MB3002',
    message: `the manifest has no step ${name}`,
    hint: nearTo(name, graph.steps),
    name,
  });
}

function nothingMatched(name: string, known: readonly Named[], lock: Lock): CampaignError {
  const isOrphan = lock.steps.has(name);
  return new CampaignError({
    code: 'MB3002',
    message: isOrphan ? `${name} is in the lock, and no longer in the manifest` : `there is no step ${name}`,
    hint: isOrphan
      ? 'only what the manifest has can be decided like this; `move` gives it a new address'
      : nearTo(name, known),
    name,
  });
}

function nothingRecorded(name: string, { known, graph }: { known: readonly Named[]; graph: Graph }): CampaignError {
  const inManifest = findByName(name, graph.steps).length > 0;
  const near = nearNames(name, known);
  const hint = near.length > 0 ? `near it: ${near.join(', ')}` : `the lock has ${known.length} addresses`;
  return new CampaignError({
    code: 'MB3002',
    message: inManifest ? `nothing was ever bought for ${name}` : `the lock knows no step ${name}`,
    hint: inManifest ? 'there is nothing to remove' : hint,
    name,
  });
}

export function nearTo(name: string, known: readonly Named[]): Advice {
  const near = nearNames(name, known);
  return near.length > 0 ? `near it: ${near.join(', ')}` : way('to see every address', call('plan', '--all'));
}
