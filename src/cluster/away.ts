/**
 * States of a server that pass by themselves: it starts, stops, fails over, has no room, or the connection broke. The
 * statement may or may not have been carried out.
 */
const passing = new Set([
  // Somebody has cancelled it, or a limit of this user did.
  ...['57014', '57P05', '25P04'],
  ...['57P01', '57P02', '57P03', '25P03', '25006', '53000', '53100', '53200', '53300', '53400'],
  ...['08000', '08001', '08003', '08004', '08006', '08007', '58030'],
  ...[
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENETDOWN',
    'EAI_AGAIN',
    // Names of containers are gone while theirs restart.
    'ENOTFOUND',
    'ENOENT',
  ],
]);

/** Two transactions in each other's way: one of them is to be done again. */
const clashes = new Set(['40001', '40P01', '55P03']);

export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isAway);
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined) return passing.has(code);
  // What the client says of a connection has no code.
  return /terminat|timeout|ended|not queryable|closed/i.test(error.message);
}

export function isClash(error: unknown): boolean {
  return clashes.has((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}
