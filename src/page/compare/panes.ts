import { batch, signal } from '@preact/signals';
import { type Frame, type Point, togglePixels, wholePicture, type Zoom } from '../zoom/zoom.ts';
import { type Frames, movePair, type Pair, rejoin, type Side, toggleDrift, wholePair } from './pair.ts';

export type Mode = 'beside' | 'wipe' | 'blink' | 'difference';

/** State of two panes whose pictures are compared. */
export abstract class Panes {
  readonly mode = signal<Mode>('beside');
  readonly pair = signal<Pair>(wholePair);
  /** Sizes of the panes and pictures, as far as they are known. */
  readonly frames = signal<Frames>({});
  /** Share of the area that shows the left picture, 0 to 1. */
  readonly wipe = signal(0.5);
  readonly say: (text: string) => void;

  constructor(say: (text: string) => void) {
    this.say = say;
  }

  /** The side on which keys act, and which is shown when only one is visible. */
  abstract activeSide(): Side;

  /** Makes a side active. `takesFocus`: its asset gets the focus. */
  abstract activate(side: Side, takesFocus?: boolean): void;

  /** Makes the other side active. */
  abstract other(): void;

  close(): void {
    batch(() => {
      this.mode.value = 'beside';
      this.pair.value = wholePair;
      this.wipe.value = 0.5;
    });
  }

  frame(side: Side, frame: Frame): void {
    if (this.frames.peek()[side] !== frame) this.frames.value = { ...this.frames.value, [side]: frame };
  }

  move(side: Side, move: (zoom: Zoom, frame: Frame) => Zoom): void {
    this.pair.value = movePair(this.pair.value, side, this.frames.value, move);
  }

  togglePixels(side: Side, at?: Point): void {
    this.move(side, (zoom, frame) => togglePixels(zoom, frame, at));
  }

  drift(): void {
    this.pair.value = toggleDrift(this.pair.value);
    this.say(this.pair.value.drifts ? 'Only the active one moves.' : 'Both move together.');
  }

  /** Shows both pictures as a whole, at the same position. */
  whole(): void {
    this.pair.value = rejoin(this.pair.value, this.activeSide());
    this.move(this.activeSide(), () => wholePicture);
    this.say('Both are whole, at the same place.');
  }

  setMode(mode: Mode): void {
    if (this.mode.value === mode) return;
    this.mode.value = mode;
    const words: Record<Mode, string> = {
      beside: 'Side by side.',
      wipe: 'One over the other: arrows move the line.',
      blink: 'One at a time: B shows the other one.',
      difference: 'The difference: equal parts are black.',
    };
    this.say(words[mode]);
  }

  setWipe(part: number): void {
    this.wipe.value = Math.min(1, Math.max(0, part));
  }

  /** Shows one picture at a time, and switches to the other one on each further call. */
  blink(): void {
    if (this.mode.value === 'blink') this.other();
    else this.setMode('blink');
  }
}
