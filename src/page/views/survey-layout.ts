/**
 * Columns with which `count` pictures of an aspect (width to height) are largest in a room of this many CSS pixels.
 * `below`: what stands beneath each picture.
 */
export function fitColumns(
  count: number,
  aspect: number,
  room: { width: number; height: number },
  below: number,
): number {
  let best = { columns: 1, width: 0 };
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    const height = Math.max(0, room.height / rows - below);
    const width = Math.min(room.width / columns, height * aspect);
    if (width > best.width) best = { columns, width };
  }
  return best.columns;
}
