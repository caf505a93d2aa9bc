import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRunId, RunHistory } from '../../../src/disk/state/run-history.ts';
import { RunJournal } from '../../../src/disk/state/run-journal.ts';
import { makeFolder } from './folder.ts';

const idOf = (minute: number) => makeRunId(Date.UTC(2026, 10, 22, 4, minute), () => 0.5);

function withRuns(count: number, bytes = 10) {
  const state = makeFolder();
  const folder = join(state, 'runs');
  mkdirSync(folder);
  const ids = Array.from({ length: count }, (_, index) => idOf(index));
  for (const id of ids) writeFileSync(join(folder, `${id}.jsonl`), 'x'.repeat(bytes));
  return { state, folder, ids, history: new RunHistory(state, 'runs') };
}

async function journalIn(state: string, mostCharacters: number): Promise<RunJournal> {
  const onLost = (error: unknown) => {
    throw error;
  };
  return RunJournal.create(state, 'runs', { name: `${idOf(0)}.jsonl`, mostCharacters, onLost });
}

describe('the history of runs', () => {
  it('keeps the newest, by number and by size, with room for one more', async () => {
    const byNumber = withRuns(5);
    await byNumber.history.prune({ runs: 3, bytes: 1000 });
    expect((await byNumber.history.list()).map(({ id }) => id)).toEqual([idOf(4), idOf(3)]);
    const bySize = withRuns(5, 100);
    await bySize.history.prune({ runs: 100, bytes: 250 });
    expect(readdirSync(bySize.folder).sort()).toEqual([`${idOf(3)}.jsonl`, `${idOf(4)}.jsonl`]);
  });

  it.runIf(process.platform !== 'win32')(
    'leaves everything alone that is no run, and looks behind no link (POSIX)',
    async () => {
      const { state, folder, history } = withRuns(1);
      writeFileSync(join(folder, 'notes.jsonl'), 'mine');
      writeFileSync(join(state, 'victim'), '{"a":1}\n');
      symlinkSync('../victim', join(folder, `${idOf(1)}.jsonl`));
      execFileSync('mkfifo', [join(folder, `${idOf(2)}.jsonl`)]);
      mkdirSync(join(folder, `${idOf(3)}.jsonl`));
      expect((await history.list()).map(({ id }) => id)).toEqual([idOf(0)]);
      for (const name of [idOf(1), idOf(2), idOf(3), '../victim', 'x'])
        expect(await history.read(name)).toBeUndefined();
      await history.prune({ runs: 0, bytes: 0 });
      expect(readdirSync(folder)).toHaveLength(4);
      symlinkSync('runs', join(state, 'linked'));
      const linked = new RunHistory(state, 'linked');
      expect(await linked.list()).toEqual([]);
      await linked.prune({ runs: 0, bytes: 0 });
      expect(readdirSync(folder)).toHaveLength(4);
      await expect(journalIn(join(state, 'victim'), 100)).rejects.toThrow();
    },
  );

  it('reads what is JSON of a damaged file, from its ends alone where it is long', async () => {
    const { folder, history } = withRuns(0);
    const lines = ['{"n":0}', '{"n":', 'null', `{"pad":"${'é'.repeat(200_000)}"}`, '{"n":1}', '{"n":2'];
    writeFileSync(join(folder, `${idOf(0)}.jsonl`), lines.join('\n'));
    expect(await history.readEnds(idOf(0))).toEqual([{ n: 0 }, { n: 1 }]);
    expect(await history.read(idOf(0))).toMatchObject([{ n: 0 }, { pad: expect.any(String) }, { n: 1 }]);
  });

  it('follows a run line by line, of which one may be written in two halves', async () => {
    const { folder, history } = withRuns(0);
    const path = join(folder, `${idOf(0)}.jsonl`);
    writeFileSync(path, '{"n":1}\n{"n":"ü');
    let position = 0;
    const more = async () => {
      const read = await history.readFrom(idOf(0), position);
      position = read?.next ?? position;
      return read?.values;
    };
    expect(await more()).toEqual([{ n: 1 }]);
    appendFileSync(path, 'b"}\n{"n":3');
    expect(await more()).toEqual([{ n: 'üb' }]);
    appendFileSync(path, '}\n');
    expect([await more(), await more()]).toEqual([[{ n: 3 }], []]);
  });
});
