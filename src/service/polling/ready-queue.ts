import { benefitOf } from './cost.ts';
import { isWaiting, type WatchedJob } from './watched-job.ts';

/**
 * A job's entry in a queue, valid only for this turn of the job. `isSet`: the time is fixed, even if new durations are
 * learned.
 */
export interface Place {
  job: WatchedJob;
  turn: number;
  isSet: boolean;
}

export function isCurrent({ job, turn }: Place): boolean {
  return isWaiting(job) && job.turn === turn;
}

export class ReadyQueue {
  #places: Place[] = [];
  #head = 0;
  #wasOverdue = false;

  get isEmpty(): boolean {
    return this.#head >= this.#places.length;
  }

  push(place: Place): void {
    this.#places.push(place);
  }

  clear(): void {
    this.#places = [];
    this.#head = 0;
  }

  takeAll(): Place[] {
    const places = this.#places.slice(this.#head);
    this.clear();
    return places;
  }

  takeFirst(): WatchedJob | undefined {
    while (!this.isEmpty) {
      const place = this.#places[this.#head];
      this.#head += 1;
      if (this.isEmpty) this.clear();
      if (place !== undefined && isCurrent(place)) return place.job;
    }
    return undefined;
  }

  /**
   * Takes the job with the greatest benefit, if that exceeds `leastBenefit`. Every other turn takes the job that has
   * been due longest, if it was due before `overdueAt`, because a list may not show the jobs as expected.
   */
  takeBest(
    now: number,
    { leastBenefit, overdueAt }: { leastBenefit: number | undefined; overdueAt: number },
  ): WatchedJob | undefined {
    this.#places = this.#places.slice(this.#head).filter(isCurrent);
    this.#head = 0;
    const overdue = this.#wasOverdue ? undefined : this.#takeMost(({ queuedAt }) => overdueAt - queuedAt, 0);
    this.#wasOverdue = overdue !== undefined;
    const benefit = (job: WatchedJob) => benefitOf(job, now - job.startedAt, job.lastAge ?? -1);
    return overdue ?? this.#takeMost(benefit, leastBenefit ?? Number.NEGATIVE_INFINITY);
  }

  #takeMost(numberOf: (job: WatchedJob) => number, least: number): WatchedJob | undefined {
    let best = -1;
    let most = least;
    for (const [index, { job }] of this.#places.entries()) {
      const number = numberOf(job);
      if (number <= most) continue;
      best = index;
      most = number;
    }
    return best === -1 ? undefined : this.#places.splice(best, 1)[0]?.job;
  }
}
