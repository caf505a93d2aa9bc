import { describe, expect, test } from 'vitest';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { makeProgram } from '../../src/cli/program/program.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { workplaceForEach } from './workplace.ts';

const place = workplaceForEach();

/** A program whose commands do nothing: it only reads a command line. */
function makeReader() {
  const { terminal, said } = bufferTerminal();
  const program = makeProgram({ terminal, exit: () => {} });
  for (const [, command] of namedCommands(program)) if (command.commands.length === 0) command.action(() => {});
  return { program, said };
}

const rows = namedCommands(makeReader().program).map(([, , row]) => row);

describe('the help of every command ends with examples', () => {
  test.each(rows)('$name', async ({ name, examples: own }) => {
    // Add them to its row; examples-run.test.ts runs them.
    expect(own.length, `examples of ${name}`).toBeGreaterThanOrEqual(2);
    const { program, said } = makeReader();
    await expect(program.parseAsync([...name.split(' '), '--help'], { from: 'user' })).rejects.toThrow('outputHelp');
    const shown = said.out
      .slice(said.out.indexOf('\nExamples:\n'))
      .split('\n')
      .slice(2)
      .filter((text) => text !== '');
    expect(shown).toHaveLength(own.length);
    for (const [index, [line, about]] of own.entries()) {
      expect(shown[index]).toContain(line);
      expect(shown[index]).toContain(about);
      expect(shown[index]?.length).toBeLessThanOrEqual(110);
      expect(line, 'an example is of its command').toContain(`mediabatch ${name}`);
    }
  });
});

test.each(rows.flatMap(({ examples }) => examples.filter(([, , how]) => how === 'not run').map(([line]) => line)))(
  'what is not run can be read: %s',
  async (line) => {
    place.write('campaign.yaml', '');
    const { program, said } = makeReader();
    await program.parseAsync(line.split(' ').slice(1), { from: 'user' });
    expect(said.err).toBe('');
  },
);
