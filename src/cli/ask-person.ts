import { CampaignError } from '../contract/failure.ts';
import { readAnswers } from './read-answers.ts';
import type { Terminal } from './terminal.ts';

/** Nobody can be asked, and nobody has agreed: the command ends. */
export function requireSomebody({ yes, terminal }: { yes: boolean | undefined; terminal: Terminal }): void {
  if (yes === true || terminal.interactive) return;
  throw new CampaignError({ code: 'MB3004', message: 'there is no terminal to ask on', hint: 'agree with --yes' });
}

/**
 * One question to a person, unless `--yes` was given; anything but yes is no, and Ctrl-C is neither. Without a terminal
 * nobody can be asked: the command ends, and nothing has been done.
 */
export async function askPerson(
  question: string,
  { yes, terminal }: { yes: boolean | undefined; terminal: Terminal },
): Promise<'yes' | 'no' | 'interrupted'> {
  if (yes === true) return 'yes';
  requireSomebody({ yes, terminal });
  const answer = await readAnswers(terminal, (ask) => ask(`${question} [y/N] `));
  if (answer === 'interrupted') return answer;
  return answer !== 'left' && /^\s*y(es)?\s*$/i.test(answer.typed) ? 'yes' : 'no';
}
