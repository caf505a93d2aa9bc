import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Deck } from './deck.ts';

/** Seconds from the beginning of what a deck plays, as they go on. */
export function usePosition(deck: Deck): Signal<number> {
  const position = useSignal(deck.position());
  useEffect(() => {
    let frame = requestAnimationFrame(function look() {
      position.value = deck.position();
      frame = requestAnimationFrame(look);
    });
    return () => cancelAnimationFrame(frame);
  }, [deck]);
  return position;
}
