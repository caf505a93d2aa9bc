/**
 * Visible part of a picture. Positions are fractions of the picture. The scale is relative to the largest size that
 * fits the pane. The same zoom therefore shows the same part in pictures of different sizes.
 */
export interface Zoom {
  /** Scale. At 1, the picture has the largest size that fits the pane. */
  by: number;
  /** Horizontal position of the center of the pane, 0 (left) to 1 (right). */
  x: number;
  /** Vertical position of the center of the pane, 0 (top) to 1 (bottom). */
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
  picture: Size;
  pane: Size;
  /** Device pixels per CSS pixel. */
  density: number;
}

export const wholePicture: Zoom = { by: 1, x: 0.5, y: 0.5 };

/** Maximum magnification, in device pixels per picture pixel. */
const largestPixel = 16;

function fitting({ picture, pane }: Frame): number {
  if (picture.width <= 0 || picture.height <= 0) return 1;
  return Math.min(pane.width / picture.width, pane.height / picture.height) || 1;
}

/** Returns the scale at which a picture pixel is one device pixel: below 1 for a picture smaller than its pane. */
export function oneToOne(frame: Frame): number {
  return 1 / (fitting(frame) * frame.density);
}

/** Returns position and size of the whole picture, in CSS pixels from the top left of the pane. */
export function placePicture(zoom: Zoom, frame: Frame): Size & { left: number; top: number } {
  const scale = fitting(frame) * zoom.by;
  const width = frame.picture.width * scale;
  const height = frame.picture.height * scale;
  return { width, height, left: frame.pane.width / 2 - zoom.x * width, top: frame.pane.height / 2 - zoom.y * height };
}

/**
 * Limits scale and position. The minimum scale is 1 (the picture fits the pane), or 1:1 if that is smaller. The picture
 * always covers as much of the pane as its size allows.
 */
export function limitZoom(zoom: Zoom, frame: Frame): Zoom {
  const exact = oneToOne(frame);
  const by = Math.min(Math.max(zoom.by, Math.min(1, exact)), Math.max(1, exact * largestPixel));
  const { width, height } = placePicture({ ...zoom, by }, frame);
  return { by, x: limitPlace(zoom.x, frame.pane.width / width), y: limitPlace(zoom.y, frame.pane.height / height) };
}

/**
 * Limits a position. `seen`: fraction of the picture that the pane shows. At 1 or more, the whole picture is visible.
 */
function limitPlace(place: number, seen: number): number {
  if (!(seen < 1)) return 0.5;
  return Math.min(Math.max(place, seen / 2), 1 - seen / 2);
}

/** Scales by a factor. The point `at`, in CSS pixels from the top left of the pane, stays fixed. */
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

export function panBy(zoom: Zoom, by: Point, frame: Frame): Zoom {
  const { width, height } = placePicture(zoom, frame);
  return limitZoom({ ...zoom, x: zoom.x - by.x / width, y: zoom.y - by.y / height }, frame);
}

export function togglePixels(zoom: Zoom, frame: Frame, at?: Point): Zoom {
  const exact = oneToOne(frame);
  if (Math.abs(zoom.by / exact - 1) < 0.001) return wholePicture;
  return zoomAt(zoom, exact / zoom.by, frame, at);
}

export function nameZoom(zoom: Zoom, frame: Frame): string {
  if (zoom.by === 1) return 'fits';
  const percent = Math.round((zoom.by / oneToOne(frame)) * 100);
  return percent === 100 ? '1:1' : `${percent} %`;
}

function middleOf({ pane }: Frame): Point {
  return { x: pane.width / 2, y: pane.height / 2 };
}
