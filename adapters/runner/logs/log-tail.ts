import { type StreamEnd, tailBytes } from '../../../src/agent/output/output-tail.js';
import { openToRead } from '../commands/open-to-read.js';
import { logNumbers } from './log-files.js';

const nothing: StreamEnd = { text: '', isCut: false };

/** The end of one stream of a task's log, from its two newest files; empty if they cannot be read. */
export async function logEnd(base: string): Promise<StreamEnd> {
  try {
    const newest = (await logNumbers(base)).slice(-2).toReversed();
    const parts: Buffer[] = [];
    let left = tailBytes;
    let isCut = false;
    for (const number of newest) {
      const part = await fileEnd(`${base}.${number}`, left);
      parts.unshift(part.bytes);
      left -= part.bytes.length;
      isCut = part.isCut;
      if (isCut || left <= 0) break;
    }
    return { text: Buffer.concat(parts).toString('utf8'), isCut };
  } catch {
    return nothing;
  }
}

async function fileEnd(file: string, most: number): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const handle = await openToRead(file);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return { bytes: Buffer.alloc(0), isCut: false };
    const start = Math.max(0, stats.size - most);
    const bytes = Buffer.alloc(Math.min(most, stats.size));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
    return { bytes: bytes.subarray(0, bytesRead), isCut: start > 0 };
  } finally {
    await handle.close();
  }
}
