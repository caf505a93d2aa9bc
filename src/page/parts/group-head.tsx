import { redoCommand } from '../model/leave.ts';
import { type ShownGroup, waitsOf } from '../model/shown.ts';
import type { Page } from '../state/page.ts';
import { gateWords, waitWords } from './words.ts';

/** Name of a group, what its gate asks for, and what waits behind it. */
export function GroupHead({ page, group }: { page: Page; group: ShownGroup }) {
  const { gate, name } = group.group;
  const waiting = gate !== undefined && group.state !== 'decided' && gate.waiting > 0 ? gate : undefined;
  return (
    <header class="group-head">
      <h2>{name}</h2>
      {gate !== undefined && <span class={`gate ${group.state}`}>{gateWords(group)}</span>}
      {group.state === 'rejected' && <code class="quiet">{redoCommand(page.data.value, group)}</code>}
      {waiting !== undefined && <span class="quiet">{waitWords(waitsOf(waiting))}</span>}
      {gate?.note !== undefined && <span class="quiet">{gate.note}</span>}
    </header>
  );
}
