import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { environment, limit, patience } from './environment.ts';

/** Needs a Chromium; `CHROMIUM` says where it is. Not part of `npm test`. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/proof/browser/**/*.test.ts'],
    globalSetup: ['test/build.ts'],
    env: environment,
    testTimeout: limit(120_000),
    hookTimeout: limit(120_000),
    ...patience,
  },
});
