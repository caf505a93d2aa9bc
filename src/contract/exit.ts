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

/** Answers to what a program that called a command asks before anything else. */
export type ExitAnswers = {
  /**
   * Whether to call it once more. `same`: as it is, now or later. `changed`: once something was mended, added or decided.
   * `never`: there is no need.
   */
  again: 'never' | 'same' | 'changed';
  /** Whether it is a person's turn: money, a key, a verdict, a decision. */
  person: boolean;
  /**
   * Payments at such an end. `nothing`: this command made none. `recorded`: whatever was paid is on record, and is not paid
   * twice. `perhaps`: of a create nobody knows yet whether it was charged.
   */
  paid: 'nothing' | 'recorded' | 'perhaps';
};

const answers: { readonly [name in keyof typeof exitCodes]: ExitAnswers } = {
  done: { again: 'never', person: false, paid: 'recorded' },
  internalError: { again: 'changed', person: true, paid: 'perhaps' },
  changesPending: { again: 'never', person: false, paid: 'nothing' },
  someFailed: { again: 'changed', person: true, paid: 'recorded' },
  outOfCredits: { again: 'changed', person: true, paid: 'recorded' },
  waitsForPerson: { again: 'changed', person: true, paid: 'recorded' },
  needsDecision: { again: 'same', person: true, paid: 'perhaps' },
  wrongUsage: { again: 'changed', person: false, paid: 'nothing' },
  wrongInput: { again: 'changed', person: false, paid: 'nothing' },
  unreachable: { again: 'same', person: false, paid: 'recorded' },
  cannotWrite: { again: 'changed', person: true, paid: 'recorded' },
  lockHeld: { again: 'same', person: false, paid: 'recorded' },
  keyRefused: { again: 'changed', person: true, paid: 'recorded' },
  interrupted: { again: 'same', person: false, paid: 'recorded' },
};

const byCode: ReadonlyMap<number, ExitAnswers> = new Map(
  Object.entries(exitCodes).map(([name, code]) => [code, answers[name as keyof typeof exitCodes]]),
);

/** The three answers that an exit code gives. A number that is none of ours is taken for a mistake of ours. */
export function answersOfExit(exit: ExitCode | number): ExitAnswers {
  return byCode.get(exit) ?? answers.internalError;
}
