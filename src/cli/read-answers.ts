import { createInterface } from 'node:readline';
import type { Terminal } from './terminal.ts';

/** Answer of a person; `left`: Ctrl-D, or the terminal is gone; `interrupted`: Ctrl-C. */
export type Answer = { typed: string } | 'left' | 'interrupted';

/** Asks a person one question after the other. What was typed ahead answers the next one. */
export async function readAnswers<Result>(
  { err }: Pick<Terminal, 'err'>,
  use: (ask: (prompt: string) => Promise<Answer>) => Promise<Result>,
): Promise<Result> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const answers: Answer[] = [];
  let wake = () => {};
  let isEnding = false;
  const add = (answer: Answer) => {
    if (isEnding) return;
    answers.push(answer);
    if (typeof answer === 'string') err('\n');
    wake();
  };
  reader.on('line', (typed) => add({ typed }));
  reader.on('close', () => add('left'));
  reader.on('SIGINT', () => add('interrupted'));
  try {
    return await use(async (prompt) => {
      reader.setPrompt(prompt);
      reader.prompt();
      for (;;) {
        const answer = answers.shift();
        if (answer !== undefined) return answer;
        await new Promise<void>((done) => {
          wake = done;
        });
      }
    });
  } finally {
    isEnding = true;
    reader.close();
  }
}
