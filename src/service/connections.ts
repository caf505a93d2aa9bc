/** Kept connections close before common servers close them (after 5 s): a request sent on a closing one is lost. */
export const keptForMs = 4000;
/** Delay before the next of a host's addresses is tried: Node's default of 250 ms is too short for a distant host. */
const nextAddressAfterMs = 2500;

export const connectionOptions = { timeout: keptForMs, autoSelectFamilyAttemptTimeout: nextAddressAfterMs };
