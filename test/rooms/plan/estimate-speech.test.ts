import { describe, expect, test } from 'vitest';
import type { Lock } from '../../../src/lock/record.ts';
import { estimateSpeech, rowsToSpeak, spokenFiles } from '../../../src/plan/outputs/estimate-speech.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { graphOfSteps, type WrittenStep } from '../../rig/steps.ts';
import { lockOf, output, planOf, saved, stepOf } from './facts.ts';

interface Line {
  text: string;
  voice?: string;
  locale?: string;
  /** How long it took; absent: it is not made yet, and is to take 20 to 30 s. */
  took?: number;
}

/** What is estimated of the lines that are not made yet, by their names. */
function estimate(lines: Readonly<Record<string, Line>>, change = (lock: Lock) => lock) {
  const graph = graphOfSteps(
    Object.entries(lines).map(
      ([name, { text, voice = 'Aria', took }]): WrittenStep => ({
        address: `line@${name}`,
        kind: 'voiceover',
        request: { text, voice_id: voice },
        ...(took === undefined && { expect: { durationSeconds: { min: 20, max: 30 } } }),
      }),
    ),
  );
  for (const step of graph.steps) {
    const { locale } = lines[step.address.slice('line@'.length)] ?? {};
    if (locale !== undefined) step.matrix = { locale };
  }
  const made = Object.entries(lines).filter(([, { took }]) => took !== undefined);
  const lock = change(
    lockOf(
      Object.fromEntries(
        made.map(([name]) => {
          const purchase = saved(stepOf(graph, `line@${name}`), { outputs: [output(name)] });
          return [`line@${name}`, [{ ...purchase, kind: 'voiceover' }]];
        }),
      ),
    ),
  );
  const situation = situate(graph, lock);
  const known = spokenFiles(situation).map(({ output: { path }, spoken }) => ({
    spoken,
    seconds: lines[path]?.took ?? 0,
  }));
  const found = estimateSpeech(rowsToSpeak(planOf(graph, lock).rows, situation), known);
  return Object.fromEntries([...found].map(([{ address }, speech]) => [address.slice('line@'.length), speech]));
}

const letters = (count: number) => 'abcd '.repeat(count / 5);

describe('speech that would be too long or too short', () => {
  test('is named with what is expected of it, by the pace of the same voice', () => {
    const made = { one: { text: letters(200), took: 20 }, two: { text: letters(100), took: 10 } };
    const other = { other: { text: letters(1000), took: 10, voice: 'Bill' } };
    const found = estimate({
      ...{ ...made, ...other },
      long: { text: letters(340) },
      fits: { text: letters(300) },
      short: { text: letters(95) },
    });
    const known = { min: 20, max: 30, like: 'voice', voiceovers: 2 };
    expect(found).toEqual({ long: { seconds: 34, ...known }, short: { seconds: 9.5, ...known } });
  });

  test('goes by other voices of the language, then by the writing, and then only where it is far off', () => {
    const made = { one: { text: letters(200), took: 20, voice: 'Bill', locale: 'de' } };
    const found = estimate({
      ...made,
      near: { text: letters(325), locale: 'de' },
      far: { text: letters(340), locale: 'de' },
      abroad: { text: letters(340), locale: 'en' },
      'far abroad': { text: letters(400), locale: 'en' },
    });
    expect(found).toEqual({
      far: { seconds: 34, min: 20, max: 30, like: 'language', voiceovers: 1 },
      'far abroad': { seconds: 40, min: 20, max: 30, like: 'writing', voiceovers: 1 },
    });
  });

  test('is nothing that little speech tells, nor speech in another writing', () => {
    expect(estimate({ one: { text: letters(100), took: 10 }, long: { text: letters(900) } })).toEqual({});
    const chinese = { one: { text: '灯'.repeat(200), took: 50 } };
    expect(estimate({ ...chinese, long: { text: letters(900) } })).toEqual({});
    expect(estimate({ ...chinese, long: { text: '瓶'.repeat(200) } })).toMatchObject({ long: { seconds: 50 } });
  });

  test('is learned from steps, too, that are gone from the manifest', () => {
    const moved = (lock: Lock): Lock => {
      const [[, record] = []] = lock.steps;
      if (record === undefined) throw new Error('the lock is empty');
      return { ...lock, steps: new Map([['gone', { ...record, address: 'gone' }]]) };
    };
    const made = { one: { text: letters(200), took: 20 } };
    expect(estimate({ ...made, long: { text: letters(400) } }, moved)).toMatchObject({ long: { seconds: 40 } });
  });

  test('is not asked of a text that another step puts in', () => {
    const graph = graphOfSteps([
      { address: 'words', kind: 'voiceover', request: { text: letters(200) } },
      {
        address: 'line',
        kind: 'voiceover',
        request: { text: { $text: ['Say ', { $ref: 'words', field: 'url' }] } },
        expect: { durationSeconds: { max: 1 } },
      },
    ]);
    const lock = lockOf({});
    expect(rowsToSpeak(planOf(graph, lock).rows, situate(graph, lock))).toEqual([]);
  });
});
