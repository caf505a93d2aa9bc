import { describe, expect, type TestContext, test } from 'vitest';
import type { Fault, FaultAction } from '../../src/sandbox/index.ts';
import { findLosses, remainsOf } from '../rig/killed-run.ts';
import { makePlace, type Place } from '../rig/place.ts';

/** One step per task; `known` is bought first, so its kind's list has shown what it gives back. */
const steps: Record<string, { known: string; asked: string }> = {
  voiceover: { known: 'text: first words, voice_id: Aria', asked: 'text: other words, voice_id: Aria' },
  video: { known: 'prompt: a first video, resolution: 720p', asked: 'prompt: another video, resolution: 720p' },
  thumbnail: {
    known: 'title: First, link: "https://youtu.be/a1"',
    asked: 'title: Second, link: "https://youtu.be/b2"',
  },
};

function manifest(kind: string, tasks: ('known' | 'asked')[]): string {
  const lines = tasks.map((task) => `  ${task}: { kind: ${kind}, with: { ${steps[kind]?.[task]} } }`);
  return `version: 1\nname: recovery\ntasks:\n${lines.join('\n')}\n`;
}

async function withKnown(kind: string, { onTestFinished }: TestContext): Promise<Place> {
  const place = await makePlace(manifest(kind, ['known']), { onTestFinished });
  const bought = await place.apply();
  expect(bought.code, bought.err).toBe(0);
  place.write(manifest(kind, ['known', 'asked']));
  return place;
}

function expectPaidOnce(place: Place, count: number): void {
  expect(findLosses(remainsOf(place))).toEqual([]);
  expect(place.service.ledger()).toHaveLength(count);
}

const lost: [string, FaultAction][] = [
  ['reset after it was booked', { type: 'reset', booked: true }],
  ['reset before', { type: 'reset' }],
  ['a login page after it was booked', { type: 'html', booked: true }],
  ['502 after it was booked', { type: 'status', status: 502, booked: true }],
  ['504 before', { type: 'status', status: 504 }],
  ['408 before', { type: 'status', status: 408 }],
  ['409 after it was booked', { type: 'status', status: 409, booked: true }],
  ['a redirect after it was booked', { type: 'status', status: 307, booked: true }],
  ['an answer without an id', { type: 'answer', body: { success: true } }],
];

// Most of the time is waiting: for the service to list what it has made.
describe.concurrent('a lost answer, through the command', { timeout: 90_000 }, () => {
  test.for(lost)('voiceover: %s: paid once, in the same run', async ([, action], context) => {
    const place = await withKnown('voiceover', context);
    const fault: Fault = { on: 'create', do: action };
    place.service.addFaults([fault]);
    const { code, err } = await place.apply();
    expect(code, err).toBe(0);
    expectPaidOnce(place, 2);
  });

  test.for(['video', 'thumbnail'])('%s: found in its list', async (kind, context) => {
    const place = await withKnown(kind, context);
    place.service.addFaults([{ on: 'create', do: { type: 'reset', booked: true } }]);
    const { code, err } = await place.apply();
    expect(code, err).toBe(0);
    expect(err).toContain("is in the service's list");
    expectPaidOnce(place, 2);
  });

  test('nothing shows that the list can be trusted: left to a person, with the job that it may be', async (context) => {
    const { onTestFinished } = context;
    const place = await makePlace(manifest('voiceover', ['asked']), { onTestFinished });
    place.service.addFaults([{ on: 'create', do: { type: 'reset', booked: true } }]);
    const { code, err } = await place.apply();
    expect(code, err).toBe(6);
    const [job] = place.service.ledger();
    expect(err).toContain(`it may be ${job?.id}`);
    expect(err).toContain('--not-spent or --spend-again: mediabatch resolve campaign.yaml asked\n');
    expect(place.service.ledger()).toHaveLength(1);
  });
});
