import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { safeText } from '../../report/safe-text.ts';
import { accountsJson, accountsView, expiryOf, platformName } from '../../report/tables/accounts-text.ts';
import { outJson, show, type Terminal } from '../terminal.ts';
import { withService } from '../with-service.ts';

interface AccountsOptions {
  json?: boolean;
  sandbox?: boolean;
}

export async function accounts(options: AccountsOptions, terminal: Terminal): Promise<number> {
  const rows = await withService(options, ({ library }) => library.accounts());
  const now = systemClock.now();
  if (options.json) {
    outJson(terminal, accountsJson(rows, now));
    return exitCodes.done;
  }
  show(terminal, accountsView(rows, now));
  if (rows.length === 0) terminal.err('no account is connected; connect one in the dashboard of the service\n');
  const { style } = terminal;
  for (const { id, provider, username, expiresAt } of rows) {
    const expiry = expiryOf(expiresAt, now);
    if (expiry !== 'past' && expiry !== 'soon') continue;
    const shown = safeText(
      `${platformName(provider)} ${username === '' ? id : `@${username.replace(/^@+/, '')}`}`,
      200,
    );
    const says = expiry === 'past' ? 'has expired, and posts to it will fail' : 'expires within 7 days';
    terminal.err(`${style.yellow('warning')} ${shown} ${says}; reconnect it in the dashboard of the service\n`);
  }
  return exitCodes.done;
}
