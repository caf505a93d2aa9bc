import { certificateHint, isUntrusted } from '../../campaign/environment.ts';
import { type Finding, failureFinding } from '../../contract/notice.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { readServiceDocument, type ServiceDocument } from '../../kinds/service-document.ts';
import { spanText } from '../../report/numbers.ts';
import { type Library, ServiceError } from '../../service/library.ts';

const about = 'service';
/** The replay window is 24 h and counted from 23; an hour would use that up. */
const worryingSkewMs = 60_000;
const longLatencyMs = 5000;

/** Whether the service answers to this key, how fast, by which clock, and how it describes itself. */
export async function checkService(library: Library): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    const { latencyMs, skewMs } = await library.ping();
    const slow = latencyMs > longLatencyMs;
    const took = `${Math.round(latencyMs)} ms`;
    findings.push({
      about,
      state: slow ? 'warning' : 'ok',
      text: `reachable, and the key is accepted (${took})`,
      ...(slow && { hint: 'that is slow; --request-timeout gives requests more time' }),
    });
    findings.push(clockFinding(skewMs));
  } catch (error) {
    const isCertificate = error instanceof ServiceError && isUntrusted(error.message);
    return [{ ...failureFinding(about, error), ...(isCertificate && { hint: certificateHint }) }];
  }
  return [...findings, ...(await checkDocument(library))];
}

function clockFinding(skewMs: number | undefined): Finding {
  if (skewMs === undefined) {
    return { about, state: 'ok', text: 'the service does not say what time it is, so clocks cannot be compared' };
  }
  if (Math.abs(skewMs) < worryingSkewMs) {
    return { about, state: 'ok', text: `its clock and this one agree (within ${spanText(Math.abs(skewMs) + 1000)})` };
  }
  return {
    about,
    state: 'warning',
    text: `this clock is ${spanText(Math.abs(skewMs))} ${skewMs > 0 ? 'behind' : 'ahead of'} the service's`,
    hint: 'set the clock of this machine: how long a lost answer can be asked for is counted with it',
  };
}

async function checkDocument(library: Library): Promise<Finding[]> {
  let document: ServiceDocument;
  try {
    document = readServiceDocument(await library.document(), kinds);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [
      {
        about,
        state: 'warning',
        text: `it gives no OpenAPI document (${error.message})`,
        hint: `requests of ${undocumented().join(', ')} cannot be checked before they are paid for`,
      },
    ];
  }
  return documentFindings(document);
}

function documentFindings(document: ServiceDocument): Finding[] {
  const { version, operations, creates, differences } = document;
  if (operations.length === 0) {
    return [
      {
        about,
        state: 'warning',
        text: 'its OpenAPI document names no operations',
        hint: `requests of ${undocumented().join(', ')} cannot be checked before they are paid for`,
      },
    ];
  }
  const named = version === '' ? 'without a version' : `version ${version}`;
  const findings: Finding[] = [
    { about, state: 'ok', text: `OpenAPI document ${named}, ${operations.length} operations` },
  ];
  const missing = neededOperations(creates).filter((operation) => !hasOperation(operations, operation));
  if (missing.length > 0) {
    findings.push({
      about,
      state: 'warning',
      text: `its document does not name ${missing.join(', ')}`,
      hint: 'the kinds that use them may not work; a newer mediabatch may know what has changed',
    });
  }
  const without = Object.values(kinds).filter(({ name, create }) => creates[name] === undefined && !create.documented);
  if (without.length > 0) {
    findings.push({
      about,
      state: 'warning',
      text: `its document has no create for ${without.map(({ name }) => name).join(', ')}`,
      hint: 'their requests cannot be checked before they are paid for',
    });
  }
  for (const text of differences) findings.push({ about, state: 'warning', text });
  return findings;
}

function undocumented(): string[] {
  return Object.values(kinds)
    .filter(({ create }) => !create.documented)
    .map(({ name }) => name);
}

/** All that the commands ask, beside creates that are documented nowhere. */
function neededOperations(creates: ServiceDocument['creates']): string[] {
  const ofKind = ({ name, create, status, list, remove }: Kind) => [
    // Creates that are missing are told as a difference, or by kind.
    ...(create.documented && creates[name] !== undefined ? [`POST ${creates[name].path}`] : []),
    ...(status === undefined ? [] : [`GET ${status.path}`]),
    ...(list === undefined ? [] : [`GET ${list.path}`]),
    ...(remove === undefined ? [] : [`DELETE ${remove.path}`]),
  ];
  const others = ['GET /voiceovers/voices', 'GET /accounts', 'POST /uploads/signed-url', 'POST /uploads/complete'];
  return [...new Set([...Object.values(kinds).flatMap(ofKind), ...others])];
}

/** Names of path parameters differ and mean nothing. */
function hasOperation(operations: readonly string[], wanted: string): boolean {
  const form = (operation: string) => operation.replace(/\{[^}]*\}/g, '{}');
  return operations.some((operation) => form(operation) === form(wanted));
}
