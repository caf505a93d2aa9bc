import { huge, watch } from '../rooms/report/screen/scenes.ts';

/**
 * What the screen of a run of 10,000 steps takes of a core, and what it writes: the events of a run with 64 jobs at once
 * are folded, and five frames a second are drawn, in virtual time. The terminal that takes them is measured with it.
 * Ends with 1 when a goal is missed. `npx tsx test/bench/screen.ts`
 */
const goals = { share: 0.02, bytes: 4096 };
const framesPerSecond = 5;
const seconds = 120;

for (const [columns, rows] of [
  [60, 20],
  [80, 24],
  [140, 50],
] as const) {
  const viewer = watch(huge, { columns, rows }, { budget: 50_000, concurrency: 64 }).goTo(700);
  const before = process.cpuUsage();
  for (let frame = 0; frame < seconds * framesPerSecond; frame += 1) viewer.goTo(700 + frame / framesPerSecond).draw();
  const { user, system } = process.cpuUsage(before);
  const share = (user + system) / 1e6 / seconds;
  const sizes = viewer.terminal.writes.map((text) => Buffer.byteLength(text));
  const most = Math.max(...sizes);
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  process.stdout.write(
    `${columns}×${rows}: ${(share * 100).toFixed(2)} % of a core, ${(sizes.length / seconds).toFixed(1)} frames a second, ` +
      `${Math.round(mean)} bytes a frame, ${most} at most\n`,
  );
  if (share > goals.share || most > goals.bytes) process.exitCode = 1;
}
