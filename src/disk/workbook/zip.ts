import { crc32, inflateRawSync } from 'node:zlib';

const maxUnpackedBytes = 12 * 1024 ** 2;
const maxParts = 5000;

interface ZipProblem {
  problem: string;
}

interface Entry {
  name: string;
  method: number;
  start: number;
  packedBytes: number;
}

/** Unpacks the wanted files of an archive. Stops at a maximum of unpacked bytes, whatever size the archive states. */
export function unzip(bytes: Buffer, isWanted: (name: string) => boolean): Map<string, Buffer> | ZipProblem {
  const entries = readEntries(bytes);
  if ('problem' in entries) return entries;
  const parts = new Map<string, Buffer>();
  let left = maxUnpackedBytes;
  for (const { name, method, start, packedBytes } of entries) {
    if (!isWanted(name)) continue;
    const packed = bytes.subarray(start, start + packedBytes);
    if (method !== 0 && method !== 8) return { problem: 'uses a compression method that spreadsheets do not use' };
    if (method === 0 && packed.length > left) return tooLarge;
    try {
      const part = method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: left + 1 });
      if (part.length > left) return tooLarge;
      left -= part.length;
      parts.set(name, part);
    } catch (error) {
      const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
      return isTooLarge ? tooLarge : damaged;
    }
  }
  return parts;
}

const damaged: ZipProblem = { problem: 'is damaged: it cannot be unpacked' };
const tooLarge: ZipProblem = {
  problem: `holds more than ${maxUnpackedBytes / 1024 ** 2} MiB when it is unpacked`,
};

function readEntries(bytes: Buffer): Entry[] | ZipProblem {
  const end = findEnd(bytes);
  if (end === undefined) return damaged;
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count > maxParts) return { problem: `holds more than ${maxParts} files` };
  const entries: Entry[] = [];
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== 0x02014b50) return damaged;
    const nameBytes = bytes.readUInt16LE(at + 28);
    const local = bytes.readUInt32LE(at + 42);
    if (local + 30 > bytes.length || bytes.readUInt32LE(local) !== 0x04034b50) return damaged;
    entries.push({
      name: bytes.toString('utf8', at + 46, at + 46 + nameBytes),
      method: bytes.readUInt16LE(at + 10),
      packedBytes: bytes.readUInt32LE(at + 20),
      start: local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28),
    });
    at += 46 + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

function findEnd(bytes: Buffer): number | undefined {
  const at = bytes.lastIndexOf('PK\u0005\u0006', undefined, 'latin1');
  return at === -1 || at + 22 > bytes.length ? undefined : at;
}

/** 1980-01-01. A fixed date, so that equal files make equal archives. */
const firstDay = 0x21;

export function zip(parts: ReadonlyMap<string, Uint8Array>): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, part] of parts) {
    const nameBytes = Buffer.from(name);
    // Fields of an entry: version, flags, method, time, date, checksum, both sizes, length of the name.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(firstDay, 8);
    common.writeUInt32LE(crc32(part), 10);
    common.writeUInt32LE(part.length, 14);
    common.writeUInt32LE(part.length, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004', 'latin1'), common, nameBytes]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\u0001\u0002\u0014\u0000', 'latin1'), common, rest, nameBytes);
    files.push(local, Buffer.from(part.buffer, part.byteOffset, part.length));
    offset += local.length + part.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 0, 'latin1');
  end.writeUInt16LE(parts.size, 8);
  end.writeUInt16LE(parts.size, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, listed, end]);
}
