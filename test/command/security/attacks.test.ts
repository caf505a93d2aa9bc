import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { planMarkdown } from '../../../src/report/plan/plan-text.ts';
import { safeText } from '../../../src/report/safe-text.ts';
import { createHttp } from '../../../src/service/http.ts';
import { graphOf, images, TestCampaign } from '../../rig/campaign.ts';
import { command, root } from '../../rig/command.ts';
import { serveHere } from '../../rig/listen.ts';
import { readPage } from '../../rig/manual-pages.ts';
import { makePlace } from '../../rig/place.ts';
import { proseOf, spansOf } from '../../rooms/report/read-markdown.ts';

async function serve(body: Buffer, headers: Record<string, string>): Promise<{ url: string; paths: string[] }> {
  const paths: string[] = [];
  const url = await serveHere((request, response) => {
    paths.push(request.url ?? '');
    response.writeHead(200, headers).end(body);
  });
  return { url, paths };
}

function httpTo(url: string) {
  const http = createHttp({ baseUrl: `${url}/api/v1`, token: 'x_live_0123456789', redact: (text) => text });
  onTestFinished(() => http.close());
  return http;
}

describe('a hostile answer of the service', () => {
  test('a compressed answer is not unpacked', async () => {
    const bomb = gzipSync(Buffer.from(`{"a":"${'0'.repeat(50_000_000)}"}`));
    const { url } = await serve(bomb, { 'content-encoding': 'gzip', 'content-type': 'application/json' });
    const answer = await httpTo(url).call({ method: 'GET', path: '/x', deadlineMs: 10_000 });
    expect(answer).toMatchObject({ is: 'answer', status: 200, json: undefined });
  });

  test('a message in the form of a CI command never begins a line', () => {
    for (const text of ['\n::error::x', '\r\n##vso[task.setvariable]x', '\u2028::set-output name=a::b']) {
      expect(safeText(text)).not.toMatch(/[\n\r\u2028\u2029]/);
    }
  });
});

