import type { ShownGroup } from '../model/shown.ts';
import { gateWords, waitWords } from './words.ts';

/** Name of a group, what its gate asks for, and what waits behind it. */
export function GroupHead({ group }: { group: ShownGroup }) {
  const { gate, name } = group.group;
  const waiting = gate !== undefined && group.state !== 'decided' && gate.waiting > 0 ? gate : undefined;
  return (
    <header class="group-head">
      <h2>{name}</h2>
      {gate !== undefined && <span class={`gate ${group.state}`}>{gateWords(group)}</span>}
      {waiting !== undefined && <span class="quiet">{waitWords(waiting.waiting, waiting.waitingCredits)}</span>}
      {gate?.note !== undefined && <span class="quiet">{gate.note}</span>}
    </header>
  );
}
