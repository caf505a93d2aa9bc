import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readPicks } from '../../../src/campaign/decisions/judge.ts';
import type { WantedVerdict } from '../../../src/contract/review.ts';
import { picksCommand, picksFile, redoCommand, shellWord } from '../../../src/page/model/leave.ts';
import { show } from '../../../src/page/model/shown.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { asset, campaign } from '../../rig/review/campaign.ts';

const verdicts: WantedVerdict[] = [
  { address: 'hero@lamp,take:1', is: 'picked', job: 'j1', note: "it's warm" },
  { address: 'hero@rug,take:2', is: 'picked', job: 'j2' },
  { address: 'hero@rug,take:1', is: 'rejected', job: 'j3', note: '', reason: 'hands' },
  { address: 'hero@a b,take:1', is: 'undecided', job: 'j4' },
];

test('picks.json is what `pick --from` reads', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const path = join(folder.path, 'picks.json');
  writeFileSync(path, picksFile('Ada', verdicts));
  expect(await readPicks(path)).toEqual([
    { by: 'Ada', address: 'hero@lamp,take:1', is: 'picked', note: "it's warm", job: 'j1' },
    { by: 'Ada', address: 'hero@rug,take:2', is: 'picked', job: 'j2' },
    { by: 'Ada', address: 'hero@rug,take:1', is: 'rejected', reason: 'hands', job: 'j3' },
  ]);
  // As some editors save it.
  writeFileSync(path, `\ufeff${picksFile('Ada', verdicts)}`);
  expect(await readPicks(path)).toHaveLength(3);
});

test('the command records the same, one for each verdict and note', () => {
  expect(picksCommand({ file: 'campaign.yaml' }, verdicts)).toBe(
    [
      `mediabatch pick campaign.yaml hero@lamp,take:1 --note 'it'\\''s warm' &&`,
      'mediabatch pick campaign.yaml hero@rug,take:2 &&',
      'mediabatch reject campaign.yaml hero@rug,take:1 --reason hands &&',
      `mediabatch pick --undo campaign.yaml 'hero@a b,take:1'`,
    ].join('\n'),
  );
});

test('commands concern the lock and the account of the host', () => {
  const data = {
    file: 'campaign.yaml',
    commands: {
      pick: 'mediabatch pick campaign.yaml --sandbox',
      reject: 'mediabatch reject campaign.yaml --sandbox',
      unpick: 'mediabatch pick campaign.yaml --undo --sandbox',
      redo: 'mediabatch apply campaign.yaml --sandbox --redo',
      explain: 'mediabatch explain campaign.yaml --sandbox',
    },
  };
  expect(picksCommand(data, verdicts.slice(1, 3))).toBe(
    [
      'mediabatch pick campaign.yaml --sandbox hero@rug,take:2 &&',
      'mediabatch reject campaign.yaml --sandbox hero@rug,take:1 --reason hands',
    ].join('\n'),
  );
  const { groups } = show(campaign([{ name: 'hero@a b', assets: [asset('hero@a b,take:1')] }]), new Map());
  const redone = groups.map((group) => [redoCommand(data, group), redoCommand({ file: 'my campaign.yaml' }, group)]);
  expect(redone).toEqual([
    [
      "mediabatch apply campaign.yaml --sandbox --redo 'hero@a b'",
      "mediabatch apply 'my campaign.yaml' --redo 'hero@a b'",
    ],
  ]);
});

test('a hostile word stays one word', () => {
  expect(shellWord('$(rm -rf ~)')).toBe(`'$(rm -rf ~)'`);
  expect(shellWord('a\nb')).toBe(`'a b'`);
  expect(shellWord('--note')).toBe(`'--note'`);
  expect(shellWord('')).toBe(`''`);
});
