import { isDefect } from '../contract/failure.ts';
import type { Ports } from '../contract/ports.ts';
import { messageOf } from '../ground/values.ts';
import { requireKind } from '../kinds/index.ts';
import { isOpenSend } from '../lock/sends.ts';
import type { StepOrder } from '../plan/plan.ts';
import { tellEnd } from './step.ts';
import type { StepEnd } from './step-end.ts';

/**
 * Ends a step that a mistake of ours broke off somewhere in the middle, by what is on record of it: where a send is open it
 * may have been charged, whatever broke. `undefined`: it was no such mistake, or the record itself is at fault, which
 * concerns every step.
 */
export function endBroken(order: StepOrder, ports: Ports, error: unknown): StepEnd | undefined {
  if (ports.signal.aborted || !isDefect(error)) return undefined; // I26 (step)
  const left = ports.ledger.abandon(order);
  if (left === 'broken') return undefined;
  const text = messageOf(error);
  const end: StepEnd = {
    ...stateOf(order, ports, left),
    error: text.startsWith('internal error') ? text : `internal error: ${text}`,
  };
  try {
    tellEnd(order, ports, end);
  } catch {
    // Whoever listens may be what is broken.
  }
  return end;
}

type Left = Exclude<ReturnType<Ports['ledger']['abandon']>, 'broken'>;

function stateOf(
  { kind }: StepOrder,
  { service }: Ports,
  left: Left,
): Pick<StepEnd, 'outcome' | 'credits' | 'recoverable'> {
  if (left === undefined) return { outcome: 'failed', credits: 0 };
  // I26 (open)
  if (isOpenSend(left)) {
    const isFound = service.replays(kind) || requireKind(kind).recovery === 'list';
    return { outcome: 'unresolved', credits: null, ...(isFound && { recoverable: true }) };
  }
  switch (left.state) {
    case 'running':
    case 'done':
    case 'lost':
      return { outcome: left.state, credits: left.credits ?? null };
    default:
      return { outcome: 'failed', credits: left.credits ?? 0 };
  }
}
