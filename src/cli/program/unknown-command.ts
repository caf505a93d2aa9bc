import type { Command } from 'commander';
import { CampaignError } from '../../contract/failure.ts';
import { call, shell, type Way, way } from '../../ground/advice.ts';
import { nearestName } from '../../manifest/suggest.ts';
import { rowOf } from './command-row.ts';

/** Names that users try and that no command has, with the commands that do the same. */
const otherwise: Readonly<Record<string, readonly (string | Way)[]>> = {
  clean: [
    'nothing has to be cleaned up. gc deletes replaced files, destroy deletes records at the service; both ask first',
    way('to read about it', call('help', 'gc')),
  ],
  undo: [
    'a purchase cannot be undone. `pick --undo` undoes a pick, `pin --undo` a pin, and `forget` removes a record; with the earlier manifest, the earlier file comes back for 0 credits',
    way('to read about it', call('help', 'decisions')),
  ],
  fetch: [way('a run downloads missing paid files for 0 credits; to see what a run does', call('plan'))],
  config: [
    'the key and the address of the service are in the environment or .env, everything else in the manifest',
    way('to check key, service and locks', call('doctor')),
  ],
  version: [way('to see it', shell('mediabatch', '--version'))],
};
const otherWords: Readonly<Record<string, string>> = {
  cleanup: 'clean',
  prune: 'clean',
  purge: 'clean',
  revert: 'undo',
  rollback: 'undo',
  download: 'fetch',
  pull: 'fetch',
  collect: 'fetch',
  configure: 'config',
  settings: 'config',
  login: 'config',
  auth: 'config',
};

const removed: Readonly<Record<string, Way>> = {
  fmt: way('format with prettier', shell('prettier', '--write', 'campaign.yaml')),
  watch: way('re-plan on save with watchexec', shell('watchexec', '-e', 'yaml,csv', 'mediabatch', 'plan')),
  open: way('list the paths of files', call('outputs')),
  voices: way('list voices', call('list voices')),
  models: way('list models', call('list models')),
  accounts: way('list accounts', call('list accounts')),
  jobs: way('list jobs', call('list jobs')),
  uploads: way('upload a file', call('upload', 'FILE')),
  diff: way('show what differs from a commit', call('plan', '--compare', 'HEAD')),
  import: way('give a step a paid job', call('adopt', 'ADDRESS', '--job', 'ID')),
  completion: way('list commands and options', call('help', 'commands')),
};

/** Suggests the command with the name nearest to an unknown word. Never suggests a destructive command. */
export function nearestCommand(program: Command, word: string): string | undefined {
  const rows = program.commands.flatMap((command) => rowOf(command) ?? []).filter((row) => row.isDestructive !== true);
  const wanted = word.toLowerCase();
  const names = rows.map(({ name }) => name);
  return rows.find(({ alsoCalled }) => alsoCalled?.includes(wanted))?.name ?? nearestName(wanted, names);
}

export function unknownCommand(program: Command, word: string): CampaignError {
  const wanted = word.toLowerCase();
  const instead = Object.hasOwn(removed, word) ? removed[word] : undefined;
  if (instead !== undefined) {
    return new CampaignError({ code: 'MB3000', message: `${word} was removed`, hint: [instead], value: word });
  }
  const meant = otherwise[otherWords[wanted] ?? wanted];
  const near = nearestCommand(program, word);
  const guess = meant ?? (near === undefined ? [] : [`did you mean ${near}?`]);
  return new CampaignError({
    code: 'MB3000',
    message: `there is no command ${word}`,
    hint: [...guess, way('to see all of them', call('help'))],
    value: word,
  });
}

const removedOptions: Readonly<Record<string, string | Way>> = {
  '--watch': way(
    'saving a file must not spend; re-plan on save with watchexec',
    shell('watchexec', '-e', 'yaml,csv', 'mediabatch', 'plan'),
  ),
  '--seed': '--sample draws the same rows on every machine; name other rows with --select',
  '--refresh': way('query the service before the run', call('plan', '--refresh')),
  '--strict': way('check fields before the run', call('plan', '--refresh', '--strict')),
  '--all': way('list every row', call('plan', '--all')),
  '--no-open': 'MEDIABATCH_REVIEW_PORT=0 serves the page of `apply --review` and opens no browser',
  '--port': 'MEDIABATCH_REVIEW_PORT=4020 serves the page of `apply --review` at this port of 127.0.0.1',
};

/**
 * Throws for an option that `plan` or `apply` does not have, if suggesting the option with the nearest name would be
 * wrong.
 */
export function refuseForeign(command: Command | undefined, words: readonly string[]): void {
  const own = new Set(command?.options.map(({ long }) => long));
  const flag = words.map((word) => word.replace(/=.*/, '')).find((one) => !own.has(one));
  if (!own.has('--max-credits') || flag === undefined) return;
  const instead =
    removedOptions[flag] ??
    'did you mean --max-credits, which bounds this run? The budget of a campaign, over all runs, is `budget: { credits: … }` in its manifest';
  throw new CampaignError({ code: 'MB3000', message: `unknown option '${flag}'`, hint: [instead] });
}

/** Error for an unknown name that a user wrote. `what`: words like `no example`. */
export function unknownName(what: string, name: string, names: readonly string[]): CampaignError {
  const near = nearestName(name, names);
  const guess = near === undefined ? '' : `did you mean ${near}? `;
  return new CampaignError({
    code: 'MB3000',
    message: `there is ${what} ${name}`,
    hint: `${guess}There are ${names.join(', ')}`,
    value: name,
    known: names,
  });
}
