import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bin, command, temporaryFolder } from '../rig/command.ts';

const manifest = `version: 1
name: posters
vars: { brand: Aurora, season: spring }
selectors: { launch: "tag:launch" }
prices: { image: 2 }
tasks:
  hero: { kind: image, tags: [launch], takes: 3, gate: { choose: 1 }, with: { prompt: a lamp, resolution: 1k } }
  pic: { kind: image, foreach: rows.csv, key: "{{row.k}}", matrix: { ratio: ["1:1"] }, with: { prompt: "{{row.k}}", resolution: 1k } }
  poster: { kind: image, gate: approve, with: { prompt: a poster, resolution: 1k, referenceImages: ["{{tasks.hero.url}}"] } }
`;

/** With the takes of one gate, bought with play money. */
let folder = '';

const run = (...args: string[]) => command(args, { cwd: folder, env: { HOME: folder } });

beforeAll(async () => {
  const temporary = temporaryFolder();
  folder = temporary.path;
  writeFileSync(join(folder, 'campaign.yaml'), manifest);
  writeFileSync(join(folder, 'rows.csv'), 'k\nlamp\nvase\n');
  const applied = await run('apply', '--sandbox', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10');
  expect(applied.code, applied.err).toBe(5);
  return temporary.remove;
});

/** What is offered behind words, the last of which is being typed. */
async function offered(...words: string[]): Promise<string[]> {
  const { code, out, err } = await run('complete', '--', ...words);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out.split('\n').slice(0, -1);
}

describe('TAB offers', () => {
  test.each([
    ['tasks and steps where both may be named', ['pin', 'po'], ['poster']],
    ['steps where one is meant', ['explain', 'pic'], ['pic@lamp,1:1', 'pic@vase,1:1']],
    ['tags', ['plan', '-s', 'ta'], ['tag:launch']],
    ['selectors', ['review', '--select', 'sel'], ['selector:launch']],
    ['names behind a +', ['plan', '-s', '+po'], ['+poster']],
    ['a second condition', ['plan', '-s', 'kind:image,+po'], ['kind:image,+poster']],
    ['an address on from its comma', ['plan', '-s', 'pic@lamp,'], ['pic@lamp,1:1']],
    ['variables', ['plan', '--var', 'se'], ['season=']],
    ['words of a list', ['cost', '--by', 'kind,mo'], ['kind,model', 'kind,month']],
    ['what a run may be told for', ['apply', '--notify', 'done,f'], ['done,failed']],
    ['formats', ['graph', '--format', 'm'], ['mermaid']],
    ['codes', ['help', 'MB120'], ['MB1201', 'MB1202', 'MB1203', 'MB1204', 'MB1205', 'MB1206']],
  ])('%s', async (_what, words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });

  test('at gates the outputs about which there is something to say, by the lock that the line names', async () => {
    expect(await offered('pick', '')).toEqual([]);
    expect(await offered('pick', '--sandbox', '')).toEqual(['hero/1', 'hero/2', 'hero/3']);
    expect(await offered('reject', 'campaign.yaml', '--lock', 'campaign.sandbox.lock.jsonl', '')).toHaveLength(3);
    expect(await offered('unpick', '--sandbox', '')).toEqual([]);
    onTestFinished(async () => {
      expect((await run('unpick', '--sandbox', 'hero/1', 'hero/2')).code).toBe(0);
    });
    expect((await run('reject', '--sandbox', 'hero/1')).code).toBe(0);
    expect(await offered('reject', '--sandbox', '')).toEqual(['hero/2', 'hero/3']);
    expect((await run('pick', '--sandbox', 'hero/2')).code).toBe(0);
    expect(await offered('unpick', '--sandbox', '')).toEqual(['hero/1', 'hero/2']);
  });
});

const lines: [line: string, expected: string[]][] = [
  ['mediabatch vali', ['validate']],
  ['mediabatch plan campaign.y', ['plan', 'campaign.yaml']],
  ['mediabatch plan -s poste', ['plan', '-s', 'poster']],
  ['mediabatch pick --sandbox he', ['pick', '--sandbox', 'hero/']],
  ['mediabatch explain pic@la', ['explain', 'pic@lamp,1:1']],
  ['mediabatch explain pic@lamp,', ['explain', 'pic@lamp,1:1']],
  ['mediabatch explain pic@lamp,1:', ['explain', 'pic@lamp,1:1']],
  ['mediabatch plan -s tag:la', ['plan', '-s', 'tag:launch']],
  ['mediabatch plan -s kind:image,pic@la', ['plan', '-s', 'kind:image,pic@lamp,1:1']],
  ['mediabatch plan --select=pic@la', ['plan', '--select=pic@lamp,1:1']],
  ['mediabatch plan --var se', ['plan', '--var', 'season=']],
];

/** How each is started without the files of a person, and reads its completion. */
const shells = {
  bash: ['bash --norc --noprofile -i', 'eval "$(mediabatch completion bash)"'],
  zsh: ['zsh -f -i', 'autoload -Uz compinit; compinit -u -D; eval "$(mediabatch completion zsh)"'],
  fish: ['fish --no-config -i', 'mediabatch completion fish | source'],
} as const;

/** What `mediabatch` is given when somebody types lines in one terminal, with TAB and Enter behind each. */
async function typed(name: keyof typeof shells, ...lines: string[]): Promise<string[][]> {
  const { path, remove } = temporaryFolder();
  const [start, read] = shells[name];
  const said = join(path, 'said');
  writeFileSync(
    join(path, 'mediabatch'),
    `#!/bin/sh
case "$1" in complete | completion) exec '${process.execPath}' '${bin}' "$@" ;; esac
printf '%s\\n' "$@" >'${said}.new' && mv '${said}.new' '${said}'
`,
    { mode: 0o755 },
  );
  const env = { PATH: `${path}:${process.env.PATH ?? ''}`, HOME: folder, TERM: 'dumb' };
  const terminal = spawn('script', ['-qec', start, '/dev/null'], { cwd: folder, env });
  onTestFinished(async () => {
    terminal.kill('SIGKILL');
    await once(terminal, 'close');
    remove();
  });
  let screen = '';
  terminal.stdout.on('data', (piece: Buffer) => {
    screen += piece.toString();
  });
  terminal.stdin.write(`${read}; echo rea''dy\n`);
  await vi.waitFor(() => expect(screen).toContain('\nready'), { timeout: 20_000 });
  const given: string[][] = [];
  for (const line of lines) {
    terminal.stdin.write(line.endsWith('\n') ? line : `${line}\t\n`);
    if (line.endsWith('\n')) continue;
    given.push(await vi.waitFor(() => readFileSync(said, 'utf8').split('\n').slice(0, -1), { timeout: 20_000 }));
    rmSync(said);
  }
  return given;
}

const has = (name: string) =>
  process.platform === 'linux' && spawnSync('script', ['-qec', `${name} -c true`, '/dev/null']).status === 0;

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (name) => {
  test.runIf(has(name))('completes what is typed into it', async () => {
    const given = await typed(name, ...lines.map(([line]) => line));
    expect(given).toEqual(lines.map(([, expected]) => expected));
  });
});

test.runIf(has('bash'))(
  'bash completes behind a quote, and where somebody lets no word be parted at @ and :',
  async () => {
    const given = await typed(
      'bash',
      "mediabatch explain 'pic@la",
      'COMP_WORDBREAKS=" ="\n',
      'mediabatch explain pic@la',
      'mediabatch explain pic@lamp,1:',
    );
    expect(given).toEqual(Array(3).fill(['explain', 'pic@lamp,1:1']));
  },
);
