import { readdirSync } from 'node:fs';
import type { Command } from 'commander';
import { CampaignError } from '../../contract/failure.ts';
import { readSmallFile } from '../../disk/fs/plain-file.ts';
import { call, way } from '../../ground/advice.ts';
import { nearestName } from '../../manifest/suggest.ts';
import { rowOf } from './command-row.ts';
import { defaultManifest } from './name-manifest.ts';

/** Returns the command with the most similar name, a destructive one only if its `alsoCalled` contains `word`. */
export function nearestCommand(program: Command, word: string): string | undefined {
  const rows = program.commands.flatMap((command) => rowOf(command) ?? []);
  const wanted = word.toLowerCase();
  const names = rows.filter((row) => row.isDestructive !== true).map(({ name }) => name);
  return rows.find(({ alsoCalled }) => alsoCalled?.includes(wanted))?.name ?? nearestName(wanted, names);
}

export function unknownCommand(program: Command, word: string): CampaignError {
  const near = nearestCommand(program, word);
  return new CampaignError({
    code: 'MB3000',
    message: `there is no command ${word}`,
    hint: [...(near === undefined ? [] : [`did you mean ${near}?`]), way('to list all commands', call('help'))],
    value: word,
  });
}

export function unknownName(what: string, name: string, names: readonly string[]): CampaignError {
  const near = nearestName(name, names);
  const guess = near === undefined ? '' : `did you mean ${near}? `;
  return new CampaignError({
    code: 'MB3000',
    message: `there is ${what} ${name}`,
    hint: `${guess}Use one of ${names.join(', ')}`,
    value: name,
    known: names,
  });
}

const mostBytes = 1 << 20;

export function noManifest(command: string): CampaignError {
  const [first, ...others] = findManifests();
  const more = others.length === 0 ? '' : ` (or another of the ${others.length + 1} manifests in this folder)`;
  return new CampaignError({
    code: 'MB1001',
    message: `no manifest was given, and there is no ${defaultManifest} in this folder (${process.cwd()})`,
    hint:
      first === undefined
        ? way('give the path of a manifest, or create a campaign', call('init', 'my-campaign'))
        : way(`give the path of the manifest${more}`, { ...call(command), file: first }),
    file: defaultManifest,
  });
}

function findManifests(): string[] {
  const isManifest = (name: string) => /^tasks:/m.test(readSmallFile(name, mostBytes)?.toString('utf8') ?? '');
  try {
    return readdirSync('.')
      .filter((name) => /\.ya?ml$/i.test(name) && isManifest(name))
      .sort();
  } catch {
    // The user may not list the folder, so there are no names to suggest.
    return [];
  }
}
