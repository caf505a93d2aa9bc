import { setTimeout as wait } from 'node:timers/promises';
import type { AccountNames } from '../report/plan/post-words.ts';
import { platformName } from '../report/tables/accounts-text.ts';
import { hasAccess, withService } from './with-service.ts';

const patienceMs = 5000;

/**
 * Names of accounts, for the person who is asked whether to publish. Where the service does not tell soon, or at all,
 * their ids have to do.
 */
export async function findAccountNames(options: { sandbox: boolean; folder: string }): Promise<AccountNames> {
  if (!hasAccess(options)) return new Map();
  const asked = askForNames(options).catch(() => new Map<string, string>());
  // The sandbox is here, and has to be closed before it is opened for the run.
  if (options.sandbox) return asked;
  return Promise.race([asked, wait(patienceMs, new Map<string, string>(), { ref: false })]);
}

async function askForNames(options: { sandbox: boolean; folder: string }): Promise<Map<string, string>> {
  const accounts = await withService(options, ({ library }) => library.accounts());
  return new Map(
    accounts.map(({ id, provider, name, username }) => {
      const who = username === '' ? name || id : `@${username.replace(/^@+/, '')}`;
      return [id, `${platformName(provider)} ${who}`];
    }),
  );
}
