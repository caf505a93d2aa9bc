import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readEnvironment, whyNotKey } from '../../src/campaign/environment.ts';
import { askPerson } from '../../src/cli/ask-person.ts';
import { temporaryFolder } from '../rig/command.ts';
import { makeTrial } from '../rig/trial.ts';
import { sitAtTheKeys } from './at-the-keys.ts';

const question = 'Spend 3 credits?';

test('does not wait for a closed terminal', async () => {
  const { keys, terminal } = sitAtTheKeys();
  keys.end('y\n');
  expect(await askPerson(question, { yes: undefined, terminal })).toBe('no');
});

test('input before the question is ignored, input after it counts', async () => {
  const { keys, terminal } = sitAtTheKeys(() => void keys.write('n\n'));
  keys.write('y\n');
  expect(await askPerson(question, { yes: undefined, terminal })).toBe('no');
});

/** Stands before the service, and answers each create with a wait that it asks for. */
async function inFront(address: string, retryAfter: number): Promise<string> {
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': String(retryAfter) });
      response.end(JSON.stringify({ success: false, error: { code: 'RATE_LIMITED', message: 'come back later' } }));
      return;
    }
    const url = new URL(request.url ?? '', address);
    const answer = await fetch(url, { headers: { authorization: request.headers.authorization ?? '' } });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return `http://127.0.0.1:${port}/api/v1`;
}

const manifest = `version: 1
name: busy
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
`;

test('a wait of a day that the service requests is reported with its end, and stops creates', async () => {
  const trial = await makeTrial(manifest);
  const url = await inFront(trial.sandbox.env.MEDIABATCH_BASE_URL ?? '', 86_400);
  const { code, err } = await trial.apply([], { env: { MEDIABATCH_BASE_URL: url } });
  expect(code, err).toBe(69);
  expect(err).toMatch(/stopped {2}nothing more is bought, the service asks to wait until \d{4}-\d\d-\d\d \d\d:\d\d/);
  expect(err).toContain('to wait for it in a run: mediabatch apply campaign.yaml --patience 25h\n');
  expect(trial.sandbox.ledger()).toEqual([]);
  expect(trial.events().find(({ event }) => event === 'spending-stopped')).toMatchObject({ because: 'throttled' });
});

const campaign = 'version: 1\nname: t\nbudget: { credits: 20 }\ntasks: { a: { kind: image, with: { prompt: x } } }\n';
const secret = 'k3y_live_0123456789abcdef';

/** As they come out of shells, `.env` files, CI settings and copied headers. */
const wrong: [text: string, says: string][] = [
  [`"${secret}"`, 'begins with "'],
  [`'${secret}`, "begins with '"],
  [`${secret}"`, 'ends with "'],
  [`\\"${secret}\\"`, 'begins with \\"'],
  [`“${secret}”`, 'U+201C'],
  [`Bearer ${secret}`, 'begins with Bearer'],
  [`bearer:${secret}`, 'begins with bearer'],
  ['Bearer', 'begins with Bearer'],
  [`Authorization: Bearer ${secret}`, 'begins with Authorization:'],
  [`MEDIABATCH_API_KEY=${secret}`, 'begins with MEDIABATCH_API_KEY='],
  [`export MEDIABATCH_API_KEY=${secret}`, 'begins with export MEDIABATCH_API_KEY='],
  ['<your key>', 'begins with <'],
  ['$KEY', 'begins with $'],
  ['%KEY%', 'begins with %'],
  [`${secret}\r\nx-other: 1`, 'U+000D'],
  [`${secret} ${secret}`, 'U+0020'],
  [`${secret}\u200b`, 'U+200B'],
  [`k\u0435y_live_0123456789abcdef`, 'U+0435'],
  [`${secret}😀`, 'U+1F600'],
  [`${secret},`, 'ends with ,'],
];

test.each(wrong)('%j is refused before it is sent, and never shown', async (text, says) => {
  const found = whyNotKey(text);
  expect(found?.problem).toContain(says);
  expect(found?.hint).toBeTruthy();
  expect(JSON.stringify(found)).not.toMatch(/0123456789|k3y/);
});

test.each([
  secret,
  'other-1_live_A.B-C~D+E/F=',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  'token_live_1234567',
  'bearer-2_live_1234567',
  '17|abcdef',
])('%s may be right', (text) => {
  expect(whyNotKey(text)).toBeUndefined();
});

describe('with such a key', () => {
  test('apply ends with 77 and makes no request; plan works, and says nothing of what the key can do', async () => {
    const trial = await makeTrial(campaign);
    const env = { MEDIABATCH_API_KEY: `"${secret}"` };
    const { code, err } = await trial.apply([], { env });
    expect(code).toBe(77);
    expect(err).toContain('MEDIABATCH_API_KEY begins with ", so it was not sent');
    expect(err).not.toContain('0123456789');
    expect(trial.sandbox.ledger()).toHaveLength(0);
    expect(readdirSync(trial.folder)).not.toContain('campaign.lock.jsonl');
    const plan = await trial.run(['plan', 'campaign.yaml'], { env });
    expect(plan.code).toBe(0);
    expect(plan.err).not.toContain('not an API key');
  });

  test('from .env, where quotes in quotes remain', async () => {
    const trial = await makeTrial(campaign);
    trial.write(
      '.env',
      `MEDIABATCH_BASE_URL=${trial.sandbox.env.MEDIABATCH_BASE_URL}\nMEDIABATCH_API_KEY="'${secret}'"\n`,
    );
    const env = { MEDIABATCH_API_KEY: '', MEDIABATCH_BASE_URL: '' };
    const { code, err } = await trial.apply([], { env });
    expect(code).toBe(77);
    expect(err).toContain("begins with '");
    expect(trial.sandbox.ledger()).toHaveLength(0);
  });

  test.each<[string, (text: string) => Uint8Array]>([
    ['a byte order mark', (text) => Buffer.from(`\ufeff${text}`)],
    ['UTF-16', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['set NAME=', (text) => Buffer.from(text.replace(/^/gm, 'set '))],
    ['NAME: value', (text) => Buffer.from(text.replaceAll('=', ': '))],
  ])('a .env with %s is read', (_name, written) => {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const text = 'MEDIABATCH_BASE_URL=https://a.example/api/v1\nMEDIABATCH_API_KEY=key_live_1';
    writeFileSync(join(folder.path, '.env'), written(text));
    expect(readEnvironment({}, folder.path)).toEqual({ baseUrl: 'https://a.example/api/v1', token: 'key_live_1' });
  });

  test('one half in .env and the other exported: the error names the file that was not read', async () => {
    const trial = await makeTrial(campaign);
    trial.write('.env', 'MEDIABATCH_API_KEY=key_live_1\n');
    const { code, err } = await trial.apply([], { env: { MEDIABATCH_API_KEY: '' } });
    expect(code).toBe(77);
    expect(err).toContain('.env has the value, but is not read');
  });
});
