import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import type { Answer, MoveQuestion } from '../campaign/lock-service.ts';
import { CampaignError } from '../contract/failure.ts';
import { Condition } from '../ground/condition.ts';
import { line, type Text } from '../report/document.ts';
import { countOf } from '../report/numbers.ts';
import { terminalText } from '../report/render/terminal-text.ts';
import { safeText } from '../report/safe-text.ts';
import type { Consent } from './consent.ts';
import type { Terminal } from './terminal.ts';

/** Who is asked, and whether `--yes` has answered. Without `consent`, `--yes` counts for every user: nothing is bought. */
interface Asked {
  yes: boolean | undefined;
  terminal: Terminal;
  consent?: Consent;
}

/** Nobody can be asked, and nobody has agreed: the command ends. */
export function requireSomebody({ yes, terminal, consent = { flags: 'count' } }: Asked): void {
  if (yes === true || terminal.interactive) return;
  if (consent.flags === 'count') {
    throw new CampaignError({
      code: 'MB3004',
      message: 'no interactive terminal for the approval',
      hint: 'agree with --yes',
    });
  }
  throw new CampaignError({
    code: 'MB3004',
    message: `no interactive terminal for the approval, and ${consent.because}`,
    hint: 'the payer runs it in an interactive terminal',
  });
}

/**
 * One question to a person, unless `--yes` was given; anything but yes is no, and Ctrl-C is neither. Without a terminal
 * nobody can be asked: the command ends, and nothing has been done.
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
    // Typed ahead: the user cannot have read the question.
    await forgetTyped();
    // A prompt of several lines would be drawn again with each key.
    for (const part of lines.slice(0, -1)) terminal.err(`${part}\n`);
    return ask(`${lines.at(-1) ?? ''} `);
  });
  if (answer === 'interrupted') return answer;
  return answer !== 'left' && /^\s*y(es)?\s*$/i.test(answer.typed) ? 'yes' : 'no';
}

/** Answer of a person; `left`: Ctrl-D, or the terminal is gone; `interrupted`: Ctrl-C. */
export type TypedAnswer = { typed: string } | 'left' | 'interrupted';

/** Time in which a terminal hands over the lines that were typed before anybody read it, in milliseconds. */
const typedAheadMs = 50;

/** Asks a person one question after the other. What was typed ahead answers the next one, unless it is forgotten. */
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
    // From Node 24 on a closed one throws.
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

/** The question of `--service-moved`, with what hangs on it. */
export function askAboutMove({ lock, steps, baseUrl }: MoveQuestion, asked: Asked): Promise<Answer> {
  const { terminal } = asked;
  terminal.err(
    `${safeText(lock)} has ${countOf(steps, 'step')} on record, made against another address. Their jobs will be looked for at ${safeText(baseUrl)}, and what is unanswered is asked for there again.\n`,
  );
  return askPerson('Is that the same service, at a new address?', asked);
}
