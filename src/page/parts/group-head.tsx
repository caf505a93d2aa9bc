import { useState } from 'preact/hooks';
import { redoCommand } from '../model/leave.ts';
import { type ShownGroup, waitsOf } from '../model/shown.ts';
import type { Page } from '../state/page.ts';
import { Address } from './tile.tsx';
import { askedText, counted, credits, gateWords, sumOf, waitWords } from './words.ts';

function Replacements({ page, group }: { page: Page; group: ShownGroup }) {
  const command = redoCommand(page.data.value, group);
  const redone = group.group.gate?.is === 'canary' ? group.assets.slice(0, 1) : group.assets;
  const sum = sumOf(redone.map((asset) => asset.credits ?? asset.report?.estimated ?? null));
  const price = `${sum === null ? '' : '≈ '}${credits(sum)}`;
  return (
    <button type="button" class="others" title={command} onClick={() => page.copy(command)}>
      <span class="wide">Copy the command for </span>
      {`${counted(redone.length, 'replacement')}, ${price}`}
      <span class="away">{` of ${group.group.name}`}</span>
    </button>
  );
}

export function GroupHead({ page, group }: { page: Page; group: ShownGroup }) {
  const { gate, name, title } = group.group;
  const waiting = gate !== undefined && group.state !== 'decided' && gate.waiting > 0 ? gate : undefined;
  const text = askedText(group.assets);
  return (
    <header class="group-head">
      <div class="head-line">
        <h2>{title === undefined ? <Address text={name} /> : <bdi>{title}</bdi>}</h2>
        {gate !== undefined && <span class={`gate ${group.state}`}>{gateWords(group)}</span>}
        {group.state === 'rejected' && !page.isForClient && <Replacements page={page} group={group} />}
        {waiting !== undefined && <span class="waits quiet">{waitWords(waitsOf(waiting))}</span>}
        <span class="rest quiet">
          {gate?.note !== undefined && <span title={gate.note}>{gate.note}</span>}
          {title !== undefined && !page.isForClient && <Address text={name} />}
        </span>
      </div>
      {text !== undefined && <Asked text={text} />}
    </header>
  );
}

function Asked({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <button type="button" class="asked" aria-expanded={isOpen} tabIndex={-1} onClick={() => setOpen(!isOpen)}>
      <bdi>{text}</bdi>
    </button>
  );
}
