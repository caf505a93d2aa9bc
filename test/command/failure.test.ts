import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import failureSchema from '../../schemas/failure.schema.json' with { type: 'json' };
import { printFailure, type Terminal } from '../../src/cli/terminal.ts';
import { failures } from '../../src/contract/failure.ts';
import { exitCodeOf } from '../../src/engine/end-of-run.ts';
import { call, way } from '../../src/ground/advice.ts';
import type { Action, Plan, PlanRow } from '../../src/plan/plan.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { workplaceForEach } from './in-process.ts';

const isFailure = new Ajv2020({ strict: true, strictRequired: false }).compile(failureSchema);

const hero = `version: 1
name: spring
tasks:
  hero: { kind: image, with: { prompt: a lamp } }
`;

const place = workplaceForEach();

/** Runs a command line where some files lie, without a key. */
async function fail(commandLine: string, files: Record<string, string> = {}) {
  for (const [name, text] of Object.entries({ 'campaign.yaml': hero, ...files })) place.write(name, text);
  return await place.run(...commandLine.split(' '));
}

const twoMistakes = hero.replace('prompt', 'promt').replace('image', 'imgae');

test.each<[string, Record<string, string>, Record<string, unknown>]>([
  ['plan campaign.yaml --json --jsno', {}, { code: 'MB3000', message: expect.stringContaining('--jsno') }],
  ['plan absent.yaml --json', {}, { code: 'MB1001', file: 'absent.yaml' }],
  ['plan campaign.yaml --json', { 'campaign.lock.jsonl': 'x' }, { code: 'MB3407', lock: 'campaign.lock.jsonl' }],
  [
    'plan campaign.yaml --json',
    { 'campaign.lock.jsonl': '{"mediabatch":"lock","version":99}\n' },
    { code: 'MB2002', lock: 'campaign.lock.jsonl', diagnostics: [expect.objectContaining({ code: 'MB2002' })] },
  ],
  [
    'explain campaign.yaml --origins --json',
    { 'campaign.yaml': twoMistakes },
    {
      code: 'MB3100',
      file: 'campaign.yaml',
      message: 'campaign.yaml has 1 error',
      diagnostics: [expect.objectContaining({ range: expect.objectContaining({ file: 'campaign.yaml' }) })],
    },
  ],
  ['plan campaign.yaml --json -s hreo', {}, { code: 'MB3002', name: 'hreo', hint: 'similar: hero' }],
  ['plan campaign.yaml --format json -s hreo', {}, { code: 'MB3002', name: 'hreo' }],
  ['schema manifset --json', {}, { code: 'MB3000', value: 'manifset', known: expect.arrayContaining(['manifest']) }],
  [
    'forget campaign.yaml hero --json',
    {},
    { code: 'MB3005', addresses: ['hero'], hint: 'to list every step: mediabatch plan campaign.yaml --all' },
  ],
  ['apply campaign.yaml --json --store files', {}, { code: 'MB3000', options: ['--store', '--engine'] }],
  ...['apply campaign.yaml --json --sandbox', 'status campaign.yaml --json', 'workers --json'].map(
    (words): [string, Record<string, string>, Record<string, unknown>] => [
      `${words} --engine=`,
      {},
      { code: 'MB3705', message: '--engine is empty, so no engine is selected' },
    ],
  ),
  [
    'apply campaign.yaml --json --yes --sandbox',
    { '.mediabatch/sandbox/sandbox.pid': `${process.ppid}\n` },
    { code: 'MB3301', hint: expect.stringContaining('a rehearsal of another manifest, or') },
  ],
  ['apply campaign.yaml --json --sandbox-credits 5', {}, { code: 'MB3000', options: ['--sandbox-credits'] }],
  ['plan campaign.yaml --json --out spring.plan', {}, { code: 'MB3000' }],
  [
    'plan campaign.yaml --json --out spring.json',
    { 'spring.json': '[]' },
    { code: 'MB3301', path: 'spring.json', exit: 73 },
  ],
])('%s fails with a document on stdout, and the message on stderr', async (commandLine, files, document) => {
  const { code: exit, out, err } = await fail(commandLine, files);
  const failure = JSON.parse(out);
  expect(isFailure(failure), JSON.stringify(isFailure.errors)).toBe(true);
  expect(failure).toMatchObject({ mediabatch: 'failure', version: 1, exit, ...document });
  expect(exit).toBe(failures[document.code as keyof typeof failures].exit);
  const first = 'diagnostics' in document ? failure.diagnostics[0].code : failure.code;
  expect(err).toContain(`error ${first} `);
});

test('without --json nothing is on stdout', async () => {
  const { code: exit, out, err } = await fail('plan campaign.yaml -s hreo');
  expect({ exit, out, err }).toEqual({
    exit: 64,
    out: '',
    err: 'error MB3002 -s hreo matches no step\n  → similar: hero\n'.replace('-s', '--select'),
  });
});

