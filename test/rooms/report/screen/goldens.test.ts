import { expect, test } from 'vitest';
import { few, huge, many, type Size, watch } from './scenes.ts';
import type { Viewer } from './simulated-run.ts';

const page = `http://127.0.0.1:41877/${'5c0e'.repeat(8)}/`;

/** What stands on a terminal of that size at certain moments of a run. */
const scenes: { [name: string]: (size: Size) => Viewer } = {
  '10 steps, some done': (size) => watch(few, size, { budget: 120 }).goTo(33).draw(),
  '10 steps, at the end': (size) => watch(few, size, { budget: 120 }).goTo(900).draw([], true),
  '500 steps, no budget': (size) => watch(many, size, { concurrency: 32 }).goTo(20).draw(),
  '500 steps, failures': (size) => watch(many, size, { budget: 2500, concurrency: 32 }).goTo(185).draw(),
  '10,000 steps': (size) => watch(huge, size, { budget: 50_000, concurrency: 64 }).goTo(900).draw(),
  'the budget is used up': (size) =>
    watch(many, size, { budget: 900, concurrency: 32 })
      .goTo(120)
      .happens({ event: 'spending-stopped', because: 'budget', detail: '20 more are needed, 8 are left' })
      .draw(),
  'a gate': (size) =>
    watch(few, size, { page }).goTo(33).happens({ event: 'picks-awaited', gates: 12, steps: 40 }).draw(),
  'an empty account': (size) =>
    watch(many, size, { concurrency: 32 })
      .goTo(60)
      .happens({
        event: 'credits-awaited',
        until: '2026-11-22T11:00:00.000Z',
        nextTryAt: '2026-11-22T09:03:00.000Z',
        detail: 'HTTP 402',
      })
      .draw(),
  interrupted: (size) =>
    watch(few, size).goTo(20).happens({ event: 'spending-stopped', because: 'signal', detail: '' }).draw(),
};

test.each<Size>([
  { columns: 60, rows: 20 },
  { columns: 80, rows: 24 },
  { columns: 140, rows: 50 },
  { columns: 80, rows: 5 },
])('screens at $columns×$rows', async (size) => {
  const shots: string[] = [];
  for (const [name, play] of Object.entries(scenes)) {
    const viewer = play(size);
    shots.push(`── ${name}`, ...(await viewer.terminal.visible()), '');
    expect(viewer.terminal.writes).toHaveLength(1);
  }
  await expect(shots.join('\n')).toMatchFileSnapshot(`../__snapshots__/screen-${size.columns}x${size.rows}.txt`);
});
