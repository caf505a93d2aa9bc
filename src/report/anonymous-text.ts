/** The sentence without what names only this step and its job, so that many steps can share it. */
export function anonymousText(
  text: string,
  { address, jobId = /^job (\S*\d\S*) /.exec(text)?.[1] }: { address: string; jobId?: string },
): string {
  const without = jobId === undefined ? text : text.replaceAll(jobId, '…');
  return without.replaceAll(address, '…');
}
