import { compareKeyHelp } from './compare/keys.ts';
import { isSound } from './parts/shapes.ts';
import type { KeyHelp, Page } from './state/page.ts';

interface HelpSection {
  where: string;
  keys: readonly KeyHelp[];
}

const soundKeyHelp: readonly KeyHelp[] = [
  ['1 – 9', 'listen at the same position'],
  ['Space', 'play, pause'],
  [', .', 'back 5 seconds, on 5 seconds'],
];

/** Keys of the views and outputs that the page has. */
export function helpOf({ offer, data, isForClient }: Page): HelpSection[] {
  const { assets, groups } = data.value;
  const views = offer.views.filter(({ isOffered }) => isOffered?.(data.value) ?? true);
  const hasReasons = groups.some(({ gate }) => gate?.reasons?.length);
  const keys: (KeyHelp | false)[] = [
    ['← → ↑ ↓', 'the next asset'],
    ['Space', 'play or pause the film'],
    ['[ ]', 'group before, next group'],
    ['J K', 'next, previous undecided group'],
    ['1 – 9', 'pick the take of this number'],
    ['P X U', 'pick, reject, undecided again'],
    hasReasons && ['Shift 1 – 9', 'reject for a reason that the gate names'],
    ['N', 'note, also before a verdict'],
    ['Ctrl Z', 'undo; ⇧ redo'],
    ...views.flatMap(({ key, label }): KeyHelp[] =>
      key === undefined ? [] : [[key.replace(/^./, (one) => one.toUpperCase()), label]],
    ),
    ['+ − Z 0', 'larger, smaller, 1:1, whole'],
    ['Shift arrows', 'move the picture'],
    !isForClient && ['I', 'details'],
    ['/', 'search'],
    ['Esc', 'back'],
    ...(offer.keys ?? []),
  ];
  return [
    { where: 'Everywhere', keys: keys.filter((one) => one !== false) },
    ...(assets.some(isSound) ? [{ where: 'Songs and voices', keys: soundKeyHelp }] : []),
    { where: 'Compare', keys: compareKeyHelp },
  ];
}
