import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { planMarkdown } from '../../../src/report/plan/plan-markdown.ts';
import { safeText } from '../../../src/report/safe-text.ts';
import { createHttp } from '../../../src/service/http.ts';
import { graphOf, images, TestCampaign } from '../../rig/campaign.ts';
import { command } from '../../rig/command.ts';
import { makePlace } from '../../rig/place.ts';
import { proseOf, spansOf } from '../../rooms/report/read-markdown.ts';

async function serve(body: Buffer, headers: Record<string, string>): Promise<{ url: string; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    response.writeHead(200, headers).end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
}

function httpTo(url: string) {
  const http = createHttp({ baseUrl: `${url}/api/v1`, token: 'x_live_0123456789', redact: (text) => text });
  onTestFinished(() => http.close());
  return http;
}

describe('what the service may answer', () => {
  test('a compressed answer is not unpacked', async () => {
    const bomb = gzipSync(Buffer.from(`{"a":"${'0'.repeat(50_000_000)}"}`));
    const { url } = await serve(bomb, { 'content-encoding': 'gzip', 'content-type': 'application/json' });
    const answer = await httpTo(url).call({ method: 'GET', path: '/x', deadlineMs: 10_000 });
    expect(answer).toMatchObject({ is: 'answer', status: 200, json: undefined });
  });

  test('a message that looks like a command of CI never begins a line', () => {
    for (const text of ['\n::error::x', '\r\n##vso[task.setvariable]x', '\u2028::set-output name=a::b']) {
      expect(safeText(text)).not.toMatch(/[\n\r\u2028\u2029]/);
    }
  });
});

describe('what a branch may hold', () => {
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

  test('the plan as Markdown holds no HTML and no table of somebody else', () => {
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

test('a job id with slashes and dots stays one part of a path', async () => {
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
