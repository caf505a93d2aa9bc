import type { KeptDurations } from '../../contract/ports.ts';
import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import { orForgotten } from './kept-json.ts';
import { readSealedFile, writeSealedFile } from './sealed-file.ts';

const mostBytes = 1024 * 1024;
const mostNumbers = 100;

/** The state folder, and the file in it with durations of this service. Those of the sandbox depend on its `--speed`. */
interface Place {
  state: string;
  durations: string;
}

/** Reads durations seen by earlier runs; empty if none are usable. They only improve polling and time estimates. */
export async function readKeptDurations({ state, durations: fileName }: Place): Promise<KeptDurations> {
  const durations = await orForgotten(async () => {
    const bytes = await readSealedFile(state, fileName, mostBytes);
    return bytes === undefined ? {} : check(JSON.parse(bytes.toString('utf8')) as Json);
  });
  return durations ?? {};
}

/** Saves durations outside git, like the whole folder. Lost durations are learned again. */
export async function keepDurations({ state, durations: fileName }: Place, durations: KeptDurations): Promise<void> {
  if (Object.keys(durations).length === 0) return;
  await orForgotten(async () => {
    await writeSealedFile(state, fileName, `${JSON.stringify({ version: 1, durations })}\n`);
  });
}

function check(json: Json): KeptDurations {
  const kept: KeptDurations = {};
  if (!isMap(json) || json.version !== 1 || !isMap(json.durations)) return kept;
  for (const [name, numbers] of Object.entries(json.durations)) {
    if (!Array.isArray(numbers) || !/^[!-~ ]{1,200}$/.test(name) || name === '__proto__') continue;
    kept[name] = numbers.filter(isDuration).slice(-mostNumbers);
  }
  return kept;
}

/** Durations of a week or more are invalid, because no job takes that long. */
function isDuration(value: Json): value is number {
  return typeof value === 'number' && value >= 0 && value < 7 * 86_400_000;
}
