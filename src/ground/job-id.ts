/**
 * Whether a value can be a job id: 1 to 256 printable ASCII characters. The id is one percent-encoded path segment, in
 * which servers that decode it more than once must find no `.` or `..` segment.
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

/** Some servers cut a segment at `;`, or drop unprintable characters. */
function isFolder(segment: string): boolean {
  const name = segment.replace(/;.*$/s, '').replace(/[^!-~]/g, '');
  return name === '.' || name === '..';
}
