import { createInterface } from 'node:readline';
import { consentRequiredBy } from '../campaign/environment.ts';
import type { Answer, MoveQuestion } from '../campaign/read-lock.ts';
import { exitCodes } from '../contract/exit.ts';
import { CampaignError } from '../contract/failure.ts';
import { type Call, call } from '../ground/advice.ts';
import { line, type Text } from '../report/document.ts';
import { countOf } from '../report/numbers.ts';
import { terminalText } from '../report/render/terminal-text.ts';
import { safeText } from '../report/safe-text.ts';
import type { Terminal } from './terminal.ts';

/** Whether `--yes` and `--publish` count as approvals. `because`: why a user must approve interactively instead. */
export type Consent = { flags: 'count' } | { flags: 'ignored'; because: string };

export function consentIn(env: NodeJS.ProcessEnv, { sandbox }: { sandbox: boolean }): Consent {
  const because = consentRequiredBy(env);
  return sandbox || because === undefined ? { flags: 'count' } : { flags: 'ignored', because };
}

export function withConsent<Options extends { yes?: boolean | undefined; publish?: boolean | undefined }>(
  options: Options,
  { flags }: Consent,
): Options {
  if (flags === 'count') return options;
  const { yes: _yes, publish: _publish, ...others } = options;
  return others as Options;
}

export function approving(path: string, ...words: string[]): Call {
  return { ...call('approve', path.startsWith('-') ? `./${path}` : path, ...words), bare: true };
}

/** `yes`: whether the user gave `--yes`. `consent`: set if the question is about credits. */
interface Asked {
  yes: boolean | undefined;
  terminal: Terminal;
  consent?: Consent;
}

export function declined(answer: 'no' | 'interrupted', done: string, { err }: Pick<Terminal, 'err'>): number {
  err(`nothing was ${done}\n`);
  return answer === 'no' ? exitCodes.done : exitCodes.interrupted;
}

/** Time in ms to wait before a question, so that the terminal delivers earlier input, which is then ignored. */
const typedAheadMs = 50;

/**
 * Asks the user a question, unless `--yes` was given. Ctrl-C returns `interrupted`. Ignores input that was typed before
 * the question. Throws if there is no interactive terminal.
 */
export async function askPerson(
  question: Text,
  { yes, terminal, consent = { flags: 'count' } }: Asked,
): Promise<'yes' | 'no' | 'interrupted'> {
  if (yes === true) return 'yes';
  if (!terminal.interactive) {
    const isFlag = consent.flags === 'count';
    throw new CampaignError({
      code: 'MB3004',
      message: `no interactive terminal for the approval${isFlag ? '' : `, and ${consent.because}`}`,
      hint: isFlag ? 'approve with --yes' : 'have the payer run the command in an interactive terminal',
    });
  }
  const { err, style, width } = terminal;
  const lines = terminalText([line([question, ' [y/N]'].flat())], { style, width })
    .trimEnd()
    .split('\n');
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    let [isShown, isOver] = [false, false];
    const end = (answer: 'yes' | 'no' | 'interrupted', text = '') => {
      if (isOver) return;
      isOver = true;
      err(text);
      reader.close();
      resolve(answer);
    };
    reader.on('line', (typed) => isShown && end(/^\s*y(es)?\s*$/i.test(typed) ? 'yes' : 'no'));
    reader.on('close', () => end('no', '\n'));
    reader.on('SIGINT', () => end('interrupted', '\n'));
    setTimeout(() => {
      if (isOver) return;
      isShown = true;
      // A prompt of several lines would be redrawn on each key press, so only the last line is the prompt.
      for (const part of lines.slice(0, -1)) err(`${part}\n`);
      reader.setPrompt(`${lines.at(-1) ?? ''} `);
      reader.prompt();
    }, typedAheadMs);
  });
}

export function askAboutMove({ lock, steps, baseUrl }: MoveQuestion, asked: Asked): Promise<Answer> {
  asked.terminal.err(
    `${safeText(lock)} has ${countOf(steps, 'step')} on record for another service address. The run looks for the jobs of these steps at ${safeText(baseUrl)}, and repeats unanswered create requests there.\n`,
  );
  return askPerson('Is this the same service at a new address?', asked);
}
