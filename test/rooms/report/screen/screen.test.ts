import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameWriter } from '../../../../src/report/run/screen-output.ts';
import { displayWidth } from '../../../../src/report/text-width.ts';
import { VirtualTerminal } from '../../../rig/virtual-terminal.ts';
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

const size = fc.record({ columns: fc.integer({ min: 1, max: 160 }), rows: fc.integer({ min: 1, max: 60 }) });

describe('a frame', () => {
  test('is never larger than its terminal', () => {
    const viewers = [few, many, huge].map((tasks) =>
      watch(tasks, { columns: 80, rows: 24 }, { budget: 9000, page: 'http://127.0.0.1:1234/0123456789abcdef/' })
        .goTo(100)
        .happens({ event: 'picks-awaited', gates: 3, steps: 3 }),
    );
    const property = fc.property(
      size,
      fc.constantFrom(...viewers),
      fc.boolean(),
      ({ columns, rows }, viewer, isOver) => {
        const lines = viewer.linesAt({ columns, rows }, isOver);
        expect(lines.length).toBeLessThanOrEqual(Math.max(0, rows - 1));
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(Math.max(0, columns - 1));
      },
    );
    fc.assert(property, { numRuns: 120 });
  });
});

describe('on a terminal that is resized', () => {
  const sizes: Size[] = [
    { columns: 80, rows: 24 },
    { columns: 60, rows: 20 },
    { columns: 140, rows: 50 },
    { columns: 40, rows: 50 },
    { columns: 80, rows: 5 },
    { columns: 30, rows: 5 },
    { columns: 80, rows: 24 },
  ];

  test('the screen stands whole after each frame, at its lower end', async () => {
    const viewer = watch(many, { columns: 100, rows: 30 }, { budget: 3000, concurrency: 32 }).goTo(30).draw();
    for (const [index, { columns, rows }] of sizes.entries()) {
      await viewer.terminal.resize(columns, rows);
      viewer.goTo(31 + index).draw();
      const visible = await viewer.terminal.visible();
      expect(visible.slice(-viewer.lines().length)).toEqual(viewer.lines());
      expect(visible.length).toBeLessThan(rows);
    }
  });

  test('it leaves nothing of itself behind when it becomes narrower', async () => {
    const viewer = watch(many, { columns: 140, rows: 50 }, { budget: 3000, concurrency: 32 }).goTo(30).draw();
    for (const columns of [120, 90, 66, 50, 35]) {
      await viewer.terminal.resize(columns, 50);
      viewer.draw();
      expect(await viewer.terminal.all()).toEqual(viewer.lines());
    }
  });

  test('what is told above it stays, in its order, and once', async () => {
    const viewer = watch(many, { columns: 100, rows: 12 }, { budget: 3000, concurrency: 32 });
    const told: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      const news = round % 3 === 0 ? [`told ${round}: ${'x'.repeat(round)}`] : [];
      told.push(...news);
      if (round % 7 === 6) await viewer.terminal.resize(60 + ((round * 13) % 60), 8 + ((round * 5) % 20));
      viewer.goTo(round * 4).draw(news);
    }
    const all = (await viewer.terminal.all()).join('').replaceAll(' ', '');
    let from = 0;
    for (const line of told) {
      const place = all.indexOf(line.replaceAll(' ', ''), from);
      expect(place, line).toBeGreaterThanOrEqual(from);
      from = place + 1;
    }
    expect(all.split('told').length - 1).toBe(told.length);
  });
});

test('a frame is one write, of what has changed', () => {
  const viewer = watch(many, { columns: 140, rows: 50 }, { budget: 3000, concurrency: 32 }).goTo(30).draw();
  const before = viewer.terminal.writes.length;
  viewer.draw();
  expect(viewer.terminal.writes.length).toBe(before);
  viewer.goTo(31).draw();
  expect(viewer.terminal.writes.length).toBe(before + 1);
  const [whole] = viewer.terminal.writes;
  expect(viewer.terminal.writes.at(-1)?.length).toBeLessThan((whole?.length ?? 0) / 2);
});

test('a line that is wider on the terminal than we think stays on one row, also when it is drawn again', async () => {
  const terminal = new VirtualTerminal(10, 8);
  const writer = new FrameWriter(terminal);
  for (const turn of ['1', '2', '3'])
    writer.draw(['head', `${turn} 0123456789abc`, turn], turn === '2' ? ['told'] : []);
  writer.end();
  terminal.write('0123456789abc');
  expect(await terminal.all()).toEqual(['told', 'head', expect.stringMatching(/^3 0123456/), '3', '0123456789', 'abc']);
});
