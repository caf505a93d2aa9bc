/**
 * Where one looks in a picture. Places are fractions of the picture and sizes are multiples of "as large as fits", so that
 * the same zoom shows the same place of two pictures, whatever their pixels.
 */
export interface Zoom {
  /** 1: as large as fits. */
  by: number;
  /** The place in the middle of the pane, 0 to 1 from the left of the picture. */
  x: number;
  /** The same, from the top. */
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface Frame {
  /** In its own pixels. */
  picture: Size;
  /** In CSS pixels. */
  pane: Size;
  /** Pixels of the screen per CSS pixel. */
  density: number;
}

export const wholePicture: Zoom = { by: 1, x: 0.5, y: 0.5 };

/** One pixel of the picture may become this many of the screen. */
const largestPixel = 16;

/** CSS pixels per pixel of the picture when it is as large as fits. */
function fitting({ picture, pane }: Frame): number {
  if (picture.width <= 0 || picture.height <= 0) return 1;
  return Math.min(pane.width / picture.width, pane.height / picture.height) || 1;
}

/** The multiple at which a pixel of the picture is one of the screen. Below 1 where the picture is smaller than its pane. */
export function oneToOne(frame: Frame): number {
  return 1 / (fitting(frame) * frame.density);
}

/** Where the whole picture lies, in CSS pixels from the top left of its pane. */
export function placePicture(zoom: Zoom, frame: Frame): Size & { left: number; top: number } {
  const scale = fitting(frame) * zoom.by;
  const width = frame.picture.width * scale;
  const height = frame.picture.height * scale;
  return { width, height, left: frame.pane.width / 2 - zoom.x * width, top: frame.pane.height / 2 - zoom.y * height };
}

/** Neither smaller than fits (or than its pixels) nor larger than helps, and no empty pane while there is picture to fill it. */
export function limitZoom(zoom: Zoom, frame: Frame): Zoom {
  const exact = oneToOne(frame);
  const by = Math.min(Math.max(zoom.by, Math.min(1, exact)), Math.max(1, exact * largestPixel));
  const { width, height } = placePicture({ ...zoom, by }, frame);
  return { by, x: limitPlace(zoom.x, frame.pane.width / width), y: limitPlace(zoom.y, frame.pane.height / height) };
}

/** `seen`: how much of the picture's length the pane shows; 1 and more: all of it. */
function limitPlace(place: number, seen: number): number {
  if (!(seen < 1)) return 0.5;
  return Math.min(Math.max(place, seen / 2), 1 - seen / 2);
}

/** Makes it larger or smaller by a factor; what is at `at` (CSS pixels from the top left of the pane) stays there. */
export function zoomAt(zoom: Zoom, factor: number, frame: Frame, at: Point = middleOf(frame)): Zoom {
  const before = placePicture(zoom, frame);
  const by = limitZoom({ ...zoom, by: zoom.by * factor }, frame).by;
  const after = placePicture({ ...zoom, by }, frame);
  const fromMiddle = { x: at.x - frame.pane.width / 2, y: at.y - frame.pane.height / 2 };
  return limitZoom(
    {
      by,
      x: (at.x - before.left) / before.width - fromMiddle.x / after.width,
      y: (at.y - before.top) / before.height - fromMiddle.y / after.height,
    },
    frame,
  );
}

/** Moves the picture by CSS pixels. */
export function panBy(zoom: Zoom, by: Point, frame: Frame): Zoom {
  const { width, height } = placePicture(zoom, frame);
  return limitZoom({ ...zoom, x: zoom.x - by.x / width, y: zoom.y - by.y / height }, frame);
}

/** To one pixel of the screen per pixel, and from there back to the whole picture. */
export function togglePixels(zoom: Zoom, frame: Frame, at?: Point): Zoom {
  const exact = oneToOne(frame);
  if (Math.abs(zoom.by / exact - 1) < 0.001) return wholePicture;
  return zoomAt(zoom, exact / zoom.by, frame, at);
}

/** In words: `fits`, `1:1`, `240 %` of its pixels. */
export function nameZoom(zoom: Zoom, frame: Frame): string {
  if (zoom.by === 1) return 'fits';
  const percent = Math.round((zoom.by / oneToOne(frame)) * 100);
  return percent === 100 ? '1:1' : `${percent} %`;
}

function middleOf({ pane }: Frame): Point {
  return { x: pane.width / 2, y: pane.height / 2 };
}
