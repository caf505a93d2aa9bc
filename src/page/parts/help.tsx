import { useLayoutEffect, useRef } from 'preact/hooks';
import { compareKeyHelp } from '../compare/keys.ts';
import type { KeyHelp, Page } from '../state/page.ts';
import { Facts } from './facts.tsx';
import { isSound } from './shapes.ts';

export function Help({ page }: { page: Page }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    // The browser focuses the last button of the dialog and, in a low window, scrolls the dialog to its end.
    dialog.current?.scrollTo(0, 0);
  }, []);
  const close = () => {
    page.hasHelp.value = false;
    page.activate(page.active.value);
  };
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={close}
      onKeyDown={({ key, repeat }) => key === '?' && !repeat && close()}
    >
      <h2 id="help-title">Keys</h2>
      {helpOf(page).map(({ where, keys }) => (
        <section key={where}>
          <h3>{where}</h3>
          <Facts facts={keys.map(([names, what]) => [<kbd>{names}</kbd>, what])} />
        </section>
      ))}
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

interface HelpSection {
  where: string;
  keys: readonly KeyHelp[];
}

const soundKeyHelp: readonly KeyHelp[] = [
  ['1 – 9', 'switch to the take with this number'],
  ['Space', 'play, pause'],
  [', .', '5 seconds back, 5 seconds forward'],
];

function helpOf({ offer, data, isForClient }: Page): HelpSection[] {
  const { assets, groups } = data.value;
  const views = offer.views.filter(({ isOffered }) => isOffered?.(data.value) ?? true);
  const hasReasons = groups.some(({ gate }) => gate?.reasons?.length);
  const keys: (KeyHelp | false)[] = [
    ['← → ↑ ↓', 'the next output'],
    ['Space', 'play or pause the film'],
    ['[ ]', 'previous group, next group'],
    ['J K', 'next, previous undecided group'],
    ['1 – 9', 'pick the take with this number'],
    ['P X U', 'pick, reject, undecided again'],
    hasReasons && ['Shift 1 – 9', 'reject for the reason with this number'],
    ['N', 'note on a verdict'],
    ['Ctrl Z', 'undo; ⇧ redo'],
    ...views.flatMap(({ key, label }): KeyHelp[] =>
      key === undefined ? [] : [[key.replace(/^./, (one) => one.toUpperCase()), label]],
    ),
    ['+ − Z 0', 'zoom in, zoom out, 1:1, fit'],
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
