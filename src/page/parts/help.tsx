import { useLayoutEffect, useRef } from 'preact/hooks';
import { compareKeyHelp } from '../compare/keys.ts';
import type { KeyHelp, Page } from '../state/page.ts';
import { Facts } from './facts.tsx';
import { isSound } from './shapes.ts';

export function Help({ page }: { page: Page }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    // The dialog focuses its last button, so in a low window it would scroll to its end.
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
  ['1 – 9', 'listen at the same position'],
  ['Space', 'play, pause'],
  [', .', 'back 5 seconds, on 5 seconds'],
];

function helpOf({ offer, data, isForClient }: Page): HelpSection[] {
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
    ['N', 'note on a verdict'],
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
