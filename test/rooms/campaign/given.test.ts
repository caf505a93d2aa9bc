import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPicks } from '../../../src/campaign/decisions/judge.ts';
import { hasKey, readEnvironment, requireAccess } from '../../../src/campaign/environment.ts';
import { openCampaign } from '../../../src/campaign/open-campaign.ts';
import {
  chosenBy,
  endApproval,
  findApproval,
  findContradiction,
  type SavedPlan,
  storeApproval,
} from '../../../src/campaign/saved-plan.ts';
import { runCommand } from '../../../src/disk/run-command.ts';
import { makeFolder } from '../../rig/folder.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { job, lockOf, picture, stepOf } from '../plan/facts.ts';
import { plan, row } from '../report/samples.ts';

const baseUrl = 'https://api.example/api/v1';
const token = 'mb_live_0123456789abcdef';
const plain = `MEDIABATCH_BASE_URL=${baseUrl}\nMEDIABATCH_API_KEY=${token}\n`;
const bigEndian = Buffer.from(`\ufeff${plain}`, 'utf16le').swap16();

test.each<[string, string | Buffer]>([
  ['plain lines', plain],
  ['a byte order mark', `\ufeff${plain}`],
  ['CR LF', plain.replaceAll('\n', '\r\n')],
  ['CR', plain.replaceAll('\n', '\r')],
  ['UTF-16, as PowerShell writes it', Buffer.from(`\ufeff${plain}`, 'utf16le')],
  ['UTF-16 without a mark', Buffer.from(plain, 'utf16le')],
  ['UTF-16, big-endian', bigEndian],
  ['set NAME=value', plain.replace(/^/gm, 'set ').trimEnd()],
  ['set "NAME=value"', plain.replace(/^(.+)$/gm, 'set "$1"')],
  ['NAME: value', plain.replaceAll('=', ': ')],
  ['export NAME=value', plain.replace(/^(.+)$/gm, 'export $1')],
])('reads a .env with %s', (_name, text) => {
  const folder = makeFolder();
  writeFileSync(join(folder, '.env'), text);
  expect(readEnvironment({}, folder)).toEqual({ baseUrl, token });
});

test.each([
  ['the key', { MEDIABATCH_BASE_URL: baseUrl }, 'MEDIABATCH_API_KEY is not set'],
  ['the address', { MEDIABATCH_API_KEY: token }, 'MEDIABATCH_BASE_URL is not set'],
])('half exported: %s of a .env is left unread, and the error says why', (_name, env, message) => {
  const folder = makeFolder();
  writeFileSync(join(folder, '.env'), plain);
  const environment = readEnvironment(env, folder);
  expect(() => requireAccess(environment)).toThrow(message);
  expect(() => requireAccess(environment)).toThrow(
    expect.objectContaining({
      failure: expect.objectContaining({ hint: expect.stringContaining('the missing value is in .env') }),
    }),
  );
});

const keyFromCommand = (command: string) =>
  readEnvironment({ MEDIABATCH_API_KEY_COMMAND: command }, makeFolder()).token;
const key = 'acme_live_verysecret123456';
const url = 'https://service.example/api/v1';

test('a shell reads the command', () => {
  expect(keyFromCommand(`echo "${key}  " | tr -d ' '`)).toBe(key);
});

test('what a program says when it fails is shown, what it prints never', () => {
  let said = '';
  try {
    keyFromCommand(`echo ${key}; echo 'vault is locked' >&2; exit 7`);
  } catch (error) {
    said = String(error);
  }
  expect(said).toContain(
    'MEDIABATCH_API_KEY_COMMAND returned no API key: the command ended with 7; error output: vault is locked',
  );
  expect(said).not.toContain(key);
  expect(() => keyFromCommand('exit 0')).toThrow('it printed nothing');
  expect(() => keyFromCommand('no-such-program-here')).toThrow('the command ended with 127');
  expect(runCommand('sleep 60', 300)).toMatchObject({
    is: 'failed',
    why: 'the command did not end within 0.3 seconds',
  });
});

test('the program runs when the key is wanted, once, and from the environment only', async () => {
  const folder = makeFolder();
  const count = join(folder, 'count');
  const env = { MEDIABATCH_BASE_URL: url, MEDIABATCH_API_KEY_COMMAND: `printf x >>'${count}'; echo ${key}` };
  const environment = readEnvironment({ ...env, MEDIABATCH_API_KEY_COMMAND: 'no-such-program-here' }, folder);
  expect(hasKey(environment)).toBe(true);
  const campaign = await openCampaign(join(folder, 'campaign.yaml'), { environment });
  expect(JSON.stringify(campaign.environment)).toBe(JSON.stringify({ baseUrl: url }));
  expect(() => campaign.replays).toThrow('the command ended with 127');
  const printsQuote = readEnvironment({ ...env, MEDIABATCH_API_KEY_COMMAND: `echo '"key"'` }, folder);
  expect(() => requireAccess(printsQuote)).toThrow('the output of MEDIABATCH_API_KEY_COMMAND begins with "');
  expect(requireAccess(readEnvironment(env, folder))).toEqual({ baseUrl: url, token: key });
  expect(readFileSync(count, 'utf8')).toBe('x');
  expect(requireAccess(readEnvironment({ ...env, MEDIABATCH_API_KEY: 'own' }, folder)).token).toBe('own');
  writeFileSync(join(folder, '.env'), `MEDIABATCH_BASE_URL=${url}\nMEDIABATCH_API_KEY_COMMAND=touch owned\n`);
  expect(() => requireAccess(readEnvironment({}, folder))).toThrow('a command in .env is not run');
});