test('on a screen an error breaks at words, and a command stays whole', () => {
  const { terminal: buffer, said } = bufferTerminal();
  const paste: Terminal['paste'] = (run) => ['mediabatch', run.call, ...run.words].join(' ');
  const terminal = { ...buffer, paste };
  const failure = {
    code: 'MB3705' as const,
    message: 'no approval for 2 credits: no interactive terminal for the approval, and no --yes',
    hint: ['they agree beforehand, with --yes', way('then, when somebody has agreed', call('approve', 'a.plan.json'))],
  };
  printFailure({ ...terminal, screen: true, width: 40 }, failure);
  expect(said.err.split('\n')).toEqual([
    'error MB3705 no approval for 2 credits:',
    '  no interactive terminal for the',
    '  approval, and no --yes',
    '  → they agree beforehand, with --yes',
    '    then, when somebody has agreed:',
    '      mediabatch approve a.plan.json',
    '',
  ]);
  said.err = '';
  printFailure({ ...terminal, width: 40 }, failure);
  expect(said.err.split('\n')[0]).toBe(`error MB3705 ${failure.message}`);
});

test('the schema contains every code', () => {
  expect(failureSchema.properties.code.enum).toEqual(Object.keys(failures));
});

function planOf(action: Action, blockedBy?: 'budget' | 'step' | 'consent'): Plan {
  return {
    mediabatch: 'plan',
    version: 2,
    campaign: 'c',
    concurrency: 1,
    rows: [
      {
        address: 's',
        task: 's',
        kind: 'image',
        action,
        reason: { code: 'not-bought', text: '' },
        credits: 0,
        ...(blockedBy && { blockedBy }),
      } as PlanRow,
    ],
    totals: { toSpend: 0, ceiling: 0, knownPrices: 0, unknownPrices: 0, alreadyPaid: 0, held: 0, discarded: 0 },
  };
}

type RunFindings = Parameters<typeof exitCodeOf>[0];
const quiet: RunFindings = {
  plan: planOf('keep'),
  outcomes: [],
  stopped: undefined,
  lacksCredits: false,
  hasOpenSends: false,
  interrupted: false,
  hasDefects: false,
  needsPeople: false,
};

test.each<[string, Partial<RunFindings>, number]>([
  ['nothing to do', {}, 0],
  ['a step waits for one that failed', { plan: planOf('blocked', 'step') }, 3],
  ['a post waits for somebody to agree', { plan: planOf('blocked', 'consent'), outcomes: ['done'] }, 5],
  ['a post waits, and a step failed', { plan: planOf('blocked', 'consent'), outcomes: ['failed'] }, 3],
  ['a post waits, and the balance is empty', { plan: planOf('blocked', 'consent'), stopped: 'balance' }, 4],
  ['all done', { outcomes: ['done', 'done'] }, 0],
  ['orphans do not matter', { plan: planOf('orphan') }, 0],
  ['one failed', { outcomes: ['done', 'failed'] }, 3],
  ['one refused', { outcomes: ['refused'] }, 3],
  ['one failed in an earlier run', { plan: planOf('failed') }, 3],
  ['patience ended', { outcomes: ['running'] }, 3],
  ['the balance is empty', { outcomes: ['refused', 'failed'], stopped: 'balance' }, 4],
  ['the budget was reached in the run', { lacksCredits: true, outcomes: ['left'] }, 4],
  ['the budget was not enough in the plan', { plan: planOf('blocked', 'budget') }, 4],
  ['an outcome is not known', { outcomes: ['unresolved', 'failed'], stopped: 'balance' }, 6],
  ['an older outcome is not known', { plan: planOf('unresolved') }, 6],
  ['something may have been charged, whatever became of its step', { hasOpenSends: true, outcomes: ['done'] }, 6],
  ['something may have been charged, and nothing is to do', { hasOpenSends: true }, 6],
  ['something may have been charged, and the budget is reached', { hasOpenSends: true, lacksCredits: true }, 6],
  ['something may have been charged, and the account is empty', { hasOpenSends: true, stopped: 'balance' }, 6],
  ['something may have been charged, and a step failed', { hasOpenSends: true, outcomes: ['failed'] }, 6],
  ['something may have been charged, and the service is gone', { hasOpenSends: true, stopped: 'unreachable' }, 6],
  ['the budget was reached, and then the service was gone', { lacksCredits: true, stopped: 'unreachable' }, 4],
  [
    'the budget was not enough, and the service is gone',
    { plan: planOf('blocked', 'budget'), stopped: 'unreachable' },
    4,
  ],
  ['the service cannot be reached', { stopped: 'unreachable', outcomes: ['left'] }, 69],
  ['the disk is full, and something may have been charged', { hasOpenSends: true, stopped: 'disk' }, 73],
  ['the disk is full', { stopped: 'disk', outcomes: ['unresolved'] }, 73],
  ['the key is refused, and something may have been charged', { hasOpenSends: true, stopped: 'auth' }, 77],
  ['the key is refused', { stopped: 'auth', outcomes: ['refused'] }, 77],
  ['interrupted, and something may have been charged', { hasOpenSends: true, interrupted: true }, 130],
  ['interrupted', { interrupted: true, outcomes: ['running', 'failed'] }, 130],
  ['a step met a mistake of ours', { hasDefects: true, hasOpenSends: true, outcomes: ['failed', 'done'] }, 1],
])('%s', (_name, findings, exit) => {
  expect(exitCodeOf({ ...quiet, ...findings })).toBe(exit);
});
