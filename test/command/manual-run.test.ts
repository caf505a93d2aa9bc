import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CommandRow, namedCommands } from '../../src/cli/program/command-row.ts';
import { command, expectExit, root } from '../rig/command.ts';
import { exampleNames, openExample } from '../rig/examples.ts';
import { makeFolder } from '../rig/folder.ts';
import { gitEnvironment } from '../rig/git-environment.ts';
import { blocksOf, pageNames } from '../rig/manual-pages.ts';
import { typeInto } from '../rig/terminal.ts';
import { makeReader } from './buffer-terminal.ts';

/** The quickstart after a rehearsal and a day of work: a row and a season less, another season, other words, a retouched picture, and pins. */
async function usedQuickstart(): Promise<string> {
  const folder = makeFolder();
  await command(['init', '.'], { cwd: folder });
  await expectExit(
    0,
    command(['apply', '--sandbox', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10'], {
      cwd: folder,
    }),
  );
  await command(['pin', '--sandbox', 'hero@clock,1:1', 'song@spring'], { cwd: folder });
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'bought'],
  ]) {
    execFileSync('git', args, { cwd: folder, env: gitEnvironment });
  }
  const change = (name: string, from: string | RegExp, to: string) => {
    const text = readFileSync(join(folder, name), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(join(folder, name), text.replace(from, to));
  };
  change('campaign.yaml', '[spring, winter]', '[spring, autumn]');
  change('campaign.yaml', 'generous empty space', 'much empty space');
  change('products.csv', /^kettle.*\n?/m, '');
  const pictures = join(folder, 'campaign.sandbox/images');
  renameSync(join(pictures, 'vase-1-1.png'), join(pictures, 'lamp-1-1.png'));
  cpSync(join(pictures, 'lamp-1-1.png'), join(folder, 'logo.png'));
  writeFileSync(join(folder, 'north.yaml'), 'brand: Northlight\n');
  return folder;
}

