import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bin } from '../rig/command.ts';
import { makeBranches, makeCampaign, priceOf } from './branches.ts';
import { expectOpen, expectSettled } from './checks.ts';
import type { makeStudio } from './studio.ts';
import { type Copy, keys } from './working-copy.ts';

/** What an editor, a shell or a mail program makes of a file. */
const handled: { [how: string]: (text: string) => string } = {
  'CRLF at the end of each line': (text) => text.replaceAll('\n', '\r\n'),
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
