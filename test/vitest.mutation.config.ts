import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { roomNamed } from './proof/mutation/rooms.ts';

const room = roomNamed(process.env.MEDIABATCH_MUTATION_ROOM ?? 'lock');

/** What `npm run test:mutation` runs for each mutant of a room: tests that load the room into their own process. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: room.name,
          root: fileURLToPath(new URL('..', import.meta.url)),
          env: { TZ: 'UTC', MEDIABATCH_TEST_SHORT_WAITS: '1' },
          // Commands change the working folder, which only a process can.
          pool: 'forks',
          isolate: false,
          testTimeout: 120_000,
          include: [...room.tests],
          exclude: [...room.leftOut, 'node_modules/**'],
        },
      },
    ],
  },
});
