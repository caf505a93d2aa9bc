import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { findMissing } from '../../../src/sandbox/render/find-missing.ts';

test('names the native package of sharp that is not installed, and says nothing where sharp works', async () => {
  const nowhere = createRequire('/nowhere/index.js');
  expect(await findMissing()).toBeUndefined();
  expect(await findMissing(nowhere)).toBeUndefined();
  const missing = await findMissing(nowhere, () => Promise.reject(new Error('Could not load the "sharp" module')));
  expect(missing).toMatch(/@img\/sharp-\S+, which is not installed; run npm install/);
});
