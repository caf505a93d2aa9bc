import { benefitOf } from './cost.ts';
import { isWaiting, type WatchedJob } from './watched-job.ts';

/** A job's place in a queue, valid only for the same turn of the job. `isSet`: at this time, whatever is learned. */
export interface Place {
  job: WatchedJob;
  turn: number;
  isSet: boolean;
}

export function isCurrent({ job, turn }: Place): boolean {
  return isWaiting(job) && job.turn === turn;
}

/** Jobs that are due for a query. */
export class ReadyQueue {
  #places: Place[] = [];
  #head = 0;

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

  /** The first in the queue. */
  takeFirst(): WatchedJob | undefined {
    while (!this.isEmpty) {
      const place = this.#places[this.#head];
      this.#head += 1;
      if (this.isEmpty) this.clear();
      if (place !== undefined && isCurrent(place)) return place.job;
    }
    return undefined;
  }

  /** The job with the greatest benefit, if that exceeds `leastBenefit`. */
  takeBest(now: number, leastBenefit: number | undefined): WatchedJob | undefined {
    this.#places = this.#places.slice(this.#head).filter(isCurrent);
    this.#head = 0;
    let best = -1;
    let most = leastBenefit ?? Number.NEGATIVE_INFINITY;
    for (const [index, { job }] of this.#places.entries()) {
      const benefit = benefitOf(job, now - job.startedAt, job.lastAge ?? -1);
      if (benefit <= most) continue;
      best = index;
      most = benefit;
    }
    return best === -1 ? undefined : this.#places.splice(best, 1)[0]?.job;
  }
}
