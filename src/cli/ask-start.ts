import { readdir } from 'node:fs/promises';
import { safeText } from '../report/safe-text.ts';
import { cutToWidth, displayWidth, padRight } from '../report/text-width.ts';
import { listExamples } from './list-examples.ts';
import { type Answer, readAnswers } from './read-answers.ts';
import type { Terminal } from './terminal.ts';

/** Beginning of a new campaign, and whose money it is tried with. */
export interface Start {
  /** Absent: a table. */
  example?: string;
  fromCsv?: string;
  money: 'play' | 'own';
}

interface Choice<Value> {
  name: string;
  about: string;
  value: Value;
}

/** Tables of the working folder that are offered. */
const mostTables = 3;

const ways: readonly Choice<Start['money']>[] = [
  { name: 'play money', about: 'the service that is built in: no account, no key, nothing is charged', value: 'play' },
  { name: 'your own account', about: 'needs the address of the service and an API key', value: 'own' },
];

/** Two questions to somebody who begins; Enter takes what stands first. */
export function askStart(terminal: Terminal): Promise<Start | 'interrupted'> {
  return readAnswers(terminal, async (ask) => {
    const from = await choose('What do you start from?', await listStarts(), { ask, terminal });
    if (from === 'interrupted') return from;
    const money = await choose('How do you try it?', ways, { ask, terminal });
    return money === 'interrupted' ? money : { ...from.value, money: money.value };
  });
}

async function listStarts(): Promise<Choice<Omit<Start, 'money'>>[]> {
  const examples = await listExamples();
  const entries = await readdir('.', { withFileTypes: true }).catch(() => []);
  const tables = entries.filter((entry) => entry.isFile() && /\.[ct]sv$/i.test(entry.name)).map(({ name }) => name);
  return [
    ...examples.map(({ name, description }) => ({ name, about: description, value: { example: name } })),
    ...tables
      .sort()
      .slice(0, mostTables)
      .map((name) => ({ name, about: 'your own table: a picture for each of its rows', value: { fromCsv: name } })),
  ];
}

/** Asks for a choice by number or name, until it is one of them. */
async function choose<Value>(
  question: string,
  choices: readonly Choice<Value>[],
  { ask, terminal: { err, style, width } }: { ask: (prompt: string) => Promise<Answer>; terminal: Terminal },
): Promise<Choice<Value> | 'interrupted'> {
  const names = choices.map(({ name }) => safeText(name, 40));
  const widest = Math.max(...names.map(displayWidth));
  const lines = choices.map(({ about }, index) => {
    const left = `  ${index + 1}  ${padRight(names[index] ?? '', widest)}  `;
    return `${left}${style.dim(cutToWidth(about, width - displayWidth(left)))}\n`;
  });
  err(`${style.bold(question)}\n${lines.join('')}`);
  for (;;) {
    const answer = await ask(`1 to ${choices.length} [1] `);
    // Whoever leaves has not chosen.
    if (typeof answer === 'string') return 'interrupted';
    const typed = answer.typed.trim();
    const chosen = choices.find(({ name }, index) => typed === String(index + 1) || typed === name);
    if (chosen !== undefined) return chosen;
    const [first] = choices;
    if (typed === '' && first !== undefined) return first;
    err(`${style.yellow('there is no')} ${safeText(typed, 60)}; write a number or a name, or press Enter for 1\n`);
  }
}
