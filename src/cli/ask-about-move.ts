import type { Answer, MoveQuestion } from '../campaign/lock-service.ts';
import { countOf } from '../report/numbers.ts';
import { safeText } from '../report/safe-text.ts';
import { askPerson } from './ask-person.ts';
import type { Terminal } from './terminal.ts';

/** The question of `--service-moved`, with what hangs on it. */
export function askAboutMove(
  { lock, steps, baseUrl }: MoveQuestion,
  { yes, terminal }: { yes: boolean | undefined; terminal: Terminal },
): Promise<Answer> {
  terminal.err(
    `${safeText(lock)} has ${countOf(steps, 'step')} on record, made against another address. Their jobs will be looked for at ${safeText(baseUrl)}, and what is unanswered is asked for there again.\n`,
  );
  return askPerson('Is that the same service, at a new address?', { yes, terminal });
}
