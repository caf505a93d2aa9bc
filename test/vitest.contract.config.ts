import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * The sandbox and the real client against a description of the service that was written from its documentation alone.
 * Needs the proxy of @stoplight/prism-cli; `MEDIABATCH_PRISM` says where its bin is. Not part of `npm test`.
 */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/proof/contract/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
