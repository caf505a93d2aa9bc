import type { Command } from 'commander';
import { CampaignError } from '../../contract/failure.ts';
import { nearestName } from '../../manifest/suggest.ts';
import { advise, call } from '../../plan/advice.ts';
import { shownCommands } from './examples.ts';

/** Commands that end something for good: whoever means one of them spells it. */
const losing: readonly string[] = ['destroy', 'gc', 'forget', 'resolve', 'unlock'];

/** Names that other tools give to each command. Where several commands share one, the first command counts. */
const alsoCalled: Readonly<Record<string, readonly string[]>> = {
  plan: ['preview', 'dry-run', 'estimate'],
  apply: ['run', 'start', 'up', 'deploy', 'build', 'resume', 'retry', 'generate'],
  status: ['ls', 'list', 'ps', 'show', 'state', 'info'],
  runs: ['history', 'log', 'logs'],
  cost: ['costs', 'price', 'prices', 'spend', 'spent', 'credits'],
  diff: ['compare', 'changes'],
  open: ['view'],
  explain: ['why'],
  validate: ['check', 'lint', 'test'],
  fmt: ['format', 'prettier'],
  init: ['new', 'create', 'example', 'examples'],
  expand: ['flatten', 'resolved'],
  models: ['kinds'],
  help: ['version', 'man'],
};

/** The command that was meant by a word that is none. Never one by which something is lost. */
export function nearestCommand(program: Command, word: string): string | undefined {
  const names = shownCommands(program)
    .map((command) => command.name())
    .filter((name) => !losing.includes(name));
  const wanted = word.toLowerCase();
  return names.find((name) => alsoCalled[name]?.includes(wanted)) ?? nearestName(wanted, names);
}

export function unknownCommand(program: Command, word: string): CampaignError {
  const near = nearestCommand(program, word);
  const guess = near === undefined ? '' : `did you mean ${near}? `;
  return new CampaignError({
    code: 'MB3003',
    message: `there is no command ${word}`,
    hint: advise`${guess}${call('help')} lists all of them`,
    value: word,
  });
}
