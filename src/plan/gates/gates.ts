import type { Gate } from '../../graph/graph.ts';
import type { DecidedGate, GateState } from '../situation/decided-graph.ts';

/** State of a step at a gate. `none`: the step has no output to review. */
export type Seen = 'picked' | 'rejected' | 'undecided' | 'none';

export function gatesByMember<Any extends Gate>(gates: readonly Any[]): Map<string, Any> {
  return new Map(gates.flatMap((gate) => gate.members.map((address) => [address, gate] as const)));
}

/** Returns the state of a gate. `seenOf` must know each of its steps. */
export function stateOfGate({ choose, members }: Gate, seenOf: (address: string) => Seen): GateState {
  const seen = members.map((address) => ({ address, is: seenOf(address) }));
  const picked = seen.flatMap(({ address, is }) => (is === 'picked' ? [address] : []));
  if (picked.length === choose) return { is: 'decided', picked };
  if (picked.length > choose) return { is: 'contested', picked };
  const toSee = seen.filter(({ is }) => is !== 'rejected').length;
  return { is: toSee < choose ? 'rejected' : 'open', picked, toSee };
}

/** Describes what a gate waits for, for example `waits for a pick: hero@lamp, 4 to see`. */
export function describeWait(gate: DecidedGate): string {
  const { name, is, choose, members, state } = gate;
  if (is === 'canary') return describeCanary(gate);
  switch (state.is) {
    case 'contested': {
      const why = `${state.picked.join(' and ')} are picked, but only ${choose} may be`;
      return `waits for a pick: ${name} is contested: ${why}`;
    }
    case 'rejected': {
      if (is === 'approve') return `${name} is rejected; --redo ${name} buys another`;
      const what =
        state.toSee === 0
          ? `all ${members.length} of ${name} are rejected`
          : `${name}: ${state.toSee} of ${members.length} are not rejected, and ${choose} must be picked`;
      return `${what}; --redo buys new ones`;
    }
    case 'open': {
      if (is === 'approve') return `waits for approval: ${name}`;
      const more = state.picked.length === 0 ? '' : `, ${state.picked.length} of ${choose} picked`;
      return `waits for a pick: ${name}, ${state.toSee} to see${more}`;
    }
    case 'decided':
      return `waits for a pick: ${name}`;
    default:
      return state satisfies never;
  }
}

function describeCanary({ members, state }: DecidedGate): string {
  const [first = '', ...others] = members;
  if (state.is === 'rejected') {
    const what = others.length === 0 ? first : `one of ${members.length} from ${first} on`;
    return `waits for its canary: ${what} is rejected; change the request, or buy another with --redo`;
  }
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `waits for its canary: ${first}${more} to be picked`;
}
