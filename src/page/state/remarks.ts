import { signal } from '@preact/signals';
import type { ReviewAsset, ReviewData } from '../../contract/review.ts';
import type { Remark } from '../model/judge.ts';
import { attempt } from './outbox.ts';

/** Remarks by output. They are stored in this browser only, and are no verdicts. */
const remarks = signal<ReadonlyMap<string, Remark>>(new Map());
let place = '';

/** Reads the stored remarks of a campaign. Remarks on replaced outputs are dropped. */
export function readRemarks({ campaign, file, assets }: ReviewData): void {
  place = `mediabatch remarks ${JSON.stringify([campaign, file])}`;
  const shown = new Set(assets.map(nameOf));
  const kept = attempt(() => JSON.parse(localStorage.getItem(place) ?? '{}') as { [name: string]: Remark }) ?? {};
  remarks.value = new Map(Object.entries(kept).filter(([name]) => shown.has(name)));
}

export function remarkOn(asset: ReviewAsset): Remark {
  return remarks.value.get(nameOf(asset)) ?? {};
}

export function setRemark(asset: ReviewAsset, { note, isSecond }: Remark): void {
  const all = new Map(remarks.value);
  const remark = { ...(note && { note }), ...(isSecond === true && { isSecond }) };
  if (Object.keys(remark).length === 0) all.delete(nameOf(asset));
  else all.set(nameOf(asset), remark);
  remarks.value = all;
  attempt(() => localStorage.setItem(place, JSON.stringify(Object.fromEntries(all))));
}

function nameOf({ address, job }: ReviewAsset): string {
  return JSON.stringify([address, job]);
}
