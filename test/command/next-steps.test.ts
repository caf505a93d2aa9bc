import { expect, test } from 'vitest';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { makeProgram } from '../../src/cli/program/program.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { workplaceForEach } from './workplace.ts';

const place = workplaceForEach();
const manifest = `version: 1
name: shop
prices: { image: 2 }
tasks:
  draft: { kind: image, takes: 2, gate: { choose: 1 }, with: { prompt: a lamp, resolution: 1k } }
  share:
    kind: post
    with: { accountIds: [acc_a26a6b25c78b1c8d], caption: Hello, media: ["{{tasks.draft.url}}"] }
`;

const only = `version: 1
name: shop
tasks:
  logo: { kind: image, with: { prompt: a sign, resolution: 1k } }
`;

interface Step {
  command: string;
  credits: number | null;
  needs: 'person' | null;
}

/** What a command printed as leading on, each of which can be read. */
async function nextOf(...args: string[]): Promise<Step[]> {
  const { out, err } = await place.run(...args, '--json');
  const { next } = JSON.parse(out) as { next?: Step[] };
  if (next === undefined) throw new Error(err);
  for (const { command } of next) {
    const { terminal, said } = bufferTerminal();
    const program = makeProgram({ terminal, exit: () => {} });
    for (const [, one] of namedCommands(program)) if (one.commands.length === 0) one.action(() => {});
    await program.parseAsync(command.split(' ').slice(1), { from: 'user' });
    expect(said.err, command).toBe('');
  }
  return next;
}

test('a plan is saved, approved by a person, and applied', async () => {
  place.write('campaign.yaml', manifest);
  const next = await nextOf('plan');
  expect(next).toEqual([
    { command: 'mediabatch plan campaign.yaml --out campaign.plan.json', credits: 0, needs: null },
    { command: 'mediabatch approve campaign.plan.json', credits: 0, needs: 'person' },
    { command: 'mediabatch apply campaign.plan.json', credits: 4, needs: null },
  ]);
  const part = await nextOf('plan', 'campaign.yaml', '-s', 'draft', '--out', 'a.plan.json');
  expect(part.map(({ command }) => command)).toEqual([
    'mediabatch approve a.plan.json',
    'mediabatch apply a.plan.json',
  ]);
});

test('a rehearsal leads from its plan to the gate, and what it prints runs', async () => {
  place.write('campaign.yaml', manifest);
  const status = await nextOf('status', 'campaign.yaml', '--sandbox');
  expect(status).toEqual([{ command: 'mediabatch plan campaign.yaml --sandbox --json', credits: 0, needs: null }]);
  const [begin] = await nextOf('plan', 'campaign.yaml', '--sandbox');
  expect(begin).toEqual({ command: 'mediabatch apply campaign.yaml --sandbox --yes', credits: 4, needs: null });
  const applied = await nextOf(...(begin?.command.split(' ').slice(1) ?? []), '--sandbox-speed', '100000');
  expect(applied).toEqual([
    { command: 'mediabatch review campaign.yaml --sandbox', credits: 0, needs: 'person' },
    { command: 'mediabatch plan campaign.yaml --sandbox --json', credits: 0, needs: null },
  ]);
  for (const command of ['plan', 'status']) {
    const next = await nextOf(command, 'campaign.yaml', '--sandbox');
    expect(next).toContainEqual({ command: 'mediabatch review campaign.yaml --sandbox', credits: 0, needs: 'person' });
  }
});

test('an apply without an approval leads to its plan; one of a saved plan to its approval', async () => {
  place.write('campaign.yaml', manifest);
  const commands = async (...args: string[]) => (await nextOf(...args)).map(({ command }) => command);
  const agreed = ['mediabatch approve campaign.plan.json', 'mediabatch apply campaign.plan.json'];
  expect(await commands('apply', 'campaign.yaml')).toEqual([
    'mediabatch plan campaign.yaml --out campaign.plan.json',
    ...agreed,
  ]);
  await place.run('plan', 'campaign.yaml', '--out', 'campaign.plan.json');
  expect(await commands('apply', 'campaign.plan.json')).toEqual(agreed);
});

test('where nothing is to be done nothing leads on', async () => {
  place.write('campaign.yaml', only);
  await place.run('apply', 'campaign.yaml', '--sandbox', '--yes', '--sandbox-speed', '100000');
  expect(await nextOf('plan', 'campaign.yaml', '--sandbox')).toEqual([]);
  expect(await nextOf('status', 'campaign.yaml', '--sandbox')).toEqual([]);
});
