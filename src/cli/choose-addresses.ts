import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { CommandError, exitCodes } from './exit.ts';
import { orphansOf } from './find-remote-records.ts';

/**
 * Addresses on record, by what a person names: an address, a task, or either with `*` in it. Steps that the manifest no
 * longer has can be named too, which is why this does not go by the manifest. Nothing matched is wrong usage.
 */
export function chooseAddresses(
  names: readonly string[],
  facts: { graph: Graph; lock: Lock; orphans: boolean },
): Set<string> {
  const { graph, lock, orphans } = facts;
  if (names.length === 0 && !orphans) {
    throw new CommandError(
      exitCodes.wrongUsage,
      'nothing was chosen: name addresses, or give --orphans for what the manifest no longer has',
      'mediabatch status FILE shows the orphans; nothing was removed',
    );
  }
  const known = [...lock.steps.keys()];
  const chosen = new Set(orphans ? orphansOf(graph, lock) : []);
  for (const name of names) {
    const matches = matcherOf(name);
    const found = known.filter(matches);
    if (found.length === 0) throw nothingMatched(name, { known, graph });
    for (const address of found) chosen.add(address);
  }
  return chosen;
}

function matcherOf(name: string): (address: string) => boolean {
  const pattern = new RegExp(`^${name.split('*').map(escapePattern).join('.*')}$`, 'su');
  return (address) => pattern.test(address) || pattern.test(address.split('@')[0] ?? address);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function nothingMatched(name: string, { known, graph }: { known: readonly string[]; graph: Graph }): CommandError {
  const inManifest = graph.steps.some(({ address, task }) => address === name || task === name);
  const near = known.filter((address) => address.startsWith(name.slice(0, 3))).slice(0, 5);
  const hint = near.length > 0 ? `near it: ${near.join(', ')}` : `the lock has ${known.length} addresses`;
  return new CommandError(
    exitCodes.wrongUsage,
    inManifest ? `nothing was ever bought for ${name}` : `the lock knows no step ${name}`,
    inManifest ? 'there is nothing to remove' : hint,
  );
}
