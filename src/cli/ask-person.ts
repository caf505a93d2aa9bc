import { createInterface } from 'node:readline';
import { CampaignError } from '../contract/failure.ts';
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
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise((resolve) => {
      const leave = (answer: 'no' | 'interrupted') => {
        terminal.err('\n');
        resolve(answer);
      };
      // Ctrl-D, or the terminal is gone.
      const onClose = () => leave('no');
      reader.on('close', onClose);
      reader.on('SIGINT', () => {
        reader.off('close', onClose);
        leave('interrupted');
      });
      reader.question(`${question} [y/N] `, (answer) => {
        reader.off('close', onClose);
        resolve(/^\s*y(es)?\s*$/i.test(answer) ? 'yes' : 'no');
      });
    });
  } finally {
    reader.close();
  }
}
