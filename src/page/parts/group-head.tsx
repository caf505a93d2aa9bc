import { redoCommand } from '../model/leave.ts';
import { type ShownGroup, waitsOf } from '../model/shown.ts';
import type { Page } from '../state/page.ts';
import { Address } from './tile.tsx';
import { counted, credits, gateWords, waitWords } from './words.ts';

/** The price of other takes, as far as those that exist tell it, and the way to buy them. */
function Others({ page, group }: { page: Page; group: ShownGroup }) {
  const { run, canBuyOthers } = page.data.value;
  const command = redoCommand(page.data.value, group);
  // The command of a terminal takes the group as a whole; the page, what was rejected of it.
  const own = canBuyOthers ? group.assets.filter(({ verdict }) => verdict?.is === 'rejected') : group.assets;
  const redone = group.group.gate?.is === 'canary' ? group.assets.slice(0, 1) : own;
  const prices = redone.map((asset) => asset.credits ?? asset.estimated ?? null);
  const sum = prices.reduce<number | null>((all, one) => (all === null || one === null ? null : all + one), 0);
  const price = `${sum === null ? '' : '≈ '}${credits(sum)}`;
  const when = run === undefined || run.is === 'ended' ? 'in a terminal' : 'in a terminal when this run has ended';
  const copy = () =>
    navigator.clipboard.writeText(command).then(
      () => page.say(`Copied. Paste it ${when}: nobody has agreed to these ${price} yet, and it asks.`),
      () => page.say(`This browser does not let the page copy: ${command}`),
    );
  const later = canBuyOthers ? page.later.value : undefined;
  const ask = later && (() => void later.askForOthers(page, group.group.name));
  return (
    <button type="button" class="others" title={ask ? undefined : command} onClick={ask ?? copy}>
      {`${counted(redone.length, 'other')}, ${price}`}
      <span class="away">{` for ${group.group.name}${ask ? '' : ': copy the command'}`}</span>
    </button>
  );
}

/** Name of a group, what its gate asks for, and what waits behind it. */
export function GroupHead({ page, group }: { page: Page; group: ShownGroup }) {
  const { gate, name } = group.group;
  const waiting = gate !== undefined && group.state !== 'decided' && gate.waiting > 0 ? gate : undefined;
  return (
    <header class="group-head">
      <h2>
        <Address text={name} />
      </h2>
      {gate !== undefined && <span class={`gate ${group.state}`}>{gateWords(group)}</span>}
      {group.state === 'rejected' && <Others page={page} group={group} />}
      {waiting !== undefined && <span class="quiet">{waitWords(waitsOf(waiting))}</span>}
      {gate?.note !== undefined && <span class="quiet">{gate.note}</span>}
    </header>
  );
}
