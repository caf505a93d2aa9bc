import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ReviewFile } from '../../contract/review.ts';
import { type Frame, type Point, panBy, placePicture, type Size, type Zoom, zoomAt } from './zoom.ts';

export type Move = (zoom: Zoom, frame: Frame) => Zoom;

interface ZoomedMediaProps {
  /** A picture, or a film. */
  file: ReviewFile;
  /** What it is, for who does not see it. */
  name: string;
  zoom: Zoom;
  /** By wheel, drag, pinch or double click. */
  onMove(move: Move): void;
  /** Whenever its pane or its pixels are known anew. */
  onFrame(frame: Frame): void;
  onVideo?(video: HTMLVideoElement | null): void;
  /** A double click: pixels of its own, around this point. */
  onTogglePixels(at: Point): void;
  /** Lies over the picture. */
  children?: ComponentChildren;
}

/** One notch of most wheels is 100. */
const perWheelPixel = 1 / 400;
/** From here on pixels are shown as squares: who looks this close wants to see them. */
const squareFrom = 3;

/** A picture or film in a pane, of which a part is seen. Controlled: `zoom` says which, and `onMove` asks for another one. */
export function ZoomedMedia(props: ZoomedMediaProps) {
  const { file, name, zoom, onFrame, onVideo } = props;
  const pane = useRef<HTMLDivElement>(null);
  const paneSize = usePaneSize(pane);
  const [picture, setPicture] = useState<Size>();
  const [isBroken, setBroken] = useState(false);
  useEffect(() => setBroken(false), [file.url]);
  const frame = paneSize && picture && { picture, pane: paneSize, density: globalThis.devicePixelRatio || 1 };
  const current = useRef<Frame>();
  current.current = frame;
  useLayoutEffect(() => {
    if (frame !== undefined) onFrame(frame);
  }, [paneSize, picture]);
  useGestures(pane, current, props);

  if (file.url === undefined || isBroken) {
    return (
      <p class="zoomed-none">
        {file.problem === undefined
          ? `${file.path} cannot be shown: this browser cannot read it.`
          : `${file.path} is ${file.problem} on this disk.`}
      </p>
    );
  }
  const style = frame && styleOf(zoom, frame);
  const shared = {
    style,
    class: frame && zoomIsLarge(zoom, frame) ? 'zoomed-media squares' : 'zoomed-media',
    onError: () => setBroken(true),
  };
  return (
    <div class="zoomed" ref={pane}>
      {file.is === 'video' ? (
        <video
          key={file.url}
          {...shared}
          aria-label={name}
          src={file.url}
          ref={onVideo}
          preload="auto"
          playsInline
          onLoadedMetadata={({ currentTarget: { videoWidth, videoHeight } }) =>
            setPicture({ width: videoWidth, height: videoHeight })
          }
        >
          {/* The service writes no captions. */}
          <track kind="captions" />
        </video>
      ) : (
        <img
          {...shared}
          alt={name}
          src={file.url}
          decoding="sync"
          draggable={false}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setPicture({ width: naturalWidth, height: naturalHeight })
          }
        />
      )}
      {props.children}
    </div>
  );
}

/** On whole pixels of the screen, so that 1:1 is sharp. */
function styleOf(zoom: Zoom, frame: Frame) {
  const { left, top, width, height } = placePicture(zoom, frame);
  const whole = (length: number) => Math.round(length * frame.density) / frame.density;
  return { width: `${width}px`, height: `${height}px`, transform: `translate(${whole(left)}px, ${whole(top)}px)` };
}

function zoomIsLarge(zoom: Zoom, frame: Frame): boolean {
  return (placePicture(zoom, frame).width * frame.density) / frame.picture.width >= squareFrom;
}

function usePaneSize(pane: { readonly current: HTMLElement | null }): Size | undefined {
  const [size, setSize] = useState<Size>();
  useLayoutEffect(() => {
    if (pane.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return;
      const { width, height } = entry.contentRect;
      if (width > 0 && height > 0) setSize({ width, height });
    });
    observer.observe(pane.current);
    return () => observer.disconnect();
  }, [pane.current]);
  return size;
}

interface Current {
  readonly current: Frame | undefined;
}

/** Wheel, drag, pinch and double click. Listeners stay while props change: a drag must not end with the first of its moves. */
function useGestures(pane: { readonly current: HTMLElement | null }, frame: Current, props: ZoomedMediaProps): void {
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const element = pane.current;
    if (element === null) return;
    const fingers = new Map<number, Point>();
    const stop = new AbortController();
    const on = <Name extends keyof HTMLElementEventMap>(
      name: Name,
      act: (event: HTMLElementEventMap[Name], at: Point) => void,
    ) =>
      element.addEventListener(
        name,
        (event) => {
          const { left, top } = element.getBoundingClientRect();
          const { clientX, clientY } = event as MouseEvent;
          act(event, { x: clientX - left, y: clientY - top });
        },
        { signal: stop.signal, passive: false },
      );
    on('wheel', (event, at) => {
      event.preventDefault();
      const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 33 : event.deltaY;
      latest.current.onMove((zoom, of) => zoomAt(zoom, 2 ** (-pixels * perWheelPixel), of, at));
    });
    on('pointerdown', (event, at) => {
      if (event.button !== 0) return;
      fingers.set(event.pointerId, at);
      element.setPointerCapture(event.pointerId);
    });
    on('pointermove', (event, at) => {
      const before = fingers.get(event.pointerId);
      if (before === undefined) return;
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      fingers.set(event.pointerId, at);
      latest.current.onMove((zoom, of) => moveByFingers(zoom, of, before, at, other));
    });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) {
      on(end, (event) => fingers.delete(event.pointerId));
    }
    on('dblclick', (_, at) => {
      if (frame.current !== undefined) latest.current.onTogglePixels(at);
    });
    return () => stop.abort();
  }, [pane.current]);
}

/** One finger moves the picture; of two the other one holds its place. */
function moveByFingers(zoom: Zoom, frame: Frame, before: Point, at: Point, other: Point | undefined): Zoom {
  if (other === undefined) return panBy(zoom, { x: at.x - before.x, y: at.y - before.y }, frame);
  const distance = (point: Point) => Math.hypot(point.x - other.x, point.y - other.y);
  return zoomAt(zoom, distance(at) / Math.max(1, distance(before)), frame, other);
}
