import { migrateEngine, requireEngine } from '../../campaign/on-engine/engine-run.ts';
import { exitCodes } from '../../contract/exit.ts';
import { safeText } from '../../report/safe-text.ts';
import type { Terminal } from '../terminal.ts';

interface EngineMigrateOptions {
  engine?: string;
  /** A database role that gets the right to use the tables. */
  grant?: string;
}

/** Creates or migrates the tables of an engine, for roles without the right to do so themselves. */
export async function engineMigrate(options: EngineMigrateOptions, terminal: Terminal): Promise<number> {
  const { before, now } = await migrateEngine(requireEngine(options.engine, process.env), options.grant);
  const { style, err } = terminal;
  if (before === now) err(`the tables have version ${now} already: nothing was changed\n`);
  else if (before === 0) err(`${style.green('created')} the tables, version ${now}\n`);
  else err(`${style.green('migrated')} the tables from version ${before} to ${now}\n`);
  if (options.grant !== undefined)
    err(`${style.green('granted')} the use of the tables to ${safeText(options.grant)}\n`);
  return exitCodes.done;
}
