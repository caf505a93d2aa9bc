import { expect, test } from 'vitest';
import type { CampaignPaths } from '../../src/campaign/paths.ts';
import { makeRecorder } from '../../src/cli/recorder.ts';
import { systemClock } from '../../src/contract/clock.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { bufferTerminal } from './buffer-terminal.ts';

test('detaching before a run has begun prints no summary', async () => {
  const { terminal, said } = bufferTerminal();
  const plan = { rows: [{ address: 'pic', action: 'create' }] } as unknown as Plan;
  const recorder = await makeRecorder(plan, {
    ...{ terminal, clock: systemClock, events: undefined, detail: undefined, latest: () => plan },
    paths: { state: 'no-such-folder', durations: 'durations.json', outputs: '.' } as CampaignPaths,
  });
  await recorder.end();
  expect(said.err).toBe('');
});
