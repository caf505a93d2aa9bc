import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Page } from '../state/page.ts';

/** Lists what the keys do. */
export function Help({ page }: { page: Page }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    // The button at the end has the keyboard, and a low window would show that first.
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
      <p>One asset is active, and outlined: keys act on it alone. After a verdict the next undecided one is active.</p>
      {page.later.value?.help.map(({ where, keys }) => (
        <section key={where}>
          <h3>{where}</h3>
          <dl>
            {keys.map(([names, what]) => (
              <div key={names}>
                <dt>
                  <kbd>{names}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
