import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface AskProps {
  title: string;
  /** The plan as a terminal shows it. */
  text: string;
  /** The question. */
  children: ComponentChildren;
  /** On the button. */
  yes: string;
  onClose(): void;
  onYes(): Promise<void>;
}

/** A plan, and the question about it. The keyboard is on the no. */
export function Ask({ title, text, children, yes, onClose, onYes }: AskProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const no = useRef<HTMLButtonElement>(null);
  const isSent = useSignal(false);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    no.current?.focus();
  }, []);
  const send = () => {
    isSent.value = true;
    void onYes();
  };
  return (
    <dialog ref={dialog} class="plan" aria-labelledby="plan-title" onClose={onClose}>
      <h2 id="plan-title">{title}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is to be scrolled by keys, too */}
      <pre tabIndex={0}>{text}</pre>
      <p>{children}</p>
      <form method="dialog">
        <button type="submit" ref={no}>
          Not now
        </button>{' '}
        <button type="button" disabled={isSent.value} onClick={send}>
          {yes}
        </button>
      </form>
    </dialog>
  );
}
