import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { bin } from '../../rig/command.ts';
import { hasTerminals, runOnTerminal } from '../../rig/terminal.ts';
import { makeTrial, type Trial } from '../../rig/trial.ts';

// Each test starts several processes, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000 });

const manifest = `version: 1
name: shop
tasks:
  hero: { kind: image, with: { prompt: a lamp, resolution: 1k } }
  share:
    kind: post
    foreach: [a, b]
    with:
      accountIds: [acc_a26a6b25c78b1c8d]
      caption: "Hello {{row}}"
      media: ["{{tasks.hero.url}}"]
      scheduledAt: "2030-05-01T09:00:00Z"
`;

async function applyOnTerminal(trial: Trial, answers: string, ...args: string[]) {
  const command = [process.execPath, bin, 'apply', 'campaign.yaml', '--poll-interval', '10', ...args];
  const run = await runOnTerminal(command, {
    cwd: trial.folder,
    env: { ...trial.sandbox.env, NO_COLOR: '1' },
    columns: 200,
    deeds: answers.split(',').map((answer) => ({ after: '[y/N] ', keys: `${answer.replace('^C', '\u0003')}\r` })),
  });
  const text = stripVTControlCharacters(run.text);
  const questions = [...text.matchAll(/[^\n\r]*\[y\/N\]/g)].map(([question]) => question);
  return { code: run.code, questions, text };
}

const kindsOf = (trial: Trial) => trial.sandbox.ledger().map(({ kind }) => kind);

/** Skipped where there is no python3 to make a terminal with. */
describe.runIf(hasTerminals)('on a terminal (python3)', () => {
  const spend = 'Spend ≈ 2 credits, at most 3? [y/N]';
  const publish =
    'Publish 2 posts to Instagram @sandbox.studio, all at 2030-05-01T09:00:00Z? This cannot be taken back. [y/N]';

  test('a question that is wider than the terminal is broken between words', async () => {
    const trial = await makeTrial(manifest);
    const run = await runOnTerminal([process.execPath, bin, 'apply', 'campaign.yaml', '--poll-interval', '10'], {
      cwd: trial.folder,
      env: { ...trial.sandbox.env, NO_COLOR: '1' },
      columns: 80,
      deeds: ['y\r', 'n\r'].map((keys) => ({ after: '[y/N] ', keys })),
    });
    expect(stripVTControlCharacters(run.text)).toMatch(/^ {2}(This )?cannot be taken back\. \[y\/N\] n/m);
  });

  test('what was typed before a question is no answer to it', async () => {
    const trial = await makeTrial(manifest);
    const run = await runOnTerminal([process.execPath, bin, 'apply', 'campaign.yaml'], {
      cwd: trial.folder,
      env: { ...trial.sandbox.env, NO_COLOR: '1' },
      deeds: [
        { after: '', keys: 'y\ny\n' },
        { after: '[y/N] ', keys: 'n\r' },
      ],
    });
    expect(run, run.text).toMatchObject({ code: 0 });
    expect(kindsOf(trial)).toEqual([]);
  });

  test('posts have their own question: how many, to which accounts, when', async () => {
    const trial = await makeTrial(manifest);
    const no = await applyOnTerminal(trial, 'y,n');
    expect(no, no.text).toMatchObject({ code: 5, questions: [spend, publish] });
    expect(kindsOf(trial)).toEqual(['image']);
    expect(no.text).toContain('to publish them: mediabatch apply campaign.yaml --publish');
    const yes = await applyOnTerminal(trial, 'y');
    expect(yes, yes.text).toMatchObject({ code: 0, questions: [publish] });
    expect(kindsOf(trial)).toEqual(['image', 'post', 'post']);
    const again = await applyOnTerminal(trial, 'y');
    expect(again, again.text).toMatchObject({ code: 0, questions: [] });
  });

  test.each<[string, string, string[], { code: number; questions: string[] }, number]>([
    ['Ctrl-C at it does nothing at all', 'y,^C', [], { code: 130, questions: [spend, publish] }, 0],
    ['nobody is asked who said no to the credits', 'n', [], { code: 0, questions: [spend] }, 0],
    ['--yes is about credits, and they wait', '', ['--yes'], { code: 5, questions: [] }, 1],
    ['--publish is about them, and not about credits', 'y', ['--publish'], { code: 0, questions: [spend] }, 3],
    ['both ask nothing', '', ['--yes', '--publish'], { code: 0, questions: [] }, 3],
  ])('%s', async (_name, answers, args, expected, booked) => {
    const trial = await makeTrial(manifest);
    const ran = await applyOnTerminal(trial, answers, ...args);
    expect(ran, ran.text).toMatchObject(expected);
    expect(kindsOf(trial)).toHaveLength(booked);
  });
});
