import { CampaignError } from '../contract/failure.ts';
import { runCommand } from '../disk/run-command.ts';

/** The variable that names a program which prints the key. */
export const keyCommandName = 'MEDIABATCH_API_KEY_COMMAND';

/** In ms; leaves the user time to unlock a keychain. */
const timeoutMs = 60_000;

/** Characters that only a shell interprets. A command with one of them expects a shell, but none is started. */
const shellSign = /[$`|&;<>()*?~#]/;

/** Runs the command and returns the key that it prints. Throws MB3201 if it prints none; never shows the output. */
export function keyFromCommand(command: string, run = runCommand): string {
  const words = wordsOf(command);
  const found = run(words, timeoutMs);
  if (found.is === 'failed') {
    const said = found.said === '' ? '' : `, and said: ${found.said}`;
    throw refused(`of ${words[0]}: ${found.why}${said}`, 'run it by hand, and see that it prints the key');
  }
  const key = found.out.trim();
  if (key === '') throw refused(`of ${words[0]}: it printed nothing`, 'run it by hand, and see that it prints the key');
  return key;
}

/** Splits a command line into words at spaces outside of '…' and "…". There are no escapes and no variables. */
function wordsOf(command: string): [string, ...string[]] {
  const shell = `no shell reads it; where one is wanted, name it: sh -c '…'`;
  const words: string[] = [];
  let rest = command.trim();
  while (rest !== '') {
    const found = /^(?:'[^']*'|"[^"]*"|[^\s'"])+/.exec(rest)?.[0];
    if (found === undefined)
      throw refused('a quotation mark stands alone', 'put words that hold spaces into \'…\' or "…"');
    const bare = found.replace(/'[^']*'/g, '');
    const sign = shellSign.exec(bare)?.[0];
    if (sign !== undefined) throw refused(`it holds ${JSON.stringify(sign)}`, shell);
    words.push(found.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
    rest = rest.slice(found.length).trimStart();
  }
  const [program, ...others] = words;
  if (program === undefined)
    throw refused('it is empty', 'name the program that prints the key, or take the variable away');
  return [program, ...others];
}

/** Error for a key command in a `.env`, because a file of a branch must not choose which program runs. */
export function refuseFiledCommand(): CampaignError {
  return refused(
    'it stands in .env',
    'put it into the environment, and take it out of .env: a branch can bring such a file, and with it a program',
  );
}

function refused(what: string, hint: string): CampaignError {
  return new CampaignError({ code: 'MB3201', message: `${keyCommandName} returned no API key: ${what}`, hint });
}
