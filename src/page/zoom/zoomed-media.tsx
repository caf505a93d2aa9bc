import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ReviewFile } from '../../contract/review.ts';
import { defined } from '../../ground/values.ts';
import { Unreadable, useFailures } from '../parts/media.tsx';
import { useSize } from '../parts/use-size.ts';
import { type Frame, limitZoom, type Point, panBy, placePicture, type Size, type Zoom, zoomAt } from './zoom.ts';

export type Move = (zoom: Zoom, frame: Frame) => Zoom;

interface ZoomedMediaProps {
  file: ReviewFile;
  name: string;
  zoom: Zoom;
  onMove(move: Move): void;
  /** Called after each render, as soon as the sizes of pane and picture are known. */
  onFrame(frame: Frame): void;
  onVideo?(video: HTMLVideoElement | null): void;
  /** Called on a double click, to toggle actual pixels around this point. Without it, a double click is two clicks. */
  onTogglePixels?(at: Point): void;
}

/** Zoom exponent per pixel of wheel movement; one notch of most mouse wheels is 100 pixels. */
const perWheelPixel = 1 / 400;
/** From this magnification on, pixels are not interpolated. */
const squareFrom = 3;

/** A zoomable picture or film in a pane. Controlled: `zoom` sets the visible part, `onMove` requests another. */
export function ZoomedMedia(props: ZoomedMediaProps) {
  const { file, zoom, onFrame } = props;
  const place = useRef<HTMLDivElement>(null);
  const pane = useSize(place);
  const [picture, setPicture] = useState<Size>();
  const frame = useMemo(
    () =>
      picture && pane.width > 0 && pane.height > 0 ? { picture, pane, density: devicePixelRatio || 1 } : undefined,
    [picture, pane],
  );
  useLayoutEffect(() => {
    if (frame !== undefined) onFrame(frame);
  });
  useGestures(place, frame !== undefined, props);
  return (
    <div
      class="zoomed"
      ref={place}
      // The thumbnail is the background until the picture is loaded.
      style={
        frame === undefined && file.thumb ? { backgroundImage: `url(${file.thumb})` } : { backgroundImage: 'none' }
      }
    >
      <Media
        key={file.url}
        {...props}
        style={frame && styleOf(zoom, frame)}
        isLarge={frame !== undefined && isLarge(zoom, frame)}
        onSize={setPicture}
      />
    </div>
  );
}

interface MediaProps extends ZoomedMediaProps {
  style: Style | undefined;
  isLarge: boolean;
  onSize(size: Size): void;
}

function Media({ file, name, onVideo, style, isLarge, onSize }: MediaProps) {
  const [failures, fail, isRetried] = useFailures(file.sha256);
  // A stable callback, because a new one would detach and attach the element.
  const attach = useCallback((video: HTMLVideoElement | null) => onVideo?.(video), []);
  if (failures > 0) return <Unreadable file={file} isRetried={isRetried} />;
  const shared = {
    class: `zoomed-media${isLarge ? ' squares' : ''}${style === undefined ? ' unknown' : ''}`,
    src: file.url,
    onError: fail,
    ...defined({ style }),
  };
  if (file.is === 'video') {
    return (
      <video
        {...shared}
        ref={attach}
        aria-label={name}
        preload="auto"
        playsInline
        onLoadedMetadata={({ currentTarget: { videoWidth, videoHeight } }) =>
          onSize({ width: videoWidth, height: videoHeight })
        }
      />
    );
  }
  return (
    <img
      {...shared}
      alt={name}
      decoding="sync"
      draggable={false}
      onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
        onSize({ width: naturalWidth, height: naturalHeight })
      }
    />
  );
}

type Style = { width: string; height: string; transform: string };

/** Style for a zoom, aligned to device pixels so that 1:1 is sharp. */
function styleOf(zoom: Zoom, frame: Frame): Style {
  const { left, top, width, height } = placePicture(limitZoom(zoom, frame), frame);
  const whole = (length: number) => Math.round(length * frame.density) / frame.density;
  return { width: `${width}px`, height: `${height}px`, transform: `translate(${whole(left)}px, ${whole(top)}px)` };
}

function isLarge(zoom: Zoom, frame: Frame): boolean {
  return (placePicture(zoom, frame).width * frame.density) / frame.picture.width >= squareFrom;
}

/**
 * Attaches handlers for wheel, drag, pinch and double click. Listeners stay when props change, so that a drag is not
 * interrupted.
 */
function useGestures(pane: { readonly current: HTMLElement | null }, isKnown: boolean, props: ZoomedMediaProps): void {
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const element = pane.current;
    if (element === null || !isKnown) return;
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
    on('dblclick', (_, at) => latest.current.onTogglePixels?.(at));
    return () => stop.abort();
  }, [isKnown]);
}

/** One finger moves the picture. With two fingers, the other one is the fixed point of the zoom. */
function moveByFingers(zoom: Zoom, frame: Frame, before: Point, at: Point, other: Point | undefined): Zoom {
  if (other === undefined) return panBy(zoom, { x: at.x - before.x, y: at.y - before.y }, frame);
  const distance = (point: Point) => Math.hypot(point.x - other.x, point.y - other.y);
  return zoomAt(zoom, distance(at) / Math.max(1, distance(before)), frame, other);
}
