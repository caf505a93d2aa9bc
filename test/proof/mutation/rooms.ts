/** A room, or a part of one, with the tests that watch over it, and the share of its mutants that they must see. */
export interface MutatedRoom {
  /** Its folder below `src`, without those that stand here by themselves. */
  name: string;
  leastPercent: number;
  tests: readonly string[];
  /** Tests whose own processes do the work, where no mutant is: they would only take time. */
  leftOut: readonly string[];
}

const purchases = {
  tests: [
    ...['lock', 'run', 'plan', 'engine'].map((room) => `test/rooms/${room}/**/*.test.ts`),
    'test/proof/invariants/order-of-acts.test.ts',
    'test/rooms/graph/fingerprint.test.ts',
    'test/rooms/report/plan-text.test.ts',
    'test/rooms/report/status*.test.ts',
  ],
  leftOut: ['test/rooms/lock/git.test.ts'],
};

/** Commands that run in the process of their test. */
const commands = {
  tests: [
    'test/command/{asked,code-pages,expand,failure,init,leftovers,manual}.test.ts',
    'test/command/{rehearsal,resume,selections,service-commands,service-moved}.test.ts',
    'test/command/decisions/commands.test.ts',
  ],
  leftOut: [],
};

const ownTests = (room: string) => ({ tests: [`test/rooms/${room}/**/*.test.ts`], leftOut: [] });
/** Its own tests, and what commands show of it. */
const andCommands = (room: string) => ({ tests: [...ownTests(room).tests, ...commands.tests], leftOut: [] });
const polling = 'test/rooms/service/polling/**';

export const mutatedRooms: readonly MutatedRoom[] = [
  { name: 'lock', leastPercent: 90, ...purchases },
  { name: 'run', leastPercent: 90, ...purchases },
  { name: 'plan', leastPercent: 90, ...purchases },
  { name: 'engine', leastPercent: 85, ...purchases },
  { name: 'service', leastPercent: 85, ...ownTests('service'), leftOut: [polling] },
  { name: 'service/polling', leastPercent: 85, ...ownTests('service') },
  { name: 'disk', leastPercent: 85, ...ownTests('disk') },
  { name: 'graph', leastPercent: 85, ...ownTests('graph') },
  { name: 'report', leastPercent: 85, ...andCommands('report') },
  { name: 'campaign', leastPercent: 85, ...commands },
];

export function roomNamed(name: string): MutatedRoom {
  const room = mutatedRooms.find((candidate) => candidate.name === name);
  if (room !== undefined) return room;
  throw new Error(`no room “${name}”; there are ${mutatedRooms.map(({ name: known }) => known).join(', ')}`);
}

export function filesOfRoom(name: string, files: readonly string[]): string[] {
  const inner = mutatedRooms.filter((room) => room.name.startsWith(`${name}/`));
  const isIn = (path: string, room: string) => path.startsWith(`src/${room}/`);
  return files.filter((path) => isIn(path, name) && !inner.some((room) => isIn(path, room.name)));
}
