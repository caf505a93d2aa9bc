import { type Advice, type Shell, shell, way } from '../ground/advice.ts';
import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import { lockVersion } from './record.ts';
import type { FileLine } from './split-lines.ts';

/** A lock file as it was read; `file` is the path as the user gave it. */
export interface Source {
  file: string;
  bytes: Uint8Array;
}

export function damagedLine(source: Source, { line, problem }: { line: FileLine; problem: string }): Diagnostic {
  return {
    code: 'MB2001',
    severity: 'error',
    message: `${source.file}:${line.number}: the line ${problem}`,
    hint: wayBack(source.file, 'or repair this line by hand'),
    place: placeOf(source, line),
  };
}

export function missingHeader(source: Source): Diagnostic {
  return {
    code: 'MB2001',
    severity: 'error',
    message: `${source.file}:1: the file has records but no header line, so its version is not known`,
    hint: wayBack(source.file, `or put {"mediabatch":"lock","version":${lockVersion}} back as its first line`),
    place: placeOf(source, { text: '', start: 0, number: 1 }),
  };
}

/** Reports records of two services. `lines`: one header line number for each. */
export function twoServices(source: Source, lines: number[]): Diagnostic {
  const numbers = lines.sort((a, b) => a - b).join(' and ');
  return {
    code: 'MB2003',
    severity: 'error',
    message: `${source.file} mixes records of different services (header lines ${numbers})`,
    hint: [
      'Nothing was sent. If they are one service that has a new address, add --service-moved',
      'if they are two, use a separate lock for each: --lock FILE',
      way('to see the lock of a branch, as in', shell('git', 'show', `main:./${source.file}`)),
    ],
    place: placeOf(source, { text: '', start: 0, number: lines[0] ?? 1 }),
  };
}

export function newerVersion(source: Source, { version, line }: { version: number; line: FileLine }): Diagnostic {
  return {
    code: 'MB2002',
    severity: 'error',
    message: `${source.file} was made by a newer mediabatch: its version is ${version}, and this one reads up to version ${lockVersion}`,
    hint: 'Nothing was sent and the file was not touched. Update mediabatch to the version that wrote it',
    place: placeOf(source, line),
  };
}

export function newerProgram(file: string, writtenBy: string): Diagnostic {
  return {
    code: 'MB3414',
    severity: 'warning',
    message: `mediabatch ${writtenBy} has written ${file}, and this version is older: records unknown to it are kept as they are`,
    hint: 'Steps with decisions unknown to this version are not bought. Update mediabatch, and all records count',
  };
}

export function tornTail(source: Source, torn: { start: number; number: number }): Diagnostic {
  const bytes = source.bytes.length - torn.start;
  return {
    code: 'MB2004',
    severity: 'warning',
    message: `${source.file} ends in an incomplete line (line ${torn.number}), as after an interrupted write; its ${bytes} bytes are ignored`,
    hint: 'A run was probably cut off while it wrote. No request leaves before its line is complete, so nothing is lost',
    place: placeOf(source, { text: '', ...torn }),
  };
}

export function lostEnd(source: Source, torn: { start: number; number: number }): Diagnostic {
  return {
    code: 'MB2001',
    severity: 'error',
    message: `${source.file}:${torn.number}: the end of the file is lost: the file was complete, and only a part of this line is left`,
    hint: wayBack(source.file, 'or from a copy: missing steps would be bought, and posted, again'),
    place: placeOf(source, { text: '', ...torn }),
  };
}

export function conflictMarkers(source: Source, { first, count }: { first: FileLine; count: number }): Diagnostic {
  const others = count === 1 ? '' : ` and ${count - 1} more`;
  return {
    code: 'MB2004',
    severity: 'warning',
    message: `${source.file} holds merge conflict markers (line ${first.number}${others}); the records of both sides are taken`,
    hint: 'No purchase is lost. The next run writes the file without them; "*.lock.jsonl merge=union" in .gitattributes avoids them',
    place: placeOf(source, first),
  };
}

function wayBack(file: string, otherwise: string): Advice<Shell> {
  return [way('Nothing was sent; to put the file back', shell('git', 'restore', file)), otherwise];
}

function placeOf({ file, bytes }: Source, line: FileLine): Place {
  const offset = new TextDecoder().decode(bytes.subarray(0, line.start)).length;
  const length = line.text?.length ?? 1;
  return {
    file,
    start: { line: line.number, column: 1, offset },
    end: { line: line.number, column: 1 + length, offset: offset + length },
  };
}
