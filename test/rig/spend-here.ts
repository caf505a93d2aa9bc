// Run as a process of its own, next to others: spends from the ledger of this person until nothing more fits.
//   argv: lock, holds, credits of each, limit of a day, `unknown` or `known`
//   CLOCK_MS: time between its clock and noon of this day: whatever the time is, a few hours either way are the same day
//   DIE_AT: dies by SIGKILL right after its hold of this number, before it is charged
import { openPurchases } from '../../src/disk/state/purchase-journal.ts';
import type { LockLine } from '../../src/lock/record.ts';

const [lock = '', holds = '0', credits = '0', day = '0', price = 'known'] = process.argv.slice(2);
const dieAt = Number(process.env.DIE_AT ?? 0);
const startedAt = Date.now();
const noon = new Date(startedAt).setUTCHours(12, 0, 0, 0);
const clock = {
  now: () => Date.now() - startedAt + noon + Number(process.env.CLOCK_MS ?? 0),
  sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
};
const spending = { limits: { day: Number(day) }, lock };
const ledger = await openPurchases(lock.split('/')[1] ?? '', { clock, spending });
if (ledger === undefined) throw new Error('nothing can be kept');
let held = 0;
for (let number = 1; number <= Number(holds); number += 1) {
  const name = `${number}`;
  const hold = {
    key: `key-${name}`,
    credits: price === 'known' ? Number(credits) : null,
    likely: 1,
    isSent: false,
  };
  let answer = await ledger.hold(hold);
  while (answer === 'later') answer = await ledger.hold(hold);
  if (answer !== 'held') continue;
  held += 1;
  // What the service charges, whatever becomes of this process.
  process.stdout.write(`${credits}\n`);
  if (held === dieAt) process.kill(process.pid, 'SIGKILL');
  await clock.sleep(1);
  await ledger.add({
    address: name,
    kind: 'image',
    key: hold.key,
    state: 'running',
    jobId: name,
    credits: Number(credits),
  } as LockLine);
}
await ledger.close();
