import { expect, test } from 'vitest';
import { loadSharp } from '../../../src/disk/pictures/shrink-picture.ts';

test('a machine for which sharp has no program is told what to install, and not that there is a bug', async () => {
  const missing = () => Promise.reject(new Error('Could not load the "sharp" module using the linux-x64 runtime'));
  await expect(loadSharp(missing)).rejects.toMatchObject({
    failure: { code: 'MB3701', packages: ['sharp'], hint: expect.objectContaining({}) },
  });
});
