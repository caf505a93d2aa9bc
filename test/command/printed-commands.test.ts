import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CommandResult, command, root } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { typeInto } from '../rig/terminal.ts';

const manifest = `version: 1
name: spring
budget: { credits: 500 }
vars: { word: oak }
selectors: { social: kind:post }
tasks:
  hero:
    kind: image
    foreach: [vase]
    matrix: { ratio: ["1:1", "9:16"] }
    with: { prompt: "a {{row}} on {{vars.word}}", resolution: 1k, aspectRatio: "{{matrix.ratio}}" }
    save: "images/{{row}}-{{slug matrix.ratio}}"
  teaser:
    kind: image
    foreach: [vase]
    with: { prompt: "{{row}}", resolution: 1k, referenceImages: ["{{tasks.hero.url}}"] }
    from: { hero: { ratio: "9:16" } }
    save: "teasers/{{row}}"
`;

const file = 'my campaign/spring.yaml';
const lock = "my campaign/it's mine.lock.jsonl";
/** How the money, the lock and the manifest are meant; a shell has to be kept from taking it apart. */
const called = [file, '--sandbox', '--lock', lock, '--var', 'word=elm & "oak" $HOME'];
const quick = ['--yes', '--sandbox-speed', '10000', '--poll-interval', '10'];

/** A folder in which what `before` says has happened. */
async function placeAfter(before: string[][], prepare: (folder: string) => void = () => {}): Promise<string> {
  const path = makeFolder();
  mkdirSync(join(path, 'my campaign'));
  writeFileSync(join(path, file), manifest);
  for (const args of before) await command(args, { cwd: path });
  prepare(path);
  return path;
}

/** The commands in what was said: in backticks, or from `mediabatch` to the end of the line. */
function commandsIn({ out, err }: Pick<CommandResult, 'out' | 'err'>): string[] {
  const found: string[] = [];
  for (const line of `${out}\n${err}`.split('\n')) {
    const quoted = [...line.matchAll(/`(mediabatch [a-z][^`]*)`/g)].map(([, text]) => text ?? '');
    const open = /(?<!`)\b(mediabatch [a-z].*)$/.exec(line)?.[1];
    found.push(...quoted, ...(quoted.length === 0 && open !== undefined ? [open] : []));
  }
  return [...new Set(found)];
}

/** Pastes a command into a shell, in a copy of the folder; a person says yes, and does not care for the pace of life. */
async function paste(text: string, folder: string): Promise<{ code: number | null; said: string }> {
  const copy = join(makeFolder(), 'copy');
  cpSync(folder, copy, { recursive: true });
  // The campaign that a person starts with is not bought here.
  const more = text.includes('new/campaign.yaml') ? ['--dry-run'] : quick;
  const answer = text.startsWith('mediabatch apply') ? ` ${more.join(' ')}` : '';
  const { ended, said } = typeInto(copy, `${text}${answer}`, { HOME: process.env.HOME });
  return { code: await ended, said: said() };
}

/** Runs a command and each that it prints; gives what was printed. */
async function expectPasteable(args: string[], folder: string): Promise<string[]> {
  const said = await command(args, { cwd: folder });
  const printed = commandsIn(said);
  expect(printed, `${said.out}\n${said.err}`).not.toEqual([]);
  for (const text of printed) {
    const { code, said: answer } = await paste(text, folder);
    expect([0, 3, 4, 5, 6, 65, 73, 75], `${text}\n${answer}`).toContain(code);
    const isAboutLock = !/^mediabatch (doctor|help|init|sandbox)\b|\.plan\.json/.test(text);
    if (args.includes('--sandbox') && isAboutLock) {
      expect(text).toContain(' --sandbox ');
      expect(text).toContain(`--lock 'my campaign/it'\\''s mine.lock.jsonl'`);
      expect(text).toContain("'my campaign/spring.yaml'");
      if (!text.startsWith('mediabatch unlock')) expect(text).toContain(`--var 'word=elm & "oak" $HOME'`);
    }
  }
  return printed;
}

const boughtAll = ['apply', ...called, ...quick];

