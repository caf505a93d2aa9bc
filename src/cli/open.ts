import { existsSync } from 'node:fs';
import { hasKey, readEnvironment } from '../campaign/environment.ts';
import { type OpenCampaign, openCampaign } from '../campaign/open-campaign.ts';
import type {
  applyOptions,
  lockOptions,
  planOptions,
  scopeOptions,
  selectionOptions,
  sharedOptions,
  Values,
  varOptions,
} from '../campaign/option-table.ts';
import { campaignPaths } from '../campaign/paths.ts';
import { fitHeap } from './fit-heap.ts';
import { noticePrinter, printNotice, type Terminal } from './terminal.ts';
import { endStage } from './timing.ts';

export type SelectionOptions = Values<typeof selectionOptions>;

export type StateOptions = Values<typeof lockOptions & typeof varOptions & Pick<typeof planOptions, 'strict'>>;

export function open(
  file: string,
  { sandbox, lock, var: vars, varFile, strict }: StateOptions,
  terminal: Terminal,
): Promise<OpenCampaign> {
  const environment = readEnvironment(process.env, process.cwd());
  if (environment.dotEnv === 'limit') {
    printNotice(terminal, 'MEDIABATCH_LIMIT in .env has no effect: it is read from the environment only');
  }
  return openCampaign(file, {
    sandbox,
    lock,
    strict,
    vars: collectVars(vars),
    varFiles: varFile,
    environment,
    notify: noticePrinter(terminal),
    onSize(size) {
      if ('steps' in size) endStage('lock');
      fitHeap(size);
    },
  });
}

export type Flags<Names extends string> = { [Name in Names]?: boolean };
export type Texts<Names extends string> = { [Name in Names]?: string };

export type ApplyOptions = StateOptions &
  SelectionOptions &
  Values<typeof scopeOptions & typeof sharedOptions & typeof planOptions & typeof applyOptions>;

const prefix = 'MEDIABATCH_VAR_';

function collectVars(given: Record<string, string> | undefined): Record<string, string> {
  const vars = Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith(prefix) && value !== undefined ? [[name.slice(prefix.length), value]] : [],
  );
  return { ...Object.fromEntries(vars), ...given };
}

/** Mentions the sandbox lock if the campaign has no other lock and no API key is set. */
export function printSandboxLock(
  { paths, environment }: OpenCampaign,
  options: StateOptions,
  terminal: Terminal,
): void {
  if (options.sandbox === true || options.lock !== undefined || existsSync(paths.lock)) return;
  // Checks whether a key is set without executing MEDIABATCH_API_KEY_COMMAND, because the key is not used.
  if (hasKey(environment)) return;
  if (!existsSync(campaignPaths(paths.manifest, { sandbox: true }).lock)) return;
  terminal.err('a sandbox lock exists: add --sandbox (or set MEDIABATCH_SANDBOX=1)\n');
}
