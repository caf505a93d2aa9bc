import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { isAboutManifest, nameManifest } from '../../src/cli/program/name-manifest.ts';
import { makeProgram } from '../../src/cli/program/program.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { manifest, products, workplaceForEach } from './workplace.ts';

const place = workplaceForEach();
const program = makeProgram({ terminal: bufferTerminal().terminal, exit: () => {} });
const commands = program.commands.filter(isAboutManifest);

function name(line: string, files: readonly string[] = ['campaign.yaml']): string {
  return nameManifest(program, line.split(' '), (path) => files.includes(path)).join(' ');
}

describe('FILE may be left out', () => {
  test('of every command that is about a manifest', () => {
    expect(commands.map((command) => command.name())).toEqual(
      expect.arrayContaining(['validate', 'plan', 'apply', 'status', 'explain', 'pin', 'move', 'resolve', 'gc']),
    );
    for (const command of commands) {
      expect(name(command.name()), command.name()).toBe(`${command.name()} campaign.yaml`);
      // A required FILE would say in its help what is not so.
      expect(command.registeredArguments[0]?.required, command.name()).toBe(false);
    }
  });

  test.each([
    ['explain hero@lamp,1:1', 'explain campaign.yaml hero@lamp,1:1'],
    ['explain --json hero', 'explain campaign.yaml --json hero'],
    ['explain other.yaml hero', 'explain other.yaml hero'],
    ['explain other hero', 'explain other hero'],
    ['explain other.yaml', 'explain other.yaml'],
    ['move hero@a hero@b', 'move campaign.yaml hero@a hero@b'],
    ['adopt hero@a --job 7 --credits 3', 'adopt campaign.yaml hero@a --job 7 --credits 3'],
    ['adopt x.yaml hero@a --job 7', 'adopt x.yaml hero@a --job 7'],
    ['pin', 'pin campaign.yaml'],
    ['pin -s tag:launch', 'pin campaign.yaml -s tag:launch'],
    ['pin hero teaser@a', 'pin campaign.yaml hero teaser@a'],
    ['pin hero/2', 'pin campaign.yaml hero/2'],
    ['pin hero@a.yaml', 'pin campaign.yaml hero@a.yaml'],
    ['pin x/spring.yaml hero', 'pin x/spring.yaml hero'],
    ['pin ./hero', 'pin ./hero'],
    ['pin --lock x.yaml hero', 'pin campaign.yaml --lock x.yaml hero'],
    ['explain', 'explain campaign.yaml'],
    ['explain --origins', 'explain campaign.yaml --origins'],
    ['runs show k3f9', 'runs show campaign.yaml k3f9'],
    ['plan -s hero', 'plan campaign.yaml -s hero'],
    ['plan hero', 'plan hero'],
    ['plan --var=a=b -x hero', 'plan campaign.yaml --var=a=b -x hero'],
    ['apply -y', 'apply campaign.yaml -y'],
    ['apply -ys hero', 'apply campaign.yaml -ys hero'],
    ['apply -shero', 'apply campaign.yaml -shero'],
    ['pin -- hero', 'pin campaign.yaml -- hero'],
    ['validate a.yaml b.yaml', 'validate a.yaml b.yaml'],
    ['upload logo.png', 'upload logo.png'],
    ['doctor', 'doctor'],
    ['nonsense', 'nonsense'],
  ])('%s', (line, named) => {
    expect(name(line)).toBe(named);
  });

  test('a file of any name is FILE, unless it may be a step as well', () => {
    expect(name('pin spring hero', ['spring'])).toBe('pin spring hero');
    expect(() => name('pin hero teaser', ['hero', 'campaign.yaml'])).toThrow('hero is a file here, and may be a step');
    expect(() => name('explain hero', ['hero', 'campaign.yaml'])).toThrow('hero is a file here, and may be a step');
    expect(name('resolve hero', ['hero', 'campaign.yaml'])).toBe('resolve campaign.yaml hero');
  });

  test('FILE is found wherever the options are', () => {
    const options = fc.constantFrom([], ['--sandbox'], ['--lock', 'a.jsonl'], ['--lock=b'], ['--var', 'a=b']);
    fc.assert(
      fc.property(fc.constantFrom(...commands), fc.array(options), fc.array(options), (command, before, after) => {
        const rest = command.registeredArguments.slice(1).map(() => 'hero@a');
        const line = [command.name(), ...before.flat(), 'x.yaml', ...after.flat(), ...rest];
        const isTold = before.flat().every((word) => !word.startsWith('--') || knows(command, word));
        fc.pre(isTold);
        expect(nameManifest(program, line, () => true)).toEqual(line);
      }),
    );
  });
});

