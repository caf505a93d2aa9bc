import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bin, root } from '../rig/command.ts';
import { manifest, products, workplaceForEach } from './workplace.ts';

const workplace = workplaceForEach();
const { run, write } = workplace;

describe('schema', () => {
  test.each(['manifest', 'plan', 'lock', 'event', 'run', 'diagnostics', 'status', 'failure'])(
    '%s is the published file',
    async (name) => {
      const { code, out } = await run('schema', name);
      expect(code).toBe(0);
      expect(out).toBe(readFileSync(join(root, 'schemas', `${name}.schema.json`), 'utf8'));
      if (name === 'manifest') expect((await run('schema')).out).toBe(out);
    },
  );

  test('lists helpers and kinds for people and for programs', async () => {
    expect((await run('schema', 'helpers')).out).toContain('{{slug row.name}} gives aurora-lamp');
    const helpers = JSON.parse((await run('schema', 'helpers', '--json')).out).helpers;
    expect(helpers.map(({ name }: { name: string }) => name)).toContain('upload');
    const kinds = (await run('schema', 'kinds')).out;
    expect(kinds).toContain('aspectRatio');
    expect(kinds.split('\n').filter((line) => line.length > 100)).toEqual([]);
    expect(JSON.parse((await run('schema', 'kinds', '--json')).out).kinds).toHaveLength(9);
  });

  test('an unknown one gives a near one', async () => {
    expect(await run('schema', 'manifset')).toMatchObject({
      code: 64,
      err: expect.stringContaining('did you mean manifest?'),
    });
  });
});

describe('help', () => {
  test.each(['MB1203', 'mb1203'])('%s explains the code', async (code) => {
    const { out } = await run('help', code);
    expect(out).toContain('MB1203: a template names something that does not exist');
    expect(out).toContain('did you mean `row.name`?');
  });

  test('without a topic it is the usual help and the contents of the manual; for a command its help', async () => {
    const { code, out } = await run('help');
    expect(code).toBe(0);
    expect(out).toContain('All commands, by theme:  mediabatch help commands');
    expect(out.startsWith((await run('--help')).out)).toBe(true);
    expect(out).toMatch(/^ {2}recovery +what if it dies while paying\?$/m);
    expect((await run('help', 'validate')).out).toBe((await run('validate', '--help')).out);
  });

  test('a page of the manual, and the command of that name', async () => {
    const { out } = await run('help', 'plan');
    expect(out).toMatch(/^How a plan reads\n/);
    expect(out.endsWith((await run('plan', '--help')).out)).toBe(true);
    expect((await run('help', 'RECOVERY')).out).toMatch(/^What if it dies/);
  });

  test('of a kind it says what the page of kinds says of it', async () => {
    const { code, out } = await run('help', 'Video');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('video') });
    expect(out).toMatch(/prompt/);
    expect(out).toContain('mediabatch help kinds');
    expect(out).not.toContain('voiceover');
  });

  test.each([
    ['MB1299', 'near it: MB1301'],
    ['1203', 'near it: MB1203 (a template names something that does not exist)'],
    ['plna', 'did you mean plan?'],
    ['constructor', 'to see pages and commands: mediabatch help'],
    ['templaets', 'did you mean templates?'],
    ['crash', 'did you mean recovery?'],
  ])('%s gives near misses', async (topic, hint) => {
    expect(await run('help', topic)).toMatchObject({ code: 64, err: expect.stringContaining(hint) });
  });

  test('every line fits 100 columns, and every command has its words', async () => {
    const { out } = await run('help');
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([]);
    const all = (await run('help', 'commands')).out;
    for (const name of ['expand', 'unlock', 'cancel', 'approve'])
      expect(all.slice(0, all.indexOf('bash, zsh or fish'))).toMatch(new RegExp(`^\`${name}\` {2,}\\S`, 'm'));
  });
});

describe('completion', () => {
  const complete = (script: string, words: string[]) =>
    execFileSync(
      'bash',
      [
        '-c',
        `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})\nCOMP_CWORD=${words.length - 1}\n_mediabatch\nprintf '%s\\n' "\${COMPREPLY[@]}"`,
      ],
      { encoding: 'utf8', cwd: workplace.folder },
    )
      .split('\n')
      .filter((line) => line !== '');

  test('bash completes commands, options and files', async () => {
    const { code, out } = await run('completion', 'bash');
    expect(code).toBe(0);
    write('campaign.yaml', manifest);
    expect(complete(out, ['mediabatch', 'va'])).toEqual(['validate']);
    expect(complete(out, ['mediabatch', 'apply', '--max'])).toEqual(['--max-credits']);
    expect(complete(out, ['mediabatch', 'apply', 'camp'])).toEqual(['campaign.yaml']);
    expect(complete(out, ['mediabatch', 'uploads', 'a'])).toContain('add');
  });

  test('bash completes what a manifest and this version know, whatever it takes for the end of a word', async () => {
    const { out } = await run('completion', 'bash');
    write('campaign.yaml', manifest);
    write('products.csv', products);
    write('x.lock.jsonl', '');
    const script = `mediabatch() { '${process.execPath}' '${bin}' "$@"; }\n${out}`;
    const press = (line: string, words: string[]) =>
      complete(`${script}\nCOMP_LINE='${line}'\nCOMP_POINT=${line.length}`, words);
    // Readline replaces the @ with what comes.
    expect(press('mediabatch explain hero@l', ['mediabatch', 'explain', 'hero', '@', 'l'])).toEqual(['@lamp']);
    expect(press('mediabatch apply --redo state:f', ['mediabatch', 'apply', '--redo', 'state', ':', 'f'])).toEqual([
      'failed',
    ]);
    // What is a file is the shell's own to know.
    expect(press('mediabatch plan --lock x', ['mediabatch', 'plan', '--lock', 'x'])).toEqual(['x.lock.jsonl']);
  });

  test.each([
    [
      ['pin', 'campaign.yaml', 'he'],
      ['hero', 'hero@lamp', 'hero@vase'],
    ],
    [['plan', '-s', 'hero@l'], ['hero@lamp']],
    [['init', '--example', 'podc'], ['podcast-clips']],
    [['help', 'MB3401'], ['MB3401']],
    [['help', 'reco'], ['recovery']],
    [['plan', 'x'], []],
  ])('what is offered for %j', async (words, expected) => {
    write('campaign.yaml', manifest);
    write('products.csv', products);
    const { out } = await run('complete', '--', ...words);
    expect(out.split('\n').slice(0, -1)).toEqual(expected);
  });

  test('a manifest that is wrong, and a line that nobody understands, offer nothing', async () => {
    write('campaign.yaml', 'tasks: [');
    for (const words of [['explain', 'he'], ['plan', '-s', ''], ['nonsense', ''], ['plan', '--lock', ''], ['']]) {
      expect(await run('complete', '--', ...words)).toEqual({ code: 0, out: '', err: '' });
    }
  });

  test('there are others, and no more', async () => {
    expect((await run('completion', 'zsh')).out).toMatch(/^#compdef mediabatch\n/);
    expect((await run('completion', 'fish')).out).toContain("-l max-credits -d 'cap of this run");
    expect(await run('completion', 'fihs')).toMatchObject({
      code: 64,
      err: expect.stringContaining('did you mean fish?'),
    });
  });
});
