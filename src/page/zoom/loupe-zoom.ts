import { computed, signal } from '@preact/signals';
import { type Frame, limitZoom, type Point, togglePixels, wholePicture, type Zoom } from './zoom.ts';

/** Zoom of the loupe. It is kept from one picture to the next, to compare the same part of several takes. */
export class LoupeZoom {
  readonly zoom = signal<Zoom>(wholePicture);
  readonly isLarger = computed(() => this.zoom.value.by > 1);
  #frame: Frame | undefined;

  setFrame(frame: Frame): void {
    this.#frame = frame;
  }

  move(move: (zoom: Zoom, frame: Frame) => Zoom): void {
    if (this.#frame !== undefined) this.zoom.value = move(limitZoom(this.zoom.value, this.#frame), this.#frame);
  }

  togglePixels(at?: Point): void {
    this.move((zoom, frame) => togglePixels(zoom, frame, at));
  }

  whole(): void {
    this.zoom.value = wholePicture;
  }
}
