import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bin } from '../../rig/command.ts';
import { makeBranches, makeCampaign, priceOf } from './branches.ts';
import { expectOpen, expectSettled } from './checks.ts';
import type { makeStudio } from './studio.ts';
import { type Copy, keys } from './working-copy.ts';

/** What an editor, a shell or a mail program makes of a file. */
const handled: { [how: string]: (text: string) => string } = {
  'CRLF at the end of each line': (text) => text.replaceAll('\n', '\r\n'),
  'a mark of byte order at the start': (text) => `\ufeff${text}`,
  'no line feed at the end': (text) => text.replace(/\n$/, ''),
  'empty lines at the end': (text) => `${text}\n\n`,
  'lines the other way round, after the first': (text) => {
    const [header = '', ...lines] = text.trimEnd().split('\n');
    return `${[header, ...lines.reverse()].join('\n')}\n`;
  },
  'every line twice, after the first': (text) => {
    const [header = '', ...lines] = text.trimEnd().split('\n');
    return `${[header, ...lines.flatMap((line) => [line, line])].join('\n')}\n`;
  },
  'the lock twice, with both headers': (text) => text + text,
};

describe.each(['power', 'service'] as const)('a lock with an open create (%s cut), as an editor left it', (cut) => {
  test.each(Object.keys(handled))('%s', async (how) => {
    const { studio, copy, subject, booked } = await makeCampaign('image');
    expect(await (cut === 'power' ? copy.applyUntilPowerCut(subject) : copy.applyUnanswered(subject))).toBe(true);
    writeFileSync(copy.lockPath, handled[how]?.(copy.lock) ?? '');
    await expectOpen(copy, studio.service, priceOf('image'));
    await expectSettled(copy, studio.service, booked(1));
  });
});

/** What is no lock any more: it may be read all the same, or refused, but never taken for the torn end of a good one. */
const spoilt: { [how: string]: (text: string) => string | Buffer } = {
  'CR alone at the end of each line': (text) => text.replaceAll('\n', '\r'),
  'all of it in one line': (text) => text.trimEnd().replaceAll('\n', ' '),
  'UTF-16': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'every line laid out over several': (text) =>
    text.replace(/^.+$/gm, (line) => JSON.stringify(JSON.parse(line) as object, null, 2)),
  'commas after the lines': (text) => text.replaceAll('}\n', '},\n'),
};

describe.each(['power', 'service'] as const)('a lock with an open create (%s cut), spoilt', (cut) => {
  test.each(Object.keys(spoilt))('%s: read all the same, or refused and left as it is', async (how) => {
    const { studio, copy, subject, booked } = await makeCampaign('video');
    const { service } = studio;
    expect(await (cut === 'power' ? copy.applyUntilPowerCut(subject) : copy.applyUnanswered(subject))).toBe(true);
    const whole = copy.lock;
    writeFileSync(copy.lockPath, spoilt[how]?.(whole) ?? '');
    const before = readFileSync(copy.lockPath);
    const creates = service.creates.length;
    const { code, err } = await copy.apply();
    if (code !== 0) {
      expect(code, err).toBe(65);
      expect(readFileSync(copy.lockPath)).toEqual(before);
      expect(service.creates).toHaveLength(creates);
      writeFileSync(copy.lockPath, whole);
    }
    await expectSettled(copy, service, booked(1));
  });
});

/** The built program, in real time, killed as soon as `subject` is booked. */
async function killWhenBooked(copy: Copy, studio: Awaited<ReturnType<typeof makeStudio>>, subject: string) {
  const { service } = studio;
  const child = spawn(process.execPath, [bin, 'apply', copy.manifest, '--yes'], {
    env: { PATH: process.env.PATH ?? '', MEDIABATCH_BASE_URL: service.url, MEDIABATCH_API_KEY: keys.acme },
    stdio: 'ignore',
  });
  const exit = once(child, 'exit');
  service.onBooked = (job) => {
    if (job.subject === subject) child.kill('SIGKILL');
  };
  service.fate = () => 'hang';
  await exit;
  Object.assign(service, { onBooked: () => {}, fate: () => 'book' });
  expect(child.signalCode).toBe('SIGKILL');
}

describe('the process killed when its create was booked', () => {
  test('on one branch, a refusal on the other', async () => {
    const { studio, copy, subject, booked } = await makeBranches('image');
    const { service } = studio;
    service.refusesBeforeReplay = true;
    service.replaysRefusals = false;
    await killWhenBooked(copy, studio, subject);
    copy.commit('killed');
    copy.git('checkout', '--quiet', 'theirs');
    service.fate = () => 402;
    await copy.apply();
    service.fate = () => 'book';
    copy.commit('refused');
    copy.merge('ours');
    await expectOpen(copy, service, 3);
    await expectSettled(copy, service, booked(1));
  });

  test('and its step removed', async () => {
    const { studio, copy, subject, booked } = await makeCampaign('image');
    await killWhenBooked(copy, studio, subject);
    copy.tasks({ other: { kind: 'image', says: 'a rug' } });
    await expectOpen(copy, studio.service, 3);
    await expectSettled(copy, studio.service, { ...booked(1), 'image a rug': 1 });
  });
});