/** Drafts that are picked, and a teaser that nobody has approved yet; and what two people think. */
async function gatedDrafts(): Promise<string> {
  const folder = makeFolder();
  const run = async (...args: string[]) => {
    const { code, err } = await command([...args, '--sandbox'], { cwd: folder });
    expect([0, 5], err).toContain(code);
  };
  const apply = ['apply', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10'];
  await command(['init', '.', '--example', 'draft-to-final'], { cwd: folder });
  await run(...apply);
  await run('pick', 'draft@lamp/2', 'draft@vase/1');
  await run(...apply);
  for (const [by, other] of [
    ['ada', 2],
    ['bo', 4],
  ]) {
    const verdicts = ['draft@lamp/3', `draft@vase/${other}`].map((address) => ({ address, is: 'picked' }));
    writeFileSync(join(folder, `${by}.json`), JSON.stringify({ mediabatch: 'picks', version: 1, by, verdicts }));
  }
  return folder;
}

/** Types a line into a shell. `how`: it is ended as Ctrl-C does, once it has said something. */
async function typeLine(line: string, folder: string, how?: CommandRow['examples'][number][2]) {
  const terminal = typeInto(folder, line, { XDG_STATE_HOME: process.env.XDG_STATE_HOME });
  if (how === 'until Ctrl-C') {
    await expect.poll(terminal.said).not.toBe('');
    await terminal.interrupt();
  }
  return { code: await terminal.ended, said: terminal.said() };
}

test('every command of the manual works as documented', async () => {
  const [used, gated] = [await usedQuickstart(), await gatedDrafts()];
  const failed: string[] = [];
  let run = 0;
  for (const page of pageNames) {
    for (const { name, text } of page === 'start' ? [] : blocksOf(page, 'sh')) {
      expect(['', 'gates', 'not-run', 'terminal']).toContain(name.split(' ')[0]);
      // What is typed into several terminals: `engine-manual.test.ts`.
      if (name === 'not-run' || name.startsWith('terminal ')) continue;
      const folder = join(makeFolder(), 'campaign');
      cpSync(name === 'gates' ? gated : used, folder, { recursive: true, preserveTimestamps: true });
      run += 1;
      // A line that enters a folder goes with the others; a run that stops at a gate is told by its exit.
      for (const line of name === 'gates' ? text.split('\n') : [text]) {
        const { code, said } = await typeLine(line, folder);
        const isRight = code === 0 || (code === 5 && name === 'gates' && /^mediabatch apply|--picked/.test(line));
        if (!isRight) failed.push(`${page}: ${line}\nexit ${code}\n${said}`);
      }
    }
  }
  expect(failed).toEqual([]);
  expect(run).toBeGreaterThan(8);
}, 600_000);

test.each(['../../README', 'start'])(
  'the commands of %s lead from a spreadsheet to a gallery, in one folder',
  async (page) => {
    const folder = makeFolder();
    for (const { name, text } of blocksOf('start', 'csv')) writeFileSync(join(folder, name), `${text}\n`);
    const blocks = blocksOf(page, 'sh').filter(({ name }) => name !== 'not-run');
    const lines = blocks.flatMap(({ text }) => text.replaceAll(/^npx /gm, '').split('\n'));
    expect(lines.length).toBeGreaterThanOrEqual(4);
    for (const line of lines) {
      const { code, said } = await typeLine(line, folder);
      expect([line, code], said).toEqual([line, 0]);
    }
    expect(existsSync(join(folder, 'campaign.sandbox.report/index.html'))).toBe(true);
    if (page !== 'start') return;
    const [shown] = blocksOf('start', 'text');
    const { said } = await typeLine('rm campaign.sandbox.lock.jsonl; mediabatch plan --sandbox', folder);
    expect(said).toContain(shown?.text);
    expect(readFileSync(join(folder, 'outputs.csv'), 'utf8')).toContain('a carafe of water');
  },
  120_000,
);

test('every example in the help works as documented', async () => {
  const [used, gated] = [await usedQuickstart(), await gatedDrafts()];
  const failed: string[] = [];
  for (const [name, , { examples }] of namedCommands(makeReader().program)) {
    const folders = [used, gated].map((from) => {
      const folder = join(makeFolder(), 'campaign');
      cpSync(from, folder, { recursive: true, preserveTimestamps: true });
      return folder;
    });
    for (const [line, , how] of examples) {
      if (how === 'not run') continue;
      const { code, said } = await typeLine(line, folders[how === 'at gates' ? 1 : 0] ?? '', how);
      // Nobody sits there, and nobody has decided about the groups.
      const expected = how === 'asks' || /deliver .*--picked/.test(line) ? 5 : 0;
      if (code !== expected) failed.push(`${name}: ${line}\nexit ${code}\n${said}`);
    }
  }
  expect(failed).toEqual([]);
}, 600_000);

test.each(exampleNames())(
  '%s: runs green, and then there is nothing to do',
  async (name) => {
    const { run, sandbox, folder } = await openExample(name);
    const apply = () => run('apply', 'campaign.yaml', '--yes', '--publish', '--poll-interval', '10');
    let first = await apply();
    // Gate after gate the first that there is to see is picked.
    for (let gates = 0; first.code === 5 && gates < 5; gates++) {
      const status = await run('status', 'campaign.yaml', '--json');
      const open: { toSee: string[] }[] = JSON.parse(status.out).gates;
      await expectExit(0, run('pick', 'campaign.yaml', ...open.flatMap(({ toSee }) => toSee.slice(0, 1))));
      first = await apply();
    }
    expect(first.code, first.err).toBe(0);
    const bought = sandbox.ledger().length;
    const again = await expectExit(0, run('apply', 'campaign.yaml', '--yes'));
    expect(again.err).toContain('Nothing to do');
    expect(sandbox.ledger()).toHaveLength(bought);

    const { files } = JSON.parse((await run('outputs', '--json')).out) as { files: { path: string; sha256: string }[] };
    for (const { path, sha256 } of files) {
      expect(
        createHash('sha256')
          .update(readFileSync(join(folder, path)))
          .digest('hex'),
        path,
      ).toBe(sha256);
    }
    const sources = readdirSync(join(root, 'examples', name), { recursive: true, encoding: 'utf8' });
    const made = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (path) => /\.(png|jpg|webp|gif|mp3|wav|mp4|webm)$/.test(path) && !path.startsWith('.') && !sources.includes(path),
    );
    expect(files.map(({ path }) => path).sort(), 'each file once, and none that is not there').toEqual(made.sort());
    const { rows } = JSON.parse((await run('status', '--json')).out) as { rows: { file?: string; files?: string[] }[] };
    const named = rows.flatMap(({ file, files: all }) => all ?? (file === undefined ? [] : [file]));
    expect(named.sort()).toEqual(made);
  },
  60_000,
);
