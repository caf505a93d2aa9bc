import { computed, signal } from '@preact/signals';
import { type Frame, limitZoom, type Point, togglePixels, wholePicture, type Zoom } from './zoom.ts';

export type Move = (zoom: Zoom, frame: Frame) => Zoom;

export class SharedZoom {
  readonly zoom = signal<Zoom>(wholePicture);
  readonly isLarger = computed(() => this.zoom.value.by > 1);
  readonly frame = signal<Frame | undefined>(undefined);

  move(move: Move, frame = this.frame.peek()): void {
    if (frame !== undefined) this.zoom.value = move(limitZoom(this.zoom.value, frame), frame);
  }

  togglePixels(at?: Point, frame?: Frame): void {
    this.move((zoom, of) => togglePixels(zoom, of, at), frame);
  }

  whole(): void {
    this.zoom.value = wholePicture;
  }
}
