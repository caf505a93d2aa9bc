/** Exit codes of the process. Users' scripts rely on these numbers. */
export const exitCodes = {
  done: 0,
  internalError: 1,
  changesPending: 2,
  someFailed: 3,
  outOfCredits: 4,
  waitsForPerson: 5,
  needsDecision: 6,
  wrongUsage: 64,
  wrongInput: 65,
  unreachable: 69,
  cannotWrite: 73,
  lockHeld: 75,
  keyRefused: 77,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
