import { compareKeyHelp } from './compare/keys.ts';
import type { HelpSection, KeyHelp } from './state/page.ts';

const pageKeyHelp: readonly KeyHelp[] = [
  ['← → ↑ ↓', 'the next asset'],
  ['Space', 'play or pause the film'],
  ['[ ]', 'group before, next group'],
  ['J K', 'next undecided group, the one before'],
  ['1 – 9', 'pick the take of this number'],
  ['P', 'pick'],
  ['X', 'reject'],
  ['Shift 1 – 9', 'reject for a reason that the gate names'],
  ['U', 'undecided again'],
  ['N', 'note; before a verdict it is kept until there is one'],
  ['R', 'second choice, if what is picked turns out to be of no use; kept by this browser'],
  ['Ctrl Z', 'undo; on a Mac with ⌘, and after a reload, too'],
  ['Ctrl Shift Z', 'redo; Ctrl Y does the same'],
  ['Enter', 'loupe: one asset'],
  ['C', 'compare two'],
  ['B', 'blink between two'],
  ['A', 'before and after: compare with earlier versions'],
  ['M', 'matrix'],
  ['+ − Z 0', 'larger, smaller, 1:1 (each pixel of the picture), whole'],
  ['Shift arrows', 'move the picture'],
  ['I', 'details'],
  ['/', 'search'],
  ['Esc', 'back'],
  ['?', 'this help'],
];

const soundKeyHelp: readonly KeyHelp[] = [
  ['1 – 9', 'listen to this one, at the same position; P picks the one that is heard'],
  ['Space', 'play, pause'],
  [', .', 'back 5 seconds, on 5 seconds'],
  ['L', 'equally loud, or as loud as they were made'],
];

export const pageHelp: readonly HelpSection[] = [
  { where: 'Everywhere', keys: pageKeyHelp },
  { where: 'Songs and voices', keys: soundKeyHelp },
  { where: 'Compare', keys: compareKeyHelp },
];
