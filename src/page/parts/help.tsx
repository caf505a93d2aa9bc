import { useLayoutEffect, useRef } from 'preact/hooks';
import { helpOf } from '../key-help.ts';
import type { Page } from '../state/page.ts';
import { Facts } from './facts.tsx';

/** Dialog with the keys of the page. */
export function Help({ page }: { page: Page }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    // The dialog focuses its button at the end, and would be scrolled to it in a low window.
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
