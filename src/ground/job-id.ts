/** Returns true if a job ID has 1 to 256 printable ASCII characters and no `.` or `..` path segment, encoded or not. */
export function isJobId(id: unknown): id is string {
  if (typeof id !== 'string' || !/^[!-~]{1,256}$/.test(id)) return false;
  for (let text = id; ; ) {
    if (text.split(/[/\\]/).some(isFolder)) return false;
    const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === text) return true;
    text = decoded;
  }
}

/** Ignores text after `;` and unprintable characters in a path segment, because some servers drop them. */
function isFolder(segment: string): boolean {
  const name = segment.replace(/;.*$/s, '').replace(/[^!-~]/g, '');
  return name === '.' || name === '..';
}