function knows({ options }: (typeof commands)[number], word: string): boolean {
  return options.some(({ long }) => long === word.replace(/=.*/, ''));
}

describe('in a folder', () => {
  test('with a campaign.yaml it is that one, and what is printed says so', async () => {
    place.write('campaign.yaml', manifest);
    place.write('products.csv', products);
    expect((await place.run('plan', '--out', 'campaign.plan.json')).code).toBe(0);
    const explained = await place.run('explain', 'hero@lampe');
    expect(explained).toMatchObject({ code: 64 });
    expect(explained.err).toContain('hero@lamp');
    const decided = await place.run('pin', 'hero');
    expect(decided.err).toContain('has nothing that was bought');
    expect((await place.run('move', 'a', 'b')).err).toContain('mediabatch plan campaign.yaml --all');
  });

  test('without one the error says what was looked for, and what to type', async () => {
    const empty = await place.run('status');
    expect(empty.code).toBe(65);
    expect(empty.err).toContain('no manifest is named, and there is no campaign.yaml in this folder');
    expect(empty.err).toContain('mediabatch init my-campaign');
    place.write('spring.yaml', manifest);
    expect((await place.run('status', '--sandbox')).err).toContain('name it: mediabatch status spring.yaml --sandbox');
  });
});

describe('an unknown command', () => {
  test.each([
    ['run', 'apply'],
    ['plna', 'plan'],
    ['why', 'explain'],
    ['stats', 'status'],
  ])('%s is probably %s', async (word, meant) => {
    const { code, err } = await place.run(word);
    expect({ code, err }).toEqual({ code: 64, err: expect.stringContaining(`did you mean ${meant}?`) });
  });

  test.each([
    ['clean', 'mediabatch help gc'],
    ['prune', 'mediabatch help gc'],
    ['undo', '`pick --undo` undoes a pick'],
    ['download', 'for 0 credits; to see what a run does: mediabatch plan campaign.yaml'],
    ['config', 'mediabatch doctor'],
    ['version', 'mediabatch --version'],
    ['diff', 'diff was removed'],
    ['diff', 'mediabatch plan campaign.yaml --compare HEAD'],
    ['import', 'mediabatch adopt campaign.yaml ADDRESS --job ID'],
  ])('%s: what does it is said', async (word, way) => {
    const { code, err } = await place.run(word);
    expect({ code, err }).toEqual({ code: 64, err: expect.stringContaining(way) });
  });

  test.each([
    ['graph', 'status', '--graph'],
    ['unpin', 'pin', '--undo'],
    ['unpick', 'pick', '--undo'],
  ])('%s is short for %s %s', async (word, ...long) => {
    expect((await place.run(word, 'campaign.yaml')).out).toBe((await place.run(...long, 'campaign.yaml')).out);
  });

  test.each(['budget', 'limit', 'max-cost'])('--%s is probably --max-credits', async (word) => {
    const { code, err } = await place.run('apply', 'campaign.yaml', `--${word}`, '5');
    expect({ code, err }).toEqual({
      code: 64,
      err: expect.stringContaining('did you mean --max-credits, which bounds this run?'),
    });
    expect((await place.run('status', 'campaign.yaml', `--${word}`)).err).not.toContain('--max-credits');
  });

  test.each([
    ['watch', 'watchexec -e yaml,csv mediabatch plan'],
    ['fmt', 'prettier --write campaign.yaml'],
    ['jobs', 'mediabatch list jobs'],
    ['uploads', 'mediabatch upload FILE'],
  ])('%s was removed, and what to use instead is one line', async (word, instead) => {
    const { code, err } = await place.run(word, 'campaign.yaml');
    expect(code).toBe(64);
    expect(err).toContain(`${word} was removed`);
    expect(err).toContain(instead);
  });

  test('is never corrected to a destructive one', async () => {
    const destructive = namedCommands(program).flatMap(([name, , row]) => (row.isDestructive ? [name] : []));
    expect(destructive).toContain('destroy');
    for (const word of ['history', 'destory', 'destry', 'Destroy', 'gcc', 'forgt', 'resolv', 'unlok', 'delete', 'rm']) {
      const said = `${(await place.run(word)).err}${(await place.run('help', word)).err}`;
      expect(said, word).toContain(`there is no command ${word}`);
      expect(said, word).not.toMatch(new RegExp(`did you mean (${destructive.join('|')})\\b`, 'i'));
    }
  });
});
