import type { Gate } from '../../graph/graph.ts';
import type { DecidedGate, Seen } from '../situation/find-purchases.ts';

export function gatesByMember<Any extends Gate>(gates: readonly Any[]): Map<string, Any> {
  return new Map(gates.flatMap((gate) => gate.members.map((address) => [address, gate] as const)));
}

export function stateOfGate({ choose, members }: Gate, seenOf: (address: string) => Seen): DecidedGate['state'] {
  const seen = members.map((address) => ({ address, is: seenOf(address) }));
  const picked = seen.flatMap(({ address, is }) => (is === 'picked' ? [address] : []));
  if (picked.length === choose) return { is: 'decided', picked };
  if (picked.length > choose) return { is: 'contested', picked };
  const toSee = seen.filter(({ is }) => is !== 'rejected').length;
  return { is: toSee < choose ? 'rejected' : 'open', picked, toSee };
}

export function describeWait(gate: DecidedGate): string {
  const { name, is, choose, members, state } = gate;
  if (is === 'canary') return describeCanary(gate);
  switch (state.is) {
    case 'contested':
      return `waits for a pick: ${name} is contested: ${state.picked.join(' and ')} are picked, but only ${choose} may be picked`;
    case 'rejected':
      if (is === 'approve') return `${name} is rejected; --redo ${name} buys a new output`;
      return `${members.length - state.toSee} of ${members.length} outputs of ${name} are rejected; --redo buys new outputs`;
    case 'open': {
      if (is === 'approve') return `waits for approval: ${name}`;
      const more = state.picked.length === 0 ? '' : `, ${state.picked.length} of ${choose} picked`;
      return `waits for a pick: ${name}, ${state.toSee} to review${more}`;
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
    const what = others.length === 0 ? first : `one of ${members.length} canaries (the first is ${first})`;
    return `waits for its canary: ${what} is rejected; change the request, or buy a new canary with --redo`;
  }
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `waits for its canary: ${first}${more} must be picked`;
}
