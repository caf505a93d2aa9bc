import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hasKey, keyFromCommand, readEnvironment, requireAccess } from '../../../src/campaign/environment.ts';
import { openCampaign } from '../../../src/campaign/open-campaign.ts';
import { runCommand } from '../../../src/disk/run-command.ts';
import { temporaryFolder } from '../../rig/command.ts';

const key = 'acme_live_verysecret123456';
const url = 'https://service.example/api/v1';

/** Tells the words that would run. */
function wordsOf(command: string): readonly string[] {
  let seen: readonly string[] = [];
  keyFromCommand(command, (words) => {
    seen = words;
    return { is: 'done', out: `${key}\n` };
  });
  return seen;
}

test('words are held together by quotation marks, and no shell reads them', () => {
  expect(wordsOf('op read op://Private/mediabatch/key')).toEqual(['op', 'read', 'op://Private/mediabatch/key']);
  expect(wordsOf(` pass  'media batch/k$y' "a b"c `)).toEqual(['pass', 'media batch/k$y', 'a bc']);
  for (const odd of ['op read $ITEM', 'cat key | head -1', 'a; b', '`a`', 'cat ~/key', 'a > b', '"$HOME/a"']) {
    expect(() => wordsOf(odd), odd).toThrow(/MEDIABATCH_API_KEY_COMMAND returned no API key: it holds/);
  }
  expect(() => wordsOf("op 'read")).toThrow('a quotation mark stands alone');
});

test('what a program says when it fails is shown, what it prints never', () => {
  const node = (script: string): [string, ...string[]] => [process.execPath, '-e', script];
  expect(runCommand(node(`console.log('${key}'); console.error('mind')`), 60_000)).toEqual({
    is: 'done',
    out: `${key}\n`,
  });
  const fails = (script: string, timeoutMs = 60_000) => {
    const run = () => keyFromCommand('op read', () => runCommand(node(script), timeoutMs));
    expect(run).not.toThrow(key);
    return run;
  };
  expect(fails(`console.log('${key}'); console.error('vault is locked'); process.exit(7)`)).toThrow(
    'of op: it ended with 7, and said: vault is locked',
  );
  expect(fails('setTimeout(() => {}, 60_000)', 300)).toThrow('of op: it did not end within 0.3 seconds');
  expect(fails('')).toThrow('of op: it printed nothing');
  expect(() => keyFromCommand('no-such-program-here')).toThrow('no such program');
});

test('the program runs when the key is wanted, once, and from the environment only', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const count = join(folder.path, 'count');
  const script = `require('node:fs').appendFileSync('${count}', 'x'); console.log('${key}')`;
  const env = {
    MEDIABATCH_BASE_URL: url,
    MEDIABATCH_API_KEY_COMMAND: `'${process.execPath}' -e '${script.replaceAll("'", '`')}'`,
  };
  const environment = readEnvironment({ ...env, MEDIABATCH_API_KEY_COMMAND: 'no-such-program-here' }, folder.path);
  expect(hasKey(environment)).toBe(true);
  const campaign = await openCampaign(join(folder.path, 'campaign.yaml'), { environment });
  expect(JSON.stringify(campaign.environment)).toBe(JSON.stringify({ baseUrl: url }));
  expect(() => campaign.replays).toThrow('no such program');
  expect(requireAccess(readEnvironment(env, folder.path))).toEqual({ baseUrl: url, token: key });
  expect(requireAccess(readEnvironment({ ...env, MEDIABATCH_API_KEY: 'own' }, folder.path)).token).toBe('own');
  writeFileSync(join(folder.path, '.env'), `MEDIABATCH_BASE_URL=${url}\nMEDIABATCH_API_KEY_COMMAND=touch owned\n`);
  expect(() => requireAccess(readEnvironment({}, folder.path))).toThrow('it stands in .env');
});
