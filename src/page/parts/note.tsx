import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { mostNote } from '../model/judge.ts';
import { markOf } from '../model/shown.ts';
import type { Page } from '../state/page.ts';

/** The field for the note of a verdict. Enter keeps it, Esc leaves it as it was. */
export function NoteField({ page, asset }: { page: Page; asset: ReviewAsset }) {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const close = () => {
    page.hasNote.value = false;
    // The field is still in the page, and would keep the keyboard.
    field.current?.blur();
    page.activate(asset.address);
  };
  const keep = () => {
    page.judge(asset.address, markOf(asset), field.current?.value ?? '');
    close();
  };
  return (
    <form
      class="note"
      onSubmit={(event) => {
        event.preventDefault();
        keep();
      }}
    >
      <label>
        {`Note on ${asset.address}, ${markOf(asset)}: `}
        <input
          ref={field}
          type="text"
          maxLength={mostNote}
          defaultValue={asset.verdict?.note ?? ''}
          onKeyDown={(event) => {
            if (event.key === 'Escape') close();
          }}
        />
      </label>
      <button type="submit">Keep</button>
      <button type="button" onClick={close}>
        Cancel
      </button>
    </form>
  );
}
