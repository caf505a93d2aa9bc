/**
 * Whether a text can be an id of the service: 1 to 256 printable ASCII characters. It becomes one segment of a path,
 * percent-encoded; what takes it apart again on the way, a proxy or a server, and be it more than once, must find no segment
 * in it that means a folder.
 */
export function isJobId(id: unknown): id is string {
  if (typeof id !== 'string' || !/^[!-~]{1,256}$/.test(id)) return false;
  for (let text = id; ; ) {
    if (text.split(/[/\\]/).some(isFolder)) return false;
    const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === text) return true;
    text = decoded;
  }
}

/** `.` or `..`, also to servers that cut a segment at `;` or at what cannot be printed. */
function isFolder(segment: string): boolean {
  const name = segment.replace(/;.*$/s, '').replace(/[^!-~]/g, '');
  return name === '.' || name === '..';
}