describe('every command that is printed can be pasted', () => {
  test('after failures in the sandbox: one command with --sandbox redoes them all', async () => {
    const folder = await placeAfter([]);
    const args = ['apply', ...called, ...quick, '--sandbox-fail-rate', '1', '-s', 'hero', '--max-credits', '50'];
    const printed = await expectPasteable(args, folder);
    const redo = printed.find((text) => text.includes('--redo')) ?? '';
    expect(redo).toContain('--redo state:failed');
    // What limited the run limits the one that is advised.
    expect(redo).toContain('--select hero --max-credits 50');
    const { said } = await paste(redo, folder);
    expect(said).toContain('all 2 steps done');
  }, 30_000);

  test('when another run holds the lock', async () => {
    const folder = await placeAfter([['plan', ...called]], (path) => {
      const state = join(path, 'my campaign', '.mediabatch');
      mkdirSync(state, { recursive: true });
      const note = { mediabatch: 'guard', version: 1, id: '0123456789abcdef', host: 'elsewhere', pid: 7 };
      writeFileSync(
        join(state, "it's mine.lock.jsonl.guard"),
        `${JSON.stringify({ ...note, since: '2030-01-01T00:00:00.000Z', boot: 'other', machine: 'other' })}\n`,
      );
    });
    const args = ['apply', ...called, ...quick, '--lock-timeout', '0'];
    const [unlock = ''] = await expectPasteable(args, folder);
    expect(unlock).toContain('--id 0123456789abcdef');
    const waiting = await command([...args.slice(0, -1), '0.4'], { cwd: folder });
    expect(waiting.err).toMatch(/^waiting for process 7 on elsewhere; /m);
    expect(await command(['status', ...called], { cwd: folder })).toMatchObject({
      out: expect.stringContaining('in progress on elsewhere since 2030'),
    });
  });

  test.each([
    ['an unknown step', ['explain', file, 'nothing', ...called.slice(1)]],
    ['a decision about nothing', ['pin', file, 'xyz', ...called.slice(1)]],
    ['a step that was never bought', ['forget', file, 'hero', ...called.slice(1)]],
    ['a plan that was saved', ['plan', ...called, '--out', 'now or never.plan.json']],
    ['records without a name', ['destroy', ...called]],
  ])('of %s', async (_name, args) => {
    await expectPasteable(args, await placeAfter([]));
  });

  test('of decisions that are refused', async () => {
    const folder = await placeAfter([boughtAll, ['pin', file, 'hero@vase,1:1', ...called.slice(1)]]);
    await expectPasteable(['plan', ...called, '--redo', 'hero'], folder);
    await expectPasteable(['forget', file, 'hero@vase,1:1', ...called.slice(1)], folder);
    await expectPasteable(['move', file, 'hero@vase,1:1', 'hero@vase,9:16', ...called.slice(1)], folder);
    await expectPasteable(['explain', file, 'hero@vase,1:1', ...called.slice(1)], folder);
    const json = await command(['forget', file, 'hero', '--json', ...called.slice(1)], { cwd: folder });
    expect(json.code).toBe(0);
    const refused = JSON.parse(json.out).steps.filter(({ result }: { result: string }) => result === 'refused');
    expect(refused[0].hint).toContain("mediabatch pin 'my campaign/spring.yaml' --sandbox");
  });
});

test('commands are written in one place: no other source spells them out', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  // Help describes the program itself; what is in schemas is read in editors. A page from disk has nobody who
  // tells it commands.
  const free = /^(sandbox|kinds)\/|^cli\/program\/|^page\/model\/leave\.ts$|generated\.ts$/;
  const names =
    'plan|apply|status|explain|accept|pin|forget|move|adopt|resolve|unlock|runs|gc|destroy|doctor|list|upload';
  const spelled = files
    .filter((name) => !free.test(name.replaceAll('\\', '/')) && existsSync(join(root, 'src', name)))
    .flatMap((name) => {
      const lines = readFileSync(join(root, 'src', name), 'utf8').split('\n');
      return lines
        .filter((line) => !/^\s*(\*|\/\/|\/\*)/.test(line) && new RegExp(`mediabatch (${names})\\b`).test(line))
        .map((line) => `${name}: ${line.trim()}`);
    });
  expect(spelled).toEqual([]);
});
