import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  flagOf,
  type OptionRow,
  optionTable,
  pickPlanningOptions,
  pickRunSettings,
  planOptions,
  settle,
  wordsOf,
} from '../../src/campaign/option-table.ts';
import { typedOptions } from '../../src/cli/program/command-row.ts';
import { makeProgram, pasteAfter } from '../../src/cli/program/program.ts';
import { expectExit, temporaryFolder } from '../rig/command.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { runInProcess } from './in-process.ts';

type Name = keyof typeof optionTable;
/** Those that do otherwise than what they settle says, by name, with the reason. */
type Excused = Partial<Record<Name, string>>;

const rows = Object.entries(optionTable) as [Name, OptionRow][];
const those = (is: (row: OptionRow) => boolean) => rows.filter(([, row]) => is(row));
const settling = (...what: OptionRow['settles'][]) => those(({ settles }) => what.includes(settles));

/** Where any number or word does not do. */
const words: Partial<Record<Name, string[]>> = {
  var: ['word=ash'],
  varFile: ['more.yaml'],
  select: ['hero'],
  exclude: ['hero@vase'],
  redo: ['hero@lamp'],
  pollIntervalMs: ['500'],
  engine: ['postgres://me@db/x'],
};

/** How it is typed. */
function typed(name: Name, row: OptionRow): string[] {
  const { flags, range, takes } = row;
  const flag = flagOf(row);
  if (!flags.includes('<')) return [flag];
  if (words[name] !== undefined) return [flag, ...words[name]];
  if (Array.isArray(takes)) return [flag, takes.at(-1) ?? ''];
  if (takes === 'duration') return [flag, '90s'];
  return [flag, range === undefined ? 'spring' : String(Math.min(range.most ?? 2, Math.ceil(range.least) + 1))];
}

const commandOf = (name: Name) => (name in planOptions ? 'plan' : 'apply');
const newProgram = (terminal = bufferTerminal().terminal) => makeProgram({ terminal, exit() {} });

/** What the command line makes of it. */
async function read(name: Name, row: OptionRow): Promise<unknown> {
  const program = newProgram();
  const command = commandOf(name);
  let value: unknown;
  const found = program.commands.find((one) => one.name() === command);
  found?.action((_file, _options, own) => {
    value = typedOptions(own)[name];
  });
  await program.parseAsync([command, 'campaign.yaml', ...typed(name, row)], { from: 'user' });
  return value;
}

const place = temporaryFolder();
afterAll(() => place.remove());
const run = (...args: string[]) => runInProcess(args, {}, place.path);
const manifest = `version: 1
name: spring
vars: { word: oak }
prices: { image: 1 }
tasks:
  hero: { kind: image, foreach: products.csv, key: "{{row.sku}}", with: { prompt: "{{row.sku}} on {{vars.word}}" } }
`;
writeFileSync(join(place.path, 'campaign.yaml'), manifest);
writeFileSync(join(place.path, 'products.csv'), 'sku\nlamp\nvase\nrug\n');
writeFileSync(join(place.path, 'more.yaml'), 'word: elm\n');

async function save(name: Name, row: OptionRow): Promise<{ [option: string]: unknown }> {
  await expectExit(0, run('plan', 'campaign.yaml', '--out', 'p.plan.json', ...typed(name, row)));
  return JSON.parse(readFileSync(join(place.path, 'p.plan.json'), 'utf8')).saved.options;
}

describe('every option', () => {
  test.each(rows)('help lists %s', (name, row) => {
    const { terminal } = bufferTerminal();
    const program = newProgram(terminal);
    const help = program.commands.find((one) => one.name() === commandOf(name))?.helpInformation() ?? '';
    const plain = (text: string) => text.replaceAll(/[\s-]/g, '');
    expect(plain(help)).toContain(plain(`${row.flags} ${row.about}`));
  });

  test.each(rows)('is read under its name in the library: %s', async (name, row) => {
    const given = { [name]: await read(name, row) };
    expect(given[name]).toBeDefined();
    if (row.settles === 'plan') expect(pickPlanningOptions(given)).toEqual(given);
    if (row.settles !== 'run') return;
    expect(pickRunSettings(given)).toEqual(given);
    expect(settle(given)).toMatchObject(given);
  });
});

describe('every option that changes a plan', () => {
  test.each(settling('campaign', 'plan'))('is stored in a saved plan: %s', async (name, row) => {
    expect(await save(name, row)).toHaveProperty(name, await read(name, row));
  });

  const taken: Excused = { concurrency: 'how many jobs run at once changes nothing about what is bought' };
  test.each(settling('campaign', 'plan'))(
    'is refused beside one, unless it names the same lock and variables: %s',
    async (name, row) => {
      await save(name, row);
      const { err } = await run('apply', 'p.plan.json', ...typed(name, row));
      if (taken[name] !== undefined || row.settles === 'campaign')
        return expect(err).not.toContain('cannot be combined with');
      expect(err).toContain(`${flagOf(row)} cannot be combined with a saved plan`);
      const again = err.split('\n').find((one) => one.includes('mediabatch plan campaign.yaml')) ?? '';
      expect(again).toContain(` ${typed(name, row).join(' ')} `);
      expect(again).toContain(' --out p.plan.json');
    },
  );

  const ignored: Excused = {
    concurrency: 'what is compared is not carried out',
    new: 'what is compared is not carried out',
  };
  test.each(settling('plan'))('cannot be combined with --compare: %s', async (name, row) => {
    const { code, err } = await run('plan', 'campaign.yaml', '--compare', 'HEAD', ...typed(name, row));
    const refusal = `--compare cannot be combined with ${flagOf(row)}: it compares two versions of a whole campaign`;
    if (ignored[name] !== undefined) return expect(err).not.toContain(refusal);
    expect({ code, err }).toEqual({ code: 64, err: expect.stringContaining(refusal) });
  });

  const dropped: Excused = { redo: 'what was bought again would be bought once more' };
  const printed = those(({ settles, printed: where }) => where !== undefined || ['campaign', 'plan'].includes(settles));
  test.each(printed)('is in the next commands: %s', async (name, row) => {
    const value = await read(name, row);
    const paste = pasteAfter(newProgram(), { file: 'c.yaml', options: { [name]: value } });
    const words = dropped[name] === undefined ? wordsOf(flagOf(row), value) : [];
    expect(paste({ call: 'apply', words: [] })).toBe(['mediabatch apply c.yaml', ...words].join(' '));
    const isEverywhere = row.settles === 'campaign' || row.printed === 'always';
    expect(paste({ call: 'status', words: [] }) !== 'mediabatch status c.yaml').toBe(isEverywhere);
  });
});
