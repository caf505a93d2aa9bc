import { expect, test } from 'vitest';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { makeProgram } from '../../src/cli/program/program.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { workplaceForEach } from './workplace.ts';

const place = workplaceForEach();
const commands = namedCommands(makeProgram({ ...bufferTerminal(), exit() {} }));
const everyday = commands.flatMap(([name, , row]) => (row.isEveryday ? [name] : []));

test.each([['--help'], ['-h'], []])(
  'the first screen fits a terminal of 24 rows and 80 columns: %s',
  async (...args) => {
    const { out, err } = await place.run(...args);
    const lines = (out === '' ? err : out).trimEnd().split('\n');
    expect(lines.length).toBeLessThan(24);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const named = lines.flatMap((line) => /^ {2}(\w+)/.exec(line)?.[1] ?? []);
    expect(named).toEqual(everyday);
    expect(lines.join('\n')).toContain('mediabatch help commands');
  },
);

test('lists all commands by theme before their options', async () => {
  const { out } = await place.run('help', 'commands');
  const first = out.slice(0, out.indexOf('\ninit\n') + 1 || out.length);
  for (const [name, command] of commands.filter(([, { parent }]) => parent?.parent === null)) {
    expect(first).toContain(command.helpGroup().replace(':', ''));
    expect(first).toContain(`\`${name}\``);
  }
});
