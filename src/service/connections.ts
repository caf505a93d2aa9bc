/** Kept connections are closed before common servers close them (after 5 s): a request on its way to a closed one is lost. */
export const keptForMs = 4000;
/** Of a host's several addresses the next one is tried so late: Node's own 250 ms are less than a far host needs. */
const nextAddressAfterMs = 2500;

/** What agents for links are given. */
export const connectionOptions = { timeout: keptForMs, autoSelectFamilyAttemptTimeout: nextAddressAfterMs };
