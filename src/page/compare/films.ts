import { effect, signal } from '@preact/signals';
import type { Page } from '../state/page.ts';
import { otherSide, type Side } from './sides.ts';
import { compareOf } from './state.ts';

const pairs = new WeakMap<Page, FilmPair>();

export function filmsOf(page: Page): FilmPair {
  const known = pairs.get(page);
  if (known !== undefined) return known;
  const pair = new FilmPair();
  pairs.set(page, pair);
  effect(() => pair.lead(compareOf(page).activeSide()));
  return pair;
}

/** Seconds between two films. Above `apart`, the following film changes its speed; above `farApart`, it seeks. */
const apart = 0.015;
const farApart = 0.12;
const nudge = 0.06;

/** Plays two films synchronously. The leading film plays its sound; the following film adjusts its position. */
class FilmPair {
  readonly isPlaying = signal(false);
  /** Position of the leading film, in seconds. */
  readonly position = signal(0);
  readonly seconds = signal(0);
  readonly #films = new Map<Side, HTMLVideoElement>();
  #leader: Side = 'left';
  #frame = 0;

  set(side: Side, film: HTMLVideoElement | null): void {
    if (film === null) this.#films.delete(side);
    else if (this.#films.get(side) !== film) {
      this.#films.set(side, film);
      film.currentTime = this.position.peek();
      film.addEventListener('durationchange', () => this.#measure());
      if (this.isPlaying.peek()) void film.play();
    }
    this.lead(this.#leader);
    if (this.#films.size === 0) this.pause();
  }

  lead(side: Side): void {
    this.#leader = side;
    for (const [at, film] of this.#films) {
      film.muted = at !== side;
      film.playbackRate = 1;
    }
    this.#measure();
  }

  toggle(): void {
    if (this.isPlaying.value) this.pause();
    else this.play();
  }

  play(): void {
    if (this.#films.size === 0) return;
    this.seek(this.position.value >= this.seconds.value - 0.05 ? 0 : this.position.value);
    this.isPlaying.value = true;
    for (const film of this.#films.values()) void film.play().catch(() => this.pause());
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#keepStep());
  }

  pause(): void {
    cancelAnimationFrame(this.#frame);
    for (const film of this.#films.values()) film.pause();
    this.isPlaying.value = false;
    // Both films stop at the same frame.
    this.seek(this.position.value);
  }

  seek(seconds: number): void {
    const to = Math.min(Math.max(0, seconds), this.seconds.value || 0);
    this.position.value = to;
    for (const film of this.#films.values()) film.currentTime = Math.min(to, film.duration || to);
  }

  /**
   * Pauses at the next or previous frame. Assumes 24 frames per second, because browsers do not report the frame rate.
   */
  step(by: 1 | -1): void {
    this.pause();
    this.seek(this.position.value + by / 24);
  }

  #measure(): void {
    const { duration } = this.#films.get(this.#leader) ?? {};
    this.seconds.value = duration !== undefined && Number.isFinite(duration) ? duration : 0;
  }

  #keepStep(): void {
    const leader = this.#films.get(this.#leader);
    if (leader === undefined || !this.isPlaying.value) return;
    this.position.value = leader.currentTime;
    if (leader.ended) {
      this.seek(0);
      for (const film of this.#films.values()) void film.play().catch(() => this.pause());
    }
    this.#follow(leader, this.#films.get(otherSide(this.#leader)));
    this.#frame = requestAnimationFrame(() => this.#keepStep());
  }

  #follow(leader: HTMLVideoElement, other: HTMLVideoElement | undefined): void {
    if (other === undefined || other.seeking || leader.seeking || other.ended) return;
    const behind = leader.currentTime - other.currentTime;
    if (Math.abs(behind) > farApart) other.currentTime = leader.currentTime;
    else other.playbackRate = Math.abs(behind) < apart ? 1 : 1 + Math.sign(behind) * nudge;
  }
}
