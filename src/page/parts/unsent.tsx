import type { Page } from '../state/page.ts';
import { counted } from './words.ts';

/** Says of verdicts that are only in this page why, and what becomes of them. */
export function Unsent({ page }: { page: Page }) {
  const waits = page.outbox.waits.value;
  if (waits === undefined || page.outbox.isEmpty.value) return null;
  return (
    <p class="unsent" role="status">
      {`${counted(page.unsaved().length, 'verdict')} wait in this page and will be recorded as soon as they can: ${waits}.`}
    </p>
  );
}
