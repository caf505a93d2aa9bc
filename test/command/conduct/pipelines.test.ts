import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeTrial, withFaults } from '../../rig/trial.ts';

const github = { GITHUB_ACTIONS: 'true', CI: 'true' };

const pictures = (...rows: string[]) => `version: 1
name: conduct
tasks:
  pic: { kind: image, foreach: [${rows.join(', ')}], key: "{{row}}", with: { prompt: "::error::{{row}}", resolution: 1k } }
`;

/** What the runner of GitHub obeys in a log: lines that begin with two colons, spaces aside, and `##[`. */
const commandsIn = (text: string) =>
  text.split('\n').flatMap((line) => (line.trimStart().startsWith('::') || line.includes('##[') ? [line.trim()] : []));

test('a GitHub job has log groups, and failures as annotations without commands', async () => {
  const error = 'moderated\n::stop-commands::x ##[error]y';
  const faults = withFaults([
    { on: 'create', match: 'error::b', do: { type: 'status', status: 400, body: { success: false, error } } },
  ]);
  const trial = await makeTrial(pictures('a', 'b'), faults);
  const { code, err } = await trial.apply([], { env: github });
  expect(code, err).toBe(3);
  expect(commandsIn(err)).toEqual([
    ...['::group::plan', '::endgroup::', '::group::run', '::endgroup::'],
    expect.stringMatching(/^::error file=campaign\.yaml,title=pic@b refused::.*moderated/),
  ]);
  expect(err).toMatch(/^pic@a {2}done {2}\d+ credits?, \d:\d\d, \S+ \(1 of 2\)$/m);
});

test('mistakes are annotations at their places, from plan and apply, ten at most', async () => {
  const rows = Array.from({ length: 14 }, (_, index) => `  t${index}: { kind: image, with: { prompt: "{{rox}}" } }`);
  const trial = await makeTrial(`version: 1\nname: conduct\ntasks:\n${rows.join('\n')}\n`);
  for (const words of [['plan'], ['apply', '--yes']]) {
    const { code, err } = await trial.run([...words, 'campaign.yaml'], { env: { ...github, GITHUB_WORKSPACE: '/' } });
    expect(code).toBe(65);
    const [first, ...others] = commandsIn(err);
    const place = `${trial.path('campaign.yaml').slice(1)},line=4`;
    expect(first).toContain(`::error file=${place},`);
    expect(others).toHaveLength(9);
    expect(others.at(-1)).toBe('::error title=and more::5 more, in the log of this step');
  }
});

test('-q prints one line for a successful run, and the failures of another', async () => {
  const faults = withFaults([
    { on: 'create', match: 'error::b', do: { type: 'status', status: 400, body: { success: false, error: 'no' } } },
  ]);
  const trial = await makeTrial(pictures('a', 'b'), faults);
  const well = await trial.apply(['-q', '-s', 'pic@a']);
  expect(well).toMatchObject({ code: 0, out: '' });
  expect(well.err).toMatch(/^conduct: 1 of 1 done; .* in \d:\d\d\n$/);
  const badly = await trial.apply(['--quiet']);
  expect(badly.code).toBe(3);
  expect(badly.err).toMatch(/^pic@b {2}refused {2}.*\nconduct: 1 of 2 steps done/);
  expect(badly.err).not.toMatch(/to spend|done {2}/);
});

test('-v prints every event; neither option changes the events', async () => {
  const trial = await makeTrial(pictures('a'));
  const { err } = await trial.apply(['-v']);
  for (const word of ['started', 'sending', 'created', 'is', 'made', 'saved']) expect(err).toContain(`pic@a  ${word}`);
  const loud = trial.events().map(({ event }) => event);
  await trial.apply(['-q', '--redo', 'pic']);
  expect(readFileSync(trial.path('events.jsonl'), 'utf8')).toContain('run-ended');
  const uneven = new Set(['job-progressed', 'credits-changed']);
  const steps = (events: string[]) => events.filter((event) => !uneven.has(event));
  expect(steps(trial.events().map(({ event }) => event)).slice(-steps(loud).length)).toEqual(steps(loud));
  const both = await trial.apply(['-q', '-v']);
  expect(both.code).toBe(64);
  expect(both.err).toContain("option '-q, --quiet' cannot be used with option '-v, --verbose'");
});
