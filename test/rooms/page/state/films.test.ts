import { expect, onTestFinished, test, vi } from 'vitest';
import { filmsOf } from '../../../../src/page/compare/films.ts';
import { openElementDeck } from '../../../../src/page/sound/element-deck.ts';
import { Page } from '../../../../src/page/state/page.ts';
import { products } from '../../../rig/review/campaign.ts';

/** As much of a player as two films need. */
class Film {
  currentTime = 0;
  duration = 10;
  playbackRate = 1;
  muted = false;
  ended = false;
  seeking = false;
  isPaused = true;
  addEventListener(): void {}
  async play(): Promise<void> {
    this.isPaused = false;
  }
  pause(): void {
    this.isPaused = true;
  }
}

/** Two films side by side, the left one leads; `frame` draws the next one. */
function open() {
  let next: (() => void) | undefined;
  vi.stubGlobal('requestAnimationFrame', (call: () => void) => {
    next = call;
    return 1;
  });
  vi.stubGlobal('cancelAnimationFrame', () => {
    next = undefined;
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const films = filmsOf(
    new Page(products(1, 2), undefined, { views: [], facets: [], help: [], openDeck: openElementDeck }),
  );
  const [left, right] = [new Film(), new Film()];
  films.set('left', left as unknown as HTMLVideoElement);
  films.set('right', right as unknown as HTMLVideoElement);
  const frame = (at: { left: number; right: number }) => {
    left.currentTime = at.left;
    right.currentTime = at.right;
    next?.();
  };
  return { films, left, right, frame };
}

test('the film that follows runs faster while it is behind, and slower while it is ahead; the leader as it is', () => {
  const { films, left, right, frame } = open();
  films.play();
  frame({ left: 1, right: 0.95 });
  expect(right.playbackRate).toBeGreaterThan(1);
  frame({ left: 2, right: 2.05 });
  expect(right.playbackRate).toBeLessThan(1);
  frame({ left: 3, right: 3.001 });
  expect([left.playbackRate, right.playbackRate]).toEqual([1, 1]);
});

test('one that is far apart jumps to the leader', () => {
  const { films, right, frame } = open();
  films.play();
  frame({ left: 4, right: 2 });
  expect([right.currentTime, right.playbackRate]).toEqual([4, 1]);
});

test('both begin, stop and are sought together, and one is heard', () => {
  const { films, left, right, frame } = open();
  films.play();
  expect([left.isPaused, right.isPaused]).toEqual([false, false]);
  expect([left.muted, right.muted]).toEqual([false, true]);
  films.lead('right');
  expect([left.muted, right.muted]).toEqual([true, false]);
  frame({ left: 6.1, right: 6 });
  films.pause();
  expect([left.isPaused, right.isPaused, left.currentTime, right.currentTime]).toEqual([true, true, 6, 6]);
  films.seek(2);
  expect([left.currentTime, right.currentTime]).toEqual([2, 2]);
});

test('at the end of the leader both begin again', () => {
  const { films, left, right, frame } = open();
  films.play();
  left.ended = true;
  frame({ left: 10, right: 9.99 });
  expect([left.currentTime, right.currentTime, films.isPlaying.value]).toEqual([0, 0, true]);
});

test('between two places it plays again and again, till both are the same', () => {
  const { films, left, right, frame } = open();
  films.seek(2);
  films.mark('from');
  films.seek(4);
  films.mark('to');
  films.play();
  expect([left.currentTime, right.currentTime]).toEqual([2, 2]);
  frame({ left: 3, right: 3 });
  frame({ left: 4.01, right: 4 });
  expect([left.currentTime, right.currentTime]).toEqual([2, 2]);
  films.mark('to');
  expect(films.loop.value).toBeUndefined();
  frame({ left: 5, right: 5 });
  expect(left.currentTime).toBe(5);
});
