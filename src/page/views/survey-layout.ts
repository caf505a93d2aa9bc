/** CSS pixels of a picture with its frame that can be told from its neighbours, and that its buttons fit beneath. */
const leastWidth = 140;
export const leastHeight = 120;

/**
 * Columns with which `count` pictures of an aspect (width to height) are largest in a room of this many CSS pixels; where
 * they get too small to be told apart, they are scrolled. `below`: what stands beneath each picture.
 */
export function fitColumns(
  count: number,
  aspect: number,
  room: { width: number; height: number },
  below: number,
): number {
  let best = { columns: 1, rows: count, width: 0 };
  const most = Math.min(count, Math.max(2, Math.floor(room.width / leastWidth)));
  for (let columns = 1; columns <= most; columns += 1) {
    const rows = Math.ceil(count / columns);
    const height = Math.max(leastHeight, room.height / rows - below);
    const width = Math.min(room.width / columns, height * aspect);
    if (width > best.width || (width === best.width && rows < best.rows)) best = { columns, rows, width };
  }
  return best.columns;
}
