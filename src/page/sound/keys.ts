import type { KeyHelp, Page } from '../state/page.ts';
import { soundsOf } from './state.ts';
import { isSoundGroup } from './tracks.ts';

/** Keys where there is something to listen to, for the help of the page. */
export const soundKeyHelp: readonly KeyHelp[] = [
  ['1 – 9', 'listen to this one, at the same position; P picks the one that is heard'],
  ['Space', 'play, pause'],
  [', .', 'back 5 seconds, on 5 seconds'],
  ['L', 'equally loud, or as loud as they were made'],
];

/** Does what a key says where there is something to listen to. False: the page decides. */
export function actOnSoundKey(page: Page, event: KeyboardEvent): boolean {
  const group = page.activeGroup.value;
  if (event.ctrlKey || group === undefined || !isSoundGroup(group)) return false;
  const sounds = soundsOf(page);
  if (/^[1-9]$/.test(event.key)) sounds.listen(Number(event.key));
  else if (event.key === ' ') sounds.toggle();
  else if (event.key === ',') sounds.jump(-1);
  else if (event.key === '.') sounds.jump(1);
  else if (event.key.toLowerCase() === 'l') sounds.toggleMatch();
  else return false;
  return true;
}
