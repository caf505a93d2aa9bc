import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Needs a Chromium; `CHROMIUM` says where it is. Not part of `npm test`. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/proof/browser/**/*.test.ts'],
    globalSetup: ['test/build.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A browser beside other work is slow at times; what is polled comes, or does not.
    expect: { poll: { timeout: 15_000 } },
  },
});
