import { join } from 'node:path';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { SpendingLimits } from '../../contract/spending.ts';
import { parseJson } from '../../ground/json.ts';
import { coalesce } from '../fs/durable.ts';
import { makeFolders, namesIn } from '../fs/folders.ts';
import { isErrno } from '../fs/plain-file.ts';
import { isCertainlyDead, type ProcessIdentity } from '../lock/process-identity.ts';
import { findOwn } from './sealed-file.ts';
import { readSharedLines, SharedLines } from './shared-lines.ts';
import type { SpendingClock, SpendingHome } from './spending-ledger.ts';
import { type Finder, type HoldName, type SpendingLine, SpendingSums, type Verdict } from './spending-ledger.ts';

const folderName = 'spending';
const fileName = /^\d{4}-\d{2}\.jsonl$/;

interface SpendingFilesParts {
  folder: string;
  limits: SpendingLimits;
  self: ProcessIdentity;
  clock: SpendingClock;
}

/** Credits of each month, over all campaigns and accounts of this user on this machine. */
export class SpendingFiles implements SpendingHome {
  readonly limits: SpendingLimits;
  readonly named = 'MEDIABATCH_LIMIT';
  readonly #of: SpendingFilesParts;
  readonly #months = new Map<string, OpenMonth>();
  #name: string;

  private constructor(of: SpendingFilesParts) {
    this.limits = of.limits;
    this.#of = of;
    this.#name = lastMonth(of.folder, of.clock.now());
  }

  static async open(own: string, options: Omit<SpendingFilesParts, 'folder'>): Promise<SpendingFiles> {
    const folder = join(own, folderName);
    await makeFolders(folder, 0o700);
    return new SpendingFiles({ ...options, folder });
  }

  async add(line: SpendingLine): Promise<Verdict> {
    const month = this.#monthNow();
    // Without a spending limit, no decision depends on the spending lines.
    const isJudged = 'hold' in line && (this.limits.day ?? this.limits.month) !== undefined;
    if (isJudged) month.verdicts.set(line.line, undefined);
    await month.lines.append(JSON.stringify(line));
    if (!isJudged) return { is: 'held' };
    await month.judge();
    const verdict = month.verdicts.get(line.line);
    month.verdicts.delete(line.line);
    if (verdict === undefined) throw new Error('the spending ledger lost a line that mediabatch had just written');
    return verdict;
  }

  mustWait(hold: HoldName, probe: HoldName): boolean {
    const month = this.#monthNow();
    month.readOn();
    return month.sums.mustWait(hold, probe);
  }

  async hasEnded(finder: Finder): Promise<boolean> {
    return typeof finder === 'object' && isCertainlyDead(finder, this.#of.self);
  }

  async close(): Promise<void> {
    for (const { lines } of this.#months.values()) await lines.close();
  }

  #monthNow(): OpenMonth {
    const name = monthOf(this.#of.clock.now());
    if (name > this.#name) this.#name = name;
    const path = join(this.#of.folder, this.#name);
    const opened = this.#months.get(path) ?? new OpenMonth(new SharedLines(path));
    this.#months.set(path, opened);
    return opened;
  }
}

class OpenMonth {
  readonly lines: SharedLines;
  readonly sums = new SpendingSums();
  readonly verdicts = new Map<string, Verdict | undefined>();
  readonly judge = coalesce(async () => {
    await this.lines.datasync();
    this.readOn();
  });

  constructor(lines: SharedLines) {
    this.lines = lines;
  }

  readOn(): void {
    this.lines.readOn((text) => {
      const judged = this.sums.add(parseJson(text));
      if (judged !== undefined && this.verdicts.has(judged.line)) this.verdicts.set(judged.line, judged.verdict);
    });
  }
}

/** Returns the credits spent and reserved on this day and in this month, over all campaigns. */
export async function readSpent(now: number): Promise<{ day: number; month: number }> {
  const own = findOwn()?.folder;
  if (own === undefined) return { day: 0, month: 0 };
  const folder = join(own, folderName);
  const sums = new SpendingSums();
  const path = join(folder, lastMonth(folder, now));
  await readSharedLines(path, (lines) => lines.readOn((line) => void sums.add(parseJson(line))));
  return sums.spentAt(new Date(now).toISOString());
}

function lastMonth(folder: string, now: number): string {
  return [monthOf(now), ...monthsIn(folder)].sort().at(-1) ?? monthOf(now);
}

function monthOf(now: number): string {
  return `${new Date(now).toISOString().slice(0, 7)}.jsonl`;
}

function monthsIn(folder: string): string[] {
  try {
    return namesIn(folder).filter((name) => fileName.test(name));
  } catch (error) {
    if (isErrno(error, 'ENOTDIR')) throw new UnsafeFileError(folder, 'no folder');
    throw error;
  }
}
