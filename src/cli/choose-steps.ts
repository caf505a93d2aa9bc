import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { CommandError, exitCodes } from './exit.ts';
import { makeSelector } from './select-steps.ts';

/**
 * Addresses that a decision is about, in the graph's order, then sorted: those that are named – an address, a task, or either with `*`
 * in it – and those that selections find. `orphans`: addresses that only the lock has may be named, too.
 */
export function chooseSteps(
  names: readonly string[],
  select: readonly string[] | undefined,
  { graph, lock, orphans }: { graph: Graph; lock: Lock; orphans?: readonly string[] },
): string[] {
  if (names.length === 0 && select === undefined) {
    throw new CommandError(
      exitCodes.wrongUsage,
      'nothing was chosen: name the steps, or select them with -s',
      'for example hero@lamp, hero, "hero@*" or -s tag:launch; nothing was recorded',
    );
  }
  const known = [...graph.steps.map(({ address }) => address), ...(orphans ?? [])];
  const chosen = new Set(select === undefined ? [] : makeSelector(graph, lock).all('--select', select));
  for (const name of names) {
    const matches = matcherOf(name);
    const found = known.includes(name) ? [name] : known.filter(matches);
    if (found.length === 0) throw nothingMatched(name, known, lock);
    for (const address of found) chosen.add(address);
  }
  return known.filter((address) => chosen.has(address));
}

/** One step of the manifest, by its whole address. */
export function requireStep(address: string, graph: Graph): Graph['steps'][number] {
  const step = graph.steps.find((one) => one.address === address);
  if (step !== undefined) return step;
  const ofTask = graph.steps.filter(({ task }) => task === address);
  if (ofTask.length > 0) {
    const some = ofTask.slice(0, 5).map((one) => one.address);
    throw new CommandError(
      exitCodes.wrongUsage,
      `${address} is a task with ${ofTask.length} steps`,
      `name one: ${some.join(', ')}`,
    );
  }
  throw new CommandError(
    exitCodes.wrongUsage,
    `the manifest has no step ${address}`,
    nearTo(
      address,
      graph.steps.map((one) => one.address),
    ),
  );
}

function matcherOf(name: string): (address: string) => boolean {
  const pattern = new RegExp(`^${name.split('*').map(escapePattern).join('.*')}$`, 'su');
  return (address) => pattern.test(address) || pattern.test(address.split('@')[0] ?? address);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function nothingMatched(name: string, known: readonly string[], lock: Lock): CommandError {
  const isOrphan = lock.steps.has(name);
  return new CommandError(
    exitCodes.wrongUsage,
    isOrphan ? `${name} is in the lock, and no longer in the manifest` : `there is no step ${name}`,
    isOrphan
      ? 'only what the manifest has can be decided like this; `mediabatch move` gives it a new address'
      : nearTo(name, known),
  );
}

export function nearTo(name: string, known: readonly string[]): string {
  const near = known.filter((address) => address.startsWith(name.slice(0, 3))).slice(0, 5);
  return near.length > 0 ? `near it: ${near.join(', ')}` : 'mediabatch plan FILE --all shows every address';
}
