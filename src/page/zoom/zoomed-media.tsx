import type { RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ReviewFile } from '../../contract/review.ts';
import { defined } from '../../ground/values.ts';
import { Unreadable, useFailures } from '../parts/media.tsx';
import { useSize } from '../parts/use-rows.ts';
import type { Move, SharedZoom } from './shared-zoom.ts';
import { type Frame, limitZoom, type Point, panBy, placePicture, type Size, type Zoom, zoomAt } from './zoom.ts';

interface ZoomedMediaProps {
  file: ReviewFile;
  name: string;
  zoom: SharedZoom;
  isActive: boolean;
  onVideo?(video: HTMLVideoElement | null): void;
}

/** Zoom exponent per pixel of wheel movement. One notch of most mouse wheels is 100 pixels. */
const perWheelPixel = 1 / 400;

export function ZoomedMedia(props: ZoomedMediaProps) {
  const { file, zoom, isActive } = props;
  const place = useRef<HTMLDivElement>(null);
  const pane = useSize(place);
  const [picture, setPicture] = useState<Size>();
  const frame = useMemo(
    () =>
      picture && pane.width > 0 && pane.height > 0 ? { picture, pane, density: devicePixelRatio || 1 } : undefined,
    [picture, pane],
  );
  useLayoutEffect(() => {
    if (frame !== undefined && isActive) zoom.frame.value = frame;
  });
  useGestures(place, frame, zoom);
  return (
    <div
      class="zoomed"
      ref={place}
      // Before the picture is loaded, the thumbnail is the background.
      style={
        frame === undefined && file.thumb ? { backgroundImage: `url(${file.thumb})` } : { backgroundImage: 'none' }
      }
    >
      <Media key={file.url} {...props} style={frame && styleOf(zoom.zoom.value, frame)} onSize={setPicture} />
    </div>
  );
}

interface MediaProps extends Omit<ZoomedMediaProps, 'zoom'> {
  style: Style | undefined;
  onSize(size: Size): void;
}

function Media({ file, name, onVideo, style, onSize }: MediaProps) {
  const [failures, fail, isRetried] = useFailures(file.sha256);
  // The callback is stable, because a new callback would detach and attach the element.
  const attach = useCallback((video: HTMLVideoElement | null) => onVideo?.(video), []);
  if (failures > 0) return <Unreadable file={file} isRetried={isRetried} />;
  const shared = {
    class: `zoomed-media${style === undefined ? ' unknown' : ''}`,
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

function styleOf(zoom: Zoom, frame: Frame): Style {
  const { left, top, width, height } = placePicture(limitZoom(zoom, frame), frame);
  const whole = (length: number) => Math.round(length * frame.density) / frame.density;
  return { width: `${width}px`, height: `${height}px`, transform: `translate(${whole(left)}px, ${whole(top)}px)` };
}

/**
 * Attaches handlers for wheel, drag, pinch and double click. The handlers stay attached when the frame changes, so that
 * a drag continues.
 */
function useGestures(pane: RefObject<HTMLElement | null>, frame: Frame | undefined, zoom: SharedZoom): void {
  const latest = useRef(frame);
  latest.current = frame;
  const isKnown = frame !== undefined;
  useEffect(() => {
    const element = pane.current;
    if (element === null || !isKnown) return;
    const move = (by: Move) => zoom.move(by, latest.current);
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
      move((from, of) => zoomAt(from, 2 ** (-pixels * perWheelPixel), of, at));
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
      move((from, of) => moveByFingers(from, of, before, at, other));
    });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) {
      on(end, (event) => fingers.delete(event.pointerId));
    }
    on('dblclick', (_, at) => zoom.togglePixels(at, latest.current));
    return () => stop.abort();
  }, [isKnown, zoom]);
}

/**
 * Moves or zooms a picture. One finger moves it. With two fingers, the position of the second finger is the fixed
 * point of the zoom.
 */
function moveByFingers(zoom: Zoom, frame: Frame, before: Point, at: Point, other: Point | undefined): Zoom {
  if (other === undefined) return panBy(zoom, { x: at.x - before.x, y: at.y - before.y }, frame);
  const distance = (point: Point) => Math.hypot(point.x - other.x, point.y - other.y);
  return zoomAt(zoom, distance(at) / Math.max(1, distance(before)), frame, other);
}