test('a missing file is distinguished from one without picks', async () => {
  const path = makeFolder();
  const [none, bad] = [join(path, 'none.json'), join(path, 'bad.json')];
  writeFileSync(bad, '{}');
  await expect(readPicks(none)).rejects.toThrow(`--from ${none} does not exist`);
  await expect(readPicks(bad)).rejects.toThrow(`--from ${bad} is not a picks file`);
});

const saved = { manifest: 'campaign.yaml', options: {}, steps: '0'.repeat(64), purchases: {} };

const [step, send] = [row('hero', 'create'), row('hero', 'create', { send: 's1' })];

test.each<[string, ReturnType<typeof row>[], Parameters<typeof findContradiction>[0]['saved']['purchases'], string?]>([
  ['an open send may stand beside its step', [step, send], {}],
  ['a step stands once', [step, send, step], {}, 'it has two rows for one step'],
  [
    'what an open send may cost is no row of its step',
    [row('hero', 'keep'), send],
    { hero: { fingerprint: '1:aa', repeat: 1 } },
    'the approval includes hero, but no row shows this purchase',
  ],
  [
    'what may be bought again has a row that says so',
    [row('hero', 'attach')],
    { hero: { fingerprint: '1:aa', retries: [2] } },
    'the approval includes retries of hero, but no row shows them',
  ],
])('a saved plan: %s', (_name, rows, purchases, contradiction = undefined) => {
  expect(findContradiction({ ...plan(rows), saved: { ...saved, purchases } })).toBe(contradiction);
});

test('what is expected of its prices follows from its rows', () => {
  const price = { class: 'c', credits: null, source: 'list' as const, low: 3, likely: 3 };
  const rows = [row('hero', 'create', { credits: null, price })];
  const estimate = { low: 3, likely: 3, high: null, unpriced: 0, sources: { list: 1 } };
  const planned = (likely: number, ceiling = 4) => ({
    ...plan(rows, { toSpend: likely, ceiling, knownPrices: 0, unknownPrices: 1, estimate: { ...estimate, likely } }),
    saved,
  });
  expect(findContradiction(planned(3, 40))).toBe('its rows do not add up to its ceiling');
  expect(findContradiction(planned(3))).toBeUndefined();
  expect(findContradiction(planned(1))).toBe('its rows do not add up to its estimate');
  const two = plan([row('hero', 'create', { credits: 4, price })], { knownPrices: 4 });
  expect(findContradiction({ ...two, saved })).toBe('hero has two prices');
});

test('a saved redo is asked for until its purchase is on record', () => {
  const hero = stepOf(graphOfSteps([picture('hero')]), 'hero');
  const purchases = new Map([['hero', { fingerprint: hero.fingerprint, repeat: 2, credits: 1 }]]);
  const redo = { options: {}, redo: ['hero'], shown: new Map(), purchases } as unknown as SavedPlan;
  const bought = (...generations: number[]) =>
    lockOf({ hero: generations.map((generation) => job(hero, { generation })) });
  expect([...chosenBy(redo, bought(1)).redo]).toEqual(['hero']);
  expect([...chosenBy(redo, bought(2, 1)).redo]).toEqual([]);
});

test('an approval counts for its plan, lock and time, and for one run', async () => {
  const [at, until] = [Date.parse('2026-05-01T10:00:00Z'), Date.parse('2026-05-02T10:00:00Z')];
  const folder = makeFolder();
  const open = (name: string) => openCampaign(join(folder, name), { sandbox: true });
  const [campaign, other] = [await open('campaign.yaml'), await open('other.yaml')];
  const path = join(folder, 'plan.json');
  const digest = createHash('sha256').update(folder).digest('hex');
  const find = (now: number, given = { path, digest }, where = campaign) =>
    findApproval(given, { campaign: where, now });
  const changed = { path, digest: digest.replaceAll(/[0-7]/g, '8') };
  expect(await find(at)).toEqual({ is: 'not' });
  await storeApproval({ path, digest, campaign: 'n' }, { campaign, what: '2 credits', by: 'Ann', at, until });

  const found = await find(at);
  if (found.is !== 'approved') throw new Error(found.why);
  expect(found.approval).toMatchObject({ by: 'Ann', what: '2 credits', digest });
  expect(await find(until - 1)).toMatchObject({ is: 'approved' });
  expect(await find(until)).toMatchObject({ is: 'not', why: expect.stringContaining('was valid until') });
  expect(await find(at - 1)).toMatchObject({ is: 'not', why: expect.stringContaining('later than the clock') });
  expect(await find(at, changed)).toMatchObject({ is: 'not', why: expect.stringContaining('has changed since Ann') });
  expect(await find(at, { path, digest }, other)).toMatchObject({
    is: 'not',
    why: expect.stringContaining('for another lock'),
  });
  expect(await find(at, { ...changed, path: join(folder, 'new.json') })).toEqual({ is: 'not' });
  await endApproval(found.approval, at);
  expect(await find(at)).toMatchObject({ is: 'not', why: expect.stringContaining('was already applied') });
});
