/** Something that is there to make the runner quicker. `find` stands exactly once in `file`; without it, `replace` does. */
export interface Device {
  room: 'polling' | 'disk';
  name: string;
  file: string;
  find: string;
  replace: string;
}

const polling = (name: string, file: string, find: string, replace: string): Device => ({
  room: 'polling',
  name,
  file: `src/service/polling/${file}`,
  find,
  replace,
});

export const devices: readonly Device[] = [
  polling(
    'probe',
    'durations.ts',
    'if (this.samples.length >= 2 || this.#isProbed) return false;',
    'if (this) return false;',
  ),
  polling('smoothing', 'durations.ts', '...smooth(this.samples)]', '...this.samples.map((ms) => ({ ms, weight: 1 }))]'),
  polling(
    'log-normal prior, fitted',
    'durations.ts',
    'fitLogNormal(this.#typicalMs, this.samples)',
    'fitLogNormal(this.#typicalMs, [])',
  ),
  polling(
    'product-limit estimate',
    'durations.ts',
    '...smooth(this.samples)], running);',
    '...smooth(this.samples)], []);',
  ),
  polling('spread of early looks', 'due-at.ts', 'const mostSpread = 0.8;', 'const mostSpread = 0;'),
  polling('urgency', 'cost.ts', 'return threshold / urgency();', 'return urgency() > 0 ? threshold : 0;'),
  polling(
    'more looks where durations are well known',
    'cost.ts',
    'const isSparing = !known.isWellKnown ||',
    'const isSparing = known !== undefined ||',
  ),
  polling(
    'another service noticed',
    'durations.ts',
    'if (this.#seen >= fewestSeen && this.#late * 2 > this.#seen) return false;',
    '',
  ),
  polling('uncharted ages', 'due-at.ts', 'known.countAbove(last) < fewSamples;', 'known.countAbove(last) < -1;'),
  polling('hurry at the end', 'poller.ts', 'const mostHurried = 8;', 'const mostHurried = 0;'),
  polling(
    'best look first when limited',
    'poller.ts',
    'this.#rate.isLimited ? this.#ready.takeBest(now, best?.benefit) : this.#ready.takeFirst();',
    'this.#ready.takeFirst();',
  ),
  polling('probing pages', 'job-list.ts', 'if (chosen.length === 0 && isProbe) chosen.push([1, 0]);', ''),
  polling('cost of a page', 'job-list.ts', 'Math.max(1, Math.min(this.#places.size, waiting) * pageCost);', '1;'),
  polling(
    'lists',
    'poller.ts',
    'if (kind.list === undefined || this.#options.fixedMs !== undefined) return undefined;',
    'if (kind !== undefined) return undefined;',
  ),
  polling(
    'stale estimates wait for a tenth',
    'durations.ts',
    'return this.#learned > 0 && this.#learned * 10 >= Math.min(this.#seen, 1000);',
    'return this.#learned > 0;',
  ),
  {
    room: 'disk',
    name: 'acts at once while the disk is quick (all by threads)',
    file: 'src/disk/fs/paced-disk.ts',
    find: 'if (before < this.#restsUntil) return byThread();',
    replace: 'if (before < Number.POSITIVE_INFINITY) return byThread();',
  },
  {
    room: 'disk',
    name: 'writes at once while the disk is quick (by threads)',
    file: 'src/disk/fs/paced-disk.ts',
    find: '() => writeAllNow(fd, bytes),',
    replace: '() => writeAll(fd, bytes) as unknown as void,',
  },
  {
    room: 'disk',
    name: 'threads for a slow disk (all at once)',
    file: 'src/disk/fs/paced-disk.ts',
    find: '    const before = this.#now();\n',
    replace: '    if (byThread !== undefined) return atOnce();\n    const before = this.#now();\n',
  },
  {
    room: 'disk',
    name: 'chunks of a body taken ahead',
    file: 'src/service/download.ts',
    find: 'const mostAhead = 128 * 1024;',
    replace: 'const mostAhead = 1;',
  },
  {
    room: 'disk',
    name: 'heap of a small campaign may treble',
    file: 'src/cli/fit-heap.ts',
    find: 'const fewSteps = 2000;',
    replace: 'const fewSteps = 0;',
  },
];
