import type { BookedJob } from '../../rig/booking-service.ts';
import type { Tasks } from './working-copy.ts';

/** The words of a video that everybody has from the start. */
export const firstWords = 'first words';

/** What is wanted once, whatever it is called and says now. */
export interface Slot {
  /** Its kind; of a post, what it is about. */
  readonly id: string;
  readonly kind: string;
  /** Of a post: where it goes. */
  readonly accountIds?: readonly string[];
  /** The task's names; the last is the one that it has now. */
  names: string[];
  says: string;
  isThere: boolean;
}

export const words = ['a lamp', 'a vase'] as const;

export function makeSlot(kind: string, name: string): Slot {
  return { id: kind, kind, names: [name], says: words[0], isThere: true };
}

/** Both go to one account, and the second to another one, too. */
export function makePosts(): Slot[] {
  return Object.entries({ launch: ['acc_shop'], offer: ['acc_shop', 'acc_team'] }).map(([id, accountIds]) => ({
    ...makeSlot('post', id),
    id,
    accountIds,
  }));
}

export function nameOf({ names }: Slot): string {
  return names.at(-1) ?? '';
}

/** What the service calls it. */
export function subjectOf({ id, kind, says }: Slot): string {
  return `${kind} ${kind === 'post' ? id : says}`;
}

/** What the service may call it, whatever it says. */
export function subjectsOf(slot: Slot): string[] {
  return [...new Set(words.map((says) => subjectOf({ ...slot, says })))];
}

export function slotOf({ subject, kind }: BookedJob): string {
  if (kind === 'post') return subject.replace('post ', '');
  return subject === `video ${firstWords}` ? 'first' : kind;
}

export function tasksOf(slots: readonly Slot[]): Tasks {
  const tasks: Tasks = { first: { kind: 'video', says: firstWords } };
  for (const slot of slots.filter(({ isThere }) => isThere)) {
    const { id, kind, says, accountIds } = slot;
    const more = accountIds && { with: { accountIds, caption: `${id}: ${says}` } };
    tasks[nameOf(slot)] = { kind, says, ...(more && { more }) };
  }
  return tasks;
}
