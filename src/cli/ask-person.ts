import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import type { Answer, MoveQuestion } from '../campaign/read-lock.ts';
import { exitCodes } from '../contract/exit.ts';
import { CampaignError } from '../contract/failure.ts';
import { Condition } from '../ground/condition.ts';
import { line, type Text } from '../report/document.ts';
import { countOf } from '../report/numbers.ts';
import { terminalText } from '../report/render/terminal-text.ts';
import { safeText } from '../report/safe-text.ts';
import type { Consent } from './consent.ts';
import type { Terminal } from './terminal.ts';

/**
 * How a question is answered: by a user at the terminal, or by `--yes`. Without `consent`, `--yes` counts for every
 * user, because nothing is bought.
 */
interface Asked {
  yes: boolean | undefined;
  terminal: Terminal;
  consent?: Consent;
}

/** Ends the command if no user can be asked and no option gives consent. */
function requireSomebody({ yes, terminal, consent = { flags: 'count' } }: Asked): void {
  if (yes === true || terminal.interactive) return;
  const isFlag = consent.flags === 'count';
  throw new CampaignError({
    code: 'MB3004',
    message: `no interactive terminal for the approval${isFlag ? '' : `, and ${consent.because}`}`,
    hint: isFlag ? 'approve with --yes' : 'have the payer run the command in an interactive terminal',
  });
}

/** Reports an answer other than yes, and returns the exit code. `done`: what did not happen. */
export function declined(answer: 'no' | 'interrupted', done: string, { err }: Pick<Terminal, 'err'>): number {
  err(`nothing was ${done}\n`);
  return answer === 'no' ? exitCodes.done : exitCodes.interrupted;
}

/**
 * Asks the user a question, unless `--yes` was given. Any answer but yes is no; Ctrl-C is `interrupted`. Without a
 * terminal the command ends before anything is done.
 */
export async function askPerson(question: Text, asked: Asked): Promise<'yes' | 'no' | 'interrupted'> {
  const { yes, terminal } = asked;
  if (yes === true) return 'yes';
  requireSomebody(asked);
  const { style, width } = terminal;
  const lines = terminalText([line([question, ' [y/N]'].flat())], { style, width })
    .trimEnd()
    .split('\n');
  const answer = await readAnswers(terminal, async (ask, forgetTyped) => {
    // Discards input that was typed before the question was shown.
    await forgetTyped();
    // A prompt of several lines would be redrawn on each key press, so only the last line is the prompt.
    for (const part of lines.slice(0, -1)) terminal.err(`${part}\n`);
    return ask(`${lines.at(-1) ?? ''} `);
  });
  if (answer === 'interrupted') return answer;
  return answer !== 'left' && /^\s*y(es)?\s*$/i.test(answer.typed) ? 'yes' : 'no';
}

/** Answer of a user. `left`: Ctrl-D, or the terminal was closed; `interrupted`: Ctrl-C. */
type TypedAnswer = { typed: string } | 'left' | 'interrupted';

/** Time in ms for a terminal to deliver lines that were typed before the prompt. */
const typedAheadMs = 50;

/** Asks a user one question after the other. Input typed ahead answers the next question, unless it is discarded. */
export async function readAnswers<Result>(
  { err }: Pick<Terminal, 'err'>,
  use: (ask: (prompt: string) => Promise<TypedAnswer>, forgetTyped: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const answers: TypedAnswer[] = [];
  const news = new Condition();
  let [isClosed, isEnding] = [false, false];
  const add = (answer: TypedAnswer) => {
    if (isEnding) return;
    answers.push(answer);
    if (typeof answer === 'string') err('\n');
    news.notify();
  };
  reader.on('line', (typed) => add({ typed }));
  reader.on('close', () => {
    isClosed = true;
    add('left');
  });
  reader.on('SIGINT', () => add('interrupted'));
  const ask = async (prompt: string) => {
    reader.setPrompt(prompt);
    // From Node 24 on, a closed reader throws.
    if (!isClosed) reader.prompt();
    for (;;) {
      const answer = answers.shift();
      if (answer !== undefined) return answer;
      await news.changed();
    }
  };
  const forgetTyped = async () => {
    await setTimeout(typedAheadMs);
    const ends = answers.filter((answer) => typeof answer === 'string');
    answers.splice(0, answers.length, ...ends);
  };
  try {
    return await use(ask, forgetTyped);
  } finally {
    isEnding = true;
    reader.close();
  }
}

export function askAboutMove({ lock, steps, baseUrl }: MoveQuestion, asked: Asked): Promise<Answer> {
  const { terminal } = asked;
  terminal.err(
    `${safeText(lock)} has ${countOf(steps, 'step')} on record, made against another address. The run looks for their jobs at ${safeText(baseUrl)}, and sends creates without an answer there again.\n`,
  );
  return askPerson('Is that the same service, at a new address?', asked);
}
