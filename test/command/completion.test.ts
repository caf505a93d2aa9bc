import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
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
    ['tags', ['watch', '-s', 'ta'], ['tag:launch']],
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

const lines: [line: string, expected: string][] = [
  ['mediabatch plan -s poster', 'poster'],
  ['mediabatch pick --sandbox hero/', 'hero/2'],
  ['mediabatch explain pic@la', 'pic@lamp,1:1'],
  ['mediabatch help MB340', 'MB3401'],
];

/** The shell, after it has read its completion; `mediabatch` is this one. */
function shell(name: string, script: string): string {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(path, 'mediabatch'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${path}:${process.env.PATH ?? ''}`, HOME: folder };
  const { stdout, stderr } = spawnSync(name, ['-c', script], { cwd: folder, env, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout;
}

const has = (name: string) => spawnSync(name, ['-c', 'true']).status === 0;

describe('shells show it', () => {
  test.runIf(has('bash')).each(lines)('bash: %s', (line, expected) => {
    const words = line.split(/ |(?=[@:=])|(?<=[@:=])/);
    const said = shell(
      'bash',
      `eval "$(mediabatch completion bash)"; COMP_LINE='${line}'; COMP_POINT=${line.length}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _mediabatch; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
    // Bash keeps what stands before a sign at which it parts words.
    expect(said.split('\n')).toContain(line.includes('@') ? expected.slice(expected.indexOf('@') + 1) : expected);
  });

  test.runIf(has('zsh')).each(lines)('zsh: %s', (line, expected) => {
    const said = shell(
      'zsh',
      `compdef() { : }; _describe() { : }; _files() { : }; compadd() { shift; print -rl -- "\${(@P)1}" }
eval "$(mediabatch completion zsh)"; words=(${line.replace(/(\S+)/g, "'$1'")}); CURRENT=$#words; _mediabatch`,
    );
    expect(said.split('\n')).toContain(expected);
  });

  test.runIf(has('fish')).each(lines)('fish: %s', (line, expected) => {
    const said = shell('fish', `mediabatch completion fish | source; complete -C '${line}'`);
    expect(said.split('\n')).toContain(expected);
  });
});
