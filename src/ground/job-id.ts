/**
 * Whether a value can be a job id of the service: a string of 1 to 256 printable ASCII characters. The id becomes one
 * percent-encoded path segment; proxies and servers may decode it, even more than once, and must never find a `.` or
 * `..` segment in it.
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

/** Recognizes `.` and `..`, also for servers that cut a segment at `;` or at unprintable characters. */
function isFolder(segment: string): boolean {
  const name = segment.replace(/;.*$/s, '').replace(/[^!-~]/g, '');
  return name === '.' || name === '..';
}