describe('a hostile branch', () => {
  test.each([
    '{{process.env.HOME}}',
    '{{env.MEDIABATCH_API_KEY}}',
    '{{@root.process}}',
    '{{lookup this "constructor"}}',
    '{{log "x"}}',
  ])('no template reaches the environment or the process: %s', (template) => {
    const text = `version: 1\nname: a\ntasks:\n  a: { kind: image, with: { prompt: '${template}' } }\n`;
    expect(() => graphOf(text)).toThrow(/MB\d{4}/);
  });

  test('the plan as Markdown contains no foreign HTML or table', () => {
    const name = '<img src=x onerror=alert(1)> | a [b](javascript:c)';
    const plan = new TestCampaign(images(1)).plan();
    const lines = planMarkdown({ ...plan, campaign: name }).split('\n');
    expect(spansOf(lines[0] ?? '')).toEqual([
      { is: 'prose', text: '### ' },
      { is: 'code', text: name },
    ]);
    expect(lines.map((line) => proseOf(spansOf(line))).join('\n')).not.toMatch(/[<[]/);
  });
});

test('a job id with slashes and dots stays one path segment', async () => {
  const campaign = new TestCampaign('version: 1\nname: a\ntasks:\n  a: { kind: image, with: { prompt: x } }\n');
  campaign.service.nameOf = () => '../../etc/passwd?x#y';
  await campaign.run();
  expect([...campaign.outputs.files.keys()].filter((path) => path.includes('passwd'))).toEqual([]);
});

test('I17 a canary key and signed links are nowhere after a whole campaign with faults', async () => {
  const place = await makePlace(
    `version: 1
name: canary
tasks:
  base: { kind: image, foreach: [a, b, c, d], with: { prompt: "{{row}}", resolution: 1k } }
  over: { kind: image, with: { prompt: over, resolution: 1k, referenceImages: ["{{tasks.base.a.url}}"] } }
`
      .replace('tasks.base.a.url', 'tasks.first.url')
      .replace('tasks:\n', 'tasks:\n  first: { kind: image, with: { prompt: first, resolution: 1k } }\n'),
    {
      apiKey: 'mb_live_canary_5f1c9e0a7d3b',
      faults: [
        { on: 'create', nth: 2, do: { type: 'reset', booked: true } },
        { on: 'create', nth: 4, do: { type: 'html', booked: true } },
        { on: 'status', nth: 2, do: { type: 'status', status: 500 } },
        { on: 'file', nth: 1, do: { type: 'truncate', bytes: 20 } },
      ],
    },
  );
  const runs = [await place.apply(['--events', 'events.jsonl', '--json']), await place.apply(['--redo', 'over'])];
  for (const name of ['status', 'plan', 'doctor']) {
    runs.push(
      await command([name, ...(name === 'doctor' ? [] : ['campaign.yaml'])], { cwd: place.folder, env: place.env }),
    );
  }
  expect(runs[0]?.code, runs[0]?.err).toBe(0);
  const key = place.env.MEDIABATCH_API_KEY ?? '';
  const entries = readdirSync(place.folder, { recursive: true, withFileTypes: true });
  const contents = entries
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'latin1')}`);
  const seen = [...contents, ...runs.flatMap(({ out, err }) => [out, err])];
  expect(contents.length).toBeGreaterThan(6);
  expect(seen.filter((text) => text.includes(key) || text.includes('canary_5f1c'))).toEqual([]);
  const lock = readFileSync(place.path('campaign.lock.jsonl'), 'utf8');
  expect(lock).not.toMatch(/https?:\/\/[^"]*[?&](token|sig|signature|expires|X-Amz-[A-Za-z]+)=/i);
  expect(lock).not.toContain('127.0.0.1');
});

const source = join(root, 'src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !path.startsWith('sandbox/') && !path.includes('.generated.'));

/** Files whose code, without remarks, matches. */
function filesWith(pattern: RegExp): string[] {
  return files
    .filter((path) =>
      pattern.test(readFileSync(join(source, path), 'utf8').replace(/^\s*\/\*[\s\S]*?\*\/|\/\/ .*/gm, '')),
    )
    .sort();
}

/** Asks the service inside this process, through a function and without a socket. */
const embedded = 'campaign/embed-sandbox.ts';

describe('each guard is in one place', () => {
  test('the standard streams are reached in few places, and written to in one', () => {
    expect(filesWith(/process\.(stdout|stderr)\.write/)).toEqual(['cli/bin.ts', 'cli/terminal.ts']);
    // Others listen for lost output, read the width, wait for the end of the output, or pass the terminal to screen and readline.
    const others = filesWith(/process\.(stdout|stderr)(?!\.(isTTY|write))/);
    expect(others).toEqual(['cli/bin.ts', 'cli/consent.ts', 'cli/recorder.ts']);
  });

  test('one function removes the key from strings', () => {
    expect(filesWith(/replaceAll\([^)]*'\[key\]'/)).toEqual(['service/secrets.ts']);
    expect(filesWith(/export function makeRedact/)).toEqual(['service/secrets.ts']);
    // Whoever holds the token makes the function from it and hands both on together.
    expect(filesWith(/authorization: `Bearer/)).toEqual([embedded, 'service/http.ts']);
  });

  test('only the service module opens connections, except to the engine and its store', () => {
    const packages = "import\\('(undici|pg|pg-boss|aws4fetch)'\\)";
    const builtins = "^import (?!type ).*from '(undici|node:(http|https|http2|tls|dgram|dns)(\\/promises)?)'";
    // That of the platform, and not a method of this name.
    const network = new RegExp(`${builtins}|${packages}|(?:await|return|=>|[(=]) fetch\\(`, 'm');
    // The review page is asked, and asks its own server from a browser that lets it ask nobody else.
    const others = filesWith(network).filter((path) => !/^(service|page)\//.test(path));
    // A worker is asked for its health and figures where `--port` says.
    const asked = 'cluster/worker/start-worker.ts';
    const engine = ['cluster/database/boss.ts', 'cluster/database/database.ts', 'cluster/store/s3.ts', asked];
    expect(others).toEqual([...engine, 'review/serve/serve-review.ts']);
    expect(filesWith(/server\.listen\(/)).toEqual([asked, 'review/serve/serve-review.ts']);
    // `node:net` elsewhere is arithmetic on addresses, and a pipe that somebody has opened for `--events`.
    // An agent whose connections are tunnels of the user's proxy.
    expect(filesWith(/\b(createConnection|net\.connect)\(/)).toEqual(['service/proxy.ts']);
    // Which port is free is found out by listening to it for a moment.
    expect(filesWith(/\bcreateServer\(/)).toEqual([asked, 'review/serve/serve-review.ts']);
    expect(filesWith(/\bnew Socket\((?!\{ fd, readable: false)/)).toEqual([]);
  });

  test('one module checks the address of every foreign link', () => {
    expect(filesWith(/\b(httpRequest|httpsRequest)\b/)).toEqual(['service/links.ts', 'service/proxy.ts']);
    expect(filesWith(/\bexchange\(/)).toEqual(['service/http.ts']);
    expect(filesWith(/export function (judgeLink|makeCheckedLookup)/)).toEqual(['service/links.ts']);
    expect(filesWith(/makeCheckedLookup\(/)).toEqual(['service/links.ts']);
    // `ask` takes only what `judgeLink` allowed.
    expect(filesWith(/judgeLink\(/)).toEqual(['service/download.ts', 'service/links.ts', 'service/upload-file.ts']);
  });

  test('one function inserts an id of the service into an address', () => {
    expect(filesWith(/replace\('\{id\}'/)).toEqual(['service/http.ts']);
    expect(filesWith(/encodeURIComponent\(/)).toEqual(['graph/expansion.ts', 'service/http.ts', 'service/secrets.ts']);
    expect(filesWith(/export function isJobId/)).toEqual(['ground/job-id.ts']);
  });

  test('one module escapes control sequences of terminals', () => {
    expect(filesWith(/export function (safeText|safeJson)\b/)).toEqual(['report/safe-text.ts']);
  });

  test('only the disk module writes, except to files that the user names or approves', () => {
    const writers =
      /\b(writeFile|writeFileSync|appendFile|appendFileSync|rename|renameSync|unlink|unlinkSync|rm|rmSync|mkdir|mkdirSync|symlink|link|createWriteStream|copyFile|cp)\(/;
    const elsewhere = filesWith(/from 'node:fs(\/promises)?'/).filter(
      (path) => !path.startsWith('disk/') && writers.test(readFileSync(join(source, path), 'utf8')),
    );
    expect(elsewhere).toEqual(writersOfTheirOwn);
  });
});

/** Where the command line says (a gallery), what a person has agreed to delete, a store. */
const writersOfTheirOwn = [
  'campaign/find-leftovers.ts',
  'cluster/store/s3.ts',
  'cluster/store/store.ts',
  'review/gallery/gallery-place.ts',
];

interface Threat {
  threat: string;
  shown: { file: string; title: string }[];
}

/** `threats.txt`, whose head says what its lines are. */
const threats: Threat[] = [];
for (const line of readFileSync(join(import.meta.dirname, 'threats.txt'), 'utf8').split('\n')) {
  const [, path, title] = /^ {2}(\S+) › (.+)$/.exec(line) ?? [];
  if (path && title) threats.at(-1)?.shown.push({ file: `test/${path}.test.ts`, title });
  else if (line !== '' && !line.startsWith('#')) threats.push({ threat: line, shown: [] });
}

/**
 * What a line gives a name to: a test, a table of tests, a case with a `name`, or a row of a table or of arguments. A
 * comment is none of them.
 */
const naming = /^\s*(?:(?:test|it|describe)(?:\.each\(.*\))?\(|\}?[\])]+\(|name: |(?=\[?['"]))(['"`]?)(.+)$/;

function titlesOf(file: string): string[] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  // A row in one line counts with its bracket and from its first string on.
  return lines
    .flatMap((line) => naming.exec(line)?.[2] ?? [])
    .flatMap((title) => [title, title.replace(/^\[['"]/, '')]);
}

test.each(threats)('$threat: its tests exist', ({ shown }) => {
  const missing = shown.filter(({ file, title }) => !titlesOf(file).some((known) => known.startsWith(title)));
  expect(missing).toEqual([]);
  expect(shown).not.toHaveLength(0);
});

test('no threat is listed twice', () => {
  const names = threats.map(({ threat }) => threat);
  expect(new Set(names).size).toBe(names.length);
});

test('the manual names each threat', () => {
  const page = readPage('trust');
  expect(threats.map(({ threat }) => threat).filter((threat) => !page.includes(threat))).toEqual([]);
});
