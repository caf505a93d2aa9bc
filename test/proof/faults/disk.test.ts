import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin, command, expectExit, temporaryFolder } from '../../rig/command.ts';
import { damagedOutputs, finalFiles, paidTwice, readLockFile, unrecorded } from '../../rig/oracle.ts';
import { type Ended, has, runProgram } from '../../rig/program.ts';
import { type ServiceHere, serviceHere } from '../../rig/service-here.ts';

const steps = 3;
const manifest = `version: 1
name: full
tasks:
  pic: { kind: image, foreach: [a, b, c], with: { prompt: "a {{row}}", resolution: 1k } }
`;
const cannotWrite = 73;

interface Place {
  folder: string;
  lock: string;
  service: ServiceHere;
  /** A shell that runs the command as `"$@"`. */
  shell(script: string, before?: string[]): Promise<Ended>;
}

async function makePlace(): Promise<Place> {
  const { path, remove } = temporaryFolder();
  const service = await serviceHere();
  onTestFinished(async () => {
    await service.close();
    remove();
  });
  writeFileSync(join(path, 'campaign.yaml'), manifest);
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, UV_THREADPOOL_SIZE: '1', ...service.env };
  const apply = [process.execPath, bin, 'apply', 'campaign.yaml', '--yes', '--poll-interval', '10'];
  return {
    folder: path,
    lock: join(path, 'campaign.lock.jsonl'),
    service,
    shell: (script, before = []) => runProgram([...before, 'sh', '-c', script, 'sh', ...apply], { cwd: path, env }),
  };
}

/** Whatever was charged is in the lock by its key; its id is there, or was at least said. */
function expectNothingLost({ service, lock }: Place, { said }: Pick<Ended, 'said'>): void {
  const recorded = existsSync(lock) ? readFileSync(lock, 'utf8') : '';
  for (const { id, key } of service.ledger()) {
    expect(recorded).toContain(key);
    expect(recorded.includes(id) || said.includes(id) || recorded.includes('"state":"intent"')).toBe(true);
  }
}

/** With the fault gone the campaign is finished, and nothing was paid for twice. */
async function expectFinished(place: Place): Promise<void> {
  const { folder, service } = place;
  await expectExit(
    0,
    command(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'], {
      cwd: folder,
      env: service.env,
    }),
  );
  const lock = readLockFile(place.lock);
  expect(service.ledger()).toHaveLength(steps);
  expect(paidTwice(service.ledger())).toEqual([]);
  expect(unrecorded(service.ledger(), lock)).toEqual([]);
  expect(damagedOutputs(folder, lock)).toEqual([]);
  expect(finalFiles(join(folder, 'output'))).toHaveLength(steps);
}

describe.runIf(has.linux && has.strace)('a lock that fails (strace)', () => {
  const faults = [
    { name: 'no room for the first line', inject: 'write:error=ENOSPC:when=1', booked: 0 },
    { name: 'the first sync fails', inject: 'fdatasync:error=EIO:when=1', booked: 0 },
    { name: 'no room for a later line', inject: 'write:error=ENOSPC:when=2+', booked: 1 },
    { name: 'a later sync fails', inject: 'fdatasync:error=EIO:when=3', booked: steps },
  ];

  test.each(faults)(
    'I2 a lock that cannot be written or synced ($name): nothing is sent without its intent, 73',
    async (fault) => {
      const place = await makePlace();
      writeFileSync(place.lock, '{"mediabatch":"lock","version":2}\n');
      const [name = ''] = fault.inject.split(':');
      const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-P', place.lock, '-e', `trace=${name}`];
      const failed = await place.shell('exec "$@"', [...strace, '-e', `inject=${fault.inject}`]);
      expect(failed.code, failed.said).toBe(cannotWrite);
      expect(place.service.ledger().length).toBeLessThanOrEqual(fault.booked);
      expectNothingLost(place, failed);
      await expectFinished(place);
    },
  );
});

describe.runIf(has.linux && has.root && has.mounts)('a disk that is full or read-only (root)', () => {
  const inside = ['unshare', '--mount'];

  test('a read-only folder: 73, nothing is sent', async () => {
    const place = await makePlace();
    const script = 'mount --bind . . && cd "$PWD" && mount -o remount,ro,bind . && exec "$@"';
    const failed = await place.shell(script, inside);
    expect(failed.code, failed.said).toBe(cannotWrite);
    expect(failed.said).toContain('read-only');
    expect(place.service.ledger()).toHaveLength(0);
    await expectFinished(place);
  });

  test('no room for the outputs: 73, what was bought is kept, and fetched when there is room', async () => {
    const place = await makePlace();
    const failed = await place.shell('mkdir output; mount -t tmpfs -o size=64k tmpfs output; exec "$@"', inside);
    expect(failed.code, failed.said).toBe(cannotWrite);
    expect(failed.said).toContain('the disk is full');
    expect(place.service.ledger().length).toBeGreaterThan(0);
    expectNothingLost(place, failed);
    await expectFinished(place);
  });

  test('no room for anything: 73; after making room every step is bought once', async () => {
    const place = await makePlace();
    const script = [
      'mkdir small && mount -t tmpfs -o size=2m tmpfs small && cp campaign.yaml small && cd small',
      'head -c 2080768 /dev/zero > ballast 2>/dev/null',
      '"$@"; echo "first=$?"',
      'rm ballast; "$@"; echo "second=$?"',
      'cp campaign.lock.jsonl .. && cp -r output ..',
    ];
    const { said } = await place.shell(script.join('\n'), inside);
    expect(said).toContain(`first=${cannotWrite}`);
    expect(said).toContain('second=0');
    await expectFinished(place);
  });
});

/** Without a socket left every look and download is tried again and again first: only before a release. */
const isLong = process.env.MEDIABATCH_TEST_CRASHES === 'all';

describe.runIf(has.linux && has.prlimit && isLong)('a process that may open no more files (prlimit)', () => {
  test('from its first purchase on: it ends, nothing is lost, and the next run finishes', async () => {
    const place = await makePlace();
    let limited = false;
    const ended = await command(['apply', 'campaign.yaml', '--yes', '-v', '--poll-interval', '10'], {
      cwd: place.folder,
      env: place.service.env,
      onErr: (_seen, child) => {
        if (limited || place.service.ledger().length === 0) return;
        limited = true;
        execFileSync('prlimit', ['--pid', String(child.pid), '--nofile=4:4']);
      },
    });
    expect(limited).toBe(true);
    expect([69, cannotWrite], ended.err).toContain(ended.code);
    expectNothingLost(place, { said: ended.out + ended.err });
    await expectFinished(place);
  }, 300_000);
});
