import type { Page } from '../state/page.ts';
import { counted } from './words.ts';

/** Says of verdicts that are only in this page why, and what becomes of them. */
export function Unsent({ page }: { page: Page }) {
  const waits = page.outbox.waits.value;
  const isWaiting = waits !== undefined && !page.outbox.isEmpty.value;
  return (
    <p class="unsent" role="status">
      {isWaiting &&
        `${counted(page.unsaved().length, 'verdict')} wait in this page until they can be recorded: ${waits}.`}
      {!isWaiting &&
        page.isLost.value &&
        'mediabatch has ended, or does not answer: what is shown may be old, and new verdicts wait in this page.'}
    </p>
  );
}
