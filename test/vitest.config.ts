import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    // Each has a configuration of its own: a browser, and a proxy that is no dependency.
    exclude: ['test/browser/**', 'test/contract/**', 'node_modules/**'],
    globalSetup: ['test/build.ts'],
    // Most of the time goes into the command's own processes, so a worker more than spare cores is no waste.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
