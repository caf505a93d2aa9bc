import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { command, temporaryFolder } from '../../rig/command.ts';
import { blocksOf } from '../../rig/manual-pages.ts';

const manifest = `version: 1
name: judged
tasks:
  draft:
    kind: image
    foreach: [lamp, vase]
    takes: 3
    gate: { choose: 1 }
    with: { prompt: "{{row}}", resolution: 1k }
`;

/** A model that knows what it likes of lamps, and of vases always says the first. */
async function standInJudge(asked: string[]) {
  const server = createServer(async (request, response) => {
    const { prompt, pictures } = (await json(request)) as { prompt: string; pictures: [string, string] };
    asked.push(prompt);
    const isFirst = prompt.includes('vase') || pictures[0] > pictures[1];
    response.end(JSON.stringify({ better: isFirst ? 1 : 2 }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('the judge of the manual picks winners in both orders, and leaves others to reviewers', async () => {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(folder, 'campaign.yaml'), manifest);
  const run = async (...words: string[]) => {
    const said = await command([...words, '--sandbox'], { cwd: folder });
    expect([0, 5], said.err).toContain(said.code);
    return said.out;
  };
  await run('apply', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10');
  const takes = await run('outputs', '-s', 'draft', '--format', 'json');
  const [recipe] = blocksOf('gates', 'js');
  writeFileSync(join(folder, 'judge.mjs'), recipe?.text ?? '');
  const asked: string[] = [];
  const env = { ...process.env, JUDGE_URL: await standInJudge(asked) };
  const judging = promisify(execFile)(process.execPath, ['judge.mjs'], { cwd: folder, env });
  judging.child.stdin?.end(takes);
  const picks = (await judging).stdout;
  expect(asked).toHaveLength(12);
  writeFileSync(join(folder, 'picks.json'), picks);
  const files = JSON.parse(takes).files as { address: string; path: string; job: string }[];
  const liked = files
    .filter(({ address }) => address.startsWith('draft@lamp'))
    .sort((a, b) => (base64(folder, a.path) > base64(folder, b.path) ? -1 : 1))[0];
  expect(JSON.parse(picks)).toEqual({
    mediabatch: 'picks',
    version: 1,
    by: 'judge',
    verdicts: [{ address: liked?.address, is: 'picked', job: liked?.job, note: '2 of 2 pairs, in both orders' }],
  });
  await run('pick', '--from', 'picks.json');
  const after = JSON.parse(await run('outputs', '-s', 'draft', '--picked', '--format', 'json')).files;
  expect(after).toMatchObject([{ address: liked?.address, verdict: { is: 'picked', by: 'judge' } }]);
});

function base64(folder: string, path: string): string {
  return readFileSync(join(folder, path), 'base64');
}
