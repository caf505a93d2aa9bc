import { signal } from '@preact/signals';
import type { ReviewAsset, ReviewData } from '../../contract/review.ts';
import { attempt } from './outbox.ts';

/** Notes on outputs without a verdict, stored in this browser until there is one. */
const notes = signal<ReadonlyMap<string, string>>(new Map());
let place = '';

/** Reads the stored notes of a campaign. Notes on replaced outputs are dropped. */
export function readNotes({ campaign, file, assets }: ReviewData): void {
  place = `mediabatch notes ${JSON.stringify([campaign, file])}`;
  const shown = new Set(assets.map(nameOf));
  const kept = attempt(() => JSON.parse(localStorage.getItem(place) ?? '{}') as Record<string, string>) ?? {};
  notes.value = new Map(Object.entries(kept).filter(([name]) => shown.has(name)));
}

export function noteOn(asset: ReviewAsset): string {
  return notes.value.get(nameOf(asset)) ?? '';
}

export function setNote(asset: ReviewAsset, note: string): void {
  const all = new Map(notes.value);
  if (note === '') all.delete(nameOf(asset));
  else all.set(nameOf(asset), note);
  notes.value = all;
  attempt(() => localStorage.setItem(place, JSON.stringify(Object.fromEntries(all))));
}

function nameOf({ address, job }: ReviewAsset): string {
  return JSON.stringify([address, job]);
}
